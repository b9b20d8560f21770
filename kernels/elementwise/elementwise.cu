// y = a * b + sin(a) + cos(b), in one kernel and as the chain of kernels that an eager array library runs.
// Every kernel but `fused_each` moves 16 bytes at a time; allocations are aligned to 256 bytes, so only the last pack
// needs care. The number of threads and of elements per block is also in crates/tuned/src/elementwise.rs.

#include "common.cuh"
#include "sine_cosine.cuh"

constexpr int THREADS = 128;
constexpr int THREADS_OF_EACH = 256;

// Packs per thread: four elements of either type.
template <typename T> constexpr int EACH = 4 / Pack<T>::WIDTH;

// Results are not used again soon: the caches evict them first. Operands are loaded without such a hint, with which
// the time depends on where in memory they are.
__device__ __forceinline__ void store_streaming(Pack<float>* to, const Pack<float>& p) {
    __stcs(reinterpret_cast<float4*>(to), make_float4(p.v[0], p.v[1], p.v[2], p.v[3]));
}
__device__ __forceinline__ void store_streaming(Pack<double>* to, const Pack<double>& p) {
    __stcs(reinterpret_cast<double2*>(to), make_double2(p.v[0], p.v[1]));
}

// The accurate functions of each type: fast math has absolute errors only, and only near zero.
__device__ __forceinline__ float sine(float x) { return sinf(x); }
__device__ __forceinline__ double sine(double x) { return sin(x); }
__device__ __forceinline__ float cosine(float x) { return cosf(x); }
__device__ __forceinline__ double cosine(double x) { return cos(x); }

// Any operands, NaN and infinity among them.
template <typename T> __device__ __noinline__ T fused_by_library(T a, T b) { return a * b + sine(a) + cosine(b); }

struct Fused {
    template <typename T> __device__ static T apply(T a, T b) {
        if (!(fabs(a) < LIMIT<T> && fabs(b) < LIMIT<T>)) return fused_by_library(a, b);
        const Reduced<T> of_a = reduced(a), of_b = reduced(b);
        return a * b + sine_after(of_a, 0) + sine_after(of_b, 1);
    }
};
struct Multiply {
    template <typename T> __device__ static T apply(T a, T b) { return a * b; }
};
struct Add {
    template <typename T> __device__ static T apply(T a, T b) { return a + b; }
};
struct Sine {
    template <typename T> __device__ static T apply(T a) { return sine(a); }
};
struct Cosine {
    template <typename T> __device__ static T apply(T a) { return cosine(a); }
};

// The packs of a thread: the first, and every THREADS-th after it.
template <typename T> struct Packs {
    Pack<T> at[EACH<T>];
};

// Loads packs of an array. If the block is not WHOLE, some of its elements do not exist, and those are zero.
template <bool WHOLE, typename T>
__device__ __forceinline__ Packs<T> load(const T* __restrict__ from, u64 first, u64 n) {
    constexpr int WIDTH = Pack<T>::WIDTH;
    Packs<T> packs = {};
#pragma unroll
    for (int k = 0; k < EACH<T>; ++k) {
        const u64 at = first + k * THREADS;
        if (WHOLE || at < n / WIDTH) {
            packs.at[k] = reinterpret_cast<const Pack<T>*>(from)[at];
        } else if (at == n / WIDTH) {
#pragma unroll
            for (int lane = 0; lane < WIDTH - 1; ++lane)
                if (at * WIDTH + lane < n) packs.at[k].v[lane] = from[at * WIDTH + lane];
        }
    }
    return packs;
}

// Computes and stores packs of the result.
template <bool WHOLE, typename F, typename T, typename... Operands>
__device__ __forceinline__ void store(T* __restrict__ to, u64 first, u64 n, const Operands&... operands) {
    constexpr int WIDTH = Pack<T>::WIDTH;
#pragma unroll
    for (int k = 0; k < EACH<T>; ++k) {
        const u64 at = first + k * THREADS;
        if (!WHOLE && at > n / WIDTH) return;
        Pack<T> result;
#pragma unroll
        for (int lane = 0; lane < WIDTH; ++lane) result.v[lane] = F::apply(operands.at[k].v[lane]...);
        if (WHOLE || at < n / WIDTH) {
            store_streaming(reinterpret_cast<Pack<T>*>(to) + at, result);
        } else {
#pragma unroll
            for (int lane = 0; lane < WIDTH - 1; ++lane)
                if (at * WIDTH + lane < n) to[at * WIDTH + lane] = result.v[lane];
        }
    }
}

// A block takes contiguous elements, with all loads of a thread in flight together. A grid-stride loop has fewer loads
// in flight and was slower on an H200. Only the last block checks which of its elements exist.
template <typename F, typename T, typename... From>
__device__ __forceinline__ void map(T* __restrict__ to, u64 n, const From* __restrict__... from) {
    constexpr u64 PACKS = THREADS * EACH<T>;
    const u64 first = blockIdx.x * PACKS + threadIdx.x;
    if ((blockIdx.x + 1) * PACKS * Pack<T>::WIDTH <= n)
        store<true, F>(to, first, n, load<true>(from, first, n)...);
    else
        store<false, F>(to, first, n, load<false>(from, first, n)...);
}

// One element per thread: for few elements the latency of a thread counts, and not the width of its accesses.
template <typename T>
__device__ __forceinline__ void fused_each(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y, u64 n) {
    const u64 i = grid_thread();
    if (i < n) y[i] = Fused::apply(a[i], b[i]);
}

#define BINARY(name, function, type, suffix)                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                   \
        name##_##suffix(const type* a, const type* b, type* y, u64 n) {                                     \
        map<function>(y, n, a, b);                                                                          \
    }
#define UNARY(name, function, type, suffix)                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                   \
        name##_##suffix(const type* a, type* y, u64 n) {                                                    \
        map<function>(y, n, a);                                                                             \
    }

#define FUSED(type, suffix)                                                                                 \
    BINARY(fused, Fused, type, suffix)                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS_OF_EACH)                                           \
        fused_each_##suffix(const type* a, const type* b, type* y, u64 n) {                                 \
        fused_each(a, b, y, n);                                                                             \
    }
#define STEPS(type, suffix)                                                                                 \
    BINARY(multiply, Multiply, type, suffix)                                                                \
    BINARY(add, Add, type, suffix)                                                                          \
    UNARY(sine, Sine, type, suffix)                                                                         \
    UNARY(cosine, Cosine, type, suffix)

#ifdef FUSED_F32
FUSED(float, f32)
#endif
#ifdef FUSED_F64
FUSED(double, f64)
#endif
#ifdef STEPS_F32
STEPS(float, f32)
#endif
#ifdef STEPS_F64
STEPS(double, f64)
#endif
