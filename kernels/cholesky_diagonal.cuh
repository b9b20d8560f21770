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
    struct Factors {
        T m[8], t[4];
    };
    __device__ __forceinline__ Factors read(const T* mine, const T* theirs, int p) const {
        Factors to;
#pragma unroll
        for (int y = 0; y < 8; y += WIDTH) {
            const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(mine + p * TILE + row + down(y));
#pragma unroll
            for (int f = 0; f < WIDTH; ++f) to.m[y + f] = pack.v[f];
        }
#pragma unroll
        for (int x = 0; x < 4; x += WIDTH) {
            const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(theirs + p * TILE + column + across(x));
#pragma unroll
            for (int f = 0; f < WIDTH; ++f) to.t[x + f] = pack.v[f];
        }
        return to;
    }
    // Subtracts the product of `count` columns of two blocks of rows, mine theirs^T.
    __device__ __forceinline__ void subtract(const T* mine, const T* theirs, int count) {
        Factors next = read(mine, theirs, 0);
#pragma unroll 2
        for (int p = 0; p < count; ++p) {
            const Factors now = next;
            next = read(mine, theirs, min(p + 1, count - 1));
#pragma unroll
            for (int y = 0; y < 8; ++y)
#pragma unroll
                for (int x = 0; x < 4; ++x) v[y][x] -= now.m[y] * now.t[x];
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
        const int down = row - (first + column + e * WIDTH);
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
    for (int part = warp - BRING_TRIANGLE; part < HALF / CHUNK; part += 3) {
        const int at = CORNER + part * CHUNK * TILE;
        bring<CHUNK, true>(above_at + at, above + at, part * CHUNK, lane);
        AboveSecond::arrive(part);
    }
}

// Subtracts the products `first` to `last` - 1 from a warp's `block`: 0 and 1 are those of the halves of `cross`, 2
// the square of the block between, 3 the product of the first half of `cross` with the square of the factor above.
template <typename T>
__device__ __forceinline__ void subtract_products(T* block, const T* cross, const T* diag, const T* above, int first,
                                                  int last, int warp, int lane) {
    Block<T> product(lane);
    product.load(block);
#pragma unroll 1
    for (int part = first; part < last; ++part) {
        const T* mine = cross + (warp == FACTOR_FIRST || warp == DIVIDE_UPPER ? 0 : HALF) + part % 3 * PANEL;
        const T* theirs = cross + (warp == FACTOR_SECOND ? HALF : 0) + part * PANEL;
        if (part == 0) FirstDivided::wait();
        if (part == 3) {
            theirs = above + HALF;
            AboveSquare::wait();
        }
        if (part == 2) mine = theirs = diag + HALF;
        // The second half of `cross` comes in chunks. SOLVE_BETWEEN and FACTOR_SECOND have time to wait for all of
        // it, and leave the shared memory to the warps on the critical path.
        const bool chunks = part == 1 || part == 2, at_once = part == 1 && warp > FACTOR_FIRST;
#pragma unroll 1
        for (int p = 0; p < HALF; p += chunks ? CHUNK : HALF) {
            if (part == 1) SecondDivided::wait(p / CHUNK);
            if (part == 2) BetweenSolved::wait(p / CHUNK);
            if (at_once && p + CHUNK < HALF) continue;
            const int at = at_once ? 0 : p * TILE;
            product.subtract(mine + at, theirs + at, chunks && !at_once ? CHUNK : HALF);
        }
    }
    product.store(block);
    __syncwarp();
}

// FACTOR_FIRST and FACTOR_SECOND: factors a half of the diagonal tile and notes the first pivot that has no root.
template <typename T>
__device__ __forceinline__ void factor_half(T (&rows)[HALF], T own, T* block, T* out, int first_column, int n, int warp,
                                            int lane, int* info) {
    const int columns = n - first_column;
    const int unsound = factor(rows, own, lane, columns - warp / 2 * HALF, block, out, warp == FACTOR_FIRST);
    const int column = first_column + warp / 2 * HALF + unsound;
    if (lane == 0 && unsound < HALF && column < n) atomicMax(info, 0x7fffffff - column);
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
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const bool has_cross = above_at != nullptr, has_diag = diag_out != nullptr;
    constexpr int CORNER = PANEL + HALF;
    if (warp >= BRING_TRIANGLE) {
        if (has_cross) bring_factor(above_at, above, warp, lane);
        return;
    }
    const bool divides = warp >= DIVIDE_UPPER;
    if (divides ? !has_cross : !has_diag) return;
#pragma unroll 1
    for (int pass = 0; pass < (divides ? 2 : 1); ++pass) {
        // The block, and the address of its result.
        const int offset = divides                 ? pass * PANEL + (warp - DIVIDE_UPPER) * HALF
                           : warp == FACTOR_FIRST  ? 0
                           : warp == SOLVE_BETWEEN ? HALF
                                                   : CORNER;
        T* block = (divides ? cross : diag) + offset;
        T* out = (divides ? cross_out : diag_out) + offset + lane;
        const int first = divides ? 4 - pass : has_cross ? 0 : 2, last = divides ? 4 : warp == FACTOR_SECOND ? 3 : 2;
        if (first < last) subtract_products(block, cross, diag, above, first, last, warp, lane);
        T rows[HALF], own = block[lane * TILE + lane];
#pragma unroll
        for (int c = 0; c < HALF; ++c) rows[c] = block[c * TILE + lane];
        // All have read before any writes.
        __syncwarp();
        // Uniform over the whole warp, so that the compiler does not guard each exchange between lanes.
        const int uniform = broadcast(warp, 0);
        if (uniform == FACTOR_FIRST || uniform == FACTOR_SECOND) {
            factor_half(rows, own, block, out, first_column, n, warp, lane, info);
            continue;
        }
        const Part part = warp == SOLVE_BETWEEN ? BETWEEN : pass == 0 ? FIRST_COLUMNS : SECOND_COLUMNS;
        solve_rows(rows, part == BETWEEN ? diag : above + pass * CORNER, block + lane, out, part, has_diag);
    }
}
