// Converts arrays element by element to another type.

#include "common.cuh"

template <typename From, typename To>
__device__ __forceinline__ void convert(const From* __restrict__ from, To* __restrict__ to, u64 n) {
    const u64 step = grid_threads();
    for (u64 i = grid_thread(); i < n; i += step) to[i] = static_cast<To>(from[i]);
}

extern "C" __global__ void f32_to_f64(const float* from, double* to, u64 n) { convert(from, to, n); }

extern "C" __global__ void f64_to_f32(const double* from, float* to, u64 n) { convert(from, to, n); }
