// What the reductions to tridiagonal form share: Householder reflectors, and sums over a warp.

#pragma once

#include "common.cuh"

// Rows whose products with the reflector are summed together.
constexpr int GROUP = 8;

// Halves the values of a lane while adding those of its partner lane; each keeps one half of the rows.
template <int HALF, int MASK>
__device__ __forceinline__ void fold(double (&values)[GROUP], bool upper) {
#pragma unroll
    for (int r = 0; r < HALF; ++r) {
        const double sent = upper ? values[r] : values[r + HALF];
        const double kept = upper ? values[r + HALF] : values[r];
        values[r] = kept + __shfl_xor_sync(EVERY_LANE, sent, MASK);
    }
}

// The sums over a warp of 8 values of each lane; lane `l` gets that of value `l / 4`.
__device__ __forceinline__ double warp_sums(double (&values)[GROUP]) {
    const int lane = threadIdx.x % WARP;
    fold<4, 16>(values, lane & 16);
    fold<2, 8>(values, lane & 8);
    fold<1, 4>(values, lane & 4);
    const double sum = values[0] + __shfl_xor_sync(EVERY_LANE, values[0], 2);
    return sum + __shfl_xor_sync(EVERY_LANE, sum, 1);
}

// The reflector I - tau v v^T that maps a column, with first element `alpha` and that sum of squares of the others,
// to `beta` e_1. v is `top`, followed by the others times `scale`, which is 1, or 0 if the column is already zero
// there.
struct Reflector {
    double tau, beta, top, scale;
};

__device__ __forceinline__ Reflector reflector(double alpha, double square) {
    if (!(square > 0.0)) return {0.0, alpha, 0.0, 0.0};
    const double length = fma(alpha, alpha, square), size = length * inverse_root(length), sum = fabs(alpha) + size;
    return {reciprocal(size * sum), alpha > 0.0 ? -size : size, alpha > 0.0 ? sum : -sum, 1.0};
}
