// y = a * b + sin(a) + cos(b), in one kernel and as the chain of kernels that an eager array library runs.
// Every kernel moves 16 bytes at a time; allocations are aligned to 256 bytes, so only the last pack needs care.

#include "common.cuh"

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

struct Fused {
    template <typename T> __device__ static T apply(T a, T b) { return a * b + sine(a) + cosine(b); }
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

// Pack `at` of an array; of the last, incomplete one, the elements that exist.
template <typename T>
__device__ __forceinline__ Pack<T> load_pack(const T* __restrict__ from, u64 at, u64 n) {
    using V = Pack<T>;
    const u64 packs = n / V::WIDTH;
    V pack = {};
    if (at < packs) {
        pack = reinterpret_cast<const V*>(from)[at];
    } else if (at == packs) {
#pragma unroll
        for (int lane = 0; lane < V::WIDTH - 1; ++lane)
            if (at * V::WIDTH + lane < n) pack.v[lane] = from[at * V::WIDTH + lane];
    }
    return pack;
}
template <typename T>
__device__ __forceinline__ void store_pack(T* __restrict__ to, u64 at, u64 n, const Pack<T>& pack) {
    using V = Pack<T>;
    const u64 packs = n / V::WIDTH;
    if (at < packs) {
        store_streaming(reinterpret_cast<V*>(to) + at, pack);
    } else if (at == packs) {
#pragma unroll
        for (int lane = 0; lane < V::WIDTH - 1; ++lane)
            if (at * V::WIDTH + lane < n) to[at * V::WIDTH + lane] = pack.v[lane];
    }
}

// A block takes `THREADS * each` contiguous packs, with all loads of a thread in flight together. A grid-stride loop has
// fewer loads in flight and was slower on an H200.
template <typename F, typename T>
__device__ __forceinline__ void binary(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y, u64 n) {
    using V = Pack<T>;
    const u64 first = blockIdx.x * (u64)(THREADS * EACH<T>) + threadIdx.x;
    V left[EACH<T>], right[EACH<T>];
#pragma unroll
    for (int k = 0; k < EACH<T>; ++k) {
        left[k] = load_pack(a, first + k * THREADS, n);
        right[k] = load_pack(b, first + k * THREADS, n);
    }
#pragma unroll
    for (int k = 0; k < EACH<T>; ++k) {
        if (first + k * THREADS > n / V::WIDTH) return;
        V result;
#pragma unroll
        for (int lane = 0; lane < V::WIDTH; ++lane)
            result.v[lane] = F::apply(left[k].v[lane], right[k].v[lane]);
        store_pack(y, first + k * THREADS, n, result);
    }
}

template <typename F, typename T>
__device__ __forceinline__ void unary(const T* __restrict__ a, T* __restrict__ y, u64 n) {
    using V = Pack<T>;
    const u64 first = blockIdx.x * (u64)(THREADS * EACH<T>) + threadIdx.x;
    V in[EACH<T>];
#pragma unroll
    for (int k = 0; k < EACH<T>; ++k) in[k] = load_pack(a, first + k * THREADS, n);
#pragma unroll
    for (int k = 0; k < EACH<T>; ++k) {
        if (first + k * THREADS > n / V::WIDTH) return;
        V result;
#pragma unroll
        for (int lane = 0; lane < V::WIDTH; ++lane) result.v[lane] = F::apply(in[k].v[lane]);
        store_pack(y, first + k * THREADS, n, result);
    }
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
        binary<function>(a, b, y, n);                                                                       \
    }
#define UNARY(name, function, type, suffix)                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                   \
        name##_##suffix(const type* a, type* y, u64 n) {                                                    \
        unary<function>(a, y, n);                                                                           \
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
