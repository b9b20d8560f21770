// Kernels that any CUDA programmer writes: sums by a tree in shared memory.

#include "common.cuh"

// The sum of `mine` over a block of 256 threads, in thread 0.
__device__ double block_sum(double mine) {
    __shared__ double sums[256];
    sums[threadIdx.x] = mine;
    for (unsigned half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    return sums[0];
}

// One sum per block: of the elements, or of their squared deviations from the mean in out[1].
template <typename T>
__device__ void partial(const T* x, unsigned long long n, unsigned of_squares, const double* out, double* partials) {
    const double mean = of_squares ? out[1] : 0;
    double sum = 0;
    for (unsigned long long i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull)
        sum += of_squares ? (x[i] - mean) * (x[i] - mean) : x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}
extern "C" __global__ void partial_f32(const float* x, unsigned long long n, unsigned of_squares, const double* out, double* partials) { partial(x, n, of_squares, out, partials); }
extern "C" __global__ void partial_f64(const double* x, unsigned long long n, unsigned of_squares, const double* out, double* partials) { partial(x, n, of_squares, out, partials); }

extern "C" __global__ void partial_f16(const F16* x, unsigned long long n, unsigned of_squares, const double* out, double* partials) { partial(x, n, of_squares, out, partials); }
extern "C" __global__ void partial_bf16(const Bf16* x, unsigned long long n, unsigned of_squares, const double* out, double* partials) { partial(x, n, of_squares, out, partials); }

// By one block: sum and mean to out[0] and out[1], or the population's standard deviation to out[2].
extern "C" __global__ void finish(const double* partials, unsigned blocks, unsigned long long n, unsigned of_squares, double* out) {
    double sum = 0;
    for (unsigned i = threadIdx.x; i < blocks; i += 256) sum += partials[i];
    sum = block_sum(sum);
    if (threadIdx.x > 0) return;
    if (of_squares) out[2] = sqrt(sum / n);
    else { out[0] = sum; out[1] = sum / n; }
}
