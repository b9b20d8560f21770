// Transforms of LENGTH = RADIX[0] RADIX[1] ... complex elements in shared memory, by stages, and what the passes over an
// N x N matrix share. Who includes this text defines Real, Pair, N, LENGTH, RADIX, COLUMNS and OVERLAP before.
//
// A transform decimates in frequency, in place: element k of the result, k = p0 + R0 (p1 + R1 (p2 ...)), ends at
// p0 LENGTH / R0 + p1 LENGTH / (R0 R1) + ...

#pragma once

#include "dependent_launch.cuh"

#define INLINE __device__ __forceinline__
#define CONSTANT __host__ __device__ constexpr

constexpr unsigned STAGES = sizeof(RADIX) / sizeof(RADIX[0]);
constexpr unsigned HALF = (N + 1) / 2;         // complex columns of the half spectrum
constexpr unsigned LANES = COLUMNS + OVERLAP;  // columns a block transforms

// Elements of the blocks that stage `stage` splits.
CONSTANT unsigned length_at(unsigned stage) {
    unsigned length = LENGTH;
    for (unsigned i = 0; i < stage; ++i) length /= RADIX[i];
    return length;
}

template <unsigned S> struct Stage {
    static constexpr unsigned R = RADIX[S], L = length_at(S), J = L / R;
    static constexpr unsigned TWIDDLES = LENGTH - L;  // start of its table of (R - 1) J entries
};

constexpr unsigned R0 = RADIX[0], J0 = LENGTH / R0;
constexpr unsigned LAST = STAGES - 1, RL = RADIX[LAST], Q = LENGTH / RL;

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

// R odd: sums and differences of x[k] and x[R - k] need real factors only. Passes element k of the result to each(k, value)
// as soon as it is known, so that it takes no register. `each` may overwrite x, which has been read by then.
template <unsigned R, typename Each> INLINE void odd_dft(const Pair (&x)[R], Each each) {
    constexpr Roots<R> roots;
    constexpr unsigned H = R / 2;
    Pair sum[H], difference[H];
    const Pair first = x[0];
    Pair total = first;
#pragma unroll
    for (unsigned k = 0; k < H; ++k) {
        sum[k] = add(x[k + 1], x[R - 1 - k]);
        difference[k] = sub(x[k + 1], x[R - 1 - k]);
        total = add(total, sum[k]);
    }
    each(0, total);
#pragma unroll
    for (unsigned j = 1; j <= H; ++j) {
        Pair u = first, v = make(0, 0);
#pragma unroll
        for (unsigned k = 0; k < H; ++k) {
            const unsigned root = j * (k + 1) % R;
            u = make(u.x + roots.x[root] * sum[k].x, u.y + roots.x[root] * sum[k].y);
            v = make(v.x + roots.y[root] * difference[k].x, v.y + roots.y[root] * difference[k].y);
        }
        each(j, make(u.x - v.y, u.y + v.x));
        each(R - j, make(u.x + v.y, u.y - v.x));
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
    } else if constexpr (R == 6 || R == 10 || R == 14 || R == 22 || R == 26) {
        coprime_dft<2, R / 2>(x);
    } else if constexpr (R > 1) {
        odd_dft<R>(x, [&](unsigned k, Pair value) { x[k] = value; });
    }
}

// The same; passes element k of the result to each(k, value), AT_ONCE as soon as it is known. Smaller radices have registers for
// all results.
template <unsigned R, bool AT_ONCE = (R > 16 && R % 2 == 1), typename Each> INLINE void dft(Pair (&x)[R], Each each) {
    if constexpr (AT_ONCE) {
        odd_dft<R>(x, each);
    } else {
        dft<R>(x);
#pragma unroll
        for (unsigned k = 0; k < R; ++k) each(k, x[k]);
    }
}

// `value`, element p of butterfly j in stage S, times its twiddle.
template <unsigned S> INLINE Pair twisted(Pair value, const Pair* __restrict__ twiddles, unsigned j, unsigned p) {
    return p == 0 ? value : times(value, __ldg(&twiddles[Stage<S>::TWIDDLES + (p - 1) * Stage<S>::J + j]));
}

// Transforms x, multiplies element p of the result by its twiddle, and passes it to keep(p, value). With the largest radices
// float64 computes all elements first. Passed on one by one, each would wait for its twiddle, because there are no
// registers to load twiddles ahead.
template <unsigned S, typename Keep>
INLINE void twisted_dft(Pair (&x)[Stage<S>::R], const Pair* __restrict__ twiddles, unsigned j, Keep keep) {
    constexpr unsigned R = Stage<S>::R;
    const auto each = [&](unsigned p, Pair value) { keep(p, twisted<S>(value, twiddles, j, p)); };
    if constexpr (sizeof(Real) == 8 && R > 23)
        dft<R, false>(x, each);
    else
        dft<R>(x, each);
}

// Butterfly `task` of middle stage S: the first of its elements, and its place j in the block. p0 runs fastest, since
// blocks p0 are padded apart.
template <unsigned S, unsigned FIRST> INLINE unsigned middle_of(unsigned task, unsigned& j) {
    const unsigned p0 = task % R0, rest = task / R0;
    j = rest % Stage<S>::J;
    return p0 * FIRST + rest / Stage<S>::J * Stage<S>::L + j;
}

// The first stage of SIDE transforms whose element j + q J0 is load(j, side)(q).
template <unsigned FIRST, unsigned SIDE, unsigned THREADS, typename Load>
INLINE void first_stage(Pair* shared, const Pair* __restrict__ twiddles, Load load) {
    for (unsigned t = threadIdx.x; t < SIDE * J0; t += THREADS) {
        const unsigned j = t / SIDE;
        const auto element = load(j, t % SIDE);
        Pair x[R0];
#pragma unroll
        for (unsigned q = 0; q < R0; ++q) x[q] = element(q);
        twisted_dft<0>(x, twiddles, j, [&](unsigned p, Pair value) { shared[p * FIRST * SIDE + t] = value; });
    }
}

// Calls each(first element, place j in its block) for every butterfly of middle stage S, once all threads have come.
template <unsigned S, unsigned FIRST, unsigned SIDE, unsigned THREADS, typename Each>
INLINE void middle_butterflies(Pair* shared, Each each) {
    __syncthreads();
    for (unsigned t = threadIdx.x; t < SIDE * (LENGTH / Stage<S>::R); t += THREADS) {
        unsigned j;
        Pair* z = shared + middle_of<S, FIRST>(t / SIDE, j) * SIDE + t % SIDE;
        each(z, j);
    }
}

// The middle stages of SIDE transforms, with elements of equal index next to each other in shared memory.
template <unsigned S, unsigned FIRST, unsigned SIDE, unsigned THREADS>
INLINE void middle_stages(Pair* shared, const Pair* __restrict__ twiddles) {
    if constexpr (S < LAST) {
        constexpr unsigned R = Stage<S>::R, J = Stage<S>::J;
        middle_butterflies<S, FIRST, SIDE, THREADS>(shared, [=](Pair* z, unsigned j) {
            Pair x[R];
#pragma unroll
            for (unsigned q = 0; q < R; ++q) x[q] = z[q * J * SIDE];
            twisted_dft<S>(x, twiddles, j, [&](unsigned p, Pair value) { z[p * J * SIDE] = value; });
        });
        middle_stages<S + 1, FIRST, SIDE, THREADS>(shared, twiddles);
    }
}

// The spectra of two real rows from that of x1 + i x2 in conjugate places.
INLINE Pair first_real(Pair low, Pair high) {
    return make(Real(0.5) * (low.x + high.x), Real(0.5) * (low.y - high.y));
}
INLINE Pair second_real(Pair low, Pair high) {
    return make(Real(0.5) * (low.y + high.y), Real(0.5) * (high.x - low.x));
}

// An odd N leaves the last row without a second.
INLINE bool has_second(unsigned row) { return N % 2 == 0 || row + 1 < N; }

INLINE Pair two_rows(const Real* __restrict__ input, unsigned row, unsigned column) {
    const Real* place = input + (size_t)row * N + column;
    return make(__ldg(place), has_second(row) ? __ldg(place + N) : Real(0));
}

INLINE void store(Pair* __restrict__ spectrum, unsigned row, unsigned column, Pair value) {
    __stcs(&spectrum[(size_t)row * N + column], value);
}

// Columns 0 and N / 2 from the one complex column that carries both, whose element k is z(k).
template <unsigned THREADS, typename Element> INLINE void store_first_columns(Pair* __restrict__ spectrum, Element z) {
    for (unsigned k = threadIdx.x; k < HALF; k += THREADS) {
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
