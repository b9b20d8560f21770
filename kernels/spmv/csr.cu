#include "common.cuh"

// y = A x for A in compressed sparse row form with one thread per row: the naive kernel. The threads of a warp read
// different rows, so loads of `values` and `indices` do not coalesce.
template <typename Real>
__device__ __forceinline__ void row_per_thread(const int* __restrict__ indptr, const int* __restrict__ indices,
                                               const Real* __restrict__ values, const Real* __restrict__ x,
                                               Real* __restrict__ y, unsigned rows) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    Real sum = 0;
    const int end = indptr[row + 1];
    for (int k = indptr[row]; k < end; ++k) sum += values[k] * x[indices[k]];
    y[row] = sum;
}

extern "C" __global__ void spmv_row_per_thread_f32(const int* indptr, const int* indices, const float* values,
                                                   const float* x, float* y, unsigned rows) {
    row_per_thread(indptr, indices, values, x, y, rows);
}

extern "C" __global__ void spmv_row_per_thread_f64(const int* indptr, const int* indices, const double* values,
                                                   const double* x, double* y, unsigned rows) {
    row_per_thread(indptr, indices, values, x, y, rows);
}

// The vector kernel (Bell and Garland, SC 2009) and the adaptive one (Greathouse and Daga, SC 2014). Both load four
// entries at a time, aligned to multiples of four even if a row starts elsewhere.

constexpr u32 THREADS = 256;

template <typename T> struct alignas(16) Four { T e[4]; };

// Data that is read once bypasses the caches if STREAMED; otherwise it stays in L2 for the next product.
template <bool STREAMED> __device__ __forceinline__ int4 load(const int4* from) {
    return STREAMED ? __ldcs(from) : __ldg(from);
}
template <bool STREAMED> __device__ __forceinline__ float4 load(const float4* from) {
    return STREAMED ? __ldcs(from) : __ldg(from);
}
template <bool STREAMED> __device__ __forceinline__ double2 load(const double2* from) {
    return STREAMED ? __ldcs(from) : __ldg(from);
}

// Columns and values of entries `at` to `at + 3`. Entries beyond `entries` do not exist and count as zero.
template <typename T> struct Entries {
    int column[4];
    T value[4];

    template <bool STREAMED>
    __device__ __forceinline__ void read(const int* __restrict__ columns, const T* __restrict__ values, u32 at,
                                         u32 entries) {
        if (at + 4 <= entries) {
            const int4 c = load<STREAMED>(reinterpret_cast<const int4*>(columns + at));
            column[0] = c.x, column[1] = c.y, column[2] = c.z, column[3] = c.w;
            read_values<STREAMED>(values + at);
        } else {
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
                column[i] = at + i < entries ? columns[at + i] : 0;
                value[i] = at + i < entries ? values[at + i] : T(0);
            }
        }
    }

    template <bool STREAMED> __device__ __forceinline__ void read_values(const float* from) {
        const float4 v = load<STREAMED>(reinterpret_cast<const float4*>(from));
        value[0] = v.x, value[1] = v.y, value[2] = v.z, value[3] = v.w;
    }
    template <bool STREAMED> __device__ __forceinline__ void read_values(const double* from) {
        const double2 v = load<STREAMED>(reinterpret_cast<const double2*>(from));
        const double2 w = load<STREAMED>(reinterpret_cast<const double2*>(from) + 1);
        value[0] = v.x, value[1] = v.y, value[2] = w.x, value[3] = w.y;
    }
};

// `width` threads per row, a power of two up to 32.
template <typename T, bool STREAMED>
__device__ __forceinline__ void vector_rows(const int* __restrict__ offsets, const int* __restrict__ columns,
                                            const T* __restrict__ values, const T* __restrict__ x, T* __restrict__ y,
                                            u32 rows, u32 entries, u32 width) {
    const u32 lane = threadIdx.x % width, row = blockIdx.x * (THREADS / width) + threadIdx.x / width;
    if (row >= rows) return;
    const u32 begin = offsets[row], end = offsets[row + 1];
    T sum = 0;
#pragma unroll 2
    for (u32 at = (begin & ~3u) + 4 * lane; at < end; at += 4 * width) {
        Entries<T> four;
        four.template read<STREAMED>(columns, values, at, entries);
        T factor[4];
#pragma unroll
        for (u32 i = 0; i < 4; ++i) factor[i] = __ldg(x + four.column[i]);
#pragma unroll
        for (u32 i = 0; i < 4; ++i)
            if (at + i >= begin && at + i < end) sum += four.value[i] * factor[i];
    }
    const u32 mask = width == WARP ? EVERY_LANE : ((1u << width) - 1) << (threadIdx.x % WARP / width * width);
    for (u32 offset = width / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(mask, sum, offset);
    if (lane == 0) y[row] = sum;
}

// Most entries per part.
constexpr u32 ROOM = 1024;

// A part of whole rows is {first row, end row, first entry, end entry}. For a piece of a row that is too long for one
// part, the second value is the complement of the row's index in `longs`, which holds the first part of each long row
// and the number of its parts.
template <typename T>
__device__ __forceinline__ void adaptive(const int* __restrict__ offsets, const int* __restrict__ columns,
                                         const T* __restrict__ values, const T* __restrict__ x, T* __restrict__ y,
                                         u32 entries, const int4* __restrict__ parts, const int2* __restrict__ longs,
                                         T* sums, u32* tickets) {
    __shared__ Four<T> shared[ROOM / 4 + 2];
    const T* products = shared[0].e;
    const int4 part = parts[blockIdx.x];
    const u32 begin = part.z, end = part.w, origin = begin & ~3u;
    // Threads a row, and of this thread's first row where its entries are, while those are on their way.
    u32 width = WARP, row = 0, from = 0, to = 0;
    const u32 last = part.y >= 0 ? part.y : 0;
    if (part.y >= 0) {
        while (width > 1 && width * (last - part.x) > THREADS) width /= 2;
        row = part.x + threadIdx.x / width;
        if (row < last) {
            from = offsets[row] - origin;
            to = offsets[row + 1] - origin;
        }
    }
#pragma unroll 2
    for (u32 at = origin + 4 * threadIdx.x; at < end; at += 4 * THREADS) {
        Entries<T> four;
        four.template read<true>(columns, values, at, entries);
        Four<T> product;
#pragma unroll
        for (u32 i = 0; i < 4; ++i) product.e[i] = four.value[i] * __ldg(x + four.column[i]);
        shared[(at - origin) / 4] = product;
    }
    __syncthreads();
    T sum = 0;
    if (part.y >= 0) {
        const u32 lane = threadIdx.x % width;
        while (__any_sync(EVERY_LANE, row < last)) {
            sum = 0;
            for (u32 i = from + lane; i < to; i += width) sum += products[i];
            for (u32 offset = width / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(EVERY_LANE, sum, offset);
            if (lane == 0 && row < last) y[row] = sum;
            row += THREADS / width;
            from = row < last ? offsets[row] - origin : 0;
            to = row < last ? offsets[row + 1] - origin : 0;
        }
        return;
    }
    for (u32 i = begin - origin + threadIdx.x; i < end - origin; i += THREADS) sum += products[i];
    __shared__ T of_warps[THREADS / WARP];
    sum = block_sum(sum, of_warps);
    const int2 row_parts = longs[~part.y];
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(tickets + ~part.y, 1u) == (u32)row_parts.y - 1;
    }
    __syncthreads();
    if (!is_last) return;
    // The last block to finish adds the sums of all, in an order that does not depend on which block that is.
    __threadfence();
    sum = 0;
    for (u32 i = threadIdx.x; i < (u32)row_parts.y; i += THREADS) sum += __ldcg(sums + row_parts.x + i);
    sum = block_sum(sum, of_warps);
    if (threadIdx.x == 0) {
        y[part.x] = sum;
        tickets[~part.y] = 0;  // ready for the next launch
    }
}

#define ENTRIES(type, suffix)                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                         \
        spmv_vector_##suffix(const int* offsets, const int* columns, const type* values, const type* x, type* y,  \
                             u32 rows, u32 entries, u32 width) {                                                  \
        vector_rows<type, false>(offsets, columns, values, x, y, rows, entries, width);                           \
    }                                                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                         \
        spmv_vector_streamed_##suffix(const int* offsets, const int* columns, const type* values, const type* x,  \
                                      type* y, u32 rows, u32 entries, u32 width) {                                \
        vector_rows<type, true>(offsets, columns, values, x, y, rows, entries, width);                            \
    }                                                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                         \
        spmv_adaptive_##suffix(const int* offsets, const int* columns, const type* values, const type* x,         \
                               type* y, u32 entries, const int4* parts, const int2* longs, type* sums,            \
                               u32* tickets) {                                                                    \
        adaptive<type>(offsets, columns, values, x, y, entries, parts, longs, sums, tickets);                     \
    }

ENTRIES(float, f32)
ENTRIES(double, f64)
