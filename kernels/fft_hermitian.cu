// The full complex spectrum of N x N real elements by two kernels:
// F[u, v] = sum over r, c of a[r, c] w^(u r + v c), w = e^(-2 pi i / N).
//
// `fft_rows` transforms two real rows as one complex row and keeps their half spectra; `fft_columns` transforms the
// columns of those and writes every output and its mirrored conjugate, F[u, v] = conj(F[-u, -v]). The spectra of
// columns 0 and N / 2 of a row are real, and travel as one complex column.
//
// Each transform of length N = RADIX[0] RADIX[1] ... decimates in frequency, in place in shared memory; element k of
// the result, k = p0 + R0 (p1 + R1 (p2 ...)), ends at p0 N / R0 + p1 N / (R0 R1) + ...; the last stage reads the blocks
// that hold k and N - k together and writes where they belong.
//
// The constants below are defaults; a header before this text sets them for each N and element type.
#ifndef FFT_PLAN
typedef float Real;
typedef float2 Pair;
constexpr unsigned N = 2048;
constexpr unsigned RADIX[] = {16, 8, 16};
constexpr unsigned ROW_THREADS = 128;     // threads of a block of `fft_rows`
constexpr unsigned ROW_STRIDE = 129;      // N / RADIX[0], padded so that strided accesses spread over the banks
constexpr unsigned COLUMNS = 8;           // columns a block of `fft_columns` writes, and their mirrors
constexpr bool OVERLAP = true;            // whether it transforms one column more, to write the mirrors aligned
constexpr unsigned COLUMN_THREADS = 576;  // its threads
constexpr unsigned COLUMN_STRIDE = 129;   // as ROW_STRIDE
constexpr unsigned PITCH = 1040;          // elements from one row of the half spectrum to the next
#endif

#define INLINE __device__ __forceinline__
#define CONSTANT __host__ __device__ constexpr

constexpr unsigned STAGES = sizeof(RADIX) / sizeof(RADIX[0]);
constexpr unsigned HALF = (N + 1) / 2;         // complex columns of the half spectrum
constexpr unsigned LANES = COLUMNS + OVERLAP;  // columns a block transforms

// Elements of the blocks that stage `stage` splits.
CONSTANT unsigned length_at(unsigned stage) {
    unsigned length = N;
    for (unsigned i = 0; i < stage; ++i) length /= RADIX[i];
    return length;
}

template <unsigned S> struct Stage {
    static constexpr unsigned R = RADIX[S], L = length_at(S), J = L / R;
    static constexpr unsigned TWIDDLES = N - L;  // start of its table of (R - 1) J entries
};

constexpr unsigned R0 = RADIX[0], J0 = N / R0;
constexpr unsigned LAST = STAGES - 1, RL = RADIX[LAST], Q = N / RL;
// Pairs of last blocks, i and Q - i; the first is 0 with Q / 2, which are their own mirrors.
constexpr unsigned TASKS = (Q + 1) / 2;

INLINE Pair make(Real x, Real y) {
    Pair z;
    z.x = x;
    z.y = y;
    return z;
}
INLINE Pair add(Pair a, Pair b) { return make(a.x + b.x, a.y + b.y); }
INLINE Pair sub(Pair a, Pair b) { return make(a.x - b.x, a.y - b.y); }
INLINE Pair times(Pair a, Pair b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
INLINE Pair conjugate(Pair a) { return make(a.x, -a.y); }

// cos and -sin of 2 pi k / R: the R-th roots of unity of a forward transform, by Taylor series up to an eighth turn.
template <unsigned R> struct Roots {
    Real x[R], y[R];
    CONSTANT Roots() : x(), y() {
        for (unsigned k = 0; k < R; ++k) {
            const unsigned eighths = 8 * k / R, quarter = (eighths + 1) / 2;
            const double angle = 6.283185307179586476925286766559 * (4.0 * k - double(quarter) * R) / (4.0 * R);
            double cosine = 1, sine = angle, term = angle;
            double even = 1;
            for (int n = 1; n < 12; ++n) {
                even *= -angle * angle / ((2 * n - 1) * (2 * n));
                term *= -angle * angle / ((2 * n) * (2 * n + 1));
                cosine += even;
                sine += term;
            }
            const double c = quarter % 2 ? sine : cosine, s = quarter % 2 ? cosine : sine;
            x[k] = Real((quarter + 1) % 4 / 2 ? -c : c);
            y[k] = Real(quarter % 4 / 2 ? s : -s);
        }
    }
};

template <unsigned R> INLINE void dft(Pair (&x)[R]);

// R odd: sums and differences of x[k] and x[R - k] need real factors only.
template <unsigned R> INLINE void odd_dft(Pair (&x)[R]) {
    constexpr Roots<R> roots;
    constexpr unsigned H = R / 2;
    Pair sum[H], difference[H];
    const Pair first = x[0];
#pragma unroll
    for (unsigned k = 0; k < H; ++k) {
        sum[k] = add(x[k + 1], x[R - 1 - k]);
        difference[k] = sub(x[k + 1], x[R - 1 - k]);
        x[0] = add(x[0], sum[k]);
    }
#pragma unroll
    for (unsigned j = 1; j <= H; ++j) {
        Pair u = first, v = make(0, 0);
#pragma unroll
        for (unsigned k = 0; k < H; ++k) {
            const unsigned root = j * (k + 1) % R;
            u = make(u.x + roots.x[root] * sum[k].x, u.y + roots.x[root] * sum[k].y);
            v = make(v.x + roots.y[root] * difference[k].x, v.y + roots.y[root] * difference[k].y);
        }
        x[j] = make(u.x - v.y, u.y + v.x);
        x[R - j] = make(u.x + v.y, u.y - v.x);
    }
}

// R = A B with no common factor (Good): transforms of A and of B elements, no twiddles between.
template <unsigned A, unsigned B> INLINE void coprime_dft(Pair (&x)[A * B]) {
    Pair y[B][A], z[A][B];
#pragma unroll
    for (unsigned b = 0; b < B; ++b) {
#pragma unroll
        for (unsigned a = 0; a < A; ++a) y[b][a] = x[(B * a + A * b) % (A * B)];
        dft<A>(y[b]);
    }
#pragma unroll
    for (unsigned a = 0; a < A; ++a) {
#pragma unroll
        for (unsigned b = 0; b < B; ++b) z[a][b] = y[b][a];
        dft<B>(z[a]);
    }
#pragma unroll
    for (unsigned k = 0; k < A * B; ++k) x[k] = z[k % A][k % B];
}

// R = A B (Cooley and Tukey).
template <unsigned A, unsigned B> INLINE void composite_dft(Pair (&x)[A * B]) {
    constexpr unsigned R = A * B;
    constexpr Roots<R> roots;
    Pair y[B][A], z[A][B];
#pragma unroll
    for (unsigned b = 0; b < B; ++b) {
#pragma unroll
        for (unsigned a = 0; a < A; ++a) y[b][a] = x[B * a + b];
        dft<A>(y[b]);
    }
#pragma unroll
    for (unsigned a = 0; a < A; ++a) {
#pragma unroll
        for (unsigned b = 0; b < B; ++b) {
            const unsigned root = a * b;
            const Pair value = y[b][a];
            if (root == 0) z[a][b] = value;
            else if (4 * root == R) z[a][b] = make(value.y, -value.x);
            else z[a][b] = times(value, make(roots.x[root], roots.y[root]));
        }
        dft<B>(z[a]);
#pragma unroll
        for (unsigned b = 0; b < B; ++b) x[a + A * b] = z[a][b];
    }
}

// The transform of R elements in registers, results in natural order.
template <unsigned R> INLINE void dft(Pair (&x)[R]) {
    if constexpr (R == 2) {
        const Pair a = x[0], b = x[1];
        x[0] = add(a, b);
        x[1] = sub(a, b);
    } else if constexpr (R == 4) {
        const Pair a = add(x[0], x[2]), b = sub(x[0], x[2]), c = add(x[1], x[3]), d = sub(x[1], x[3]);
        x[0] = add(a, c);
        x[1] = make(b.x + d.y, b.y - d.x);
        x[2] = sub(a, c);
        x[3] = make(b.x - d.y, b.y + d.x);
    } else if constexpr (R == 8) {
        composite_dft<2, 4>(x);
    } else if constexpr (R == 9) {
        composite_dft<3, 3>(x);
    } else if constexpr (R == 16) {
        composite_dft<4, 4>(x);
    } else if constexpr (R == 12) {
        coprime_dft<4, 3>(x);
    } else if constexpr (R == 15) {
        coprime_dft<3, 5>(x);
    } else if constexpr (R == 6 || R == 10 || R == 14) {
        coprime_dft<2, R / 2>(x);
    } else if constexpr (R > 1) {
        odd_dft<R>(x);
    }
}

// The twiddles of stage S for element j of a block.
template <unsigned S> INLINE Pair twisted(Pair value, const Pair* __restrict__ twiddles, unsigned j, unsigned p) {
    return p == 0 ? value : times(value, __ldg(&twiddles[Stage<S>::TWIDDLES + (p - 1) * Stage<S>::J + j]));
}

// Start of the last block of index m, with digits p0, p1, ... from the lowest; blocks p0 are FIRST apart.
template <unsigned S, unsigned FIRST> INLINE unsigned block_of(unsigned m) {
    if constexpr (S >= LAST) {
        return 0;
    } else {
        constexpr unsigned R = Stage<S>::R;
        return m % R * (S == 0 ? FIRST : Stage<S>::J) + block_of<S + 1, FIRST>(m / R);
    }
}

// Butterfly `task` of middle stage S: the first of its elements, and its place j in the block. p0 runs fastest, since
// blocks p0 are padded apart.
template <unsigned S, unsigned FIRST> INLINE unsigned middle_of(unsigned task, unsigned& j) {
    const unsigned p0 = task % R0, rest = task / R0;
    j = rest % Stage<S>::J;
    return p0 * FIRST + rest / Stage<S>::J * Stage<S>::L + j;
}

// The elements of the transform in conjugate places: `ends(z[0], z[N / 2])` and `each(k, z[k], z[N - k])` for
// 0 < k < N / 2.
// a and b are the last blocks i and Q - i, or 0 and Q / 2.
template <typename Ends, typename Each>
INLINE void conjugates(const Pair (&a)[RL], const Pair (&b)[RL], unsigned i, Ends ends, Each each) {
    const bool own = i == 0;
    const unsigned other = own ? Q / 2 : Q - i;
#pragma unroll
    for (unsigned q = 0; q < RL; ++q) {
        if (q == 0 && own) {
            ends(a[0], N % 2 ? make(0, 0) : RL % 2 ? b[RL / 2] : a[RL / 2]);
        } else if (q < (RL + 1) / 2) {
            each(i + q * Q, a[q], own ? a[(RL - q) % RL] : b[RL - 1 - q]);
        } else if (Q % 2 == 0 || !own) {
            each(other + (RL - 1 - q) * Q, b[RL - 1 - q], own ? b[q] : a[q]);
        }
    }
}

// If the chip supports it and the launch asks for it, the second kernel starts while the first still runs
// (programmatic dependent launch): the first allows it, and the second waits for the writes of the first.
INLINE void release_next() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
INLINE void await_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The spectra of two real rows from that of x1 + i x2 in conjugate places.
INLINE Pair first_real(Pair low, Pair high) {
    return make(Real(0.5) * (low.x + high.x), Real(0.5) * (low.y - high.y));
}
INLINE Pair second_real(Pair low, Pair high) {
    return make(Real(0.5) * (low.y + high.y), Real(0.5) * (high.x - low.x));
}

// The middle stages of SIDE transforms, with elements of equal index next to each other in shared memory.
template <unsigned S, unsigned FIRST, unsigned SIDE, unsigned THREADS>
INLINE void middle_stages(Pair* shared, const Pair* __restrict__ twiddles) {
    if constexpr (S < LAST) {
        constexpr unsigned R = Stage<S>::R, J = Stage<S>::J;
        __syncthreads();
        for (unsigned t = threadIdx.x; t < SIDE * (N / R); t += THREADS) {
            unsigned j;
            Pair* z = shared + middle_of<S, FIRST>(t / SIDE, j) * SIDE + t % SIDE;
            Pair x[R];
#pragma unroll
            for (unsigned q = 0; q < R; ++q) x[q] = z[q * J * SIDE];
            dft<R>(x);
#pragma unroll
            for (unsigned p = 0; p < R; ++p) z[p * J * SIDE] = twisted<S>(x[p], twiddles, j, p);
        }
        middle_stages<S + 1, FIRST, SIDE, THREADS>(shared, twiddles);
    }
}

// An odd N leaves the last row without a second.
INLINE bool has_second(unsigned row) { return N % 2 == 0 || row + 1 < N; }

INLINE Pair two_rows(const Real* __restrict__ input, unsigned row, unsigned column) {
    const Real* place = input + (size_t)row * N + column;
    return make(__ldg(place), has_second(row) ? __ldg(place + N) : Real(0));
}

// Block b transforms rows 2 b and 2 b + 1; `half` takes elements 0 to HALF - 1 of each.
extern "C" __global__ void __launch_bounds__(ROW_THREADS, ROW_THREADS > 128)
    fft_rows(const Real* __restrict__ input, const Pair* __restrict__ twiddles, Pair* __restrict__ half) {
    extern __shared__ Pair shared[];
    const unsigned row = 2 * blockIdx.x;
    if constexpr (STAGES > 1) {
        for (unsigned j = threadIdx.x; j < J0; j += ROW_THREADS) {
            Pair x[R0];
#pragma unroll
            for (unsigned q = 0; q < R0; ++q) x[q] = two_rows(input, row, j + q * J0);
            dft<R0>(x);
#pragma unroll
            for (unsigned p = 0; p < R0; ++p) shared[p * ROW_STRIDE + j] = twisted<0>(x[p], twiddles, j, p);
        }
        middle_stages<1, ROW_STRIDE, 1, ROW_THREADS>(shared, twiddles);
        __syncthreads();
    }
    release_next();
    Pair *first = half + (size_t)row * PITCH, *second = first + PITCH;
    for (unsigned i = threadIdx.x; i < TASKS; i += ROW_THREADS) {
        const unsigned other = i == 0 ? Q / 2 : Q - i;
        Pair a[RL], b[RL];
        if constexpr (STAGES > 1) {
            const Pair *at = shared + block_of<0, ROW_STRIDE>(i), *bt = shared + block_of<0, ROW_STRIDE>(other);
#pragma unroll
            for (unsigned q = 0; q < RL; ++q) a[q] = at[q], b[q] = bt[q];
        } else {
#pragma unroll
            for (unsigned q = 0; q < RL; ++q) a[q] = b[q] = two_rows(input, row, q);
        }
        dft<RL>(a);
        dft<RL>(b);
        conjugates(
            a, b, i,
            [&](Pair zero, Pair middle) {
                first[0] = make(zero.x, middle.x);
                if (has_second(row)) second[0] = make(zero.y, middle.y);
            },
            [&](unsigned k, Pair low, Pair high) {
                first[k] = first_real(low, high);
                if (has_second(row)) second[k] = second_real(low, high);
            });
    }
}

INLINE void store(Pair* __restrict__ spectrum, unsigned row, unsigned column, Pair value) {
    __stcs(&spectrum[(size_t)row * N + column], value);
}

// The results of last block m of one column, and their mirrors.
INLINE void store_block(Pair* __restrict__ spectrum, const Pair (&x)[RL], unsigned m, unsigned lane, unsigned column) {
    const bool plain = lane < COLUMNS, mirror = !OVERLAP || lane > 0;
#pragma unroll
    for (unsigned q = 0; q < RL; ++q) {
        const unsigned row = m + q * Q;
        if (plain) store(spectrum, row, column, x[q]);
        if (mirror) store(spectrum, row == 0 ? 0 : N - row, N - column, conjugate(x[q]));
    }
}

// Last block m of one lane, transformed.
INLINE void last_block(Pair (&x)[RL], const Pair* shared, const Pair* __restrict__ tile, unsigned m, unsigned lane) {
    if constexpr (STAGES > 1) {
        const Pair* z = shared + block_of<0, COLUMN_STRIDE>(m) * LANES + lane;
#pragma unroll
        for (unsigned q = 0; q < RL; ++q) x[q] = z[q * LANES];
    } else {
#pragma unroll
        for (unsigned q = 0; q < RL; ++q) x[q] = __ldcs(tile + q * PITCH + lane);
    }
    dft<RL>(x);
}

// Columns 0 and N / 2 from the one complex column that carries both, the first of the tile: its last blocks are
// transformed in place, so that every thread finds elements k and N - k.
INLINE void store_packed(Pair* __restrict__ spectrum, Pair* shared, const Pair* __restrict__ tile) {
    for (unsigned m = threadIdx.x; m < Q; m += COLUMN_THREADS) {
        Pair x[RL];
        last_block(x, shared, tile, m, 0);
#pragma unroll
        for (unsigned q = 0; q < RL; ++q) shared[(block_of<0, COLUMN_STRIDE>(m) + q) * LANES] = x[q];
    }
    __syncthreads();
    const auto z = [&](unsigned k) { return shared[(block_of<0, COLUMN_STRIDE>(k % Q) + k / Q) * LANES]; };
    for (unsigned k = threadIdx.x; k < HALF; k += COLUMN_THREADS) {
        if (k > 0) {
            const Pair low = z(k), high = z(N - k), first = first_real(low, high);
            store(spectrum, k, 0, first);
            store(spectrum, N - k, 0, conjugate(first));
            if constexpr (N % 2 == 0) {
                const Pair second = second_real(low, high);
                store(spectrum, k, N / 2, second);
                store(spectrum, N - k, N / 2, conjugate(second));
            }
        } else {
            store(spectrum, 0, 0, make(z(0).x, 0));
            if constexpr (N % 2 == 0) {
                store(spectrum, 0, N / 2, make(z(0).y, 0));
                store(spectrum, N / 2, 0, make(z(N / 2).x, 0));
                store(spectrum, N / 2, N / 2, make(z(N / 2).y, 0));
            }
        }
    }
}

// Block 0 transforms the first columns only for the packed column 0, which takes long to store. Block b > 0
// transforms columns (b - 1) COLUMNS to b COLUMNS - 1 and writes them and their mirrors. With OVERLAP it also takes
// column b COLUMNS and leaves the mirror of its first column to its neighbour, so that both runs of stores fill whole
// sectors.
extern "C" __global__ void __launch_bounds__(COLUMN_THREADS, 1)
    fft_columns(const Pair* __restrict__ half, const Pair* __restrict__ twiddles, Pair* __restrict__ spectrum) {
    extern __shared__ Pair shared[];
    const unsigned column0 = blockIdx.x == 0 ? 0 : (blockIdx.x - 1) * COLUMNS;
    const Pair* tile = half + column0;
    await_previous();
    if constexpr (STAGES > 1) {
        for (unsigned t = threadIdx.x; t < LANES * J0; t += COLUMN_THREADS) {
            const unsigned j = t / LANES;
            const Pair* source = tile + (size_t)j * PITCH + t % LANES;
            Pair x[R0];
#pragma unroll
            for (unsigned q = 0; q < R0; ++q) x[q] = __ldcs(source + q * J0 * PITCH);
            dft<R0>(x);
#pragma unroll
            for (unsigned p = 0; p < R0; ++p) shared[p * COLUMN_STRIDE * LANES + t] = twisted<0>(x[p], twiddles, j, p);
        }
        middle_stages<1, COLUMN_STRIDE, LANES, COLUMN_THREADS>(shared, twiddles);
        __syncthreads();
    }
    if (blockIdx.x == 0) {
        store_packed(spectrum, shared, tile);
        return;
    }
    for (unsigned t = threadIdx.x; t < LANES * TASKS; t += COLUMN_THREADS) {
        const unsigned lane = t % LANES, i = t / LANES, other = i == 0 ? Q / 2 : Q - i, column = column0 + lane;
        if (column == 0 || column >= HALF) continue;
        const bool has_other = Q % 2 == 0 || i > 0;
        if constexpr (RL * sizeof(Pair) <= 128) {
            Pair a[RL], b[RL];
            last_block(a, shared, tile, i, lane);
            last_block(b, shared, tile, other, lane);
            store_block(spectrum, a, i, lane, column);
            if (has_other) store_block(spectrum, b, other, lane, column);
        } else {
            // One after the other, because there are too few registers for both.
#pragma unroll 1
            for (unsigned turn = 0; turn < 1 + has_other; ++turn) {
                const unsigned m = turn == 0 ? i : other;
                Pair x[RL];
                last_block(x, shared, tile, m, lane);
                store_block(spectrum, x, m, lane, column);
            }
        }
    }
}
