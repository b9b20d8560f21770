// C = A * B for square row-major matrices on the float64 tensor cores. float32 operands are converted on the way from
// shared memory to registers: their products are exact, sums are rounded to float64, and the end result once to
// float32. A block computes a tile of C; with few tiles, its warps share the depth of the sum.

#include "common.cuh"
#include "mma.cuh"

// Copies BYTES to shared memory from global memory, or zeros if `inside` is false.
template <int BYTES> __device__ __forceinline__ void copy(void* shared, const void* global, bool inside) {
#if __CUDA_ARCH__ >= 800
    const unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(inside ? 16 : 0));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(BYTES),
                     "r"(inside ? BYTES : 0));
#endif
}

// c += a * b for a 16 by 16 piece of A and a 16 by 8 piece of B, in the fragment layout of the tensor cores.
__device__ __forceinline__ void multiply(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
        "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
          "d"(b[2]), "d"(b[3]));
#elif __CUDA_ARCH__ >= 800
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            multiply(c[2 * half], c[2 * half + 1], a[2 * k + half], b[k]);
#endif
}

// ROWS by COLUMNS: the tile; HIGH by WIDE: a warp's part of it; GROUPS: parts of the depth of a stage.
template <typename T, int ROWS, int COLUMNS, int HIGH, int WIDE, int GROUPS, int DEPTH, int STAGES> struct Product {
    static constexpr int WARPS_X = COLUMNS / WIDE, GROUP = WARP * WARPS_X * (ROWS / HIGH), THREADS = GROUP * GROUPS;
    static constexpr int SHARE = DEPTH / GROUPS;
    // Padding puts the eight rows or four columns that a warp reads together into different banks.
    static constexpr int A_PITCH = DEPTH + 4, B_PITCH = COLUMNS + 32 / sizeof(T), C_PITCH = COLUMNS + 8;
    static constexpr int STAGE = ROWS * A_PITCH + DEPTH * B_PITCH;
    static constexpr int STAGES_BYTES = STAGES * STAGE * (int)sizeof(T);
    static constexpr int PARTS_BYTES = GROUPS > 1 ? GROUPS * ROWS * C_PITCH * 8 : 0;
    static constexpr int BYTES = STAGES_BYTES > PARTS_BYTES ? STAGES_BYTES : PARTS_BYTES;
    static_assert(SHARE % 16 == 0 && HIGH % 16 == 0 && WIDE % 8 == 0 && STAGES > 1, "shape");

    template <int WIDTH>
    static __device__ __forceinline__ void load(T* stage, const T* a, const T* b, unsigned top,
                                                unsigned left, unsigned start, unsigned n) {
#pragma unroll
        for (int i = 0; i < ROWS * DEPTH / WIDTH; i += THREADS) {
            const unsigned at = i + threadIdx.x, row = at / (DEPTH / WIDTH), k = at % (DEPTH / WIDTH) * WIDTH;
            if (ROWS * DEPTH / WIDTH % THREADS != 0 && at >= ROWS * DEPTH / WIDTH) break;
            const bool inside = top + row < n && start + k < n;
            copy<WIDTH * sizeof(T)>(stage + row * A_PITCH + k, inside ? a + (u64)(top + row) * n + start + k : a,
                                    inside);
        }
        T* b_stage = stage + ROWS * A_PITCH;
#pragma unroll
        for (int i = 0; i < DEPTH * COLUMNS / WIDTH; i += THREADS) {
            const unsigned at = i + threadIdx.x, k = at / (COLUMNS / WIDTH), column = at % (COLUMNS / WIDTH) * WIDTH;
            if (DEPTH * COLUMNS / WIDTH % THREADS != 0 && at >= DEPTH * COLUMNS / WIDTH) break;
            const bool inside = start + k < n && left + column < n;
            copy<WIDTH * sizeof(T)>(b_stage + k * B_PITCH + column,
                                    inside ? b + (u64)(start + k) * n + left + column : b, inside);
        }
    }

    static __device__ __forceinline__ void fetch(T* stage, const T* a, const T* b, unsigned top,
                                                 unsigned left, unsigned start, unsigned n) {
        if (start < n) {
            if (n % (16 / sizeof(T)) == 0) load<16 / sizeof(T)>(stage, a, b, top, left, start, n);
            else load<1>(stage, a, b, top, left, start, n);
        }
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.commit_group;");
#endif
    }

    static __device__ __forceinline__ void wait() {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
#endif
    }

    using Sums = double[HIGH / 16][WIDE / 8][4];

    // The block's tile of C, and where a thread's elements of it begin: in each piece of 16 by 8, rows `y` and `y + 8`
    // of columns `x + 2 * quad` and the next. The warps of a `part` add up a part of the depth.
    struct Place {
        unsigned top, left;
        int part, y, x, lane, quad;

        __device__ __forceinline__ Place() {
            top = blockIdx.y * ROWS;
            left = blockIdx.x * COLUMNS;
            part = threadIdx.x / GROUP;
            const int warp = threadIdx.x % GROUP / WARP;
            lane = threadIdx.x % WARP;
            y = warp / WARPS_X * HIGH + lane / 4;
            x = warp % WARPS_X * WIDE;
            quad = lane % 4;
        }
    };

    static __device__ __forceinline__ void store(const Sums& sums, T* __restrict__ c, unsigned n, const Place& at) {
#pragma unroll
        for (int i = 0; i < HIGH / 16; ++i)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const unsigned row = at.top + at.y + 16 * i + 8 * half;
                if (row >= n) continue;
#pragma unroll
                for (int j = 0; j < WIDE / 8; ++j) {
                    const unsigned column = at.left + at.x + 8 * j + 2 * at.quad;
                    T* out = c + (u64)row * n + column;
                    const T first = (T)sums[i][j][2 * half], second = (T)sums[i][j][2 * half + 1];
                    if (column < n) out[0] = first;
                    if (column + 1 < n) out[1] = second;
                }
            }
    }

    // Stores the totals of the groups' sums, which are exchanged in `parts`.
    static __device__ __forceinline__ void store_totals(const Sums& sums, double* parts, T* __restrict__ c, unsigned n,
                                                        const Place& at) {
        // Every warp has read the last stages before partial sums overwrite them.
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_all;" ::: "memory");
#endif
        __syncthreads();
#pragma unroll
        for (int i = 0; i < HIGH / 16; ++i)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int j = 0; j < WIDE / 8; ++j) {
                    const int row = at.part * ROWS + at.y + 16 * i + 8 * half;
                    double* to = parts + row * C_PITCH + at.x + 8 * j + 2 * at.quad;
                    *reinterpret_cast<double2*>(to) = make_double2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
                }
        __syncthreads();
        for (int e = threadIdx.x; e < ROWS * COLUMNS; e += THREADS) {
            const unsigned row = e / COLUMNS, column = e % COLUMNS;
            double sum = 0;
#pragma unroll
            for (int g = 0; g < GROUPS; ++g) sum += parts[(g * ROWS + row) * C_PITCH + column];
            if (at.top + row < n && at.left + column < n) c[(u64)(at.top + row) * n + at.left + column] = (T)sum;
        }
    }

    static __device__ __forceinline__ void run(const T* __restrict__ a, const T* __restrict__ b,
                                               T* __restrict__ c, unsigned n) {
        extern __shared__ __align__(16) unsigned char shared[];
        T* stages = reinterpret_cast<T*>(shared);
        const Place at;
        const int steps = (n + DEPTH - 1) / DEPTH;
#pragma unroll
        for (int s = 0; s < STAGES - 1; ++s) fetch(stages + s * STAGE, a, b, at.top, at.left, s * DEPTH, n);
        Sums sums = {};
        for (int step = 0; step < steps; ++step) {
            wait();
            __syncthreads();
            const int ahead = step + STAGES - 1;
            fetch(stages + ahead % STAGES * STAGE, a, b, at.top, at.left, ahead * DEPTH, n);
            const T* a_stage = stages + step % STAGES * STAGE + at.part * SHARE + at.y * A_PITCH + at.quad;
            const T* b_stage = stages + step % STAGES * STAGE + ROWS * A_PITCH + (at.part * SHARE + at.quad) * B_PITCH +
                               at.x + at.lane / 4;
#pragma unroll
            for (int k = 0; k < SHARE; k += 16) {
                double rows[HIGH / 16][8];
#pragma unroll
                for (int i = 0; i < HIGH / 16; ++i)
#pragma unroll
                    for (int e = 0; e < 8; ++e) rows[i][e] = a_stage[(16 * i + e % 2 * 8) * A_PITCH + k + e / 2 * 4];
#pragma unroll
                for (int j = 0; j < WIDE / 8; ++j) {
                    double columns[4];
#pragma unroll
                    for (int e = 0; e < 4; ++e) columns[e] = b_stage[(k + 4 * e) * B_PITCH + 8 * j];
#pragma unroll
                    for (int i = 0; i < HIGH / 16; ++i) multiply(sums[i][j], rows[i], columns);
                }
            }
        }
        if constexpr (GROUPS == 1)
            store(sums, c, n, at);
        else
            store_totals(sums, reinterpret_cast<double*>(shared), c, n, at);
    }
};

// An entry is named after the rows and columns of its tile and the depth of a stage.
// `crates/tuned/src/matmul` launches it with these threads and bytes of shared memory.
#define ENTRY(NAME, BLOCK, SHARED, T, ...)                                                                          \
    static_assert(Product<T, __VA_ARGS__>::THREADS == BLOCK && Product<T, __VA_ARGS__>::BYTES == SHARED, #NAME);    \
    extern "C" __global__ void __launch_bounds__(BLOCK) NAME(const T* a, const T* b, T* c, unsigned n) {            \
        Product<T, __VA_ARGS__>::run(a, b, c, n);                                                                   \
    }
#ifdef TILE_16X16X64_F32
ENTRY(dmma_16x16x64_f32, 256, 20992, float, 16, 16, 16, 8, 4, 64, 2)
#endif
#ifdef TILE_16X16X128_F32
ENTRY(dmma_16x16x128_f32, 256, 41472, float, 16, 16, 16, 16, 8, 128, 2)
#endif
#ifdef TILE_32X32X32_F32
ENTRY(dmma_32x32x32_f32, 256, 38912, float, 32, 32, 16, 16, 2, 32, 4)
#endif
#ifdef TILE_64X64X64_F32
ENTRY(dmma_64x64x64_f32, 128, 71680, float, 64, 64, 32, 32, 1, 64, 2)
#endif
#ifdef TILE_16X16X64_F64
ENTRY(dmma_16x16x64_f64, 256, 37888, double, 16, 16, 16, 8, 4, 64, 2)
#endif
#ifdef TILE_32X32X32_F64
ENTRY(dmma_32x32x32_f64, 256, 73728, double, 32, 32, 16, 16, 2, 32, 4)
#endif
#ifdef TILE_64X64X32_F64
ENTRY(dmma_64x64x32_f64, 128, 71680, double, 64, 64, 32, 32, 1, 32, 2)
#endif
#ifdef IF_NEEDED
// The tile of `dmma_64x64x32_f64`, for a product that is computed only if `needed` is not zero.
using Conditional = Product<double, 64, 64, 32, 32, 1, 32, 2>;
static_assert(Conditional::THREADS == 128 && Conditional::BYTES == 71680, "dmma_if_needed");
extern "C" __global__ void __launch_bounds__(128)
    dmma_if_needed(const double* a, const double* b, double* c, unsigned n, const unsigned* needed) {
    if (*needed != 0) Conditional::run(a, b, c, n);
}
#endif
