// The full complex spectrum of N x N real elements by two kernels:
// F[u, v] = sum over r, c of a[r, c] w^(u r + v c), w = e^(-2 pi i / N).
//
// `fft_rows` transforms two real rows as one complex row and keeps their half spectra; `fft_columns` transforms the
// columns of those and writes every output and its mirrored conjugate, F[u, v] = conj(F[-u, -v]). The spectra of
// columns 0 and N / 2 of a row are real, and travel as one complex column.
//
// Each transform has length N; its last stage reads the blocks that hold elements k and N - k together and writes where
// they belong.
//
// The constants below are defaults; a header before this text sets them for each N and element type, and defines the one
// kernel that it is compiled for.
#ifndef FFT_PLAN
#define FFT_ROWS
#define FFT_COLUMNS
typedef float Real;
typedef float2 Pair;
constexpr unsigned N = 2048;
constexpr unsigned LENGTH = 2048;
constexpr unsigned RADIX[] = {16, 8, 16};
constexpr unsigned ROW_THREADS = 128;     // threads of a block of `fft_rows`
constexpr unsigned ROW_STRIDE = 129;      // N / RADIX[0], padded so that strided accesses spread over the banks
constexpr unsigned COLUMNS = 8;           // columns a block of `fft_columns` writes, and their mirrors
constexpr bool OVERLAP = true;            // whether it transforms one column more, to write the mirrors aligned
constexpr unsigned COLUMN_THREADS = 576;  // its threads
constexpr unsigned COLUMN_STRIDE = 129;   // as ROW_STRIDE
constexpr unsigned PITCH = 1040;          // elements from one row of the half spectrum to the next
#endif

#include "stages.cuh"

// Pairs of last blocks, i and Q - i; the first is 0 with Q / 2, which are their own mirrors.
constexpr unsigned TASKS = (Q + 1) / 2;

// Start of the last block of index m, with digits p0, p1, ... from the lowest; blocks p0 are FIRST apart.
template <unsigned S, unsigned FIRST> INLINE unsigned block_of(unsigned m) {
    if constexpr (S >= LAST) {
        return 0;
    } else {
        constexpr unsigned R = Stage<S>::R;
        return m % R * (S == 0 ? FIRST : Stage<S>::J) + block_of<S + 1, FIRST>(m / R);
    }
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

#ifdef FFT_ROWS

// Block b transforms rows 2 b and 2 b + 1; `half` takes elements 0 to HALF - 1 of each.
extern "C" __global__ void __launch_bounds__(ROW_THREADS, ROW_THREADS > 128)
    fft_rows(const Real* __restrict__ input, const Pair* __restrict__ twiddles, Pair* __restrict__ half) {
    extern __shared__ Pair shared[];
    const unsigned row = 2 * blockIdx.x;
    if constexpr (STAGES > 1) {
        first_stage<ROW_STRIDE, 1, ROW_THREADS>(
            shared, twiddles,
            [=](unsigned j, unsigned) { return [=](unsigned q) { return two_rows(input, row, j + q * J0); }; });
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

#endif
#ifdef FFT_COLUMNS

// A result of one column, and its mirror.
INLINE void store_result(Pair* __restrict__ spectrum, Pair value, unsigned row, unsigned lane, unsigned column) {
    if (lane < COLUMNS) store(spectrum, row, column, value);
    if (!OVERLAP || lane > 0) store(spectrum, row == 0 ? 0 : N - row, N - column, conjugate(value));
}

// Last block m of one lane, transformed: each(q, element q).
template <typename Each>
INLINE void last_block(const Pair* shared, const Pair* __restrict__ tile, unsigned m, unsigned lane, Each each) {
    Pair x[RL];
    if constexpr (STAGES > 1) {
        const Pair* z = shared + block_of<0, COLUMN_STRIDE>(m) * LANES + lane;
#pragma unroll
        for (unsigned q = 0; q < RL; ++q) x[q] = z[q * LANES];
    } else {
#pragma unroll
        for (unsigned q = 0; q < RL; ++q) x[q] = __ldcs(tile + q * PITCH + lane);
    }
    dft<RL>(x, each);
}

// Columns 0 and N / 2 from the one complex column that carries both, the first of the tile: its last blocks are
// transformed in place, so that every thread finds elements k and N - k.
INLINE void store_packed(Pair* __restrict__ spectrum, Pair* shared, const Pair* __restrict__ tile) {
    for (unsigned m = threadIdx.x; m < Q; m += COLUMN_THREADS) {
        Pair* place = shared + block_of<0, COLUMN_STRIDE>(m) * LANES;
        last_block(shared, tile, m, 0, [=](unsigned q, Pair value) { place[q * LANES] = value; });
    }
    __syncthreads();
    const auto z = [&](unsigned k) { return shared[(block_of<0, COLUMN_STRIDE>(k % Q) + k / Q) * LANES]; };
    store_first_columns<COLUMN_THREADS>(spectrum, z);
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
        first_stage<COLUMN_STRIDE, LANES, COLUMN_THREADS>(
            shared, twiddles, [=](unsigned j, unsigned lane) {
                const Pair* source = tile + (size_t)j * PITCH + lane;
                return [=](unsigned q) { return __ldcs(source + q * J0 * PITCH); };
            });
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
            last_block(shared, tile, i, lane, [&](unsigned q, Pair value) { a[q] = value; });
            last_block(shared, tile, other, lane, [&](unsigned q, Pair value) { b[q] = value; });
#pragma unroll
            for (unsigned q = 0; q < RL; ++q) store_result(spectrum, a[q], i + q * Q, lane, column);
            if (has_other) {
#pragma unroll
                for (unsigned q = 0; q < RL; ++q) store_result(spectrum, b[q], other + q * Q, lane, column);
            }
        } else {
            // One after the other, because there are too few registers for both.
#pragma unroll 1
            for (unsigned turn = 0; turn < 1 + has_other; ++turn) {
                const unsigned m = turn == 0 ? i : other;
                last_block(shared, tile, m, lane, [=](unsigned q, Pair value) {
                    store_result(spectrum, value, m + q * Q, lane, column);
                });
            }
        }
    }
}

#endif
