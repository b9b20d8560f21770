// The full complex spectrum of N x N real elements for any N, by two kernels as in hermitian.cu. A transform of
// length N is a convolution with a chirp c[k] = e^(-pi i k^2 / N):
// X[k] = c[k] sum over n of (x[n] c[n]) conj(c[k - n]),
// which transforms of LENGTH >= 2 N - 1 elements compute (Bluestein).
//
// The first transform decimates in frequency, in place, so its result is in another order. The product with the
// transformed chirp, the filter, is in that order too. The second is the transpose of the first and takes that
// order back: the stages in reverse, each with its twiddles before and not after its butterflies. It is the inverse
// one because its operand and its result are conjugated.
//
// The constants below are defaults; a header before this text sets them for each N and element type, and defines the one
// kernel that it is compiled for.
#ifndef FFT_PLAN
#define FFT_ROWS
#define FFT_COLUMNS
typedef float Real;
typedef float2 Pair;
constexpr unsigned N = 777;
constexpr unsigned LENGTH = 1568;
constexpr unsigned RADIX[] = {8, 14, 14};
constexpr unsigned ROW_THREADS = 128;
constexpr unsigned ROW_STRIDE = 210;
constexpr unsigned COLUMNS = 4;
constexpr bool OVERLAP = false;
constexpr unsigned COLUMN_THREADS = 416;
constexpr unsigned COLUMN_STRIDE = 197;
constexpr unsigned PITCH = 400;
#endif

#include "stages.cuh"

// The stores of fft_columns write the mirror of each column.
static_assert(STAGES > 1 && !OVERLAP);

// Starts of the chirp and of the filter in the table that begins with the twiddles.
constexpr unsigned CHIRP = LENGTH - RL, FILTER = CHIRP + N;

INLINE Pair chirped(Pair value, const Pair* __restrict__ tables, unsigned k) {
    return times(value, __ldg(&tables[CHIRP + k]));
}

// The last stage of SIDE transforms, the product with the filter, and the first stage back.
template <unsigned FIRST, unsigned SIDE, unsigned THREADS>
INLINE void filter(Pair* shared, const Pair* __restrict__ tables) {
    __syncthreads();
    for (unsigned t = threadIdx.x; t < SIDE * Q; t += THREADS) {
        const unsigned start = t / SIDE * RL;
        Pair* z = shared + (start / J0 * FIRST + start % J0) * SIDE + t % SIDE;
        Pair x[RL];
#pragma unroll
        for (unsigned q = 0; q < RL; ++q) x[q] = z[q * SIDE];
        dft<RL>(x);
#pragma unroll
        for (unsigned q = 0; q < RL; ++q) x[q] = conjugate(times(x[q], __ldg(&tables[FILTER + start + q])));
        dft<RL>(x);
#pragma unroll
        for (unsigned q = 0; q < RL; ++q) z[q * SIDE] = x[q];
    }
}

// The middle stages back, from stage S down to 1.
template <unsigned S, unsigned FIRST, unsigned SIDE, unsigned THREADS>
INLINE void middle_stages_back(Pair* shared, const Pair* __restrict__ twiddles) {
    if constexpr (S > 0) {
        constexpr unsigned R = Stage<S>::R, J = Stage<S>::J;
        middle_butterflies<S, FIRST, SIDE, THREADS>(shared, [=](Pair* z, unsigned j) {
            Pair x[R];
#pragma unroll
            for (unsigned p = 0; p < R; ++p) x[p] = twisted<S>(z[p * J * SIDE], twiddles, j, p);
            dft<R>(x);
#pragma unroll
            for (unsigned q = 0; q < R; ++q) z[q * J * SIDE] = x[q];
        });
        middle_stages_back<S - 1, FIRST, SIDE, THREADS>(shared, twiddles);
    }
}

// The last stage back: each(k, side, z[k], place of z[k]) for the elements of SIDE transforms of length N. The places
// of a butterfly are those that it has read.
template <unsigned FIRST, unsigned SIDE, unsigned THREADS, typename Each>
INLINE void last_stage_back(Pair* shared, const Pair* __restrict__ tables, Each each) {
    __syncthreads();
    for (unsigned t = threadIdx.x; t < SIDE * J0; t += THREADS) {
        const unsigned j = t / SIDE;
        Pair x[R0];
#pragma unroll
        for (unsigned p = 0; p < R0; ++p) x[p] = twisted<0>(shared[p * FIRST * SIDE + t], tables, j, p);
        dft<R0>(x);
#pragma unroll
        for (unsigned q = 0; q < R0; ++q) {
            const unsigned k = j + q * J0;
            if (k < N) each(k, t % SIDE, chirped(conjugate(x[q]), tables, k), shared[q * FIRST * SIDE + t]);
        }
    }
}

// SIDE transforms of length N whose element k is load(k, side).
template <unsigned FIRST, unsigned SIDE, unsigned THREADS, typename Load, typename Each>
INLINE void transform(Pair* shared, const Pair* __restrict__ tables, Load load, Each each) {
    first_stage<FIRST, SIDE, THREADS>(shared, tables, [&](unsigned j, unsigned side) {
        return [&, j, side](unsigned q) {
            const unsigned k = j + q * J0;
            return k < N ? chirped(load(k, side), tables, k) : make(0, 0);
        };
    });
    middle_stages<1, FIRST, SIDE, THREADS>(shared, tables);
    filter<FIRST, SIDE, THREADS>(shared, tables);
    middle_stages_back<LAST - 1, FIRST, SIDE, THREADS>(shared, tables);
    last_stage_back<FIRST, SIDE, THREADS>(shared, tables, each);
}

// What all elements share would leave rounding errors in every result, where a transform without a convolution cancels
// it. So a constant is subtracted from the rows, and from the packed column 0, the sums of rows: of three elements the
// middle one in size, which a single large element does not change. Element 0 of the result gets it back.
INLINE Real middle(Real a, Real b, Real c) {
    const Real low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c < high ? c : high;
}
template <typename Load> INLINE Pair constant_of(Load load) {
    const Pair a = load(0), b = load(N / 3), c = load(2 * N / 3);
    return make(middle(a.x, b.x, c.x), middle(a.y, b.y, c.y));
}
INLINE Pair with_constant(Pair value, Pair constant) {
    return add(value, make(Real(N) * constant.x, Real(N) * constant.y));
}

#ifdef FFT_ROWS

// Block b transforms rows 2 b and 2 b + 1; `half` takes elements 0 to HALF - 1 of each.
extern "C" __global__ void __launch_bounds__(ROW_THREADS, ROW_THREADS > 128)
    fft_rows(const Real* __restrict__ input, const Pair* __restrict__ tables, Pair* __restrict__ half) {
    extern __shared__ Pair shared[];
    const unsigned row = 2 * blockIdx.x;
    const auto x = [&](unsigned k) { return two_rows(input, row, k); };
    const Pair constant = constant_of(x);
    transform<ROW_STRIDE, 1, ROW_THREADS>(
        shared, tables, [&](unsigned k, unsigned) { return sub(x(k), constant); },
        [&](unsigned k, unsigned, Pair value, Pair& place) { place = k == 0 ? with_constant(value, constant) : value; });
    __syncthreads();
    release_next();
    const auto z = [&](unsigned k) { return shared[k / J0 * ROW_STRIDE + k % J0]; };
    Pair *first = half + (size_t)row * PITCH, *second = first + PITCH;
    for (unsigned k = threadIdx.x; k < HALF; k += ROW_THREADS) {
        const Pair low = z(k), high = z(k > 0 ? N - k : N % 2 == 0 ? N / 2 : 0);
        const bool packed = k == 0;
        first[k] = packed ? make(low.x, N % 2 == 0 ? high.x : Real(0)) : first_real(low, high);
        if (has_second(row))
            second[k] = packed ? make(low.y, N % 2 == 0 ? high.y : Real(0)) : second_real(low, high);
    }
}

#endif
#ifdef FFT_COLUMNS

// Block 0 transforms the first columns for the packed column 0 only; block b > 0 transforms columns (b - 1) COLUMNS
// to b COLUMNS - 1, as in hermitian.cu.
extern "C" __global__ void __launch_bounds__(COLUMN_THREADS, 1)
    fft_columns(const Pair* __restrict__ half, const Pair* __restrict__ tables, Pair* __restrict__ spectrum) {
    extern __shared__ Pair shared[];
    const bool first_columns = blockIdx.x == 0;
    const unsigned column0 = first_columns ? 0 : (blockIdx.x - 1) * COLUMNS;
    const Pair* tile = half + column0;
    await_previous();
    const auto x = [&](unsigned k, unsigned lane) { return __ldcs(tile + (size_t)k * PITCH + lane); };
    const Pair constant = first_columns ? constant_of([&](unsigned k) { return x(k, 0); }) : make(0, 0);
    transform<COLUMN_STRIDE, LANES, COLUMN_THREADS>(
        shared, tables, [&](unsigned k, unsigned lane) { return sub(x(k, lane), constant); },
        [&](unsigned row, unsigned lane, Pair value, Pair& place) {
            const unsigned column = column0 + lane;
            if (first_columns) {
                place = row == 0 ? with_constant(value, constant) : value;
            } else if (column > 0 && column < HALF) {
                store(spectrum, row, column, value);
                store(spectrum, row == 0 ? 0 : N - row, N - column, conjugate(value));
            }
        });
    if (first_columns) {
        __syncthreads();
        const auto z = [&](unsigned k) { return shared[(k / J0 * COLUMN_STRIDE + k % J0) * LANES]; };
        store_first_columns<COLUMN_THREADS>(spectrum, z);
    }
}

#endif
