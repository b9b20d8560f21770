// C = A * B for square row-major matrices of any size, and the conversions that half-precision products need.
//
// `tiled`: a block of 256 threads makes a square tile of C (128 wide for float, 64 for double); a thread makes
// four square pieces of it, each as wide as 16 bytes hold elements. Tiles of A and B pass through shared memory
// in slices of depth 8; the next slice is fetched to registers while the present one is used.

template <typename T> struct Pack;
template <> struct Pack<float> { using type = float4; };
template <> struct Pack<double> { using type = double2; };

// 16 bytes of row `row` from column `column` on; zeros outside the matrix.
template <bool aligned, typename T>
__device__ __forceinline__ typename Pack<T>::type fetch(const T* __restrict__ m, unsigned row, unsigned column,
                                                        unsigned n) {
    using V = typename Pack<T>::type;
    constexpr int width = sizeof(V) / sizeof(T);
    V pack = {};
    if (row >= n) return pack;
    const T* start = m + (unsigned long long)row * n + column;
    if (aligned) {  // n is a multiple of the width, so a pack is inside or outside as a whole
        if (column < n) pack = *reinterpret_cast<const V*>(start);
    } else {
#pragma unroll
        for (int lane = 0; lane < width; ++lane)
            if (column + lane < n) (&pack.x)[lane] = start[lane];
    }
    return pack;
}

template <bool aligned, typename T>
__device__ __forceinline__ void store(T* __restrict__ m, unsigned row, unsigned column, unsigned n,
                                      const T* values) {
    using V = typename Pack<T>::type;
    constexpr int width = sizeof(V) / sizeof(T);
    if (row >= n) return;
    T* start = m + (unsigned long long)row * n + column;
    if (aligned) {
        if (column >= n) return;
        V pack;
#pragma unroll
        for (int lane = 0; lane < width; ++lane) (&pack.x)[lane] = values[lane];
        *reinterpret_cast<V*>(start) = pack;
    } else {
#pragma unroll
        for (int lane = 0; lane < width; ++lane)
            if (column + lane < n) start[lane] = values[lane];
    }
}

template <typename T, bool aligned>
__device__ __forceinline__ void tiled(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c,
                                      unsigned n) {
    using V = typename Pack<T>::type;
    constexpr int width = sizeof(V) / sizeof(T);
    constexpr int tile = 32 * width, half = tile / 2, depth = 8, side = 2 * width;
    // A is kept transposed; its rows are padded so that the transposing stores fall into different banks.
    __shared__ __align__(16) T a_slice[2][depth][tile + width];
    __shared__ __align__(16) T b_slice[2][depth][tile];

    const unsigned top = blockIdx.y * tile, left = blockIdx.x * tile;
    const unsigned a_row = threadIdx.x / (depth / width), a_depth = threadIdx.x % (depth / width) * width;
    const unsigned b_depth = threadIdx.x / 32, b_column = threadIdx.x % 32 * width;
    const unsigned y = threadIdx.x / 16 * width, x = threadIdx.x % 16 * width;

    V a_next = fetch<aligned>(a, top + a_row, a_depth, n);
    V b_next = fetch<aligned>(b, b_depth, left + b_column, n);
    T sums[side][side] = {};
    int buffer = 0;
    for (unsigned start = 0; start < n; start += depth, buffer ^= 1) {
#pragma unroll
        for (int lane = 0; lane < width; ++lane) a_slice[buffer][a_depth + lane][a_row] = (&a_next.x)[lane];
        *reinterpret_cast<V*>(&b_slice[buffer][b_depth][b_column]) = b_next;
        __syncthreads();
        if (start + depth < n) {
            a_next = fetch<aligned>(a, top + a_row, start + depth + a_depth, n);
            b_next = fetch<aligned>(b, start + depth + b_depth, left + b_column, n);
        }
#pragma unroll
        for (int k = 0; k < depth; ++k) {
            V rows[2], columns[2];
#pragma unroll
            for (int piece = 0; piece < 2; ++piece) {
                rows[piece] = *reinterpret_cast<const V*>(&a_slice[buffer][k][piece * half + y]);
                columns[piece] = *reinterpret_cast<const V*>(&b_slice[buffer][k][piece * half + x]);
            }
#pragma unroll
            for (int i = 0; i < side; ++i)
#pragma unroll
                for (int j = 0; j < side; ++j)
                    sums[i][j] += (&rows[i / width].x)[i % width] * (&columns[j / width].x)[j % width];
        }
        // The other buffer is written next; this one again only after the next barrier.
    }
#pragma unroll
    for (int i = 0; i < side; ++i) {
        const unsigned row = top + i / width * half + y + i % width;
        store<aligned>(c, row, left + x, n, &sums[i][0]);
        store<aligned>(c, row, left + half + x, n, &sums[i][width]);
    }
}

extern "C" __global__ void __launch_bounds__(256)
    tiled_f32(const float* a, const float* b, float* c, unsigned n) { tiled<float, false>(a, b, c, n); }
extern "C" __global__ void __launch_bounds__(256)
    tiled_aligned_f32(const float* a, const float* b, float* c, unsigned n) { tiled<float, true>(a, b, c, n); }
extern "C" __global__ void __launch_bounds__(256)
    tiled_f64(const double* a, const double* b, double* c, unsigned n) { tiled<double, false>(a, b, c, n); }
extern "C" __global__ void __launch_bounds__(256)
    tiled_aligned_f64(const double* a, const double* b, double* c, unsigned n) { tiled<double, true>(a, b, c, n); }

// Nearest float16, ties to even.
extern "C" __global__ void __launch_bounds__(256)
    to_f16(const float* x, unsigned short* y, unsigned long long n) {
    const unsigned long long stride = gridDim.x * (unsigned long long)blockDim.x;
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned short half;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x[i]));
        y[i] = half;
    }
}

// Nearest bfloat16, ties to even; NaN stays NaN. By hand because sm_75 has no instruction for it.
extern "C" __global__ void __launch_bounds__(256)
    to_bf16(const float* x, unsigned short* y, unsigned long long n) {
    const unsigned long long stride = gridDim.x * (unsigned long long)blockDim.x;
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += stride) {
        const unsigned bits = __float_as_uint(x[i]);
        const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
        y[i] = (unsigned short)((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded);
    }
}
