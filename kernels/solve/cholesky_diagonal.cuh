// The diagonal tile of the Cholesky factorisation and the tile left of it: eight warps with a task each.

#pragma once

#include "cholesky_triangles.cuh"

// 32 x 32 elements in a warp, in the layout for products: a lane has 8 rows and 4 columns.
template <typename T> struct Block {
    static constexpr int WIDTH = Pack<T>::WIDTH;
    T v[8][4];
    int row, column;
    __device__ __forceinline__ explicit Block(int lane) : row(lane % 4 * WIDTH), column(lane / 4 * WIDTH) {}
    static __device__ __forceinline__ int down(int e) { return e / WIDTH * 4 * WIDTH + e % WIDTH; }
    static __device__ __forceinline__ int across(int e) { return e / WIDTH * 8 * WIDTH + e % WIDTH; }
    __device__ __forceinline__ void load(const T* from) {
#pragma unroll
        for (int x = 0; x < 4; ++x)
#pragma unroll
            for (int y = 0; y < 8; y += WIDTH) {
                const Pack<T> pack =
                    *reinterpret_cast<const Pack<T>*>(from + (column + across(x)) * TILE + row + down(y));
#pragma unroll
                for (int f = 0; f < WIDTH; ++f) v[y + f][x] = pack.v[f];
            }
    }
    __device__ __forceinline__ void store(T* to) const {
#pragma unroll
        for (int x = 0; x < 4; ++x)
#pragma unroll
            for (int y = 0; y < 8; y += WIDTH) {
                Pack<T> pack;
#pragma unroll
                for (int f = 0; f < WIDTH; ++f) pack.v[f] = v[y + f][x];
                *reinterpret_cast<Pack<T>*>(to + (column + across(x)) * TILE + row + down(y)) = pack;
            }
    }
    // Subtracts the product of eight columns of two blocks of rows, mine theirs^T.
    __device__ __forceinline__ void subtract(const T* mine, const T* theirs) {
#pragma unroll
        for (int p = 0; p < CHUNK; ++p) {
            T m[8], t[4];
#pragma unroll
            for (int y = 0; y < 8; y += WIDTH) {
                const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(mine + p * TILE + row + down(y));
#pragma unroll
                for (int f = 0; f < WIDTH; ++f) m[y + f] = pack.v[f];
            }
#pragma unroll
            for (int x = 0; x < 4; x += WIDTH) {
                const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(theirs + p * TILE + column + across(x));
#pragma unroll
                for (int f = 0; f < WIDTH; ++f) t[x + f] = pack.v[f];
            }
#pragma unroll
            for (int y = 0; y < 8; ++y)
#pragma unroll
                for (int x = 0; x < 4; ++x) v[y][x] -= m[y] * t[x];
        }
    }
};

// Copies COLUMNS columns of 32 rows of a tile to shared memory, by one warp. Columns of a triangle are stored in the
// layout of triangles; `first` is the number of their first column.
template <int COLUMNS, bool TRIANGLE, typename T>
__device__ __forceinline__ void bring(const T* from, T* to, int first, int lane) {
    constexpr int WIDTH = Pack<T>::WIDTH, PACKS = COLUMNS / WIDTH;
    Pack<T> pack[PACKS];
    const int row = lane % (HALF / WIDTH) * WIDTH, column = lane / (HALF / WIDTH);
    from += column * TILE + row;
#pragma unroll
    for (int e = 0; e < PACKS; ++e) pack[e] = peek(from + e * WIDTH * TILE);
#pragma unroll
    for (int e = 0; e < PACKS; ++e) {
        while (!written(pack[e])) pack[e] = peek(from + e * WIDTH * TILE);
        T* at = to + (column + e * WIDTH) * TILE;
        if (!TRIANGLE) {
            *reinterpret_cast<Pack<T>*>(at + row) = pack[e];
            continue;
        }
        const int down = row - (first + column + e * WIDTH) / GROUP * GROUP;
#pragma unroll
        for (int f = 0; f < WIDTH; ++f)
            if (down + f >= 0) at[down + f] = pack[e].v[f];
    }
    __syncwarp();
}

// BRING_*: copies the factor above, the first 32 columns as a whole, the others in eights as they are computed.
template <typename T>
__device__ __forceinline__ void bring_factor(const T* above_at, T* above, int warp, int lane) {
    constexpr int CORNER = PANEL + HALF;
    if (warp == BRING_TRIANGLE) {
        bring<HALF, true>(above_at, above, 0, lane);
        AboveFirst::arrive();
    } else if (warp == BRING_SQUARE) {
        bring<HALF, false>(above_at + HALF, above + HALF, 0, lane);
        AboveSquare::arrive();
    }
    // Chunks in the order in which they come: 0 and 3 by the first warp, 1 and 2 by the others.
    for (int part = warp == BRING_REST ? 2 : warp - BRING_TRIANGLE; part < HALF / CHUNK; part += 3) {
        const int at = CORNER + part * CHUNK * TILE;
        bring<CHUNK, true>(above_at + at, above + at, part * CHUNK, lane);
        AboveSecond::arrive(part);
    }
}

// The products that are subtracted from blocks, in the order in which a warp takes them.
enum Product {
    OF_SQUARE,  // the first half of `cross` and the square of the factor above
    OF_FIRST,   // the first half of `cross` and itself
    OF_SECOND,  // the second half of `cross` and itself
    OF_BETWEEN  // the block between and itself
};

// Subtracts the products `first` to `last` from a warp's `block`, each as soon as its factors are there. Without
// `followers` FACTOR_FIRST has no block, but DIVIDE_* need it at their barriers.
template <typename T>
__device__ __forceinline__ void subtract_products(T* block, const T* cross, const T* diag, const T* above, int first,
                                                  int last, bool followers, int warp, int lane) {
    Block<T> difference(lane);
    difference.load(block);
    if (first == OF_SQUARE) AboveSquare::wait();
#pragma unroll 1
    for (int product = first; product <= last; ++product) {
        const T* mine = cross + (warp == FACTOR_FIRST ? 0 : HALF);
        const T* theirs = cross + (warp == FACTOR_SECOND ? HALF : 0);
        if (product == OF_SQUARE) mine = cross + (warp == FACTOR_SECOND ? HALF : 0), theirs = above + HALF;
        if (product == OF_SECOND) mine += PANEL, theirs += PANEL;
        if (product == OF_BETWEEN) mine = theirs = diag + HALF;
        // SOLVE_BETWEEN and FACTOR_SECOND have waited for the first half of `cross` already. They have time to wait
        // for all of the second, and leave the shared memory to the warps on the critical path.
        const bool first_half = product == OF_SQUARE || (product == OF_FIRST && warp == FACTOR_FIRST);
        const bool at_once = product == OF_SECOND && warp != FACTOR_FIRST;
        int done = warp == FACTOR_FIRST && !followers ? HALF / CHUNK : 0;
#pragma unroll 1
        for (int part = 0; part < HALF / CHUNK; ++part) {
            if (first_half) FirstDivided::wait(part);
            if (product == OF_SECOND) SecondDivided::wait(part);
            if (product == OF_BETWEEN) BetweenSolved::wait(part);
            if (at_once && part < HALF / CHUNK - 1) continue;
#pragma unroll 1
            for (; done <= part; ++done)
                difference.subtract(mine + done * CHUNK * TILE, theirs + done * CHUNK * TILE);
        }
    }
    difference.store(block);
    __syncwarp();
}

// FACTOR_*: factors a half of the diagonal tile and notes the first pivot that has no root.
template <typename T>
__device__ __forceinline__ void factor_half(T (&row)[HALF], T* block, T* out, int first_column, int n, int warp,
                                            int lane, int* info) {
    first_column += warp == FACTOR_SECOND ? HALF : 0;
    const int unsound = factor(row, lane, n - first_column, block, out, warp == FACTOR_FIRST);
    const int column = first_column + unsound;
    if (lane == 0 && unsound < HALF && column < n) atomicMax(info, 0x7fffffff - column);
}

// Subtracts the products from a follower's block before it is solved or factored. Before that, SOLVE_BETWEEN and
// FACTOR_SECOND do the same for the second half of `cross`, because DIVIDE_* have no time for it.
template <typename T>
__device__ __forceinline__ void prepare(T* block, T* cross, const T* diag, const T* above, bool has_cross,
                                        bool has_diag, int warp, int lane) {
    const bool first = warp == FACTOR_FIRST, second = warp == FACTOR_SECOND;
#pragma unroll 1
    for (int pass = has_cross && !first ? 0 : 1; pass < (has_diag || first ? 2 : 1); ++pass) {
        const int from = pass == 0 ? OF_SQUARE : has_cross ? OF_FIRST : OF_BETWEEN;
        const int to = pass == 0 ? OF_SQUARE : !has_diag ? OF_FIRST : second ? OF_BETWEEN : OF_SECOND;
        T* of = pass == 0 ? cross + PANEL + (second ? HALF : 0) : block;
        if (from <= to) subtract_products(of, cross, diag, above, from, to, has_diag, warp, lane);
        if (pass == 0) Prepared::arrive();
    }
}

// Completes the tile `cross`, which is divided by the factor `above` (in the workspace: `above_at`), and the diagonal
// tile below it, if any: the square of `cross` is subtracted from it, then it is factored.
//
// `Role` selects the task of the warp.
//
// Not inlined, because a function of its own gets the registers that it needs and compiles faster.
template <typename T>
__device__ __noinline__ void finish(T* cross, T* diag, T* above, const T* above_at, T* cross_out, T* diag_out,
                                    int first_column, int n, int* info) {
    // Uniform over the whole warp, so that the compiler does not guard each exchange between lanes.
    const int warp = broadcast((int)threadIdx.x / WARP, 0), lane = threadIdx.x % WARP;
    const bool has_cross = above_at != nullptr, has_diag = diag_out != nullptr;
    const bool divides = warp == DIVIDE_UPPER || warp == DIVIDE_LOWER;
    constexpr int CORNER = PANEL + HALF;
    // Only the followers have a task without `cross`. One comparison, because compute-sanitizer's synccheck (CUDA 13.0)
    // reports the barriers after a return that depends on two.
    if (warp >= (has_cross ? THREADS / WARP : DIVIDE_UPPER)) return;
    if (warp >= BRING_TRIANGLE) {
        bring_factor(above_at, above, warp, lane);
        return;
    }
    // A follower's block; the first of the two of DIVIDE_*.
    const int offset = warp == FACTOR_SECOND ? CORNER : warp == SOLVE_BETWEEN || warp == DIVIDE_LOWER ? HALF : 0;
    T* block = (divides ? cross : diag) + offset;
    T* out = (divides ? cross_out : diag_out) + offset + lane;
    if (!divides) {
        prepare(block, cross, diag, above, has_cross, has_diag, warp, lane);
        if (!has_diag) return;
    }
#pragma unroll 1
    for (int pass = 0; pass < (divides ? 2 : 1); ++pass, block += PANEL, out += PANEL) {
        if (pass == 1) Prepared::wait();
        T row[HALF];
#pragma unroll
        for (int c = 0; c < HALF; ++c) row[c] = block[c * TILE + lane];
        // All have read before any writes.
        __syncwarp();
        if (warp == FACTOR_FIRST || warp == FACTOR_SECOND) {
            factor_half(row, block, out, first_column, n, warp, lane, info);
        } else {
            const Part part = !divides ? BETWEEN : pass == 0 ? FIRST_COLUMNS : SECOND_COLUMNS;
            solve_row(row, divides ? above + pass * CORNER : diag, block + lane, out, part, has_diag);
        }
    }
}
