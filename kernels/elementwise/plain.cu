// Kernels that any CUDA programmer writes: one element per thread. Elements of 16 bits are computed with in float.

#include "common.cuh"

extern "C" __global__ void elementwise_f32(const float* a, const float* b, float* y, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] * b[i] + sinf(a[i]) + cosf(b[i]);
}

extern "C" __global__ void elementwise_f64(const double* a, const double* b, double* y, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] * b[i] + sin(a[i]) + cos(b[i]);
}

template <typename T> __device__ void of_half(const T* a, const T* b, T* y, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = T((float)a[i] * (float)b[i] + sinf(a[i]) + cosf(b[i]));
}
extern "C" __global__ void elementwise_f16(const F16* a, const F16* b, F16* y, unsigned long long n) { of_half(a, b, y, n); }
extern "C" __global__ void elementwise_bf16(const Bf16* a, const Bf16* b, Bf16* y, unsigned long long n) { of_half(a, b, y, n); }

extern "C" __global__ void sine_f32(const float* a, float* y, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(a[i]);
}

extern "C" __global__ void sine_f64(const double* a, double* y, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sin(a[i]);
}
