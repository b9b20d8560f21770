// Tiles of the Cholesky factorisation: their exchange between blocks, and sums of their products.

#pragma once

#include "common.cuh"

constexpr int TILE = 64, HALF = 32, CHUNK = 8, THREADS = 256;
constexpr int AREA = TILE * TILE, PANEL = TILE * HALF;

__device__ __forceinline__ Pack<float> peek(const float* at) {
    Pack<float> p;
    asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(p.v[0]), "=f"(p.v[1]), "=f"(p.v[2]), "=f"(p.v[3])
                 : "l"(at));
    return p;
}
__device__ __forceinline__ Pack<double> peek(const double* at) {
    Pack<double> p;
    asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(p.v[0]), "=d"(p.v[1]) : "l"(at));
    return p;
}
__device__ __forceinline__ float peek_one(const float* at) {
    float value;
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(value) : "l"(at));
    return value;
}
__device__ __forceinline__ double peek_one(const double* at) {
    double value;
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(at));
    return value;
}
__device__ __forceinline__ void publish(float* at, float value) {
    if (value == 0) value = -0.0f;
    asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(at), "f"(value));
}
__device__ __forceinline__ void publish(double* at, double value) {
    if (value == 0) value = -0.0;
    asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(at), "d"(value));
}
__device__ __forceinline__ bool written(float value) { return __float_as_uint(value) != 0; }
__device__ __forceinline__ bool written(double value) { return __double_as_longlong(value) != 0; }
template <typename T> __device__ __forceinline__ bool written(const Pack<T>& pack) {
    bool all = true;
#pragma unroll
    for (int e = 0; e < Pack<T>::WIDTH; ++e) all = all && written(pack.v[e]);
    return all;
}
template <typename T> __device__ __forceinline__ T awaited(const T* at) {
    T value = peek_one(at);
    while (!written(value)) value = peek_one(at);
    return value;
}

template <typename T> __device__ __forceinline__ T broadcast(T value, int lane) {
    return __shfl_sync(EVERY_LANE, value, lane);
}

// The first element of row `i` of tiles.
template <typename T> __device__ __forceinline__ T* row_of(T* tiles, int i) {
    return tiles + (size_t)i * (i + 1) / 2 * AREA;
}

// A thread's part of a tile in registers: 4 x 4 elements, the row or column `place(group, 0..3)`.
template <typename T> __device__ __forceinline__ int place(int group, int e) {
    constexpr int WIDTH = Pack<T>::WIDTH;
    return e / WIDTH * 16 * WIDTH + group * WIDTH + e % WIDTH;
}
template <typename T> __device__ __forceinline__ void read4(T (&to)[4], const T* from, int group) {
    constexpr int WIDTH = Pack<T>::WIDTH;
#pragma unroll
    for (int e = 0; e < 4; e += WIDTH) {
        const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(from + place<T>(group, e));
#pragma unroll
        for (int f = 0; f < WIDTH; ++f) to[e + f] = pack.v[f];
    }
}

struct Position {
    int gy, gx;
    __device__ __forceinline__ Position() {
        const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
        gy = warp % 2 * 8 + lane % 8;
        gx = warp / 2 * 4 + lane / 8;
    }
};

template <typename T> struct System {
    const T* a;
    const T* b;
    int n, tiles;
};

// Tile (i, j) of A, continued as the identity beyond n; a tile of b^T if i is the number of tiles.
template <typename T>
__device__ __forceinline__ void load_tile(const System<T>& s, int i, int j, const Position& at, T (&to)[16]) {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
        const int column = j * TILE + place<T>(at.gx, x);
#pragma unroll
        for (int y = 0; y < 4; ++y) {
            const int row = i * TILE + place<T>(at.gy, y);
            T value = 0;
            if (i == s.tiles) {
                if (row == i * TILE && column < s.n) value = s.b[column];
            } else if (row < s.n && column < s.n) {
                value = s.a[(size_t)column * s.n + row];
            } else if (row == column) {
                value = 1;
            }
            to[4 * y + x] = value;
        }
    }
}

template <typename T> __device__ __forceinline__ void store_tile(T* to, const Position& at, const T (&from)[16]) {
    constexpr int WIDTH = Pack<T>::WIDTH;
#pragma unroll
    for (int x = 0; x < 4; ++x)
#pragma unroll
        for (int y = 0; y < 4; y += WIDTH) {
            Pack<T> pack;
#pragma unroll
            for (int f = 0; f < WIDTH; ++f) pack.v[f] = from[4 * (y + f) + x];
            *reinterpret_cast<Pack<T>*>(to + place<T>(at.gx, x) * TILE + place<T>(at.gy, y)) = pack;
        }
}

// Some columns of a tile, 8 KiB, distributed over the block: first requested, then waited for.
template <typename T> struct Strip {
    static constexpr int PACKS = 2, SIZE = PACKS * THREADS * Pack<T>::WIDTH, COLUMNS = SIZE / TILE;
    Pack<T> pack[PACKS];
    static __device__ __forceinline__ int offset(int e) { return (e * THREADS + threadIdx.x) * Pack<T>::WIDTH; }
    __device__ __forceinline__ void ask(const T* from) {
#pragma unroll
        for (int e = 0; e < PACKS; ++e) pack[e] = peek(from + offset(e));
    }
    __device__ __forceinline__ void settle(const T* from, T* to) {
        bool all = true;
#pragma unroll
        for (int e = 0; e < PACKS; ++e) all = all && written(pack[e]);
        if (!all) {
            // The element that is written last, so that polling causes little traffic.
            awaited(from + SIZE - 1);
#pragma unroll
            for (int e = 0; e < PACKS; ++e)
                while (!written(pack[e])) pack[e] = peek(from + offset(e));
        }
#pragma unroll
        for (int e = 0; e < PACKS; ++e) *reinterpret_cast<Pack<T>*>(to + offset(e)) = pack[e];
    }
};

// cross -= rows columns^T over `tiles` tiles of both; with PAIR also diag -= rows rows^T.
template <typename T, bool PAIR>
__device__ __forceinline__ void accumulate(const T* rows, const T* columns, int tiles, T* stage, const Position& at,
                                           T (&cross)[16], T (&diag)[16]) {
    using S = Strip<T>;
    S left, right;
    const int strips = tiles * (TILE / S::COLUMNS);
    if (strips > 0) {
        left.ask(rows);
        right.ask(columns);
    }
    for (int h = 0; h < strips; ++h) {
        T* l = stage + h % 2 * 2 * S::SIZE;
        T* r = l + S::SIZE;
        left.settle(rows, l);
        right.settle(columns, r);
        __syncthreads();
        rows += S::SIZE;
        columns += S::SIZE;
        if (h + 1 < strips) {
            left.ask(rows);
            right.ask(columns);
        }
        T u[2][4], v[2][4], w[2][4];
        read4(u[0], l, at.gy);
        read4(v[0], r, at.gx);
        if (PAIR) read4(w[0], l, at.gx);
#pragma unroll 4
        for (int p = 0; p < S::COLUMNS; ++p) {
            const int now = p % 2, then = 1 - now, q = min(p + 1, S::COLUMNS - 1) * TILE;
            read4(u[then], l + q, at.gy);
            read4(v[then], r + q, at.gx);
            if (PAIR) read4(w[then], l + q, at.gx);
#pragma unroll
            for (int y = 0; y < 4; ++y)
#pragma unroll
                for (int x = 0; x < 4; ++x) {
                    cross[4 * y + x] -= u[now][y] * v[now][x];
                    if (PAIR) diag[4 * y + x] -= u[now][y] * w[now][x];
                }
        }
    }
    __syncthreads();
}
