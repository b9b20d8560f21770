// The kernels around the integer products of `ozaki-int8`: they cut float32 operands into three 8-bit slices, and
// combine the exact sums of products of slices. n is the size of the matrices; slices have rows of three times
// `pitch` bytes, products have rows of `pitch` integers.
//
// An element x of a row of A, or of a column of B, becomes the integer nearest to x * s, where s brings the largest
// magnitude of the row or column to 0x7f7f7f = 127 * (1 + 256 + 65536), and that integer the digits
// d0 * 65536 + d1 * 256 + d2, each from -128 to 127.

#include "common.cuh"

constexpr unsigned THREADS = 256;
constexpr unsigned CHUNKS = 64;     // into which the rows of B are divided for the maxima of its columns
constexpr unsigned TILE_K = 128;    // rows of B that a block of `ozaki_columns` cuts, for 32 columns
constexpr unsigned INFINITE = 0x7f800000u;  // this magnitude and larger ones are infinities and NaN
constexpr float LARGEST = 0x7f7f7f;

// s in two factors, because one float cannot scale the smallest denormals.
struct Scale {
    float first, second;
    double inverse;  // NaN where the row or column holds something that is not finite
};

// `bits` are those of the largest magnitude.
__device__ __forceinline__ Scale scale(unsigned bits) {
    if (bits == 0u) return {0.0f, 0.0f, 0.0};
    if (bits >= INFINITE) return {0.0f, 0.0f, __longlong_as_double(0x7ff8000000000000ll)};
    const float largest = __uint_as_float(bits);
    const float first = largest < 0x1p-63f ? 0x1p86f : 1.0f;
    const float second = __fdiv_rd(LARGEST, largest * first);  // rounded down, so that no digit overflows
    return {first, second, 1.0 / ((double)first * (double)second)};
}

// The three digits in the lowest bytes, the least in the lowest.
__device__ __forceinline__ unsigned digits(float x, Scale s) {
    return ((unsigned)__float2int_rn(x * s.first * s.second) + 0x808080u) ^ 0x808080u;
}

// Byte WHICH of four words.
template <unsigned WHICH> __device__ __forceinline__ unsigned gather(const unsigned (&words)[4]) {
    constexpr unsigned PAIR = WHICH | (WHICH + 4) << 4;
    return __byte_perm(__byte_perm(words[0], words[1], PAIR), __byte_perm(words[2], words[3], PAIR), 0x5410);
}

// Writes the digits of four elements, the highest first, `stride` words apart.
__device__ __forceinline__ void cut(const float (&x)[4], Scale s, unsigned* out, unsigned stride) {
    const unsigned words[4] = {digits(x[0], s), digits(x[1], s), digits(x[2], s), digits(x[3], s)};
    out[0] = gather<2>(words);
    out[stride] = gather<1>(words);
    out[2 * stride] = gather<0>(words);
}

__device__ __forceinline__ unsigned magnitude(float x) { return __float_as_uint(x) & 0x7fffffffu; }

// Four elements of a row, starting at column `column`; zeros beyond the row's end.
__device__ __forceinline__ void four(const float* __restrict__ row, unsigned column, unsigned n, float (&x)[4]) {
    if (n % 4 == 0) {
        const float4 pack = *reinterpret_cast<const float4*>(row + column);
        x[0] = pack.x, x[1] = pack.y, x[2] = pack.z, x[3] = pack.w;
    } else {
#pragma unroll
        for (unsigned lane = 0; lane < 4; ++lane) x[lane] = column + lane < n ? row[column + lane] : 0.0f;
    }
}

// The first blocks each find the largest magnitudes of 256 columns in one chunk of B's rows. The last n blocks each
// cut one row of A, with digits in the order d0 d1 d2.
extern "C" __global__ void __launch_bounds__(THREADS)
    ozaki_rows(const float* __restrict__ a, const float* __restrict__ b, unsigned* __restrict__ slices,
               double* __restrict__ inverses, unsigned* __restrict__ maxima, unsigned n, unsigned pitch) {
    constexpr unsigned KEPT = 4, STRIDE = 4 * THREADS;  // packs of a thread that stay in registers
    const unsigned strips = (n + THREADS - 1) / THREADS;
    if (blockIdx.x < strips * CHUNKS) {
        const unsigned column = blockIdx.x % strips * THREADS + threadIdx.x, chunk = blockIdx.x / strips;
        if (column >= n) return;
        const unsigned rows = (n + CHUNKS - 1) / CHUNKS, end = min(n, (chunk + 1) * rows);
        unsigned largest = 0;
#pragma unroll 16
        for (unsigned row = chunk * rows; row < end; ++row)
            largest = max(largest, magnitude(b[(unsigned long long)row * n + column]));
        maxima[chunk * n + column] = largest;
        return;
    }
    const unsigned index = blockIdx.x - strips * CHUNKS;
    const float* row = a + (unsigned long long)index * n;
    float kept[KEPT][4];
    unsigned largest = 0;
#pragma unroll
    for (unsigned pack = 0; pack < KEPT; ++pack) {
        const unsigned column = 4 * threadIdx.x + pack * STRIDE;
        if (column < n) four(row, column, n, kept[pack]);
    }
#pragma unroll
    for (unsigned pack = 0; pack < KEPT; ++pack)
        if (4 * threadIdx.x + pack * STRIDE < n)
#pragma unroll
            for (unsigned lane = 0; lane < 4; ++lane) largest = max(largest, magnitude(kept[pack][lane]));
#pragma unroll 2
    for (unsigned column = 4 * threadIdx.x + KEPT * STRIDE; column < n; column += STRIDE) {
        float x[4];
        four(row, column, n, x);
#pragma unroll
        for (unsigned lane = 0; lane < 4; ++lane) largest = max(largest, magnitude(x[lane]));
    }
    __shared__ unsigned of_warps[THREADS / WARP];
    const Scale s = scale(block_max(largest, of_warps));
    if (threadIdx.x == 0) inverses[index] = s.inverse;
    const unsigned words = pitch / 4;
    unsigned* out = slices + (unsigned long long)index * 3 * words;
#pragma unroll
    for (unsigned pack = 0; pack < KEPT; ++pack) {
        const unsigned column = 4 * threadIdx.x + pack * STRIDE;
        if (column < n) cut(kept[pack], s, out + column / 4, words);
    }
    for (unsigned column = 4 * threadIdx.x + KEPT * STRIDE; column < n; column += STRIDE) {
        float x[4];
        four(row, column, n, x);
        cut(x, s, out + column / 4, words);
    }
}

// Cuts 32 columns of 128 rows of B and writes them as rows, with digits in the order d2 d1 d0. Products of equal
// weight, such as d0 e1 and d1 e0, are then one product of adjacent slices.
extern "C" __global__ void __launch_bounds__(THREADS)
    ozaki_columns(const float* __restrict__ b, const unsigned* __restrict__ maxima, unsigned* __restrict__ slices,
                  double* __restrict__ inverses, unsigned n, unsigned pitch) {
    constexpr unsigned WARPS = THREADS / WARP, PACKS = TILE_K / 4;
    __shared__ unsigned largest[WARPS][WARP];
    __shared__ unsigned tile[3][WARP][PACKS + 1];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned left = blockIdx.x * WARP, top = blockIdx.y * TILE_K, column = left + lane;
    unsigned found = 0;
    if (column < n)
#pragma unroll
        for (unsigned chunk = warp; chunk < CHUNKS; chunk += WARPS) found = max(found, maxima[chunk * n + column]);
    largest[warp][lane] = found;
    float x[PACKS / WARPS][4];
#pragma unroll
    for (unsigned pack = 0; pack < PACKS / WARPS; ++pack)
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            const unsigned row = top + 4 * (pack * WARPS + warp) + k;
            x[pack][k] = row < n && column < n ? b[(unsigned long long)row * n + column] : 0.0f;
        }
    __syncthreads();
#pragma unroll
    for (unsigned other = 0; other < WARPS; ++other) found = max(found, largest[other][lane]);
    const Scale s = scale(found);
    if (blockIdx.y == 0 && warp == 0 && column < n) inverses[column] = s.inverse;
#pragma unroll
    for (unsigned pack = 0; pack < PACKS / WARPS; ++pack) {
        cut(x[pack], s, &tile[0][lane][pack * WARPS + warp], WARP * (PACKS + 1));
    }
    __syncthreads();
    const unsigned words = pitch / 4, word = top / 4 + lane;
    if (word >= words) return;
#pragma unroll
    for (unsigned line = warp; line < 3 * WARP; line += WARPS) {
        const unsigned slice = line / WARP, row = line % WARP;
        if (left + row < n)
            slices[((unsigned long long)(left + row) * 3 + 2 - slice) * words + word] = tile[slice][row][lane];
    }
}

// An entry of the product in float32.
__device__ __noinline__ float term_by_term(const float* __restrict__ a, const float* __restrict__ b, unsigned row,
                                           unsigned column, unsigned n) {
    float sum = 0.0f;
    for (unsigned k = 0; k < n; ++k)
        sum = fmaf(a[(unsigned long long)row * n + k], b[(unsigned long long)k * n + column], sum);
    return sum;
}

// Combines the sums of products by the digits' places 0, 1 and 2, which are stored one matrix after the other. An
// entry whose row of A or column of B is not all finite is computed again in float32, term by term.
extern "C" __global__ void __launch_bounds__(THREADS)
    ozaki_combine(const int* __restrict__ sums, const double* __restrict__ of_rows,
                  const double* __restrict__ of_columns, const float* __restrict__ a, const float* __restrict__ b,
                  float* __restrict__ c, unsigned n, unsigned pitch) {
    const unsigned row = blockIdx.y, left = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (left >= n) return;
    const unsigned long long matrix = (unsigned long long)pitch * pitch;
    const int* start = sums + (unsigned long long)row * pitch + left;
    const int4 high = *reinterpret_cast<const int4*>(start);
    const int4 middle = *reinterpret_cast<const int4*>(start + matrix);
    const int4 low = *reinterpret_cast<const int4*>(start + 2 * matrix);
    const double of_row = 65536.0 * of_rows[row];
    float values[4];
#pragma unroll
    for (unsigned lane = 0; lane < 4; ++lane) {
        const unsigned column = min(left + lane, n - 1);
        const long long sum = (long long)(&high.x)[lane] * 65536 + (long long)(&middle.x)[lane] * 256 + (&low.x)[lane];
        const double factor = of_row * of_columns[column];
        values[lane] = factor == factor ? (float)((double)sum * factor) : term_by_term(a, b, row, column, n);
    }
    float* out = c + (unsigned long long)row * n + left;
    if (n % 4 == 0) {
        *reinterpret_cast<float4*>(out) = make_float4(values[0], values[1], values[2], values[3]);
    } else {
#pragma unroll
        for (unsigned lane = 0; lane < 4; ++lane)
            if (left + lane < n) out[lane] = values[lane];
    }
}
