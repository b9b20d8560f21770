// y = a * b + sin(a) + cos(b), in one kernel and as the chain of kernels that an eager array library runs.
// Every kernel moves 16 bytes at a time; allocations are aligned to 256 bytes, so only the tail needs care.

template <typename T> struct Pack;
template <> struct Pack<float> { using type = float4; };
template <> struct Pack<double> { using type = double2; };

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

__device__ __forceinline__ unsigned long long thread_index() {
    return blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
}
__device__ __forceinline__ unsigned long long thread_count() {
    return gridDim.x * (unsigned long long)blockDim.x;
}

template <typename F, typename T>
__device__ __forceinline__ void binary(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y,
                                       unsigned long long n) {
    using V = typename Pack<T>::type;
    constexpr int width = sizeof(V) / sizeof(T);
    const unsigned long long packs = n / width;
    for (unsigned long long i = thread_index(); i < packs; i += thread_count()) {
        const V left = __ldcs(reinterpret_cast<const V*>(a) + i);
        const V right = __ldcs(reinterpret_cast<const V*>(b) + i);
        V result;
#pragma unroll
        for (int lane = 0; lane < width; ++lane)
            (&result.x)[lane] = F::apply((&left.x)[lane], (&right.x)[lane]);
        __stcs(reinterpret_cast<V*>(y) + i, result);
    }
    for (unsigned long long i = packs * width + thread_index(); i < n; i += thread_count())
        y[i] = F::apply(a[i], b[i]);
}

template <typename F, typename T>
__device__ __forceinline__ void unary(const T* __restrict__ a, T* __restrict__ y, unsigned long long n) {
    using V = typename Pack<T>::type;
    constexpr int width = sizeof(V) / sizeof(T);
    const unsigned long long packs = n / width;
    for (unsigned long long i = thread_index(); i < packs; i += thread_count()) {
        const V in = __ldcs(reinterpret_cast<const V*>(a) + i);
        V result;
#pragma unroll
        for (int lane = 0; lane < width; ++lane) (&result.x)[lane] = F::apply((&in.x)[lane]);
        __stcs(reinterpret_cast<V*>(y) + i, result);
    }
    for (unsigned long long i = packs * width + thread_index(); i < n; i += thread_count()) y[i] = F::apply(a[i]);
}

// Four blocks a multiprocessor leave the double versions registers enough not to spill.
#define BINARY(name, function, type, suffix, blocks)                                                        \
    extern "C" __global__ void __launch_bounds__(256, blocks)                                                     \
        name##_##suffix(const type* a, const type* b, type* y, unsigned long long n) {                      \
        binary<function>(a, b, y, n);                                                                       \
    }
#define UNARY(name, function, type, suffix, blocks)                                                         \
    extern "C" __global__ void __launch_bounds__(256, blocks)                                                     \
        name##_##suffix(const type* a, type* y, unsigned long long n) {                                     \
        unary<function>(a, y, n);                                                                           \
    }

BINARY(fused, Fused, float, f32, 1)
BINARY(fused, Fused, double, f64, 4)
BINARY(multiply, Multiply, float, f32, 1)
BINARY(multiply, Multiply, double, f64, 4)
BINARY(add, Add, float, f32, 1)
BINARY(add, Add, double, f64, 4)
UNARY(sine, Sine, float, f32, 1)
UNARY(sine, Sine, double, f64, 4)
UNARY(cosine, Cosine, float, f32, 1)
UNARY(cosine, Cosine, double, f64, 4)
