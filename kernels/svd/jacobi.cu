// The singular value decomposition of one small matrix by one-sided Jacobi rotations (Hestenes 1958), in float64 and in
// one block. Rotations make the columns of A orthogonal: A V = U S.

#include "common.cuh"

constexpr int MAX_N = 32;
constexpr int MAX_SWEEPS = 30;

// A column whose square is smaller counts as zero. The largest element is 1 to 2, so its length is below 2^-100 of
// that: what rounding leaves of a dependent column gets there in a few sweeps.
constexpr double NEGLIGIBLE = 0x1p-200;

using Columns = double[MAX_N][MAX_N + 1];

// Rotates columns p and q of A, and those of V, until the two of A are orthogonal. Returns false if they were.
__device__ __forceinline__ bool rotate(Columns& a, Columns& v, int p, int q, double tolerance) {
    const int row = threadIdx.x % WARP;
    const double x = a[p][row], y = a[q][row];
    const double xx = warp_sum(x * x), yy = warp_sum(y * y), xy = warp_sum(x * y);
    if (xx < NEGLIGIBLE || yy < NEGLIGIBLE || fabs(xy) <= tolerance * sqrt(xx * yy)) return false;
    const double half_cotangent = (yy - xx) / (2.0 * xy);
    const double root = sqrt(fma(half_cotangent, half_cotangent, 1.0));
    const double tangent = 1.0 / (half_cotangent + copysign(root, half_cotangent));
    const double cosine = 1.0 / sqrt(fma(tangent, tangent, 1.0)), sine = cosine * tangent;
    // Rutishauser's form, in which errors of sine and cosine hardly change lengths.
    const double ratio = sine / (1.0 + cosine);
    const auto apply = [&](Columns& columns) {
        const double first = columns[p][row], second = columns[q][row];
        columns[p][row] = first - sine * fma(ratio, first, second);
        columns[q][row] = second + sine * fma(-ratio, second, first);
    };
    apply(a);
    apply(v);
    return true;
}

// The columns that a warp rotates in a round, of an even number: a round-robin tournament, in which each column meets
// each other one.
__device__ __forceinline__ void opponents(int count, int round, int warp, int& p, int& q) {
    const int others = count - 1;
    p = warp == 0 ? others : (round + warp) % others;
    q = (round + others - warp) % others;
}

// Replaces the columns of U without a length by unit vectors that are orthogonal to all others. One warp.
__device__ void complete(Columns& u, const double (&lengths)[MAX_N], int n) {
    const int row = threadIdx.x % WARP;
    for (int column = 0; column < n; ++column) {
        if (lengths[column] > 0.0) continue;
        for (int tried = 0; tried < n; ++tried) {
            double x = row == (column + tried) % n ? 1.0 : 0.0;
            // Twice: the first time may leave a rounding error that is large for what remains.
            for (int pass = 0; pass < 2; ++pass)
                for (int other = 0; other < n; ++other)
                    if (other < column || lengths[other] > 0.0) x -= warp_sum(u[other][row] * x) * u[other][row];
            const double square = warp_sum(x * x);
            // The squares of all n unit vectors' remainders sum to one or more, so one of them passes.
            if (2.0 * n * square < 1.0) continue;
            u[column][row] = x / sqrt(square);
            break;
        }
        __syncwarp();
    }
}

// Decomposes the row-major n x n matrix `matrix` to the row-major U and V^T and to the values, in descending order. The
// block has a warp for every two columns. `info` is 1 if the rotations did not converge.
template <typename T>
__device__ __forceinline__ void decompose(const T* matrix, T* left, T* values, T* right, int* info, int n) {
    __shared__ Columns a, v;
    __shared__ double lengths[MAX_N];
    __shared__ int exponents[MAX_N];
    const int warp = threadIdx.x / WARP, row = threadIdx.x % WARP, warps = blockDim.x / WARP;
    bool is_finite = true;
    for (int column = warp; column < MAX_N; column += warps) {
        const double x = row < n && column < n ? (double)matrix[row * n + column] : 0.0;
        is_finite = is_finite && fabs(x) <= 1.7976931348623157e308;
        a[column][row] = x;
        v[column][row] = row == column ? 1.0 : 0.0;
        // The exponent field of a magnitude ascends with it.
        const int exponent = warp_max((int)(((u64)__double_as_longlong(x) >> 52) & 0x7ff));
        if (row == 0) exponents[column] = exponent;
    }
    is_finite = __syncthreads_and(is_finite);
    int largest = 0;
    for (int column = 0; column < n; ++column) largest = max(largest, exponents[column]);
    // Elements below 2, so that no square overflows.
    const int shift = largest == 0 ? 1022 : 1023 - largest;
    for (int column = warp; column < n; column += warps) a[column][row] = ldexp(a[column][row], shift);
    __syncthreads();

    const double tolerance = 4.0 * sqrt((double)n) * 1.1102230246251565e-16;
    const int count = n + n % 2;
    bool has_rotated = is_finite;
    for (int sweep = 0; sweep < MAX_SWEEPS && has_rotated; ++sweep) {
        bool rotated = false;
        for (int round = 0; round < count - 1; ++round) {
            int p, q;
            opponents(count, round, warp, p, q);
            if (p < n && q < n) rotated = rotate(a, v, p, q, tolerance) || rotated;
            __syncthreads();
        }
        has_rotated = __syncthreads_or(rotated);
    }
    if (threadIdx.x == 0) *info = has_rotated;

    for (int column = warp; column < n; column += warps) {
        const double x = a[column][row], square = warp_sum(x * x);
        const double length = square < NEGLIGIBLE ? 0.0 : sqrt(square);
        if (row == 0) lengths[column] = length;
        if (length > 0.0) a[column][row] = x / length;
    }
    __syncthreads();
    if (warp == 0) complete(a, lengths, n);
    __syncthreads();
    for (int column = warp; column < n; column += warps) {
        int rank = 0;
        for (int other = 0; other < n; ++other)
            rank += lengths[other] > lengths[column] || (lengths[other] == lengths[column] && other < column);
        if (!is_finite) rank = column;
        const double nan = __longlong_as_double(0x7ff8000000000000);
        if (row == 0) values[rank] = (T)(is_finite ? ldexp(lengths[column], -shift) : nan);
        if (row < n) {
            left[row * n + rank] = (T)(is_finite ? a[column][row] : nan);
            right[rank * n + row] = (T)(is_finite ? v[column][row] : nan);
        }
    }
}

#define ENTRY(type, suffix)                                                                              \
    extern "C" __global__ void __launch_bounds__(MAX_N / 2 * WARP)                                       \
        svd_jacobi_##suffix(const type* __restrict__ matrix, type* __restrict__ left,                    \
                            type* __restrict__ values, type* __restrict__ right, int* __restrict__ info, \
                            int n) {                                                                     \
        decompose(matrix, left, values, right, info, n);                                                 \
    }
#ifdef F32
ENTRY(float, f32)
#endif
#ifdef F64
ENTRY(double, f64)
#endif
