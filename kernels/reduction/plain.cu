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

// Along an axis, a part of every column (axis 0) or row (axis 1) per block: one sum per result, of the elements, or of their
// squared deviations from the means in the second row of `out`.
template <typename T>
__device__ void partial_axis(const T* x, unsigned long long rows, unsigned long long cols, unsigned axis, unsigned of_squares, const double* out, double* partials) {
    // Neighbouring threads have neighbouring columns: 32 columns and 8 rows per block.
    const unsigned long long col = threadIdx.x % 32, row = threadIdx.x / 32;
    const unsigned long long results = axis == 0 ? cols : rows, n = axis == 0 ? rows : cols;
    const unsigned long long result = axis == 0 ? blockIdx.x * 32ull + col : blockIdx.x * 8ull + row;
    const unsigned step = axis == 0 ? 8 : 32, mine = axis == 0 ? row : col;
    const double mean = of_squares && result < results ? out[results + result] : 0;
    double sum = 0;
    if (result < results)
        for (unsigned long long i = blockIdx.y * (unsigned long long)step + mine; i < n; i += gridDim.y * (unsigned long long)step) {
            const double value = axis == 0 ? x[i * cols + result] : x[result * cols + i];
            sum += of_squares ? (value - mean) * (value - mean) : value;
        }
    __shared__ double sums[256];
    sums[threadIdx.x] = sum;
    for (unsigned half = step / 2; half > 0; half /= 2) {
        __syncthreads();
        if (mine < half) sums[threadIdx.x] += sums[threadIdx.x + half * (axis == 0 ? 32 : 1)];
    }
    if (mine == 0 && result < results) partials[blockIdx.y * results + result] = sums[threadIdx.x];
}
extern "C" __global__ void partial_axis_f32(const float* x, unsigned long long rows, unsigned long long cols, unsigned axis, unsigned of_squares, const double* out, double* partials) { partial_axis(x, rows, cols, axis, of_squares, out, partials); }
extern "C" __global__ void partial_axis_f64(const double* x, unsigned long long rows, unsigned long long cols, unsigned axis, unsigned of_squares, const double* out, double* partials) { partial_axis(x, rows, cols, axis, of_squares, out, partials); }
extern "C" __global__ void partial_axis_f16(const F16* x, unsigned long long rows, unsigned long long cols, unsigned axis, unsigned of_squares, const double* out, double* partials) { partial_axis(x, rows, cols, axis, of_squares, out, partials); }
extern "C" __global__ void partial_axis_bf16(const Bf16* x, unsigned long long rows, unsigned long long cols, unsigned axis, unsigned of_squares, const double* out, double* partials) { partial_axis(x, rows, cols, axis, of_squares, out, partials); }

// One thread per result of n elements each: rows of sums and means, or of the population's standard deviations.
extern "C" __global__ void finish_axis(const double* partials, unsigned parts, unsigned long long results, unsigned long long n, unsigned of_squares, double* out) {
    const unsigned long long result = blockIdx.x * 256ull + threadIdx.x;
    if (result >= results) return;
    double sum = 0;
    for (unsigned part = 0; part < parts; ++part) sum += partials[part * results + result];
    if (of_squares) out[2 * results + result] = sqrt(sum / n);
    else { out[result] = sum; out[results + result] = sum / n; }
}
