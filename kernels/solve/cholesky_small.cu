// A X = B for many small symmetric positive definite matrices A, each in shared memory: L D L^T factorisation and both
// substitutions. A thread has one row, in registers; L D is in shared memory by columns, and D as reciprocals.

#include "common.cuh"

// Threads per block, at least; a block has as many systems as threads have rows.
constexpr int THREADS = 128;
// Right-hand sides that are substituted together.
constexpr int TOGETHER = 4;

__device__ __forceinline__ float inverse(float value) { return 1.0f / value; }
__device__ __forceinline__ double inverse(double value) { return reciprocal(value); }

// An element of a column. For chips before sm_90, the compiler would load more elements in float64 together than there are
// registers for.
template <typename T> __device__ __forceinline__ T element(const T& from) {
#if __CUDA_ARCH__ < 900
    if constexpr (sizeof(T) == 8) return const_cast<const volatile T&>(from);
#endif
    return from;
}

// The threads of one system of up to N unknowns, those of a part of a warp or of a whole block.
template <typename T, int N> struct Team {
    static constexpr bool IN_WARP = N <= WARP;
    static constexpr int SYSTEMS = N < THREADS && IN_WARP ? THREADS / N : 1;
    // The distance of two columns of L, so that columns begin at multiples of 16 bytes.
    static constexpr int STRIDE = N + 16 / (int)sizeof(T);

    __device__ __forceinline__ static void sync() {
        if constexpr (IN_WARP) __syncwarp();
        else __syncthreads();
    }

    // Gives all threads of the system the values of thread `from`. Two calls after each other use different `half`.
    template <int COUNT>
    __device__ __forceinline__ static void broadcast(const T (&values)[COUNT], T (&out)[COUNT], int from, int half,
                                                     T (&exchange)[2][TOGETHER]) {
        if constexpr (IN_WARP) {
#pragma unroll
            for (int c = 0; c < COUNT; ++c) out[c] = __shfl_sync(EVERY_LANE, values[c], from, N);
        } else {
            if (threadIdx.x == from)
#pragma unroll
                for (int c = 0; c < COUNT; ++c) exchange[half][c] = values[c];
            __syncthreads();
#pragma unroll
            for (int c = 0; c < COUNT; ++c) out[c] = exchange[half][c];
        }
    }
};

// Solves L D L^T x = b for COUNT columns of b, of which this thread has row i. `row` has row i of L up to the diagonal, and
// `columns` the columns of L D.
template <int COUNT, typename T, int N>
__device__ __forceinline__ void substitute(const T (&row)[N], const T (&columns)[N][Team<T, N>::STRIDE],
                                           const T (&inverses)[N], int i, T (&values)[COUNT],
                                           T (&exchange)[2][TOGETHER]) {
    T known[COUNT];
#if __CUDA_ARCH__ < 900
    // Makes the compiler repeat comparisons with i: those of the factorisation would take registers until here.
    asm volatile("" : "+r"(i));
#endif
#pragma unroll
    for (int j = 0; j < N - 1; ++j) {
        Team<T, N>::broadcast(values, known, j, j % 2, exchange);
        if (i > j)
#pragma unroll
            for (int c = 0; c < COUNT; ++c) values[c] -= row[j] * known[c];
    }
    // D and L^T together: x_i = (y_i - sum of (L D)_ki x_k) / D_i.
    const T mine = inverses[i];
    for (int k = N - 1; k > 0; --k) {
        T scaled[COUNT];
#pragma unroll
        for (int c = 0; c < COUNT; ++c) scaled[c] = values[c] * mine;
        Team<T, N>::broadcast(scaled, known, k, k % 2, exchange);
        if (i < k)
#pragma unroll
            for (int c = 0; c < COUNT; ++c) values[c] -= columns[i][k] * known[c];
    }
#pragma unroll
    for (int c = 0; c < COUNT; ++c) values[c] *= mine;
}

// Solves `count` systems of n <= N unknowns with `rhs` right-hand sides; all matrices are row-major. `infos` is the order of
// the first leading minor that is not positive, or 0.
template <typename T, int N>
__device__ __forceinline__ void solve(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ x,
                                      int* __restrict__ infos, int n, int rhs, int count) {
    using Threads = Team<T, N>;
    __shared__ __align__(16) T all_columns[Threads::SYSTEMS][N][Threads::STRIDE];
    __shared__ T all_inverses[Threads::SYSTEMS][N], exchange[2][TOGETHER];
    const int slot = threadIdx.x / N, i = threadIdx.x % N;
    const size_t system = (size_t)blockIdx.x * Threads::SYSTEMS + slot;
    const bool is_row = system < count && i < n;
    T(&columns)[N][Threads::STRIDE] = all_columns[slot];
    T(&inverses)[N] = all_inverses[slot];

    // Beyond n the matrix is I. Row i up to the diagonal is read as column i, so that threads read neighbours.
    T row[N];
    const T* from = a + system * n * n + i;
#pragma unroll
    for (int j = 0; j < N; ++j) {
        row[j] = j == i ? (T)1 : (T)0;
        if (is_row && j <= i) row[j] = from[(size_t)j * n];
    }
    int failed = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) {
        columns[j][i] = row[j];
        Threads::sync();
        const T pivot = columns[j][j];
        // Neither is a number that is not finite, or so small that its reciprocal is not.
        const T largest = sizeof(T) == 4 ? (T)0x1p126 : (T)0x1p1021;
        if (failed == 0 && !(pivot > (T)1 / largest && pivot < largest)) failed = j + 1;
        const T inverse_pivot = inverse(pivot);
        if (i == j) inverses[j] = inverse_pivot;
        row[j] *= inverse_pivot;
#pragma unroll
        for (int k = j + 1; k < N; ++k) row[k] -= row[j] * element(columns[j][k]);
    }
    Threads::sync();
    if (system < count && i == 0) infos[system] = failed;

    const size_t first = system * n * rhs + (size_t)i * rhs;
    int c = 0;
    for (; c + TOGETHER <= rhs; c += TOGETHER) {
        T values[TOGETHER];
#pragma unroll
        for (int k = 0; k < TOGETHER; ++k) values[k] = is_row ? b[first + c + k] : (T)0;
        substitute<TOGETHER, T, N>(row, columns, inverses, i, values, exchange);
        if (is_row)
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) x[first + c + k] = values[k];
        Threads::sync();
    }
    for (; c < rhs; ++c) {
        T values[1] = {is_row ? b[first + c] : (T)0};
        substitute<1, T, N>(row, columns, inverses, i, values, exchange);
        if (is_row) x[first + c] = values[0];
        Threads::sync();
    }
}

#define ENTRY(type, suffix, size)                                                                                   \
    extern "C" __global__ void __launch_bounds__(size > WARP ? size : THREADS)                                      \
        cholesky_small_##suffix##_##size(const type* a, const type* b, type* x, int* infos, int n, int rhs, int count) { \
        solve<type, size>(a, b, x, infos, n, rhs, count);                                                           \
    }
#define ENTRIES(type, suffix) \
    ENTRY(type, suffix, 8)    \
    ENTRY(type, suffix, 16)   \
    ENTRY(type, suffix, 32)   \
    ENTRY(type, suffix, 64)
#ifdef F32
ENTRIES(float, f32)
#endif
#ifdef F64
ENTRIES(double, f64)
#endif
