// Sum, mean and population standard deviation of n elements, as doubles.
//
// `moments` reads the elements once: sums of d and d * d where d = x - shift (Chan, Golub and LeVeque 1983) and shift is
// the median of five elements, so that little cancels when the mean is far from zero and a wild element spoils
// nothing; partial sums are doubles, added in an order that depends on the grid alone. `partial_*` and `finish` are
// the textbook way: the elements are read once for each statistic.

// Threads of a block of `moments`, and of the other kernels.
constexpr int wide = 512, threads = 256;

template <typename T> struct Pack;
template <> struct Pack<float> { using type = float4; };
template <> struct Pack<double> { using type = double2; };

template <typename T> struct Run {
    T sum = 0, squares = 0;
    __device__ __forceinline__ void add(typename Pack<T>::type pack, T shift) {
        constexpr int width = sizeof(pack) / sizeof(T);
#pragma unroll
        for (int lane = 0; lane < width; ++lane) add((&pack.x)[lane], shift);
    }
    __device__ __forceinline__ void add(T x, T shift) {
        const T d = x - shift;
        sum += d;
        squares += d * d;
    }
};

// Both sums over a block of `wide` threads, valid in thread 0.
__device__ double2 block_sums(double sum, double squares) {
    __shared__ double2 warps[wide / 32];
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
        squares += __shfl_down_sync(0xffffffffu, squares, offset);
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = make_double2(sum, squares);
    __syncthreads();
    const double2 mine = threadIdx.x < wide / 32 ? warps[threadIdx.x] : make_double2(0, 0);
    sum = mine.x;
    squares = mine.y;
    if (threadIdx.x < 32)
        for (int offset = wide / 64; offset > 0; offset /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
            squares += __shfl_down_sync(0xffffffffu, squares, offset);
        }
    return make_double2(sum, squares);
}

// The median of five elements from all over x. One that is not finite, or so large that a difference could overflow,
// counts as zero: what it does to the sums is IEEE's to say, not the shift's.
template <typename T> __device__ __forceinline__ T shift_for(const T* __restrict__ x, unsigned long long n) {
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

template <typename T>
__device__ __forceinline__ void moments(const T* __restrict__ x, unsigned long long n, double2* partials,
                                        unsigned int* ticket, double* out) {
    using V = typename Pack<T>::type;
    constexpr int width = sizeof(V) / sizeof(T), unroll = 4, tile = unroll * wide;
    const V* packed = reinterpret_cast<const V*>(x);
    const unsigned long long packs = n / width;
    // The first tile is under way while the shift is found.
    unsigned long long at = blockIdx.x * (unsigned long long)tile + threadIdx.x;
    V pack[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u)
        if (at + u * wide < packs) pack[u] = packed[at + u * wide];
    const T shift = shift_for(x, n);
    double sum = 0, squares = 0;
    while (at < packs) {
        // Runs of 16 elements in T, then a double: rounding stays near one unit whatever n is.
        Run<T> run;
#pragma unroll
        for (int u = 0; u < unroll; ++u)
            if (at + u * wide < packs) run.add(pack[u], shift);
        sum += run.sum;
        squares += run.squares;
        at += gridDim.x * (unsigned long long)tile;
#pragma unroll
        for (int u = 0; u < unroll; ++u)
            if (at + u * wide < packs) pack[u] = packed[at + u * wide];
    }
    if (blockIdx.x == 0 && threadIdx.x < n % width) {
        Run<T> rest;
        rest.add(x[packs * width + threadIdx.x], shift);
        sum += rest.sum;
        squares += rest.squares;
    }
    double2 total = block_sums(sum, squares);

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
        for (unsigned int block = threadIdx.x; block < gridDim.x; block += wide) {
            const double2 partial = __ldcg(partials + block);
            sum += partial.x;
            squares += partial.y;
        }
        total = block_sums(sum, squares);
    }
    if (threadIdx.x == 0) {
        const double count = (double)n, mean = total.x / count;
        const double variance = total.y / count - mean * mean;
        out[0] = fma(count, (double)shift, total.x);
        out[1] = (double)shift + mean;
        out[2] = sqrt(variance < 0 ? 0.0 : variance);  // not a number stays so
        *ticket = 0;  // ready for the next launch
    }
}

extern "C" __global__ void __launch_bounds__(wide)
    moments_f32(const float* x, unsigned long long n, double2* partials, unsigned int* ticket, double* out) {
    moments(x, n, partials, ticket, out);
}
extern "C" __global__ void __launch_bounds__(wide)
    moments_f64(const double* x, unsigned long long n, double2* partials, unsigned int* ticket, double* out) {
    moments(x, n, partials, ticket, out);
}

// The sum over a block of `threads`, valid in thread 0.
__device__ double block_sum(double value) {
    __shared__ double warps[threads / 32];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    double total = 0;
    if (threadIdx.x == 0)
        for (int warp = 0; warp < threads / 32; ++warp) total += warps[warp];
    return total;
}

// One partial sum a block, of x or of (x - mean)^2 where `mean` is given.
template <typename T>
__device__ __forceinline__ void partial(const T* __restrict__ x, unsigned long long n, const double* mean,
                                        double* partials) {
    T sum = 0;
    const T center = mean ? (T)*mean : (T)0;
    const unsigned long long stride = gridDim.x * (unsigned long long)threads;
    for (unsigned long long i = blockIdx.x * (unsigned long long)threads + threadIdx.x; i < n; i += stride) {
        const T d = x[i] - center;
        sum += mean ? d * d : d;
    }
    const double total = block_sum((double)sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

#define PARTIAL(type, suffix)                                                                               \
    extern "C" __global__ void __launch_bounds__(threads)                                                   \
        partial_sum_##suffix(const type* x, unsigned long long n, double* partials, const double*) {        \
        partial(x, n, nullptr, partials);                                                                   \
    }                                                                                                       \
    extern "C" __global__ void __launch_bounds__(threads)                                                   \
        partial_squares_##suffix(const type* x, unsigned long long n, double* partials, const double* out) { \
        partial(x, n, out + 1, partials);                                                                   \
    }
PARTIAL(float, f32)
PARTIAL(double, f64)

// One block adds the partial sums and writes statistic 0 (sum), 1 (mean) or 2 (standard deviation).
extern "C" __global__ void __launch_bounds__(threads)
    finish(const double* partials, unsigned int count, unsigned long long n, unsigned int statistic, double* out) {
    double sum = 0;
    for (unsigned int i = threadIdx.x; i < count; i += threads) sum += partials[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        const double mean = sum / (double)n;
        out[statistic] = statistic == 0 ? sum : statistic == 1 ? mean : sqrt(mean);
    }
}
