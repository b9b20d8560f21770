// The parts that cuFFT leaves to its caller for a real input and a full complex spectrum of N x N elements,
// row-major: the half of the spectrum that a real-to-complex transform does not write, and the conversion to complex
// input for a complex transform. A complex element is a pair, real part first.

#include "common.cuh"

// Columns n / 2 + 1 to n - 1 from the others: F[u, v] = conj(F[(n - u) % n, n - v]), since the input is real.
// A block of 256 threads takes 64 contiguous columns of four rows at a time, so that writes coalesce, and reads too
// in reverse order. `left` and `right` are the same array; no column read through one is written through the other.
template <typename Pair>
__device__ __forceinline__ void fill_half(const Pair* __restrict__ left, Pair* __restrict__ right, unsigned n) {
    const unsigned column = n / 2 + 1 + blockIdx.x * 64 + threadIdx.x % 64;
    if (column >= n) return;
    const unsigned step = gridDim.y * 4;
#pragma unroll 4
    for (unsigned row = blockIdx.y * 4 + threadIdx.x / 64; row < n; row += step) {
        const unsigned source = row == 0 ? 0 : n - row;
        Pair value = left[(size_t)source * n + (n - column)];
        value.y = -value.y;
        right[(size_t)row * n + column] = value;
    }
}

// Converts real elements to complex ones with an imaginary part of zero.
template <typename Real, typename Pair>
__device__ __forceinline__ void to_complex(const Real* __restrict__ real, Pair* __restrict__ pairs, u64 count) {
    const u64 step = grid_threads();
    for (u64 i = grid_thread(); i < count; i += step) {
        Pair value;
        value.x = real[i];
        value.y = 0;
        pairs[i] = value;
    }
}

extern "C" __global__ void fft_fill_f32(float2* spectrum, unsigned n) { fill_half(spectrum, spectrum, n); }

extern "C" __global__ void fft_fill_f64(double2* spectrum, unsigned n) { fill_half(spectrum, spectrum, n); }

extern "C" __global__ void fft_to_complex_f32(const float* real, float2* pairs, u64 count) {
    to_complex(real, pairs, count);
}

extern "C" __global__ void fft_to_complex_f64(const double* real, double2* pairs, u64 count) {
    to_complex(real, pairs, count);
}
