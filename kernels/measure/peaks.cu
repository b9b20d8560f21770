// Measures the peak bandwidth of device memory by kernels that read, copy and add, 16 bytes at a time, with several
// access patterns of which the fastest counts. Also makes operands for large matrix products. See
// crates/cuda/src/peaks.
//
// The number of elements is a multiple of four, and allocations are aligned to 256 bytes.

#include "common.cuh"

constexpr int THREADS = 256;

__device__ __forceinline__ u64 first() { return blockIdx.x * (u64)THREADS + threadIdx.x; }
__device__ __forceinline__ u64 stride() { return gridDim.x * (u64)THREADS; }

struct Plain {
    __device__ static float4 load(const float4* x) { return *x; }
    __device__ static void store(float4* x, float4 value) { *x = value; }
};
// The caches evict these accesses first.
struct Streaming {
    __device__ static float4 load(const float4* x) { return __ldcs(x); }
    __device__ static void store(float4* x, float4 value) { __stcs(x, value); }
};

__device__ __forceinline__ unsigned mixed(float4 x) {
    return __float_as_uint(x.x) ^ __float_as_uint(x.y) ^ __float_as_uint(x.z) ^ __float_as_uint(x.w);
}

// Reads all of x, with `unroll` loads of a thread in flight together. The store keeps the compiler from dropping the
// loads; one thread in 2^32 executes it, and the overwritten value is not used.
template <typename Way, int UNROLL>
__device__ __forceinline__ void read(const float4* __restrict__ x, float4* out, u64 count) {
    const u64 step = stride();
    unsigned sum = 0;
    u64 i = first();
    for (; i + (UNROLL - 1) * step < count; i += UNROLL * step) {
        float4 pack[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) pack[u] = Way::load(x + i + u * step);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) sum += mixed(pack[u]);
    }
    for (; i < count; i += step) sum += mixed(Way::load(x + i));
    if (sum == 0x9e3779b9u) out->x = __uint_as_float(sum);
}

// a = b
template <typename Way, int UNROLL>
__device__ __forceinline__ void copy(const float4* __restrict__ b, float4* __restrict__ a, u64 count) {
    const u64 step = stride();
    u64 i = first();
    for (; i + (UNROLL - 1) * step < count; i += UNROLL * step) {
        float4 pack[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) pack[u] = Way::load(b + i + u * step);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) Way::store(a + i + u * step, pack[u]);
    }
    for (; i < count; i += step) Way::store(a + i, Way::load(b + i));
}

__device__ __forceinline__ float4 added(float4 b, float4 c) {
    return make_float4(fmaf(3.0f, c.x, b.x), fmaf(3.0f, c.y, b.y), fmaf(3.0f, c.z, b.z), fmaf(3.0f, c.w, b.w));
}

// a = b + 3 c
template <typename Way, int UNROLL>
__device__ __forceinline__ void triad(const float4* __restrict__ b, const float4* __restrict__ c,
                                      float4* __restrict__ a, u64 count) {
    const u64 step = stride();
    u64 i = first();
    for (; i + (UNROLL - 1) * step < count; i += UNROLL * step) {
        float4 left[UNROLL], right[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            left[u] = Way::load(b + i + u * step);
            right[u] = Way::load(c + i + u * step);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) Way::store(a + i + u * step, added(left[u], right[u]));
    }
    for (; i < count; i += step) Way::store(a + i, added(Way::load(b + i), Way::load(c + i)));
}

#define WAY(name, Way, UNROLL)                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS) read_##name(const float* x, float* out, u64 n) {  \
        read<Way, UNROLL>((const float4*)x, (float4*)out, n / 4);                                           \
    }                                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS) copy_##name(const float* b, float* a, u64 n) {    \
        copy<Way, UNROLL>((const float4*)b, (float4*)a, n / 4);                                             \
    }                                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                   \
        triad_##name(const float* b, const float* c, float* a, u64 n) {                                     \
        triad<Way, UNROLL>((const float4*)b, (const float4*)c, (float4*)a, n / 4);                          \
    }
WAY(plain_4, Plain, 4)
WAY(plain_8, Plain, 8)
WAY(streaming_1, Streaming, 1)
WAY(streaming_4, Streaming, 4)

// The same with one pack per thread and no loop, for grids with a thread for every pack.
extern "C" __global__ void __launch_bounds__(THREADS) copy_once(const float* b, float* a, u64 n) {
    const u64 i = first();
    if (i < n / 4) Streaming::store((float4*)a + i, Streaming::load((const float4*)b + i));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    triad_once(const float* b, const float* c, float* a, u64 n) {
    const u64 i = first();
    if (i < n / 4)
        Streaming::store((float4*)a + i,
                         added(Streaming::load((const float4*)b + i), Streaming::load((const float4*)c + i)));
}

// Pseudo-random bits, because a chip's power, and so its clock, depends on the numbers that it processes.
__device__ __forceinline__ u64 bits(u64 index) {
    u64 z = (index + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// A number of [0, 1).
__device__ __forceinline__ float uniform(u64 index) { return (float)(unsigned)(bits(index) >> 40) * 0x1p-24f; }

extern "C" __global__ void __launch_bounds__(THREADS) fill_f32(float* x, u64 n) {
    for (u64 i = first(); i < n; i += stride()) x[i] = uniform(i);
}

extern "C" __global__ void __launch_bounds__(THREADS) fill_f64(double* x, u64 n) {
    for (u64 i = first(); i < n; i += stride()) x[i] = (double)(bits(i) >> 11) * 0x1p-53;
}

extern "C" __global__ void __launch_bounds__(THREADS) fill_f16(u16* x, u64 n) {
    for (u64 i = first(); i < n; i += stride()) x[i] = float16_bits(uniform(i));
}

// A bfloat16 is the upper half of a float.
extern "C" __global__ void __launch_bounds__(THREADS) fill_bf16(u16* x, u64 n) {
    for (u64 i = first(); i < n; i += stride()) x[i] = (u16)(__float_as_uint(uniform(i)) >> 16);
}
