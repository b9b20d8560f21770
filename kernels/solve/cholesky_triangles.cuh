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

// The task of each of a block's eight warps in `finish`, by its number. Warps whose numbers differ by four share a
// scheduler, so the numbers keep tasks apart that have much to do at the same time.
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

// The barriers between them: the first number, and the number of warps that meet. FACTOR_* and SOLVE_BETWEEN are the
// *followers*: they process the diagonal tile. A block with one barrier comes as a whole, a block with four in
// chunks of eight columns.
using AboveFirst = Barrier<1, 3>;      // BRING_TRIANGLE to DIVIDE_*: the first triangle of the factor above
using AboveSquare = Barrier<2, 3>;     // BRING_SQUARE to SOLVE_BETWEEN and FACTOR_SECOND: the square below it
using AboveSecond = Barriers<3, 3>;    // one of BRING_* to DIVIDE_*: the second triangle
using Prepared = Barrier<7, 4>;        // SOLVE_BETWEEN and FACTOR_SECOND to DIVIDE_*: the second half of `cross`
using SecondDivided = Barriers<8, 5>;  // DIVIDE_* to the followers: the second half of `cross`
using FirstDivided = Barriers<12, 5>;  // DIVIDE_* to the followers: the first half of `cross`
// There are 15 numbers, so two sets serve twice. Who uses one again has waited for SecondDivided, at which DIVIDE_*
// arrive after all have come to the barriers of the first use.
using FirstFactored = Barriers<3, 2>;   // FACTOR_FIRST to SOLVE_BETWEEN: the first triangle of the diagonal tile
using BetweenSolved = Barriers<12, 2>;  // SOLVE_BETWEEN to FACTOR_SECOND: the block below it

// In the layout for triangles a lane has a row of the 32 x 32 elements, and columns are processed in groups of four.
//
// A triangle in shared memory has the columns of a group begin at the group's first row, so that packs are aligned and
// loops need not be unrolled: a lane's row moves down by four registers a group.
constexpr int GROUP = 4;

// The lower triangle of the four rows and columns of a group, the same in every lane. A factor's diagonal holds
// reciprocals.
template <typename T> struct Corner {
    T v[GROUP][GROUP];

    __device__ __forceinline__ void read(const T* columns) {
        constexpr int WIDTH = Pack<T>::WIDTH;
#pragma unroll
        for (int q = 0; q < GROUP; ++q)
#pragma unroll
            for (int p = q / WIDTH * WIDTH; p < GROUP; p += WIDTH) {
                const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(columns + q * TILE + p);
#pragma unroll
                for (int f = 0; f < WIDTH; ++f)
                    if (p + f >= q) v[p + f][q] = pack.v[f];
            }
    }
    // Factors the triangle. Returns the first column without a valid pivot, or 4.
    __device__ __forceinline__ int factor() {
        int unsound = GROUP;
#pragma unroll
        for (int q = 0; q < GROUP; ++q) {
            if (!sound(v[q][q]) && unsound == GROUP) unsound = q;
            v[q][q] = inverse_root(v[q][q]);
#pragma unroll
            for (int p = q + 1; p < GROUP; ++p) {
                v[p][q] *= v[q][q];
#pragma unroll
                for (int r = q + 1; r <= p; ++r) v[p][r] -= v[p][q] * v[r][q];
            }
        }
        return unsound;
    }
    // Divides a row's elements in the group's columns by the factored triangle.
    __device__ __forceinline__ void divide(T (&row)[GROUP]) const {
#pragma unroll
        for (int q = 0; q < GROUP; ++q) {
            row[q] *= v[q][q];
#pragma unroll
            for (int p = q + 1; p < GROUP; ++p) row[p] -= row[q] * v[p][q];
        }
    }
};

// Subtracts from the elements FIRST to END - 1 of a lane's row the products of its `values` in four columns with those
// columns, and moves them to the front.
template <int FIRST, int END, typename T>
__device__ __forceinline__ void subtract_group(T (&row)[HALF], const T (&values)[GROUP], const T* columns) {
    constexpr int WIDTH = Pack<T>::WIDTH;
#pragma unroll
    for (int c = FIRST; c < END; c += WIDTH) {
        Pack<T> pack[GROUP];
#pragma unroll
        for (int q = 0; q < GROUP; ++q) pack[q] = *reinterpret_cast<const Pack<T>*>(columns + q * TILE + c);
#pragma unroll
        for (int f = 0; f < WIDTH; ++f) {
            T rest = row[c + f];
#pragma unroll
            for (int q = 0; q < GROUP; ++q) rest -= values[q] * pack[q].v[f];
            row[c + f - FIRST] = rest;
        }
    }
}

// Eight columns of `solve_row`; LEFT is the number of elements still to be computed at the start of `row`.
template <int LEFT, typename T>
__device__ __forceinline__ void solve_chunk(T (&row)[HALF], const T* l, T* to, T* out) {
#pragma unroll 1
    for (int j = 0; j < CHUNK; j += GROUP) {
        Corner<T> corner;
        corner.read(l + j * TILE);
        T values[GROUP];
#pragma unroll
        for (int q = 0; q < GROUP; ++q) values[q] = row[q];
        corner.divide(values);
#pragma unroll
        for (int q = 0; q < GROUP; ++q) {
            to[(j + q) * TILE] = values[q];
            publish(out + (j + q) * TILE, values[q]);
        }
        subtract_group<GROUP, LEFT>(row, values, l + j * TILE);
    }
}

// The block that a warp solves: the one between the halves of the diagonal tile, or a half of `cross`. The first half of
// `cross` is divided by a triangle that is already complete.
enum Part { BETWEEN, FIRST_COLUMNS, SECOND_COLUMNS };

// row = row L^-T for a triangle L, whose diagonal holds reciprocals, in the columns of chunk INDEX and the later ones. Waits
// for L, and signals the warps that wait for the result; for the second half of `cross` only if there are followers.
// It recurses because `solve_chunk` takes the number of columns left as a template argument: each turn of an unrolled
// loop would contain all its instances until the compiler removes them, which takes longer to compile.
template <int INDEX = 0, typename T>
__device__ __forceinline__ void solve_row(T (&row)[HALF], const T* l, T* to, T* out, Part of, bool followers) {
    if (of == BETWEEN)
        FirstFactored::wait(INDEX);
    else if (of == SECOND_COLUMNS)
        AboveSecond::wait(INDEX);
    else if (INDEX == 0)
        AboveFirst::wait();
    constexpr int AT = INDEX * CHUNK * TILE;
    solve_chunk<HALF - INDEX * CHUNK>(row, l + AT, to + AT, out + AT);
    __syncwarp();
    if (of == BETWEEN)
        BetweenSolved::arrive(INDEX);
    else if (of == FIRST_COLUMNS)
        FirstDivided::arrive(INDEX);
    else if (followers)
        SecondDivided::arrive(INDEX);
    if constexpr ((INDEX + 1) * CHUNK < HALF) solve_row<INDEX + 1>(row, l, to, out, of, followers);
}

// Eight columns of `factor`; LEFT is the number of elements still to be computed at the start of `row`, which lack the
// products with the group before, the lane's `values`, except in the first four columns.
//
// The chain from pivot to pivot is a product, a fused multiply-add and a reciprocal root: every lane factors the
// triangle on the diagonal for itself. The subtractions for the group before fill its latency.
template <int LEFT, typename T>
__device__ __forceinline__ void factor_chunk(T (&row)[HALF], T (&values)[GROUP], int& unsound, int lane, T* l,
                                             T* out) {
    // The first group has none before it, the second has a column of 28 elements before it.
    constexpr int FIRST = HALF - LEFT, SUBTRACTED = LEFT < HALF ? LEFT : HALF - GROUP;
#pragma unroll 1
    for (int j = FIRST; j < FIRST + CHUNK; j += GROUP) {
        Corner<T> corner;
        T mine[GROUP];
#pragma unroll
        for (int p = 0; p < GROUP; ++p) {
            mine[p] = row[p];
#pragma unroll
            for (int q = 0; q <= p; ++q) corner.v[p][q] = broadcast(row[q], j + p);
        }
        const int failed = corner.factor();
        if (failed < GROUP && unsound == HALF) unsound = j + failed;
        // Before the first group the values are zero, so any elements will do that are not being written.
        subtract_group<GROUP, SUBTRACTED>(row, values, j == 0 ? l + GROUP * TILE : l + (j - GROUP) * TILE + GROUP);
#pragma unroll
        for (int c = SUBTRACTED; c < LEFT; ++c) row[c - GROUP] = row[c];
        corner.divide(mine);
#pragma unroll
        for (int q = 0; q < GROUP; ++q) {
            values[q] = mine[q];
            const T value = lane > j + q ? mine[q] : lane == j + q ? corner.v[q][q] : (T)-0.0;
            if (lane >= j) l[(j + q) * TILE + lane - j] = value;
            publish(out + (j + q) * TILE, value);
        }
        __syncwarp();
        subtract_group<0, GROUP>(row, mine, l + j * TILE + GROUP);
    }
}

// Factors chunk INDEX and those after it that have some of the first `columns` columns; `factor` fills the others with the
// identity. Returns the number of chunks that are factored. It recurses for the same reason as `solve_row`.
template <int INDEX = 0, typename T>
__device__ __forceinline__ int factor_chunks(T (&row)[HALF], T (&values)[GROUP], int& unsound, int lane, int columns, T* l,
                                             T* out, bool signal) {
    factor_chunk<HALF - INDEX * CHUNK>(row, values, unsound, lane, l, out);
    if (signal) FirstFactored::arrive(INDEX);
    constexpr int NEXT = INDEX + 1;
    if constexpr (NEXT * CHUNK < HALF)
        if (NEXT * CHUNK < columns) return factor_chunks<NEXT>(row, values, unsound, lane, columns, l, out, signal);
    return NEXT;
}

// Factors a symmetric 32 x 32 block, of which the lane has a row. Returns the first column without a valid pivot, or
// 32.
template <typename T>
__device__ __forceinline__ int factor(T (&row)[HALF], int lane, int columns, T* l, T* out, bool signal) {
    T values[GROUP] = {};
    int unsound = HALF;
    int part = factor_chunks(row, values, unsound, lane, columns, l, out, signal);
    for (int j = part * CHUNK; j < HALF; ++j) {
        const T value = lane == j ? (T)1 : (T)-0.0;
        if (lane >= j / GROUP * GROUP) l[j * TILE + lane - j / GROUP * GROUP] = value;
        publish(out + j * TILE, value);
    }
    __syncwarp();
    if (signal)
        for (; part < HALF / CHUNK; ++part) FirstFactored::arrive(part);
    return unsound;
}
