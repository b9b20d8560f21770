// The parts that cuFFT leaves to its caller for real inputs and full complex spectra, row-major: the half of the spectra that a
// real-to-complex transform does not write, and the conversion to complex input for a complex transform. A complex element is a pair,
// real part first.

#include "common.cuh"

// Returns the index of the row whose spectrum is the mirror image of a row's: every index of it negative, modulo its extent, in the same
// array. Arrays have first x middle rows.
__device__ __forceinline__ unsigned mirrored(unsigned row, unsigned middle, unsigned first) {
    if (middle == 1) return row;
    const unsigned inner = row % middle, image = inner == 0 ? 0 : middle - inner;
    if (first == 1) return row - inner + image;
    const unsigned outer = row / middle % first;
    return row - inner + image - outer * middle + (outer == 0 ? 0 : (first - outer) * middle);
}

// Columns n / 2 + 1 to n - 1 from the others: F[u, v] = conj(F[-u, n - v]), since the input is real.
// A block takes 2^width contiguous columns of several rows at a time, so that writes coalesce, and reads too in reverse order. `left` and
// `right` are the same array; no column read through one is written through the other.
template <typename Pair>
__device__ __forceinline__ void fill_half(const Pair* __restrict__ left, Pair* __restrict__ right, unsigned n, unsigned middle,
                                          unsigned first, unsigned rows, unsigned width) {
    const unsigned column = n / 2 + 1 + (blockIdx.x << width) + (threadIdx.x & ((1u << width) - 1));
    if (column >= n) return;
    const unsigned together = blockDim.x >> width, step = gridDim.y * together;
#pragma unroll 4
    for (u64 row = blockIdx.y * together + (threadIdx.x >> width); row < rows; row += step) {
        const unsigned source = mirrored((unsigned)row, middle, first);
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

extern "C" __global__ void fft_fill_f32(float2* spectrum, unsigned n, unsigned middle, unsigned first, unsigned rows, unsigned width) {
    fill_half(spectrum, spectrum, n, middle, first, rows, width);
}

extern "C" __global__ void fft_fill_f64(double2* spectrum, unsigned n, unsigned middle, unsigned first, unsigned rows, unsigned width) {
    fill_half(spectrum, spectrum, n, middle, first, rows, width);
}

extern "C" __global__ void fft_to_complex_f32(const float* real, float2* pairs, u64 count) {
    to_complex(real, pairs, count);
}

extern "C" __global__ void fft_to_complex_f64(const double* real, double2* pairs, u64 count) {
    to_complex(real, pairs, count);
}
