// Triangles of 32 x 32 in a warp: the factor of one, and the division of rows by one. And the barriers at which the
// warps of a block meet meanwhile.

#pragma once

#include "cholesky_tiles.cuh"

// Returns whether a pivot has a reciprocal root: it is positive, normal and finite.
__device__ __forceinline__ bool sound(float pivot) { return pivot >= 1.17549435e-38f && pivot <= 3.402823466e38f; }
__device__ __forceinline__ bool sound(double pivot) {
    return pivot >= 2.2250738585072014e-308 && pivot <= 1.7976931348623157e308;
}

// A named barrier for some of the block's warps: producers of data arrive, consumers wait.
template <int ID, int WARPS> struct Barrier {
    static constexpr int PARTIES = WARPS * WARP;
    static __device__ __forceinline__ void wait() {
        asm volatile("bar.sync %0, %1;" ::"n"(ID), "n"(PARTIES) : "memory");
    }
    static __device__ __forceinline__ void arrive() {
        asm volatile("bar.arrive %0, %1;" ::"n"(ID), "n"(PARTIES) : "memory");
    }
};
// Four named barriers, one per eight columns of 32, because an instruction names its barrier by a constant.
template <int FIRST, int WARPS> struct Barriers {
    static __device__ __forceinline__ void wait(int part) {
        if (part == 0) Barrier<FIRST, WARPS>::wait();
        if (part == 1) Barrier<FIRST + 1, WARPS>::wait();
        if (part == 2) Barrier<FIRST + 2, WARPS>::wait();
        if (part == 3) Barrier<FIRST + 3, WARPS>::wait();
    }
    static __device__ __forceinline__ void arrive(int part) {
        if (part == 0) Barrier<FIRST, WARPS>::arrive();
        if (part == 1) Barrier<FIRST + 1, WARPS>::arrive();
        if (part == 2) Barrier<FIRST + 2, WARPS>::arrive();
        if (part == 3) Barrier<FIRST + 3, WARPS>::arrive();
    }
};

// The task of each of a block's eight warps in `finish`, by its number.
enum Role {
    FACTOR_FIRST,    // factors the first 32 columns of the diagonal tile
    SOLVE_BETWEEN,   // divides the block below them
    FACTOR_SECOND,   // factors the other 32 columns
    DIVIDE_UPPER,    // divides the upper 32 rows of `cross`
    DIVIDE_LOWER,    // divides the lower ones
    BRING_TRIANGLE,  // brings the first triangle of the factor above
    BRING_SQUARE,    // brings the square below that
    BRING_REST       // helps the other two with the second triangle
};

// The barriers between them: the first number, and the number of warps that meet.
using AboveFirst = Barrier<1, 3>;      // BRING_TRIANGLE to DIVIDE_*: the first triangle
using AboveSquare = Barrier<2, 3>;     // BRING_SQUARE to DIVIDE_*
using AboveSecond = Barriers<3, 3>;    // one of BRING_* to DIVIDE_*: eight columns of the second triangle
using FirstDivided = Barrier<7, 5>;    // DIVIDE_* to the first three: 32 columns of `cross`
using SecondDivided = Barriers<8, 5>;  // DIVIDE_* to the first three: eight of the other columns
using BetweenSolved = Barriers<12, 2>; // SOLVE_BETWEEN to FACTOR_SECOND: eight columns
// FACTOR_FIRST to SOLVE_BETWEEN: eight columns. There are 15 numbers; those of AboveSecond are free by now, because both
// warps have waited for SecondDivided, at which DIVIDE_* arrive after they have waited for AboveSecond.
using FirstFactored = Barriers<3, 2>;

// In the layout for triangles a lane has a row of the 32 x 32 elements.
//
// A triangle in shared memory has column j begin at its diagonal, so that packs are aligned and loops need not be
// unrolled: a lane's row moves down by one register a column.

// Eight columns of `solve_rows`; LEFT is the number of elements still to be computed at the start of `rows`.
template <int LEFT, typename T>
__device__ __forceinline__ void solve_chunk(T (&rows)[HALF], const T* l, T* to, T* out) {
    constexpr int WIDTH = Pack<T>::WIDTH, PACKS = LEFT / WIDTH;
    // Prefetches the next column if there are registers for it.
    constexpr bool AHEAD = sizeof(T) == 4;
    constexpr int UNROLL = AHEAD ? 2 : 1;
    Pack<T> next[PACKS];
    if (AHEAD) {
#pragma unroll
        for (int p = 0; p < PACKS; ++p) next[p] = *reinterpret_cast<const Pack<T>*>(l + p * WIDTH);
    }
#pragma unroll UNROLL
    for (int j = 0; j < CHUNK; ++j) {
        Pack<T> now[PACKS];
        const T* column = l + (AHEAD ? min(j + 1, CHUNK - 1) : j) * TILE;
#pragma unroll
        for (int p = 0; p < PACKS; ++p) {
            if (AHEAD) now[p] = next[p];
            (AHEAD ? next[p] : now[p]) = *reinterpret_cast<const Pack<T>*>(column + p * WIDTH);
        }
        const T value = rows[0] * now[0].v[0];
        to[j * TILE] = value;
        publish(out + j * TILE, value);
#pragma unroll
        for (int c = 1; c < LEFT; ++c) rows[c - 1] = rows[c] - value * now[c / WIDTH].v[c % WIDTH];
    }
}

// The part of a warp that solves: the block between the halves of the diagonal tile, or a half of `cross`. The first
// 32 columns of `cross` are divided by a triangle that is already complete.
enum Part { BETWEEN, FIRST_COLUMNS, SECOND_COLUMNS };

// rows = rows L^-T for a triangle L, whose diagonal holds reciprocals. Waits for L before the first or before every
// eighth column, and, if asked to `signal`, signals after the last or after every eighth.
template <typename T>
__device__ __forceinline__ void solve_rows(T (&rows)[HALF], const T* l, T* to, T* out, Part role, bool signal) {
#pragma unroll
    for (int part = 0; part < HALF / CHUNK; ++part) {
        if (role == BETWEEN)
            FirstFactored::wait(part);
        else if (role == SECOND_COLUMNS)
            AboveSecond::wait(part);
        else if (part == 0)
            AboveFirst::wait();
        const int at = part * CHUNK * TILE;
        if (part == 0) solve_chunk<HALF>(rows, l + at, to + at, out + at);
        if (part == 1) solve_chunk<HALF - CHUNK>(rows, l + at, to + at, out + at);
        if (part == 2) solve_chunk<HALF - 2 * CHUNK>(rows, l + at, to + at, out + at);
        if (part == 3) solve_chunk<HALF - 3 * CHUNK>(rows, l + at, to + at, out + at);
        __syncwarp();
        if (!signal) continue;
        if (role == BETWEEN)
            BetweenSolved::arrive(part);
        else if (role == SECOND_COLUMNS)
            SecondDivided::arrive(part);
        else if (part == HALF / CHUNK - 1)
            FirstDivided::arrive();
    }
}

// The values carried from one column of a factorisation to the next. The chain from pivot to pivot is a product, a
// fused multiply-add and a reciprocal root: every lane computes the next pivot from the element below this one and
// the next diagonal element, both broadcast one column earlier.
template <typename T> struct Chain {
    T own, pivot, root, below, next_pivot, before;
    int unsound;
};

// Eight columns of `factor`; LEFT is the number of elements still to be computed at the start of `rows`.
template <int LEFT, typename T>
__device__ __forceinline__ void factor_chunk(T (&rows)[HALF], Chain<T>& chain, int lane, T* l, T* out) {
    constexpr int WIDTH = Pack<T>::WIDTH, PACKS = LEFT / WIDTH, FIRST = HALF - LEFT;
#pragma unroll 1
    for (int j = FIRST; j < FIRST + CHUNK; ++j) {
        // Column j - 1, starting at its fourth element below the diagonal. Column 0 has no predecessor: the factor is
        // zero, so any element will do, except the one that is being written.
        Pack<T> pack[PACKS];
#pragma unroll
        for (int p = 4 / WIDTH; p < PACKS; ++p)
            pack[p] = *reinterpret_cast<const Pack<T>*>(l + abs(j - 1) * TILE + p * WIDTH);
        if (!sound(chain.pivot) && chain.unsound == HALF) chain.unsound = j;
        const T inverse = chain.root, mine = rows[0] * inverse, next = chain.below * inverse;
        chain.pivot = chain.next_pivot - next * next;
        chain.root = inverse_root(chain.pivot);
        chain.own -= mine * mine;
        chain.next_pivot = broadcast(chain.own, j + 2);
        rows[0] = rows[1] - mine * next;
        chain.below = broadcast(rows[0], j + 2);
        rows[1] = rows[2] - mine * broadcast(mine, j + 2);
        const T third = broadcast(mine, j + 3);
        // The rest of the previous column fills the latency of the root.
#pragma unroll
        for (int c = 3; c + 1 < LEFT; ++c)
            rows[c - 1] = rows[c] - chain.before * pack[(c + 1) / WIDTH].v[(c + 1) % WIDTH];
        rows[2] -= mine * third;
        chain.before = mine;
        const T value = lane > j ? mine : lane == j ? inverse : (T)-0.0;
        if (lane >= j) l[j * TILE + lane - j] = value;
        publish(out + j * TILE, value);
        __syncwarp();
    }
}

// rows = L for the symmetric 32 x 32 block `rows`, with `own` the lane's diagonal element. Returns the first column
// without a valid pivot, or 32.
template <typename T>
__device__ __forceinline__ int factor(T (&rows)[HALF], T own, int lane, int columns, T* l, T* out, bool signal) {
    Chain<T> chain;
    chain.own = own;
    chain.pivot = broadcast(own, 0);
    chain.root = inverse_root(chain.pivot);
    chain.below = broadcast(rows[0], 1);
    chain.next_pivot = broadcast(own, 1);
    chain.before = 0;
    chain.unsound = HALF;
    int part = 0;
#pragma unroll
    for (; part < HALF / CHUNK; ++part) {
        // The columns beyond n are the identity's.
        if (part > 0 && part * CHUNK >= columns) break;
        if (part == 0) factor_chunk<HALF>(rows, chain, lane, l, out);
        if (part == 1) factor_chunk<HALF - CHUNK>(rows, chain, lane, l, out);
        if (part == 2) factor_chunk<HALF - 2 * CHUNK>(rows, chain, lane, l, out);
        if (part == 3) factor_chunk<HALF - 3 * CHUNK>(rows, chain, lane, l, out);
        if (signal) FirstFactored::arrive(part);
    }
    for (int j = part * CHUNK; j < HALF; ++j) {
        const T value = lane == j ? (T)1 : (T)-0.0;
        if (lane >= j) l[j * TILE + lane - j] = value;
        publish(out + j * TILE, value);
    }
    __syncwarp();
    if (signal)
        for (; part < HALF / CHUNK; ++part) FirstFactored::arrive(part);
    return chain.unsound;
}
