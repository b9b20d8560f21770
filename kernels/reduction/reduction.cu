// Sum, mean and population standard deviation of n elements, as doubles.
//
// `moments` reads the elements once: sums of d and d * d where d = x - shift (Chan, Golub and LeVeque 1983). The
// shift is the median of three elements, so that little cancels when the mean is far from zero and an outlier does no
// harm. Partial sums are doubles, added in an order that depends only on the grid. Blocks post theirs for block 0,
// which waits for them. `rows_*` and `columns_*` do the same for each row or column of a matrix. `partial_*` and `finish`
// are the textbook method: they read the elements once per statistic.

#include "common.cuh"

// Threads per block of the textbook method.
constexpr int THREADS = 256;

template <typename T> struct Run {
    T sum = 0, squares = 0;
    template <typename V> __device__ __forceinline__ void add(const V& pack, T shift) {
#pragma unroll
        for (int lane = 0; lane < V::WIDTH; ++lane) add(pack.v[lane], shift);
    }
    __device__ __forceinline__ void add(T x, T shift) {
        const T d = x - shift;
        sum += d;
        squares += d * d;
    }
};

// Both sums over the first `lanes` lanes of a warp, valid in lane 0. Other lanes must hold zeros, and all pass the same `lanes`.
__device__ __forceinline__ void warp_sums(double& sum, double& squares, u32 lanes) {
#pragma unroll
    for (u32 offset = WARP / 2; offset > 0; offset /= 2)
        if (offset < lanes) {
            sum += __shfl_down_sync(EVERY_LANE, sum, offset);
            squares += __shfl_down_sync(EVERY_LANE, squares, offset);
        }
}

// Both sums over a block of BLOCK threads, valid in thread 0.
template <int BLOCK> __device__ __forceinline__ double2 block_sums(double sum, double squares) {
    constexpr int WARPS = BLOCK / WARP;
    warp_sums(sum, squares, WARP);
    if constexpr (WARPS > 1) {
        __shared__ double2 warps[WARPS];
        if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = make_double2(sum, squares);
        __syncthreads();
        const double2 mine = threadIdx.x < WARPS ? warps[threadIdx.x] : make_double2(0, 0);
        sum = mine.x;
        squares = mine.y;
        if (threadIdx.x < WARP) warp_sums(sum, squares, WARPS);
    }
    return make_double2(sum, squares);
}

// A value to subtract from elements. One that is not finite, or so large that a difference could overflow, counts as zero, so
// that the IEEE result of sums stays the same.
template <typename T> __device__ __forceinline__ T as_shift(T value) {
    const T most = sizeof(T) == 4 ? (T)1e18 : (T)1e150;
    return fabs(value) < most ? value : (T)0;
}

// The median of the first, the middle and the last of n elements at a distance of `stride`.
template <typename T> __device__ __forceinline__ T shift_for(const T* __restrict__ x, u64 n, u64 stride = 1) {
    const T a = as_shift(x[0]), b = as_shift(x[n / 2 * stride]), c = as_shift(x[(n - 1) * stride]);
    const T low = a < b ? a : b, high = a < b ? b : a, upper = high < c ? high : c;
    return low < upper ? upper : low;
}

// Writes sum, mean and deviation from the sums of d and d * d, at a distance of `stride`.
template <typename T>
__device__ __forceinline__ void write_statistics(double sum, double squares, T shift, u64 n, double inverse, double* out,
                                                 u64 stride = 1) {
    const double mean = sum * inverse;
    const double variance = squares * inverse - mean * mean;
    out[0] = fma((double)n, (double)shift, sum);
    out[stride] = (double)shift + mean;
    out[2 * stride] = sqrt(variance < 0 ? 0.0 : variance);  // not a number stays so
}

// The sums of a block on their way to block 0: four words, each with half a double below and SENT above. A word arrives
// as a whole, so there are no flags and fences. Words are zero before a launch and after it.
struct Post {
    static constexpr u64 SENT = 1ull << 32;
    u64* words;

    // Called by the first warp; its lane 0 has the sums.
    __device__ __forceinline__ void send(double2 sums) const {
        const double sum = __shfl_sync(EVERY_LANE, sums.x, 0), squares = __shfl_sync(EVERY_LANE, sums.y, 0);
        const u64 bits = __double_as_longlong(threadIdx.x < 2 ? sum : squares);
        const u32 half = threadIdx.x % 2 ? (u32)(bits >> 32) : (u32)bits;
        if (threadIdx.x < 4) store_relaxed(words + 4 * blockIdx.x + threadIdx.x, SENT | half);
    }

    // Waits for the sums of a block, and clears its words for the next launch.
    __device__ __forceinline__ double2 receive(u32 block) const {
        u64 word[4];
        bool complete;
        do {
            complete = true;
#pragma unroll
            for (int i = 0; i < 4; i += 2) {
                load_relaxed(words + 4 * block + i, word[i], word[i + 1]);
                complete = complete && word[i] >= SENT && word[i + 1] >= SENT;
            }
        } while (!complete);
#pragma unroll
        for (int i = 0; i < 4; ++i) words[4 * block + i] = 0;
        return make_double2(join(word[0], word[1]), join(word[2], word[3]));
    }

  private:
    static __device__ __forceinline__ double join(u64 low, u64 high) {
        return __longlong_as_double((long long)(high << 32 | (u32)low));
    }
};

// A small array has one block, which needs no exchange with others; a smaller one starts sooner.
template <typename T, int BLOCK, int UNROLL>
__device__ __forceinline__ void moments(const T* __restrict__ x, u64 n, double inverse, Post post, double* out) {
    using V = Pack<T>;
    constexpr int WIDTH = V::WIDTH, TILE = UNROLL * BLOCK, STEP = UNROLL < 4 ? UNROLL : 4;
    const V* packed = reinterpret_cast<const V*>(x);
    const u64 packs = n / WIDTH;
    // The loads of the first tile and of the remainder are in flight while the shift is computed.
    u64 at = blockIdx.x * (u64)TILE + threadIdx.x;
    V pack[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
        if (at + u * BLOCK < packs) pack[u] = packed[at + u * BLOCK];
    const bool has_rest = blockIdx.x == 0 && threadIdx.x < n % WIDTH;
    const T rest = has_rest ? x[packs * WIDTH + threadIdx.x] : 0;
    const T shift = shift_for(x, n);
    double sum = 0, squares = 0;
    while (at < packs) {
        // Runs of at most 64 bytes in T, then a double: rounding stays near one unit whatever n is.
#pragma unroll
        for (int from = 0; from < UNROLL; from += STEP) {
            Run<T> run;
#pragma unroll
            for (int u = from; u < from + STEP; ++u)
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
        if (blockIdx.x > 0) {
            if (threadIdx.x < WARP) post.send(total);
            return;
        }
        // A thread adds the sums of every BLOCK-th block; the first has those of block 0 already.
        const bool first = threadIdx.x == 0;
        sum = first ? total.x : 0;
        squares = first ? total.y : 0;
        for (u32 block = first ? BLOCK : threadIdx.x; block < gridDim.x; block += BLOCK) {
            const double2 other = post.receive(block);
            sum += other.x;
            squares += other.y;
        }
        __syncthreads();
        total = block_sums<BLOCK>(sum, squares);
    }
    if (threadIdx.x == 0) write_statistics(total.x, total.y, shift, n, inverse, out);
}

// `moments` for at most two packs per lane, by one warp: no loop, and no steps of the sum for lanes without elements.
template <typename T> __device__ __forceinline__ void moments_of_few(const T* __restrict__ x, u32 n, double inverse, double* out) {
    using V = Pack<T>;
    constexpr u32 WIDTH = V::WIDTH;
    const V* packed = reinterpret_cast<const V*>(x);
    const u32 lane = threadIdx.x, packs = n / WIDTH, rests = n % WIDTH;
    V first, second;
    if (lane < packs) first = packed[lane];
    if (lane + WARP < packs) second = packed[lane + WARP];
    const T rest = lane < rests ? x[packs * WIDTH + lane] : 0;
    const T shift = shift_for(x, n);
    Run<T> run;
    if (lane < packs) run.add(first, shift);
    if (lane + WARP < packs) run.add(second, shift);
    if (lane < rests) run.add(rest, shift);
    double sum = run.sum, squares = run.squares;
    warp_sums(sum, squares, max(packs, rests));
    if (lane == 0) write_statistics(sum, squares, shift, n, inverse, out);
}

#define MOMENTS(type, suffix, BLOCK, UNROLL)                                                                 \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                                     \
        moments_##suffix##_##BLOCK##_##UNROLL(const type* x, u64 n, double inverse, u64* words, double* out) { \
        moments<type, BLOCK, UNROLL>(x, n, inverse, {words}, out);                                          \
    }
#define FEW(type, suffix)                                                                                    \
    extern "C" __global__ void __launch_bounds__(WARP)                                                      \
        moments_##suffix##_32_2(const type* x, u64 n, double inverse, u64*, double* out) {                  \
        moments_of_few(x, (u32)n, inverse, out);                                                            \
    }
#define ONE_PASS(type, suffix)       \
    FEW(type, suffix)                \
    MOMENTS(type, suffix, 32, 4)     \
    MOMENTS(type, suffix, 128, 2)    \
    MOMENTS(type, suffix, 128, 4)    \
    MOMENTS(type, suffix, 256, 4)    \
    MOMENTS(type, suffix, 256, 8)    \
    MOMENTS(type, suffix, 512, 4)
#ifdef ONE_PASS_F32
ONE_PASS(float, f32)
#endif
#ifdef ONE_PASS_F64
ONE_PASS(double, f64)
#endif

// The largest access of a thread whose rows begin at multiples of 16 bytes (WIDTH elements), or one element.
template <typename T, int COUNT> struct alignas(COUNT * sizeof(T)) Group {
    static constexpr int WIDTH = COUNT;
    T v[COUNT];
};

// Where the statistics of `count` rows or columns of n elements go: three rows of `out`, or, if several blocks along y share a
// result, its sums of d and d * d to a row of `partials` per block.
struct Results {
    u64 count, n;
    double inverse;
    double2* partials;
    double* out;
    template <typename T> __device__ __forceinline__ void put(u64 result, double2 sums, T shift) const {
        if (gridDim.y == 1) write_statistics(sums.x, sums.y, shift, n, inverse, out + result, count);
        else partials[blockIdx.y * count + result] = sums;
    }
};

// Threads per block of the kernels for rows and columns.
constexpr int AXIS_BLOCK = 256;

// Rows of at most LANES groups of elements per step, each by LANES neighbouring threads. The elements stay in registers: first
// their mean, then their deviations from it.
template <typename T, int LANES, int WIDTH>
__device__ __forceinline__ void short_rows(const T* __restrict__ x, u64 rows, u64 cols, double inverse, double* out) {
    using V = Group<T, WIDTH>;
    // A warp has up to 16 elements per thread of one row; fewer threads have one group of each of four rows.
    constexpr int STEPS = LANES == WARP ? 16 / WIDTH : 1, TOGETHER = LANES == WARP ? 1 : 4;
    constexpr int TEAMS = AXIS_BLOCK / LANES;
    const u32 lane = threadIdx.x % LANES, packs = (u32)(cols / WIDTH);
    const u64 first = blockIdx.x * (u64)(TEAMS * TOGETHER) + threadIdx.x / LANES;
    V pack[TOGETHER][STEPS];
#pragma unroll
    for (int t = 0; t < TOGETHER; ++t)
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            const u64 row = first + t * TEAMS;
            const u32 index = lane + step * LANES;
            if (row < rows && index < packs) pack[t][step] = reinterpret_cast<const V*>(x + row * cols)[index];
        }
#pragma unroll
    for (int t = 0; t < TOGETHER; ++t) {
        const u64 row = first + t * TEAMS;
        Run<T> run;
#pragma unroll
        for (int step = 0; step < STEPS; ++step)
            if (row < rows && lane + step * LANES < packs) run.add(pack[t][step], (T)0);
        double sum = run.sum;
#pragma unroll
        for (int mask = LANES / 2; mask > 0; mask /= 2) sum += __shfl_xor_sync(EVERY_LANE, sum, mask);
        const T center = as_shift((T)(sum * inverse));
        run = {};
#pragma unroll
        for (int step = 0; step < STEPS; ++step)
            if (row < rows && lane + step * LANES < packs) run.add(pack[t][step], center);
        double of_d = run.sum, squares = run.squares;
#pragma unroll
        for (int mask = LANES / 2; mask > 0; mask /= 2) {
            of_d += __shfl_xor_sync(EVERY_LANE, of_d, mask);
            squares += __shfl_xor_sync(EVERY_LANE, squares, mask);
        }
        if (lane == 0 && row < rows) write_statistics(of_d, squares, center, cols, inverse, out + row, rows);
    }
}

// Long rows: a block per row, or several along y.
template <typename T, int WIDTH>
__device__ __forceinline__ void long_rows(const T* __restrict__ x, u64 cols, const Results& results) {
    using V = Group<T, WIDTH>;
    constexpr int UNROLL = WIDTH == 1 ? 8 : 4, TILE = UNROLL * AXIS_BLOCK;
    const T* row = x + blockIdx.x * cols;
    const V* packed = reinterpret_cast<const V*>(row);
    const u64 packs = cols / WIDTH;
    u64 at = blockIdx.y * (u64)TILE + threadIdx.x;
    // The loads of the first tile are in flight while the shift is computed.
    V pack[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
        if (at + u * AXIS_BLOCK < packs) pack[u] = packed[at + u * AXIS_BLOCK];
    const T shift = shift_for(row, cols);
    double sum = 0, squares = 0;
    while (at < packs) {
        Run<T> run;
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (at + u * AXIS_BLOCK < packs) run.add(pack[u], shift);
        sum += run.sum;
        squares += run.squares;
        at += gridDim.y * (u64)TILE;
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (at + u * AXIS_BLOCK < packs) pack[u] = packed[at + u * AXIS_BLOCK];
    }
    const double2 total = block_sums<AXIS_BLOCK>(sum, squares);
    if (threadIdx.x == 0) results.put(blockIdx.x, total, shift);
}

// Columns: `across` neighbouring threads have a group of columns each, and the block's other threads further rows.
template <typename T, int WIDTH>
__device__ __forceinline__ void columns(const T* __restrict__ x, u64 rows, u64 cols, u32 across, const Results& results) {
    using V = Group<T, WIDTH>;
    constexpr int UNROLL = 8;
    __shared__ double2 parts[AXIS_BLOCK * WIDTH];
    const u32 down = AXIS_BLOCK / across, y = threadIdx.x / across;
    const u64 first_col = blockIdx.x * (u64)across * WIDTH, col = first_col + threadIdx.x % across * WIDTH;
    T shift[WIDTH];
    double sum[WIDTH] = {}, squares[WIDTH] = {};
    if (col < cols) {
#pragma unroll
        for (int lane = 0; lane < WIDTH; ++lane) shift[lane] = shift_for(x + col + lane, rows, cols);
        const u64 stride = (u64)gridDim.y * down;
        for (u64 row = blockIdx.y * (u64)down + y; row < rows; row += UNROLL * stride) {
            V pack[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; ++u)
                if (row + u * stride < rows) pack[u] = *reinterpret_cast<const V*>(x + (row + u * stride) * cols + col);
#pragma unroll
            for (int lane = 0; lane < WIDTH; ++lane) {
                Run<T> run;
#pragma unroll
                for (int u = 0; u < UNROLL; ++u)
                    if (row + u * stride < rows) run.add(pack[u].v[lane], shift[lane]);
                sum[lane] += run.sum;
                squares[lane] += run.squares;
            }
        }
    }
#pragma unroll
    for (int lane = 0; lane < WIDTH; ++lane)
        parts[threadIdx.x * WIDTH + lane] = make_double2(sum[lane], squares[lane]);
    __syncthreads();
    const u64 mine = first_col + threadIdx.x;
    if (threadIdx.x >= across * WIDTH || mine >= cols) return;
    double2 total = make_double2(0, 0);
    for (u32 part = threadIdx.x; part < AXIS_BLOCK * WIDTH; part += across * WIDTH) {
        total.x += parts[part].x;
        total.y += parts[part].y;
    }
    results.put(mine, total, shift_for(x + mine, rows, cols));
}

// Adds the sums of the blocks that share a result, one thread per result. Results are `apart` elements from each other, and
// the elements of a result `stride`.
template <typename T>
__device__ __forceinline__ void finish_axis(const T* __restrict__ x, u64 apart, u64 stride, u32 blocks, const Results& results) {
    const u64 result = grid_thread();
    if (result >= results.count) return;
    double2 total = make_double2(0, 0);
    for (u32 block = 0; block < blocks; ++block) {
        const double2 sums = results.partials[block * results.count + result];
        total.x += sums.x;
        total.y += sums.y;
    }
    results.put(result, total, shift_for(x + result * apart, results.n, stride));
}

#define SHORT_ROWS(type, suffix, LANES, WIDTH)                                                                 \
    extern "C" __global__ void __launch_bounds__(AXIS_BLOCK, 4)                                                   \
        short_rows_##suffix##_##LANES##_##WIDTH(const type* x, u64 rows, u64 cols, double inverse, double* out) { \
        short_rows<type, LANES, WIDTH>(x, rows, cols, inverse, out);                                           \
    }
#define LONG_AXIS(type, suffix, WIDTH)                                                                         \
    extern "C" __global__ void __launch_bounds__(AXIS_BLOCK)                                                   \
        long_rows_##suffix##_##WIDTH(const type* x, u64 rows, u64 cols, double inverse, double2* partials, double* out) { \
        long_rows<type, WIDTH>(x, cols, {rows, cols, inverse, partials, out});                                 \
    }                                                                                                          \
    extern "C" __global__ void __launch_bounds__(AXIS_BLOCK)                                                   \
        columns_##suffix##_##WIDTH(const type* x, u64 rows, u64 cols, double inverse, double2* partials, double* out, u32 across) { \
        columns<type, WIDTH>(x, rows, cols, across, {cols, rows, inverse, partials, out});                     \
    }
#define EVERY_SHORT(type, suffix, WIDTH)     \
    SHORT_ROWS(type, suffix, 1, WIDTH)       \
    SHORT_ROWS(type, suffix, 2, WIDTH)       \
    SHORT_ROWS(type, suffix, 4, WIDTH)       \
    SHORT_ROWS(type, suffix, 8, WIDTH)       \
    SHORT_ROWS(type, suffix, 16, WIDTH)      \
    SHORT_ROWS(type, suffix, 32, WIDTH)
#define AXIS(type, suffix, WIDTH)            \
    EVERY_SHORT(type, suffix, 1)             \
    EVERY_SHORT(type, suffix, WIDTH)         \
    LONG_AXIS(type, suffix, 1)               \
    LONG_AXIS(type, suffix, WIDTH)           \
    extern "C" __global__ void __launch_bounds__(AXIS_BLOCK)                                                   \
        finish_axis_##suffix(const type* x, u64 count, u64 n, double inverse, double2* partials, double* out, u64 apart, u64 stride, u32 blocks) { \
        finish_axis(x, apart, stride, blocks, {count, n, inverse, partials, out});                             \
    }
#ifdef AXIS_F32
AXIS(float, f32, 4)
#endif
#ifdef AXIS_F64
AXIS(double, f64, 2)
#endif

#ifdef THREE_PASS

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

#endif
