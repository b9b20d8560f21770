// The kernels around the integer products of `ozaki2-int8` (docs/kernels/ozaki2-int8.md). They turn float64 operands
// into residues modulo 15 integers, and the products of residues into the product of the operands.
//
// A row of A, or a column of B, is multiplied by the power of two that brings its Euclidean norm to at most 2^58, and
// rounded to integers. Their product is exact: by Cauchy and Schwarz its entries are at most 2^116, and the product of
// the moduli is larger than 2^117. n is the size of the matrices; residues and sums have rows of `pitch` elements.

#include "common.cuh"

constexpr unsigned THREADS = 256;
constexpr unsigned WARPS = THREADS / WARP;
constexpr unsigned CHUNKS = 64;     // into which the rows of B are divided for the norms of its columns
constexpr unsigned TILE_K = 128;    // residues are stored in groups of this length, of which a lane has four
constexpr int NORM_BITS = 58;

constexpr unsigned COUNT = 15;
// Pairwise coprime.
constexpr unsigned MODULI[COUNT] = {256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197};

// An integer of up to 120 bits in parts of 40, the lowest first.
constexpr int PART_BITS = 40;
struct Wide {
    u64 part[3];
};

// The product of all moduli except number `without`.
__device__ constexpr Wide product_without(unsigned without) {
    Wide product = {{1, 0, 0}};
    for (unsigned t = 0; t < COUNT; ++t) {
        if (t == without) continue;
        u64 carry = 0;
        for (int i = 0; i < 3; ++i) {
            const u64 part = product.part[i] * MODULI[t] + carry;
            product.part[i] = part & ((1ull << PART_BITS) - 1);
            carry = part >> PART_BITS;
        }
    }
    return product;
}

// The number that is 1 modulo `modulus` when it is multiplied by the product of the other moduli.
__device__ constexpr unsigned inverse_of_others(unsigned t) {
    unsigned others = 1;
    for (unsigned u = 0; u < COUNT; ++u)
        if (u != t) others = others * MODULI[u] % MODULI[t];
    unsigned inverse = 1;
    while (others * inverse % MODULI[t] != 1) ++inverse;
    return inverse;
}

// What the kernels need of each modulus m, all integers but the reciprocal.
struct Constants {
    double modulus[COUNT], reciprocal[COUNT];
    double two_to_32[COUNT];       // 2^32 modulo m, at most m / 2 in magnitude
    double inverse[COUNT];         // of the product of the others modulo m
    double others[3][COUNT];       // the product of the others, in parts
    double all[3];                 // the product of all, in parts
};

__device__ constexpr Constants constants() {
    Constants c = {};
    const Wide all = product_without(COUNT);
    for (int i = 0; i < 3; ++i) c.all[i] = (double)all.part[i];
    for (unsigned t = 0; t < COUNT; ++t) {
        const unsigned rest = (1ull << 32) % MODULI[t];
        const Wide others = product_without(t);
        c.modulus[t] = MODULI[t];
        c.reciprocal[t] = 1.0 / MODULI[t];
        c.two_to_32[t] = 2 * rest > MODULI[t] ? (double)rest - MODULI[t] : rest;
        c.inverse[t] = inverse_of_others(t);
        for (int i = 0; i < 3; ++i) c.others[i][t] = (double)others.part[i];
    }
    return c;
}

__constant__ constexpr Constants OF = constants();

// Adding it rounds a magnitude below 2^51 to an integer, whose lowest 32 bits are then those of the sum.
constexpr double ROUNDING = 0x1.8p52;
__device__ __forceinline__ double nearest(double x) { return (x + ROUNDING) - ROUNDING; }

// How a row of A or a column of B becomes integers.
struct Scale {
    double factor, inverse;
    double squares;  // sum of the squares of the elements
    bool valid;      // false where squares overflow or underflow, or something is not finite, or all is zero
};

__device__ __forceinline__ Scale scale(double squares) {
    if (!(squares >= 0x1p-900 && squares <= 0x1p900)) return {0.0, 0.0, squares, false};
    const int exponent = (__double2hiint(squares) >> 20) - 1023;  // squares < 2^(exponent + 1)
    const int shift = NORM_BITS - ((exponent + 2) >> 1);
    return {__hiloint2double((1023 + shift) << 20, 0), __hiloint2double((1023 - shift) << 20, 0), squares, true};
}

// Whether |x| is less than a fixed part of the root mean square of n elements: 1/16, or more where n is small.
__device__ __forceinline__ bool is_small(double x, double squares, unsigned n) {
    const double part = n >= 1024 ? 256.0 : n >= 64 ? 64.0 : 16.0;
    return x * x * (part * n) < squares;
}

// Whether the number of small elements among n is large enough for the error to exceed n 2^-53 of the sum of the terms'
// magnitudes (docs/kernels/ozaki2-int8.md).
__device__ __forceinline__ bool are_too_many(unsigned small, unsigned n) { return n < 4 || small >= (n + 3) / 4; }

// Stores the residues of four integers as one word per modulus, `stride` words apart.
__device__ __forceinline__ void store_residues(const double (&x)[4], double factor, unsigned* out, u64 stride) {
    double high[4], low[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const double integer = rint(x[j] * factor);
        high[j] = nearest(integer * 0x1p-32);
        low[j] = fma(high[j], -0x1p32, integer);
    }
#pragma unroll 3
    for (unsigned t = 0; t < COUNT; ++t) {
        unsigned bytes[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const double y = fma(high[j], OF.two_to_32[t], low[j]);  // at most 2^38
            const double residue = fma(nearest(y * OF.reciprocal[t]), -OF.modulus[t], y);
            bytes[j] = __double2loint(residue + ROUNDING);
        }
        out[t * stride] = __byte_perm(__byte_perm(bytes[0], bytes[1], 0x0040),
                                      __byte_perm(bytes[2], bytes[3], 0x0040), 0x5410);
    }
}

// The first blocks each add up the squares of 256 columns in one chunk of B's rows. The last n blocks each store the
// residues of one row of A and count its small elements. Byte j of the word of a lane belongs to element 32 j + lane of
// a group, in A as in B.
extern "C" __global__ void __launch_bounds__(THREADS)
    ozaki2_rows(const double* __restrict__ a, const double* __restrict__ b, unsigned* __restrict__ residues,
                double* __restrict__ inverses, unsigned* __restrict__ small_in_rows,
                unsigned* __restrict__ small_in_columns, double* __restrict__ squares_of_columns,
                unsigned* __restrict__ needed, unsigned n, unsigned pitch) {
    const unsigned strips = (n + THREADS - 1) / THREADS;
    if (blockIdx.x < strips * CHUNKS) {
        if (blockIdx.x == 0 && threadIdx.x == 0) *needed = 0;
        const unsigned column = blockIdx.x % strips * THREADS + threadIdx.x, chunk = blockIdx.x / strips;
        if (column >= n) return;
        if (chunk == 0) small_in_columns[column] = 0;
        const unsigned rows = (n + CHUNKS - 1) / CHUNKS, end = min(n, (chunk + 1) * rows);
        double squares = 0;
#pragma unroll 8
        for (unsigned row = chunk * rows; row < end; ++row) {
            const double x = b[(u64)row * n + column];
            squares = fma(x, x, squares);
        }
        squares_of_columns[(u64)chunk * n + column] = squares;
        return;
    }
    __shared__ double parts[WARPS];
    __shared__ unsigned counts[WARPS];
    const unsigned row = blockIdx.x - strips * CHUNKS, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const double* elements = a + (u64)row * n;
    double squares = 0;
    for (unsigned column = threadIdx.x; column < n; column += THREADS)
        squares = fma(elements[column], elements[column], squares);
    const Scale s = scale(block_sum(squares, parts));
    unsigned small = 0;
    unsigned* out = residues + (u64)row * (pitch / 4) + lane;
    for (unsigned start = warp * TILE_K; start < pitch; start += WARPS * TILE_K) {
        double x[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const unsigned column = start + WARP * j + lane;
            x[j] = column < n ? elements[column] : 0.0;
            small += column < n && is_small(x[j], s.squares, n);
        }
        store_residues(x, s.factor, out + start / 4, (u64)pitch * (pitch / 4));
    }
    small = block_sum(small, counts);
    if (threadIdx.x == 0) {
        inverses[row] = s.inverse;
        small_in_rows[row] = s.valid ? small : n;
    }
}

// Stores the residues of 32 columns of 128 rows of B, columns as rows, and counts the small elements of the columns.
extern "C" __global__ void __launch_bounds__(THREADS)
    ozaki2_columns(const double* __restrict__ b, const double* __restrict__ squares_of_columns,
                   unsigned* __restrict__ residues, double* __restrict__ inverses,
                   unsigned* __restrict__ small_in_columns, unsigned n, unsigned pitch) {
    __shared__ double parts[WARPS][WARP];
    __shared__ double tile[WARP][TILE_K + 1];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned left = blockIdx.x * WARP, top = blockIdx.y * TILE_K, column = left + lane;
    double squares = 0;
    if (column < n)
        for (unsigned chunk = warp; chunk < CHUNKS; chunk += WARPS)
            squares += squares_of_columns[(u64)chunk * n + column];
    parts[warp][lane] = squares;
#pragma unroll
    for (unsigned i = 0; i < TILE_K / WARPS; ++i) {
        const unsigned row = warp + WARPS * i;
        tile[lane][row] = top + row < n && column < n ? b[(u64)(top + row) * n + column] : 0.0;
    }
    __syncthreads();
    for (unsigned at = warp; at < WARP && left + at < n; at += WARPS) {
        double total = 0;
#pragma unroll
        for (unsigned part = 0; part < WARPS; ++part) total += parts[part][at];
        const Scale s = scale(total);
        double x[4];
        unsigned small = 0;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const unsigned row = WARP * j + lane;
            x[j] = tile[at][row];
            small += top + row < n && is_small(x[j], total, n);
        }
        store_residues(x, s.factor, residues + (u64)(left + at) * (pitch / 4) + top / 4 + lane,
                       (u64)pitch * (pitch / 4));
        small = warp_sum(small);
        if (lane != 0) continue;
        atomicAdd(small_in_columns + left + at, s.valid ? small : n);
        if (blockIdx.y == 0) inverses[left + at] = s.inverse;
    }
}

// Combines the products modulo each integer, which are stored one matrix after the other, by the Chinese remainder
// theorem. Sets `needed` if a row of A or a column of B has too many small elements for the answer to be used.
extern "C" __global__ void __launch_bounds__(THREADS)
    ozaki2_combine(const int* __restrict__ sums, const double* __restrict__ of_rows,
                   const double* __restrict__ of_columns, const unsigned* __restrict__ small_in_rows,
                   const unsigned* __restrict__ small_in_columns, unsigned* __restrict__ needed,
                   double* __restrict__ c, unsigned n, unsigned pitch) {
    const unsigned row = blockIdx.y, column = blockIdx.x * THREADS + threadIdx.x;
    if (column >= n) return;
    if (column == 0 && are_too_many(small_in_rows[row], n)) *needed = 1;
    if (row == 0 && are_too_many(small_in_columns[column], n)) *needed = 1;
    const int* sum = sums + (u64)row * pitch + column;
    double part[3] = {}, periods = 0;
#pragma unroll
    for (unsigned t = 0; t < COUNT; ++t) {
        // The bits of 2^52 + 2^31 + sum.
        const unsigned shifted = (unsigned)sum[t * (u64)pitch * pitch] ^ 0x80000000u;
        const double product = (__hiloint2double(0x43300000, shifted) - (0x1p52 + 0x1p31)) * OF.inverse[t];
        const double residue = fma(nearest(product * OF.reciprocal[t]), -OF.modulus[t], product);
#pragma unroll
        for (int i = 0; i < 3; ++i) part[i] = fma(residue, OF.others[i][t], part[i]);
        periods = fma(residue, OF.reciprocal[t], periods);
    }
    periods = nearest(periods);
#pragma unroll
    for (int i = 0; i < 3; ++i) part[i] = fma(periods, -OF.all[i], part[i]);
    // Integers below 2^53 so far. With carries, the lower parts are at most 2^39, so the sum loses no leading digits.
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const double carry = nearest(part[i] * 0x1p-40);
        part[i] = fma(carry, -0x1p40, part[i]);
        part[i + 1] += carry;
    }
    const double integer = fma(part[2], 0x1p80, fma(part[1], 0x1p40, part[0]));
    c[(u64)row * n + column] = integer * of_rows[row] * of_columns[column];
}
