// C = A * B for square row-major matrices of any size.
//
// `tiled`: a block of 256 threads computes a square tile of C (128 wide for float, 64 for double); a thread computes
// four square pieces of it, each as wide as 16 bytes. Tiles of A and B pass through shared memory in slices of depth
// 8; the next slice is loaded to registers while the present one is used.

#include "common.cuh"

// 16 bytes of row `row`, starting at column `column`; zeros outside the matrix.
template <bool ALIGNED, typename T>
__device__ __forceinline__ Pack<T> fetch(const T* __restrict__ m, unsigned row, unsigned column,
                                                        unsigned n) {
    using V = Pack<T>;
    V pack = {};
    if (row >= n) return pack;
    const T* start = m + (u64)row * n + column;
    if (ALIGNED) {  // n is a multiple of the width, so a pack is inside or outside as a whole
        if (column < n) pack = *reinterpret_cast<const V*>(start);
    } else {
#pragma unroll
        for (int lane = 0; lane < V::WIDTH; ++lane)
            if (column + lane < n) pack.v[lane] = start[lane];
    }
    return pack;
}

template <bool ALIGNED, typename T>
__device__ __forceinline__ void store(T* __restrict__ m, unsigned row, unsigned column, unsigned n,
                                      const T* values) {
    using V = Pack<T>;
    constexpr int WIDTH = V::WIDTH;
    if (row >= n) return;
    T* start = m + (u64)row * n + column;
    if (ALIGNED) {
        if (column >= n) return;
        V pack;
#pragma unroll
        for (int lane = 0; lane < WIDTH; ++lane) pack.v[lane] = values[lane];
        *reinterpret_cast<V*>(start) = pack;
    } else {
#pragma unroll
        for (int lane = 0; lane < WIDTH; ++lane)
            if (column + lane < n) start[lane] = values[lane];
    }
}

template <typename T, bool ALIGNED>
__device__ __forceinline__ void tiled(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c,
                                      unsigned n) {
    using V = Pack<T>;
    constexpr int WIDTH = V::WIDTH;
    constexpr int TILE = 32 * WIDTH, HALF = TILE / 2, DEPTH = 8, SIDE = 2 * WIDTH;
    // A is stored transposed; its rows are padded so that the transposing stores use different banks.
    __shared__ __align__(16) T a_slice[2][DEPTH][TILE + WIDTH];
    __shared__ __align__(16) T b_slice[2][DEPTH][TILE];

    const unsigned top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    const unsigned a_row = threadIdx.x / (DEPTH / WIDTH), a_depth = threadIdx.x % (DEPTH / WIDTH) * WIDTH;
    const unsigned b_depth = threadIdx.x / 32, b_column = threadIdx.x % 32 * WIDTH;
    const unsigned y = threadIdx.x / 16 * WIDTH, x = threadIdx.x % 16 * WIDTH;

    V a_next = fetch<ALIGNED>(a, top + a_row, a_depth, n);
    V b_next = fetch<ALIGNED>(b, b_depth, left + b_column, n);
    T sums[SIDE][SIDE] = {};
    int buffer = 0;
    for (unsigned start = 0; start < n; start += DEPTH, buffer ^= 1) {
#pragma unroll
        for (int lane = 0; lane < WIDTH; ++lane) a_slice[buffer][a_depth + lane][a_row] = a_next.v[lane];
        *reinterpret_cast<V*>(&b_slice[buffer][b_depth][b_column]) = b_next;
        __syncthreads();
        if (start + DEPTH < n) {
            a_next = fetch<ALIGNED>(a, top + a_row, start + DEPTH + a_depth, n);
            b_next = fetch<ALIGNED>(b, start + DEPTH + b_depth, left + b_column, n);
        }
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            V rows[2], columns[2];
#pragma unroll
            for (int piece = 0; piece < 2; ++piece) {
                rows[piece] = *reinterpret_cast<const V*>(&a_slice[buffer][k][piece * HALF + y]);
                columns[piece] = *reinterpret_cast<const V*>(&b_slice[buffer][k][piece * HALF + x]);
            }
#pragma unroll
            for (int i = 0; i < SIDE; ++i)
#pragma unroll
                for (int j = 0; j < SIDE; ++j)
                    sums[i][j] += rows[i / WIDTH].v[i % WIDTH] * columns[j / WIDTH].v[j % WIDTH];
        }
        // The next iteration writes the other buffer; this one is written only after the next barrier.
    }
#pragma unroll
    for (int i = 0; i < SIDE; ++i) {
        const unsigned row = top + i / WIDTH * HALF + y + i % WIDTH;
        store<ALIGNED>(c, row, left + x, n, &sums[i][0]);
        store<ALIGNED>(c, row, left + HALF + x, n, &sums[i][WIDTH]);
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
