// Elements of one type to another, value by value.

template <typename From, typename To>
__device__ __forceinline__ void convert(const From* __restrict__ from, To* __restrict__ to, unsigned long long n) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        to[i] = static_cast<To>(from[i]);
    }
}

extern "C" __global__ void f32_to_f64(const float* from, double* to, unsigned long long n) { convert(from, to, n); }

extern "C" __global__ void f64_to_f32(const double* from, float* to, unsigned long long n) { convert(from, to, n); }
