// Sum, mean and population standard deviation of n elements, as doubles.
//
// `moments` reads the elements once: sums of d and d * d where d = x - shift (Chan, Golub and LeVeque 1983). The
// shift is the median of five elements, so that little cancels when the mean is far from zero and an outlier does no
// harm. Partial sums are doubles, added in an order that depends only on the grid. `partial_*` and `finish` are the
// textbook method: they read the elements once per statistic.

#include "common.cuh"

// Threads of a block of the textbook method.
constexpr int THREADS = 256;

template <typename T> struct Run {
    T sum = 0, squares = 0;
    __device__ __forceinline__ void add(const Pack<T>& pack, T shift) {
#pragma unroll
        for (int lane = 0; lane < Pack<T>::WIDTH; ++lane) add(pack.v[lane], shift);
    }
    __device__ __forceinline__ void add(T x, T shift) {
        const T d = x - shift;
        sum += d;
        squares += d * d;
    }
};

// Both sums over a block of BLOCK threads, valid in thread 0.
template <int BLOCK> __device__ __forceinline__ double2 block_sums(double sum, double squares) {
    constexpr int WARPS = BLOCK / WARP;
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(EVERY_LANE, sum, offset);
        squares += __shfl_down_sync(EVERY_LANE, squares, offset);
    }
    if constexpr (WARPS > 1) {
        __shared__ double2 warps[WARPS];
        if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = make_double2(sum, squares);
        __syncthreads();
        const double2 mine = threadIdx.x < WARPS ? warps[threadIdx.x] : make_double2(0, 0);
        sum = mine.x;
        squares = mine.y;
        if (threadIdx.x < WARP)
            for (int offset = WARPS / 2; offset > 0; offset /= 2) {
                sum += __shfl_down_sync(EVERY_LANE, sum, offset);
                squares += __shfl_down_sync(EVERY_LANE, squares, offset);
            }
    }
    return make_double2(sum, squares);
}

// The median of five elements spread over x. One that is not finite, or so large that a difference could overflow,
// counts as zero, so that the shift does not change the IEEE result of the sums.
template <typename T> __device__ __forceinline__ T shift_for(const T* __restrict__ x, u64 n) {
    T five[5];
    const T most = sizeof(T) == 4 ? (T)1e18 : (T)1e150;
#pragma unroll
    for (int k = 0; k < 5; ++k) {
        five[k] = x[(n - 1) / 4 * k];
        if (!(fabs(five[k]) < most)) five[k] = 0;
    }
#pragma unroll
    for (int last = 4; last > 0; --last)
#pragma unroll
        for (int k = 0; k < last; ++k) {
            const T low = five[k] < five[k + 1] ? five[k] : five[k + 1];
            five[k + 1] = five[k] < five[k + 1] ? five[k + 1] : five[k];
            five[k] = low;
        }
    return five[2];
}

// A small array has one block, which needs no exchange with others; a smaller one starts sooner.
template <typename T, int BLOCK, int UNROLL>
__device__ __forceinline__ void moments(const T* __restrict__ x, u64 n, double2* partials, u32* ticket, double* out) {
    using V = Pack<T>;
    constexpr int WIDTH = V::WIDTH, TILE = UNROLL * BLOCK;
    const V* packed = reinterpret_cast<const V*>(x);
    const u64 packs = n / WIDTH;
    // The loads of the first tile and of the remainder are in flight while the shift and 1 / n are computed.
    u64 at = blockIdx.x * (u64)TILE + threadIdx.x;
    V pack[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
        if (at + u * BLOCK < packs) pack[u] = packed[at + u * BLOCK];
    const bool has_rest = blockIdx.x == 0 && threadIdx.x < n % WIDTH;
    const T rest = has_rest ? x[packs * WIDTH + threadIdx.x] : 0;
    const T shift = shift_for(x, n);
    const double inverse = 1.0 / (double)n;
    double sum = 0, squares = 0;
    while (at < packs) {
        // Runs of 16 elements in T, then a double: rounding stays near one unit whatever n is.
#pragma unroll
        for (int from = 0; from < UNROLL; from += 4) {
            Run<T> run;
#pragma unroll
            for (int u = from; u < from + 4; ++u)
                if (at + u * BLOCK < packs) run.add(pack[u], shift);
            sum += run.sum;
            squares += run.squares;
        }
        at += gridDim.x * (u64)TILE;
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (at + u * BLOCK < packs) pack[u] = packed[at + u * BLOCK];
    }
    if (has_rest) {
        Run<T> run;
        run.add(rest, shift);
        sum += run.sum;
        squares += run.squares;
    }
    double2 total = block_sums<BLOCK>(sum, squares);

    if (gridDim.x > 1) {
        __shared__ bool last;
        if (threadIdx.x == 0) {
            __stcg(partials + blockIdx.x, total);
            __threadfence();
            last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        }
        __syncthreads();
        if (!last) return;
        __threadfence();
        sum = squares = 0;
        for (u32 block = threadIdx.x; block < gridDim.x; block += BLOCK) {
            const double2 partial = __ldcg(partials + block);
            sum += partial.x;
            squares += partial.y;
        }
        total = block_sums<BLOCK>(sum, squares);
    }
    if (threadIdx.x == 0) {
        const double mean = total.x * inverse;
        const double variance = total.y * inverse - mean * mean;
        out[0] = fma((double)n, (double)shift, total.x);
        out[1] = (double)shift + mean;
        out[2] = sqrt(variance < 0 ? 0.0 : variance);  // not a number stays so
        *ticket = 0;  // ready for the next launch
    }
}

#define MOMENTS(type, suffix, BLOCK, UNROLL)                                                                 \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                                     \
        moments_##suffix##_##BLOCK##_##UNROLL(const type* x, u64 n, double2* partials, u32* ticket,         \
                                              double* out) {                                                \
        moments<type, BLOCK, UNROLL>(x, n, partials, ticket, out);                                          \
    }
MOMENTS(float, f32, 32, 4)
MOMENTS(float, f32, 128, 4)
MOMENTS(float, f32, 512, 4)
MOMENTS(float, f32, 512, 8)
MOMENTS(float, f32, 512, 16)
MOMENTS(double, f64, 32, 4)
MOMENTS(double, f64, 128, 4)
MOMENTS(double, f64, 512, 4)
MOMENTS(double, f64, 512, 8)
MOMENTS(double, f64, 512, 16)

// One partial sum per block, of x or, if `mean` is given, of (x - mean)^2.
template <typename T>
__device__ __forceinline__ void partial(const T* __restrict__ x, u64 n, const double* mean,
                                        double* partials) {
    T sum = 0;
    const T center = mean ? (T)*mean : (T)0;
    const u64 stride = gridDim.x * (u64)THREADS;
    for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < n; i += stride) {
        const T d = x[i] - center;
        sum += mean ? d * d : d;
    }
    __shared__ double parts[THREADS / WARP];
    const double total = block_sum((double)sum, parts);
    if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

#define PARTIAL(type, suffix)                                                                               \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                   \
        partial_sum_##suffix(const type* x, u64 n, double* partials, const double*) {        \
        partial(x, n, nullptr, partials);                                                                   \
    }                                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                   \
        partial_squares_##suffix(const type* x, u64 n, double* partials, const double* out) { \
        partial(x, n, out + 1, partials);                                                                   \
    }
PARTIAL(float, f32)
PARTIAL(double, f64)

// One block adds the partial sums and writes statistic 0 (sum), 1 (mean) or 2 (standard deviation).
extern "C" __global__ void __launch_bounds__(THREADS)
    finish(const double* partials, u32 count, u64 n, u32 statistic, double* out) {
    double sum = 0;
    for (u32 i = threadIdx.x; i < count; i += THREADS) sum += partials[i];
    __shared__ double parts[THREADS / WARP];
    sum = block_sum(sum, parts);
    if (threadIdx.x == 0) {
        const double mean = sum / (double)n;
        out[statistic] = statistic == 0 ? sum : statistic == 1 ? mean : sqrt(mean);
    }
}
