// Kernels that any CUDA programmer writes: one element per thread.

extern "C" __global__ void elementwise_f32(const float* a, const float* b, float* y, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] * b[i] + sinf(a[i]) + cosf(b[i]);
}

extern "C" __global__ void elementwise_f64(const double* a, const double* b, double* y, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] * b[i] + sin(a[i]) + cos(b[i]);
}

extern "C" __global__ void sine_f32(const float* a, float* y, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(a[i]);
}

extern "C" __global__ void sine_f64(const double* a, double* y, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sin(a[i]);
}
