// Sum, mean and population standard deviation of n elements, as doubles.
//
// `moments` reads the elements once: sums of d and d * d where d = x - shift and shift is the first element, so
// that little cancels when the mean is far from zero; partial sums are doubles, added in an order that depends on
// the grid alone. `partial_*` and `finish_*` are the textbook way: the elements are read once for each statistic.

constexpr int threads = 256;

template <typename T> struct Pack;
template <> struct Pack<float> { using type = float4; };
template <> struct Pack<double> { using type = double2; };

// The sum over the block, valid in thread 0.
__device__ double block_sum(double value) {
    __shared__ double warps[threads / 32];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    double total = 0;
    if (threadIdx.x == 0)
        for (int warp = 0; warp < threads / 32; ++warp) total += warps[warp];
    __syncthreads();  // the next call writes `warps` again
    return total;
}

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

template <typename T>
__device__ __forceinline__ void moments(const T* __restrict__ x, unsigned long long n, double* partials,
                                        unsigned int* ticket, double* out) {
    using V = typename Pack<T>::type;
    constexpr int width = sizeof(V) / sizeof(T), unroll = 4;
    const V* packed = reinterpret_cast<const V*>(x);
    const unsigned long long packs = n / width, stride = gridDim.x * (unsigned long long)threads;
    const T shift = x[0];
    double sum = 0, squares = 0;
    unsigned long long i = blockIdx.x * (unsigned long long)threads + threadIdx.x;
    // Runs of 16 elements in T, then a double: rounding stays near one unit whatever n is.
    for (; i + (unroll - 1) * stride < packs; i += unroll * stride) {
        V pack[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) pack[u] = packed[i + u * stride];
        Run<T> run;
#pragma unroll
        for (int u = 0; u < unroll; ++u) run.add(pack[u], shift);
        sum += run.sum;
        squares += run.squares;
    }
    Run<T> rest;
    for (; i < packs; i += stride) rest.add(packed[i], shift);
    if (blockIdx.x == 0 && threadIdx.x < n % width) rest.add(x[packs * width + threadIdx.x], shift);
    sum = block_sum(sum + rest.sum);
    squares = block_sum(squares + rest.squares);

    __shared__ bool last;
    if (threadIdx.x == 0) {
        partials[2 * blockIdx.x] = sum;
        partials[2 * blockIdx.x + 1] = squares;
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    sum = squares = 0;
    for (unsigned int block = threadIdx.x; block < gridDim.x; block += threads) {
        sum += __ldcg(partials + 2 * block);
        squares += __ldcg(partials + 2 * block + 1);
    }
    sum = block_sum(sum);
    squares = block_sum(squares);
    if (threadIdx.x == 0) {
        const double count = (double)n, mean = sum / count;
        out[0] = fma(count, (double)shift, sum);
        out[1] = (double)shift + mean;
        out[2] = sqrt(fmax(squares / count - mean * mean, 0.0));
        *ticket = 0;  // ready for the next launch
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    moments_f32(const float* x, unsigned long long n, double* partials, unsigned int* ticket, double* out) {
    moments(x, n, partials, ticket, out);
}
extern "C" __global__ void __launch_bounds__(threads)
    moments_f64(const double* x, unsigned long long n, double* partials, unsigned int* ticket, double* out) {
    moments(x, n, partials, ticket, out);
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
