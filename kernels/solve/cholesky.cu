// A x = b for a symmetric positive definite A: Cholesky factorisation, forward and backward substitution in one launch.
//
// The lower triangle is cut into tiles of 64 x 64; b is one more row of tiles, so the factorisation processes it too.
// Each block takes tiles in an order in which every tile depends only on earlier ones. It waits for those by polling
// their elements: the workspace starts as zero bits and a computed zero is written as -0.0, so an element that is not
// +0.0 has been written. No flags, fences or grid barriers are needed, but all blocks must be resident.
// Tiles are stored by columns, one row of tiles after the other; the diagonal of a factor holds its reciprocals.
// Sums are taken in an order that depends on n alone.

#include "cholesky_diagonal.cuh"
#include "cholesky_substitution.cuh"

// The tiles of a workspace: those of L and of y^T, then three vectors: x, and two of a correction.
__device__ __forceinline__ size_t tile_count(int tiles) { return (size_t)tiles * (tiles + 1) / 2 + tiles; }

// Clears a workspace for the next launch.
template <typename T>
__device__ __forceinline__ void clear(T* work, int tiles, int* info, int worker, int workers) {
    Pack<T>* to = reinterpret_cast<Pack<T>*>(work);
    const size_t count = (tile_count(tiles) * AREA + 3 * (size_t)tiles * TILE) / Pack<T>::WIDTH;
    for (size_t p = (size_t)worker * THREADS + threadIdx.x; p < count; p += (size_t)workers * THREADS)
        to[p] = Pack<T>{};
    if (worker == 0 && threadIdx.x == 0) *info = 0;
}

// The tile with that index in a column of tiles, counted from the first below the pair on the diagonal; the tile of b
// is last. If the column has fewer, continues with the next columns.
__device__ __forceinline__ bool find_tile(int tiles, int& index, int& i, int& j) {
    for (; j < tiles; ++j) {
        const int count = max(tiles - j - 2, 0) + 1;
        if (index < count) break;
        index -= count;
    }
    i = min(j + 2 + index, tiles);
    return j < tiles;
}

// The first `chains` blocks take the diagonal tiles, each with its left neighbour, and then substitute backward; the
// others take the tiles below and those of b, column by column, and then clear the other workspace.
template <typename T>
__device__ __forceinline__ void cholesky(const T* a, const T* b, T* x, T* work, T* other, int* info, int* other_info,
                                         int n, int chains) {
    extern __shared__ __align__(16) unsigned char shared[];
    T* stage = reinterpret_cast<T*>(shared);
    T *cross = stage, *diag = stage + AREA, *above = stage + 2 * AREA;
    const Position at;
    const System<T> system{a, b, n, (n + TILE - 1) / TILE};
    const int tiles = system.tiles, block = blockIdx.x, workers = gridDim.x - chains;
    const bool chain = block < chains;
    int i = block, j = 0, index = block - chains;
    while (chain ? i < tiles : find_tile(tiles, index, i, j)) {
        if (chain) j = i - 1;
        T crossing[16], diagonal[16];
        T *row = row_of(work, i), *out = row + (long long)j * AREA;
        if (chain) load_tile(system, i, i, at, diagonal);
        if (j >= 0) {
            load_tile(system, i, j, at, crossing);
            if (chain)
                accumulate<T, true>(row, row_of(work, j), j, stage, at, crossing, diagonal);
            else
                accumulate<T, false>(row, row_of(work, j), j, stage, at, crossing, diagonal);
            store_tile(cross, at, crossing);
        }
        if (chain) store_tile(diag, at, diagonal);
        __syncthreads();
        finish(cross, diag, above, j >= 0 ? row_of(work, j) + (size_t)j * AREA : (const T*)nullptr, out,
               chain ? out + AREA : (T*)nullptr, i * TILE, n, info);
        __syncthreads();
        i += chains;
        index += workers;
    }
    if (chain) {
        T* found = work + tile_count(tiles) * AREA;
        for (i -= chains; i >= 0; i -= chains)
            substitute<T, true, true>(work, tiles, i, row_of(work, tiles), TILE, found, x, false, n, stage);
    } else {
        clear(other, tiles, other_info, block - chains, workers);
    }
}

// x += the solution of A d = r with the factor in the workspace; the unknowns k are dealt out to the grid's blocks.
template <typename T>
__device__ __forceinline__ void correct(T* work, const T* r, T* x, int n) {
    extern __shared__ __align__(16) unsigned char shared[];
    T* s = reinterpret_cast<T*>(shared);
    const int tiles = (n + TILE - 1) / TILE, blocks = gridDim.x;
    T* y = work + tile_count(tiles) * AREA + (size_t)tiles * TILE;
    T* d = y + (size_t)tiles * TILE;
    int k = blockIdx.x;
    for (; k < tiles; k += blocks)
        substitute<T, false, false>(work, tiles, k, r, 1, y, (T*)nullptr, false, n, s);
    for (k -= blocks; k >= 0; k -= blocks) substitute<T, true, true>(work, tiles, k, y, 1, d, x, true, n, s);
}

// A sum of products that keeps its rounding errors. float's products are exact in double; double's sums are
// compensated (Ogita, Rump and Oishi 2005), as if summed in twice the precision.
struct Exact {
    double sum = 0, error = 0;
    __device__ __forceinline__ void add(double value, double lost) {
        const double total = __dadd_rn(sum, value), part = total - sum;
        error += (sum - (total - part)) + (value - part) + lost;
        sum = total;
    }
    __device__ __forceinline__ void product(float a, float x) { sum = fma((double)a, (double)x, sum); }
    __device__ __forceinline__ void product(double a, double x) {
        // Neither may be contracted with the following operation, because the errors are those of these roundings.
        const double value = __dmul_rn(a, x);
        add(value, fma(a, x, -value));
    }
};

// r = b - A x, one row per warp.
template <typename T>
__device__ __forceinline__ void residual(const T* a, const T* b, const T* x, T* r, int n) {
    const int row = blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= n) return;
    const T* from = a + (size_t)row * n;
    Exact sum;
#pragma unroll 8
    for (int c = lane; c < n; c += 32) sum.product(from[c], x[c]);
    for (int offset = 16; offset > 0; offset /= 2) {
        const double other = __shfl_xor_sync(EVERY_LANE, sum.sum, offset);
        const double lost = __shfl_xor_sync(EVERY_LANE, sum.error, offset);
        sum.add(other, lost);
    }
    if (lane == 0) {
        sum.add(-(double)b[row], 0);
        r[row] = (T) - (sum.sum + sum.error);
    }
}

#define SOLVE(type, suffix)                                                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                         \
        cholesky_##suffix(const type* a, const type* b, type* x, type* work, type* other, int* info,                 \
                          int* other_info, int n, int chains) {                                                      \
        cholesky(a, b, x, work, other, info, other_info, n, chains);                                                 \
    }
#define REFINE(type, suffix)                                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                            \
        residual_##suffix(const type* a, const type* b, const type* x, type* r, int n) {                             \
        residual(a, b, x, r, n);                                                                                     \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                         \
        correct_##suffix(type* work, const type* r, type* x, int n) {                                                \
        correct(work, r, x, n);                                                                                      \
    }
#ifdef SOLVE_F32
SOLVE(float, f32)
#endif
#ifdef SOLVE_F64
SOLVE(double, f64)
#endif
#ifdef REFINE_F32
REFINE(float, f32)
#endif
#ifdef REFINE_F64
REFINE(double, f64)
#endif
