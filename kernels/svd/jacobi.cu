// The singular value decompositions of small matrices by one-sided Jacobi rotations (Hestenes 1958), in float64 and in
// one block per matrix. Rotations make the columns of A orthogonal: A V = U S. A matrix with more columns than rows is
// decomposed as its transpose.

#include "common.cuh"

constexpr int MAX_SWEEPS = 30;
// Threads that rotate two columns; each has every eighth row.
constexpr int LANES = 8;

// A column whose square is smaller counts as zero. The largest element is 1 to 2, so its length is below 2^-100 of
// that: what rounding leaves of a dependent column gets there in a few sweeps.
constexpr double NEGLIGIBLE = 0x1p-200;

// Columns of up to SIDE rows in shared memory. The distance of two columns is an odd multiple of LANES, so that the
// neighbouring columns that half a warp reads are in different banks.
template <int SIDE> struct Columns {
    static constexpr int STRIDE = SIDE | LANES;
    double* elements;
    __device__ __forceinline__ double* operator[](int column) { return elements + column * STRIDE; }
};

// The sum over LANES neighbouring threads, the same in all of them.
__device__ __forceinline__ double lanes_sum(double value) {
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) value += __shfl_xor_sync(EVERY_LANE, value, mask);
    return value;
}

// Rotates two columns of A, whose squared lengths are `norms`, and those of V, until the two of A are orthogonal. Returns
// false if they were. Threads without two columns pass `is_pair` false.
template <int SIDE>
__device__ __forceinline__ bool rotate(double* ap, double* aq, double* vp, double* vq, double* norm_p, double* norm_q,
                                       bool is_pair, double tolerance) {
    constexpr int STEPS = SIDE / LANES;
    const double xx = is_pair ? *norm_p : 0.0, yy = is_pair ? *norm_q : 0.0;
    double x[STEPS], y[STEPS], xy = 0.0;
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        x[step] = is_pair ? ap[step * LANES] : 0.0;
        y[step] = is_pair ? aq[step * LANES] : 0.0;
        xy = fma(x[step], y[step], xy);
    }
    xy = lanes_sum(xy);
    if (xx < NEGLIGIBLE || yy < NEGLIGIBLE || fabs(xy) <= tolerance * square_root(xx * yy)) return false;
    const double difference = yy - xx, twice = 2.0 * xy;
    const double root = square_root(fma(difference, difference, twice * twice));
    const double tangent = twice * reciprocal(difference + copysign(root, difference));
    const double cosine = inverse_root(fma(tangent, tangent, 1.0)), sine = cosine * tangent;
    // Rutishauser's form, in which errors of sine and cosine hardly change lengths.
    const double ratio = sine * reciprocal(1.0 + cosine);
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        const int row = step * LANES;
        ap[row] = x[step] - sine * fma(ratio, x[step], y[step]);
        aq[row] = y[step] + sine * fma(-ratio, y[step], x[step]);
        const double first = vp[row], second = vq[row];
        vp[row] = first - sine * fma(ratio, first, second);
        vq[row] = second + sine * fma(-ratio, second, first);
    }
    // All threads of the pair have passed the sum since they read these, and write the same.
    *norm_p = xx - tangent * xy;
    *norm_q = yy + tangent * xy;
    return true;
}

// The columns that a pair of an even number rotates in a round: a round-robin tournament, in which each column meets
// each other one.
__device__ __forceinline__ void opponents(int count, int round, int pair, int& p, int& q) {
    const int others = count - 1, after = round + pair, before = round - pair;
    p = pair == 0 ? others : after < others ? after : after - others;
    q = before < 0 ? before + others : before;
}

// Replaces the columns of U without a length by unit vectors that are orthogonal to all others. One warp.
template <int SIDE>
__device__ void complete(Columns<SIDE> u, const double (&lengths)[SIDE], int rows, int cols) {
    constexpr int STEPS = (SIDE + WARP - 1) / WARP;
    const int lane = threadIdx.x % WARP;
    for (int column = 0; column < cols; ++column) {
        if (lengths[column] > 0.0) continue;
        for (int tried = 0; tried < rows; ++tried) {
            double x[STEPS], square = 0.0;
            for (int step = 0; step < STEPS; ++step)
                x[step] = lane + step * WARP == (column + tried) % rows ? 1.0 : 0.0;
            // Twice: the first time may leave a rounding error that is large for what remains.
            for (int pass = 0; pass < 2; ++pass)
                for (int other = 0; other < cols; ++other) {
                    if (other >= column && lengths[other] == 0.0) continue;
                    double part = 0.0;
                    for (int step = 0; step < STEPS; ++step)
                        if (lane + step * WARP < SIDE) part += u[other][lane + step * WARP] * x[step];
                    part = warp_sum(part);
                    for (int step = 0; step < STEPS; ++step)
                        if (lane + step * WARP < SIDE) x[step] -= part * u[other][lane + step * WARP];
                }
            for (int step = 0; step < STEPS; ++step) square += x[step] * x[step];
            square = warp_sum(square);
            // The squares of the remainders of all unit vectors sum to one or more, so one of them passes.
            if (2.0 * rows * square < 1.0) continue;
            for (int step = 0; step < STEPS; ++step)
                if (lane + step * WARP < SIDE) u[column][lane + step * WARP] = x[step] / sqrt(square);
            break;
        }
        __syncwarp();
    }
}

// Computes the squared lengths of columns. All threads of a warp take part in the sums.
template <int SIDE>
__device__ __forceinline__ void square_lengths(Columns<SIDE> a, double (&squares)[SIDE], int rows, int cols) {
    const int lane = threadIdx.x % LANES;
    for (int first = 0; first < cols; first += blockDim.x / LANES) {
        const int column = first + threadIdx.x / LANES, end = column < cols ? rows : 0;
        double square = 0.0;
        for (int row = lane; row < end; row += LANES) square = fma(a[column][row], a[column][row], square);
        square = lanes_sum(square);
        if (lane == 0 && column < cols) squares[column] = square;
    }
    __syncthreads();
}

// Decomposes the row-major m x n matrices, one per block, to the row-major U and V^T and to the values, in descending
// order; k is the smaller of m and n. The block has LANES threads for every two of k columns. `info` is 1 where the
// rotations did not converge.
template <typename T, int SIDE>
__device__ __forceinline__ void decompose(const T* matrices, T* lefts, T* all_values, T* rights, int* infos, int m,
                                          int n) {
    extern __shared__ __align__(16) double shared[];
    // The lengths of columns, or during the sweeps their squares.
    __shared__ double lengths[SIDE];
    __shared__ int columns_by_rank[SIDE], largest;
    const int rows = max(m, n), cols = min(m, n), count = cols + cols % 2, threads = blockDim.x;
    Columns<SIDE> a{shared}, v{shared + count * Columns<SIDE>::STRIDE};
    const T* matrix = matrices + (size_t)blockIdx.x * m * n;
    T *left = lefts + (size_t)blockIdx.x * m * cols, *right = rights + (size_t)blockIdx.x * cols * n;
    T* values = all_values + (size_t)blockIdx.x * cols;

    for (int index = threadIdx.x; index < 2 * count * Columns<SIDE>::STRIDE; index += threads) shared[index] = 0.0;
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    bool is_finite = true;
    int exponent = 0;
    for (int index = threadIdx.x; index < m * n; index += threads) {
        const double x = (double)matrix[index];
        const int row = index / n, column = index % n;
        is_finite = is_finite && fabs(x) <= 1.7976931348623157e308;
        // The exponent field of a magnitude ascends with it.
        exponent = max(exponent, (int)(((u64)__double_as_longlong(x) >> 52) & 0x7ff));
        if (m < n) a[row][column] = x;
        else a[column][row] = x;
    }
    for (int column = threadIdx.x; column < cols; column += threads) v[column][column] = 1.0;
    exponent = warp_max(exponent);
    if (threadIdx.x % WARP == 0) atomicMax(&largest, exponent);
    is_finite = __syncthreads_and(is_finite);
    // Elements below 2, so that no square overflows.
    const int shift = largest == 0 ? 1022 : 1023 - largest;
    for (int index = threadIdx.x; index < count * Columns<SIDE>::STRIDE; index += threads)
        shared[index] = ldexp(shared[index], shift);
    __syncthreads();

    // Answers in float32 need no orthogonality beyond their rounding errors.
    const double roundoff = sizeof(T) == 4 ? 0x1p-34 : 0x1p-53, tolerance = 4.0 * sqrt((double)rows) * roundoff;
    const int pair = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    bool has_rotated = is_finite;
    for (int sweep = 0; sweep < MAX_SWEEPS && has_rotated; ++sweep) {
        bool rotated = false;
        // Rotations update these with rounding errors; a sweep without rotations, the last, has them exact.
        square_lengths(a, lengths, rows, cols);
        for (int round = 0; round < count - 1; ++round) {
            int p = 0, q = 0;
            if (pair < count / 2) opponents(count, round, pair, p, q);
            const bool is_pair = pair < count / 2 && p < cols && q < cols;
            rotated = rotate<SIDE>(a[p] + lane, a[q] + lane, v[p] + lane, v[q] + lane, lengths + p, lengths + q, is_pair,
                                   tolerance) || rotated;
            __syncthreads();
        }
        has_rotated = __syncthreads_or(rotated);
    }
    if (threadIdx.x == 0) infos[blockIdx.x] = has_rotated;

    square_lengths(a, lengths, rows, cols);
    for (int column = threadIdx.x; column < cols; column += threads)
        lengths[column] = lengths[column] < NEGLIGIBLE ? 0.0 : sqrt(lengths[column]);
    __syncthreads();
    for (int column = pair; column < cols; column += threads / LANES)
        if (lengths[column] > 0.0)
            for (int row = lane; row < rows; row += LANES) a[column][row] /= lengths[column];
    __syncthreads();
    if (threadIdx.x < WARP) complete(a, lengths, rows, cols);
    for (int column = threadIdx.x; column < cols; column += threads) {
        int rank = 0;
        for (int other = 0; other < cols; ++other)
            rank += lengths[other] > lengths[column] || (lengths[other] == lengths[column] && other < column);
        columns_by_rank[is_finite ? rank : column] = column;
    }
    __syncthreads();
    const double nan = __longlong_as_double(0x7ff8000000000000);
    for (int rank = threadIdx.x; rank < cols; rank += threads)
        values[rank] = (T)(is_finite ? ldexp(lengths[columns_by_rank[rank]], -shift) : nan);
    // Of the transpose, U and V are exchanged.
    Columns<SIDE> of_left = m < n ? v : a, of_right = m < n ? a : v;
    for (int index = threadIdx.x; index < m * cols; index += threads)
        left[index] = (T)(is_finite ? of_left[columns_by_rank[index % cols]][index / cols] : nan);
    for (int index = threadIdx.x; index < cols * n; index += threads)
        right[index] = (T)(is_finite ? of_right[columns_by_rank[index / n]][index % n] : nan);
}

// `blocks` of a size fit in a multiprocessor with registers for all values.
#define ENTRY(type, suffix, side, blocks)                                                                     \
    extern "C" __global__ void __launch_bounds__(side / 2 * LANES, blocks)                                    \
        svd_jacobi_##suffix##_##side(const type* __restrict__ matrices, type* __restrict__ lefts,             \
                                     type* __restrict__ values, type* __restrict__ rights,                    \
                                     int* __restrict__ infos, int m, int n) {                                 \
        decompose<type, side>(matrices, lefts, values, rights, infos, m, n);                                  \
    }
#define ENTRIES(type, suffix)   \
    ENTRY(type, suffix, 8, 32)  \
    ENTRY(type, suffix, 16, 20) \
    ENTRY(type, suffix, 32, 8)  \
    ENTRY(type, suffix, 64, 3)
#ifdef F32
ENTRIES(float, f32)
#endif
#ifdef F64
ENTRIES(double, f64)
#endif
