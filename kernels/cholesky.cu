// A x = b for a symmetric positive definite A: Cholesky factorisation, forward and backward substitution in one launch.
//
// The lower triangle is cut into tiles of 64 x 64; b is one more row of tiles, so the factorisation processes it too.
// Each block takes tiles in an order in which every tile depends only on earlier ones. It waits for those by polling
// their elements: the workspace starts as zero bits and a computed zero is written as -0.0, so an element that is not
// +0.0 has been written. No flags, fences or grid barriers are needed, but all blocks must be resident.
// Tiles are stored by columns, one row of tiles after the other; the diagonal of a factor holds its reciprocals.
// Sums are taken in an order that depends on n alone.

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
// FACTOR_FIRST to SOLVE_BETWEEN: eight columns. There are 15 numbers; those of AboveSecond are free by now, because
// both
// warps have waited for SecondDivided, at which DIVIDE_* arrive after they have waited for AboveSecond.
using FirstFactored = Barriers<3, 2>;

// In the layout for triangles a lane has a row of the 32 x 32 elements.

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
