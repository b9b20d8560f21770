// Helpers shared by the kernels. NVRTC gets this text with every source (crates/cuda/src/kernels.rs), and the key of
// the disk cache depends on it.
//
// Names: capitals for compile-time values (constants, static members, template values, enumerators, as in Rust),
// lower case for run-time values, CamelCase for types.

#pragma once

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

constexpr int WARP = 32;
constexpr u32 EVERY_LANE = 0xffffffffu;

// The index of this thread in the grid, and the number of threads in the grid.
__device__ __forceinline__ u64 grid_thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ u64 grid_threads() { return (u64)gridDim.x * blockDim.x; }

// 16 bytes, the largest access of a thread in one instruction.
template <typename T> struct alignas(16) Pack {
    static constexpr int WIDTH = 16 / sizeof(T);
    T v[WIDTH];
};

// Words that blocks exchange. Every access goes to the L2 cache, and the compiler does not drop, repeat or reorder
// any.
__device__ __forceinline__ void store_relaxed(u64* to, u64 word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}
__device__ __forceinline__ u64 load_relaxed(const u64* from) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
    return word;
}
// Two neighbouring words at a multiple of 16 bytes; each arrives as a whole, but not both together.
__device__ __forceinline__ void load_relaxed(const u64* from, u64& first, u64& second) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(first), "=l"(second) : "l"(from) : "memory");
}

// 1 / sqrt(value), as the instruction approximates it.
__device__ __forceinline__ double rough_inverse_root(double value) {
    double r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(value));
    return r;
}

// 1 / sqrt(value), within two units in the last place, for values that are neither zero nor subnormal: the
// instruction's approximation and a Newton step, one of third order for double. The rounded functions branch.
__device__ __forceinline__ float inverse_root(float value) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(value));
    const float error = fmaf(-(value * r), r, 1.0f);
    return fmaf(0.5f * r, error, r);
}
__device__ __forceinline__ double inverse_root(double value) {
    const double r = rough_inverse_root(value);
    const double error = fma(-(value * r), r, 1.0);
    return fma(r * error, fma(0.375, error, 0.5), r);
}

// sqrt(value), in the same way.
__device__ __forceinline__ double square_root(double value) {
    const double r = rough_inverse_root(value), root = value * r, error = fma(-root, r, 1.0);
    return fma(root * error, fma(0.375, error, 0.5), root);
}

// 1 / value, within some units in the last place, for values that are neither zero nor subnormal.
__device__ __forceinline__ double reciprocal(double value) {
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(value));
    const double error = fma(-value, r, 1.0);
    return fma(r, fma(error, error, error), r);
}

// The float16 nearest to `value`, ties to even, as bits: cuda_fp16.h is a header that not every machine has.
__device__ __forceinline__ u16 float16_bits(float value) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

// The bfloat16 nearest to `value`, ties to even, as bits; NaN stays NaN. By hand because sm_75 has no instruction for it.
__device__ __forceinline__ u16 bfloat16_bits(float value) {
    const u32 bits = __float_as_uint(value), rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (u16)((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded);
}

// Elements of 16 bits, which are computed with as float: cuda_fp16.h and cuda_bf16.h are headers that not every machine has.
struct F16 {
    u16 bits;
    F16() = default;
    __device__ __forceinline__ explicit F16(float value) : bits(float16_bits(value)) {}
    __device__ __forceinline__ operator float() const {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
};
struct Bf16 {
    u16 bits;
    Bf16() = default;
    __device__ __forceinline__ explicit Bf16(float value) : bits(bfloat16_bits(value)) {}
    __device__ __forceinline__ operator float() const { return __uint_as_float((u32)bits << 16); }
};

// Returns the sum over a warp, the same in all lanes.
template <typename T> __device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
    for (int mask = WARP / 2; mask > 0; mask /= 2) value += __shfl_xor_sync(EVERY_LANE, value, mask);
    return value;
}

// Returns the largest value of a warp, the same in all lanes.
template <typename T> __device__ __forceinline__ T warp_max(T value) {
#pragma unroll
    for (int mask = WARP / 2; mask > 0; mask /= 2) value = max(value, __shfl_xor_sync(EVERY_LANE, value, mask));
    return value;
}

// Returns the sum over a block of WARPS warps, the same in all threads. No thread may still read or write the shared
// memory `parts`.
template <int WARPS, typename T> __device__ __forceinline__ T block_sum(T value, T (&parts)[WARPS]) {
    value = warp_sum(value);
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = value;
    __syncthreads();
    T total = 0;
    for (int warp = 0; warp < WARPS; ++warp) total += parts[warp];
    return total;
}

// Returns the largest value of a block of WARPS warps, in the same way.
template <int WARPS, typename T> __device__ __forceinline__ T block_max(T value, T (&parts)[WARPS]) {
    value = warp_max(value);
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = value;
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < WARPS; ++warp) value = max(value, parts[warp]);
    return value;
}
