// Converts arrays element by element to another type, and square matrices to and from padded rows.

#include "common.cuh"

template <typename From, typename To>
__device__ __forceinline__ void convert(const From* __restrict__ from, To* __restrict__ to, u64 n) {
    const u64 step = grid_threads();
    for (u64 i = grid_thread(); i < n; i += step) to[i] = static_cast<To>(from[i]);
}

extern "C" __global__ void f32_to_f64(const float* from, double* to, u64 n) { convert(from, to, n); }

extern "C" __global__ void f64_to_f32(const double* from, float* to, u64 n) { convert(from, to, n); }

// Nearest float16, ties to even.
extern "C" __global__ void __launch_bounds__(256)
    to_f16(const float* x, u16* y, u64 n) {
    const u64 stride = gridDim.x * (u64)blockDim.x;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = float16_bits(x[i]);
    }
}

// Nearest bfloat16, ties to even; NaN stays NaN.
extern "C" __global__ void __launch_bounds__(256)
    to_bf16(const float* x, u16* y, u64 n) {
    const u64 stride = gridDim.x * (u64)blockDim.x;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = bfloat16_bits(x[i]);
    }
}

// Block r converts row r of a matrix whose rows begin `from_pitch` and `to_pitch` elements apart.
template <typename From, typename To>
__device__ __forceinline__ void convert_row(const From* __restrict__ from, To* __restrict__ to, u32 n, u32 from_pitch,
                                            u32 to_pitch) {
    from += (u64)blockIdx.x * from_pitch;
    to += (u64)blockIdx.x * to_pitch;
    for (u32 column = threadIdx.x; column < n; column += blockDim.x) to[column] = static_cast<To>(from[column]);
}

#define PADDED(type, suffix, wide, wide_suffix)                                                             \
    extern "C" __global__ void pad_##suffix##_to_##wide_suffix(const type* from, wide* to, u32 n, u32 pitch) {  \
        convert_row(from, to, n, n, pitch);                                                                 \
    }                                                                                                       \
    extern "C" __global__ void unpad_##wide_suffix##_to_##suffix(const wide* from, type* to, u32 n, u32 pitch) { \
        convert_row(from, to, n, pitch, n);                                                                 \
    }

PADDED(float, f32, float, f32)
PADDED(float, f32, double, f64)
PADDED(double, f64, double, f64)
