// What the reductions to tridiagonal form share: Householder reflectors, and sums over a warp.

#pragma once

#include "common.cuh"
#include "mma.cuh"

// Rows whose products with the reflector are summed together.
constexpr int GROUP = 8;

// The sums over a warp of COUNT values of each lane, a power of two; lane `l` gets that of value `l * COUNT / WARP`. In
// each exchange a lane keeps half of its values and sends the others, until it has one.
template <int COUNT> __device__ __forceinline__ double warp_sums_by_shuffles(const double (&values)[COUNT]) {
    const int lane = threadIdx.x % WARP;
    double left[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) left[i] = values[i];
    int mask = WARP / 2;
#pragma unroll
    for (int half = COUNT / 2; half > 0; half /= 2, mask /= 2)
#pragma unroll
        for (int i = 0; i < half; ++i) {
            const double sent = lane & mask ? left[i] : left[i + half], kept = lane & mask ? left[i + half] : left[i];
            left[i] = kept + __shfl_xor_sync(EVERY_LANE, sent, mask);
        }
    double sum = left[0];
#pragma unroll
    for (; mask > 0; mask /= 2) sum += __shfl_xor_sync(EVERY_LANE, sum, mask);
    return sum;
}

// The same sums on the tensor cores where there are some for float64: less time for few warps, which share them. A
// product with ones in the rows of one value adds up four lanes at a time, and a second product the results.
template <int COUNT> __device__ __forceinline__ double warp_sums(const double (&values)[COUNT]) {
#if __CUDA_ARCH__ >= 800
    const int mine = threadIdx.x % WARP * COUNT / WARP;
    double even[2] = {}, odd[2] = {}, d[2] = {};
#pragma unroll
    for (int i = 0; i < COUNT; i += 2) {
        multiply(even[0], even[1], mine == i ? 1.0 : 0.0, values[i]);
        multiply(odd[0], odd[1], mine == i + 1 ? 1.0 : 0.0, values[i + 1]);
    }
    multiply(d[0], d[1], (even[0] + even[1]) + (odd[0] + odd[1]), 1.0);
    return d[0];
#else
    return warp_sums_by_shuffles(values);
#endif
}

// The reflector I - tau v v^T that maps a column, with first element `alpha`, to `beta` e_1. v is `top`, followed by the
// others times `scale`, which is 1, or 0 if the column is already zero there.
struct Reflector {
    double tau, beta, top, scale;
};

// From the sum of squares of the whole column, which must not be zero.
__device__ __forceinline__ Reflector reflector_of_length(double alpha, double length) {
    const double size = square_root(length), sum = fabs(alpha) + size;
    return {reciprocal(size * sum), alpha > 0.0 ? -size : size, alpha > 0.0 ? sum : -sum, 1.0};
}

// From the sum of squares of the others.
__device__ __forceinline__ Reflector reflector(double alpha, double square) {
    if (!(square > 0.0)) return {0.0, alpha, 0.0, 0.0};
    return reflector_of_length(alpha, fma(alpha, alpha, square));
}
