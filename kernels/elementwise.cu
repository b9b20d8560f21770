// y = a * b + sin(a) + cos(b), in one kernel and as the chain of kernels that an eager array library runs.
// Every kernel moves 16 bytes at a time; allocations are aligned to 256 bytes, so only the tail needs care.

// 16 bytes, and how many of them a thread takes.
template <typename T> struct Pack;
template <> struct Pack<float> {
    using type = float4;
    static constexpr int each = 1;
};
template <> struct Pack<double> {
    using type = double2;
    static constexpr int each = 2;
};

constexpr int threads = 128;

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

// A block takes `threads * each` neighbouring packs, all loads of a thread under way at once, and the first block what
// is left over. Threads that go round a loop instead were up to a third slower on an H200: see
// docs/kernels/elementwise.md.
template <typename F, typename T>
__device__ __forceinline__ void binary(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y,
                                       unsigned long long n) {
    using V = typename Pack<T>::type;
    constexpr int width = sizeof(V) / sizeof(T), each = Pack<T>::each;
    const unsigned long long packs = n / width, first = blockIdx.x * (unsigned long long)(threads * each) + threadIdx.x;
    V left[each], right[each];
#pragma unroll
    for (int k = 0; k < each; ++k)
        if (first + k * threads < packs) {
            left[k] = __ldcs(reinterpret_cast<const V*>(a) + first + k * threads);
            right[k] = __ldcs(reinterpret_cast<const V*>(b) + first + k * threads);
        }
#pragma unroll
    for (int k = 0; k < each; ++k)
        if (first + k * threads < packs) {
            V result;
#pragma unroll
            for (int lane = 0; lane < width; ++lane)
                (&result.x)[lane] = F::apply((&left[k].x)[lane], (&right[k].x)[lane]);
            __stcs(reinterpret_cast<V*>(y) + first + k * threads, result);
        }
    const unsigned long long rest = packs * width + threadIdx.x;
    if (blockIdx.x == 0 && rest < n) y[rest] = F::apply(a[rest], b[rest]);
}

template <typename F, typename T>
__device__ __forceinline__ void unary(const T* __restrict__ a, T* __restrict__ y, unsigned long long n) {
    using V = typename Pack<T>::type;
    constexpr int width = sizeof(V) / sizeof(T), each = Pack<T>::each;
    const unsigned long long packs = n / width, first = blockIdx.x * (unsigned long long)(threads * each) + threadIdx.x;
    V in[each];
#pragma unroll
    for (int k = 0; k < each; ++k)
        if (first + k * threads < packs) in[k] = __ldcs(reinterpret_cast<const V*>(a) + first + k * threads);
#pragma unroll
    for (int k = 0; k < each; ++k)
        if (first + k * threads < packs) {
            V result;
#pragma unroll
            for (int lane = 0; lane < width; ++lane) (&result.x)[lane] = F::apply((&in[k].x)[lane]);
            __stcs(reinterpret_cast<V*>(y) + first + k * threads, result);
        }
    const unsigned long long rest = packs * width + threadIdx.x;
    if (blockIdx.x == 0 && rest < n) y[rest] = F::apply(a[rest]);
}

#define BINARY(name, function, type, suffix)                                                                \
    extern "C" __global__ void __launch_bounds__(threads)                                                   \
        name##_##suffix(const type* a, const type* b, type* y, unsigned long long n) {                      \
        binary<function>(a, b, y, n);                                                                       \
    }
#define UNARY(name, function, type, suffix)                                                                 \
    extern "C" __global__ void __launch_bounds__(threads)                                                   \
        name##_##suffix(const type* a, type* y, unsigned long long n) {                                     \
        unary<function>(a, y, n);                                                                           \
    }

BINARY(fused, Fused, float, f32)
BINARY(fused, Fused, double, f64)
BINARY(multiply, Multiply, float, f32)
BINARY(multiply, Multiply, double, f64)
BINARY(add, Add, float, f32)
BINARY(add, Add, double, f64)
UNARY(sine, Sine, float, f32)
UNARY(sine, Sine, double, f64)
UNARY(cosine, Cosine, float, f32)
UNARY(cosine, Cosine, double, f64)
