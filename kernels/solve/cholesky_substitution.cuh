// Substitution with the tiles of a Cholesky factor.

#pragma once

#include "cholesky_tiles.cuh"

// Element (i, j) of a lower triangle with row distance `odd`; of L^T read backwards, which is one, too.
template <bool BACK, typename T> __device__ __forceinline__ T triangle(const T* s, int i, int j) {
    constexpr int ODD = TILE + 1;
    return BACK ? s[(TILE - 1 - i) * ODD + TILE - 1 - j] : s[j * ODD + i];
}

// Solves with a diagonal tile in one warp; lane i holds rows i and i + 32. Four unknowns at a time.
template <bool BACK, typename T>
__device__ __forceinline__ void solve_diagonal(const T* s, T& upper, T& lower, int lane) {
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll 2
        for (int j = h * HALF; j < (h + 1) * HALF; j += 4) {
            T z[4], x[4];
#pragma unroll
            for (int q = 0; q < 4; ++q) z[q] = broadcast(h == 0 ? upper : lower, j % HALF + q);
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                x[q] = z[q] * triangle<BACK>(s, j + q, j + q);
#pragma unroll
                for (int p = q + 1; p < 4; ++p) z[p] -= triangle<BACK>(s, j + p, j + q) * x[q];
            }
            T solved = h == 0 ? upper : lower, below = solved;
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                below -= triangle<BACK>(s, lane + h * HALF, j + q) * x[q];
                if (h == 0) lower -= triangle<BACK>(s, lane + HALF, j + q) * x[q];
                if (lane == j % HALF + q) solved = x[q];
            }
            if (lane > j % HALF + 3) solved = below;
            (h == 0 ? upper : lower) = solved;
        }
}

// Copies a diagonal tile of L, when it is there, to shared memory with row distance `TILE + 1`.
template <typename T> __device__ __forceinline__ void copy_triangle(const T* tile, T* s) {
    constexpr int WIDTH = Pack<T>::WIDTH, ODD = TILE + 1;
    const int t = threadIdx.x;
#pragma unroll
    for (int e = 0; e < AREA / (THREADS * WIDTH); ++e) {
        const int index = (e * THREADS + t) * WIDTH, c = index / TILE, r = index % TILE;
        if (r < HALF && c >= HALF) continue;
        Pack<T> pack = peek(tile + index);
        while (!written(pack)) pack = peek(tile + index);
#pragma unroll
        for (int f = 0; f < WIDTH; ++f) s[c * ODD + r + f] = pack.v[f];
    }
}

// Adds the products of a thread's packs of a tile with unknowns, for which it waits. Backward, a pack needs as many
// unknowns as it has elements, `step` after those of the pack before; forward, it needs one.
template <bool BACK, int WIDTH, int PACKS, typename T>
__device__ __forceinline__ void add_products(T (&sum)[WIDTH], const Pack<T> (&packs)[PACKS], const T* unknowns,
                                             int step) {
    if (BACK) {
        Pack<T> known[PACKS];
#pragma unroll
        for (int e = 0; e < PACKS; ++e) known[e] = peek(unknowns + e * step);
#pragma unroll
        for (int e = 0; e < PACKS; ++e) {
            while (!written(known[e])) known[e] = peek(unknowns + e * step);
#pragma unroll
            for (int f = 0; f < WIDTH; ++f) sum[f] += packs[e].v[f] * known[e].v[f];
        }
    } else {
        Pack<T> known[PACKS / WIDTH];
#pragma unroll
        for (int e = 0; e < PACKS / WIDTH; ++e) known[e] = peek(unknowns + e * WIDTH);
#pragma unroll
        for (int e = 0; e < PACKS; ++e) {
            while (!written(known[e / WIDTH])) known[e / WIDTH] = peek(unknowns + e / WIDTH * WIDTH);
#pragma unroll
            for (int f = 0; f < WIDTH; ++f) sum[f] += packs[e].v[f] * known[e / WIDTH].v[e % WIDTH];
        }
    }
}

// Substitution for the 64 unknowns k: forward with L, or backward with L^T.
//
// `given` is the right-hand side with elements `stride` apart (WAIT: computed in this launch); `found` holds the
// unknowns of all k, and those of other blocks are waited for. Writes x if it is given, or adds to it if `add` is
// set.
template <typename T, bool BACK, bool WAIT>
__device__ __noinline__ void substitute(const T* work, int tiles, int k, const T* given, int stride, T* found, T* x,
                                        bool add, int n, T* s) {
    constexpr int WIDTH = Pack<T>::WIDTH, PACKS = 16 / WIDTH, ODD = TILE + 1;
    T* partial = s + TILE * ODD;
    const int t = threadIdx.x, warp = t / WARP, lane = t % WARP;
    // Backward, four threads share a column of the tile; forward, a thread has a pack of rows in 16 / width columns.
    const int column = BACK ? t / 4 : t / (TILE / WIDTH) * PACKS;
    const int row = BACK ? t % 4 * WIDTH : t % (TILE / WIDTH) * WIDTH;
    const int tile_step = BACK ? 4 * WIDTH : TILE;
    const T* corner = row_of(work, k) + (size_t)k * AREA;
    T sum[WIDTH] = {};
    Pack<T> next[PACKS];
    const int first = BACK ? tiles - 1 : 0, last = k, towards = BACK ? -1 : 1;
    const auto tile_at = [&](int i) {
        return (BACK ? row_of(work, i) + (size_t)k * AREA : row_of(work, k) + (size_t)i * AREA) + column * TILE + row;
    };
    if (first != last) {
#pragma unroll
        for (int e = 0; e < PACKS; ++e) next[e] = peek(tile_at(first) + e * tile_step);
    }
    __syncthreads();  // whoever used `s` before is done
    copy_triangle(corner, s);
    for (int i = first; i != last; i += towards) {
        Pack<T> now[PACKS];
#pragma unroll
        for (int e = 0; e < PACKS; ++e) {
            now[e] = next[e];
            while (!written(now[e])) now[e] = peek(tile_at(i) + e * tile_step);
        }
        if (i + towards != last) {
#pragma unroll
            for (int e = 0; e < PACKS; ++e) next[e] = peek(tile_at(i + towards) + e * tile_step);
        }
        add_products<BACK>(sum, now, found + i * TILE + (BACK ? row : column), tile_step);
    }
    if (BACK) {
        T total = sum[0];
#pragma unroll
        for (int f = 1; f < WIDTH; ++f) total += sum[f];
        total += __shfl_xor_sync(EVERY_LANE, total, 1);
        total += __shfl_xor_sync(EVERY_LANE, total, 2);
        if (t % 4 == 0) partial[column] = total;
    } else {
#pragma unroll
        for (int f = 0; f < WIDTH; ++f) {
            if (WIDTH == 4) sum[f] += __shfl_xor_sync(EVERY_LANE, sum[f], 16);
            if (WIDTH == 2 || lane < 16) partial[warp * TILE + row + f] = sum[f];
        }
    }
    __syncthreads();
    if (warp != 0) return;
    T z[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int i = BACK ? TILE - 1 - lane - h * HALF : lane + h * HALF;
        const T* from = given + (size_t)(k * TILE + i) * stride;
        z[h] = WAIT ? awaited(from) : k * TILE + i < n ? *from : (T)0;
        for (int p = 0; p < (BACK ? 1 : THREADS / WARP); ++p) z[h] -= partial[p * TILE + i];
    }
    solve_diagonal<BACK>(s, z[0], z[1], lane);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int i = k * TILE + (BACK ? TILE - 1 - lane - h * HALF : lane + h * HALF);
        publish(found + i, z[h]);
        if (x != nullptr && i < n) x[i] = add ? x[i] + z[h] : z[h];
    }
}
