// Householder reduction of a symmetric matrix to tridiagonal form, in one launch.
//
// The matrix is in the registers and shared memory of all blocks: block b has rows b, b + blocks, ..., and thread t
// has columns t, t + THREADS, ... of each. A step needs one exchange: each block posts its elements of y = A v, one
// block the next row of A. Every block reads all of both and does the rest of the step itself, in the same order, so
// all compute the same v and w. A posted number carries its own flag in its lowest bit, so no barrier is needed. A
// matrix of up to 128 rows is in the registers of one block.

#include "common.cuh"
#include "reflector.cuh"

__device__ __forceinline__ void post(u64* slot, double value, u64 flag) {
    const u64 bits = ((u64)__double_as_longlong(value) & ~1ull) | flag;
    store_relaxed(slot, bits);
}

template <int WARPS>
__device__ __forceinline__ double total(const double* parts) {
    double sum[4] = {};
#pragma unroll
    for (int i = 0; i < WARPS; ++i) sum[i % 4] += parts[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Posts the products of R rows after `done`: eight lanes add the warps' parts of one.
template <int WARPS, int R>
__device__ __forceinline__ void post_products(const double (&products)[WARPS][R + 1], u64* slots, u64 flag, int n,
                                              int done) {
    const int t = threadIdx.x, block = blockIdx.x, blocks = gridDim.x;
    if (t < 8 * R) {
        const int r = t / 8, part = t % 8;
        double y = 0.0;
#pragma unroll
        for (int i = 0; i < WARPS; i += 8) y += part + i < WARPS ? products[part + i][r] : 0.0;
#pragma unroll
        for (int mask = 4; mask > 0; mask /= 2) y += __shfl_xor_sync(EVERY_LANE, y, mask);
        const int i = block + blocks * r;
        if (part == 0 && i > done && i < n) post(slots + i, y, flag);
    }
}

// Waits for what the blocks post in a thread's C columns of two vectors: zero in columns up to `done`.
template <int THREADS, int C>
__device__ __forceinline__ void receive(const u64* first, const u64* second, u64 flag, int n, int done,
                                        u64 (&first_bits)[C], u64 (&second_bits)[C]) {
    const int t = threadIdx.x;
#pragma unroll
    for (int c = 0; c < C; ++c) {
        const int j = t + THREADS * c;
        first_bits[c] = second_bits[c] = j > done && j < n ? flag ^ 1 : 0;
    }
    bool waiting = true;
    while (waiting) {
        waiting = false;
#pragma unroll
        for (int c = 0; c < C; ++c) {
            const int j = t + THREADS * c;
            if (j > done && j < n) {
                if ((first_bits[c] & 1) != flag) first_bits[c] = load_relaxed(first + j);
                if ((second_bits[c] & 1) != flag) second_bits[c] = load_relaxed(second + j);
            }
        }
#pragma unroll
        for (int c = 0; c < C; ++c) {
            const int j = t + THREADS * c;
            waiting |= j > done && j < n && (((first_bits[c] ^ flag) | (second_bits[c] ^ flag)) & 1);
        }
    }
}

// C columns per thread, R rows per block, of which the last KEPT are in registers; BATCH rows are updated together.
// `mail` has 4 n slots, all zero at the start. Row k of `reflectors` is v of step k, zero up to its element k. Rows of
// the matrix and of `reflectors` are `stride` and `out_stride` elements apart.
template <int THREADS, int C, int R, int KEPT, int BATCH>
__device__ __forceinline__ void tridiagonalise(const double* __restrict__ matrix, int stride, int n,
                                               double* __restrict__ diagonal, double* __restrict__ subdiagonal,
                                               double* __restrict__ taus, double* __restrict__ reflectors,
                                               int out_stride, u64* mail) {
    constexpr int WARPS = THREADS / WARP, SHARED = R - KEPT, WIDTH = C * THREADS;
    extern __shared__ double rows[];
    __shared__ double norm_parts[WARPS], dot_parts[WARPS], products[WARPS][R + 1];
    // Elements of v and w in the block's own rows.
    __shared__ double2 pairs[R];
    __shared__ double head, head_y;
    const int t = threadIdx.x, lane = t % WARP, warp = t / WARP;
    const int block = blockIdx.x, blocks = gridDim.x;

    double kept[KEPT > 0 ? KEPT : 1][C];
    double v[C], w[C], x[C];
    // Maps column numbers to the block's rows: a byte each, 255 for none.
    unsigned own = ~0u;
#pragma unroll
    for (int c = 0; c < C; ++c) {
        const int j = t + THREADS * c;
        v[c] = w[c] = 0.0;
        x[c] = j < n ? matrix[j] : 0.0;
        if (j < n && j % blocks == block) own ^= (255u ^ j / blocks) << 8 * c;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int i = block + blocks * r;
            // 32 bits, because 64 would take too many registers.
            const double a = i < n && j < n ? matrix[(u32)(i * stride + j)] : 0.0;
            if (r >= SHARED) kept[r >= SHARED ? r - SHARED : 0][c] = a;
            else rows[r * WIDTH + j] = a;
        }
    }
    if (t < R) pairs[t] = make_double2(0.0, 0.0);

    const int last = block + (n - 1 - block) / blocks * blocks;
    // The block with row k + 1, and this block's first row from there.
    int writer = blocks > 1 ? 1 : 0, first = block > 0 ? 0 : 1;
    for (int k = 0; k + 1 < n; ++k) {
        const u64 flag = (k >> 1 & 1) ^ 1;
        u64* const posted_y = mail + (k & 1) * n;
        u64* const posted_row = mail + (2 + (k & 1)) * n;
        const bool writes = writer == block;

        double square = 0.0;
#pragma unroll
        for (int c = 0; c < C; ++c) {
            const int j = t + THREADS * c;
            if (j > k + 1) square += x[c] * x[c];
            if (j == k + 1) head = x[c];
            if (j == k && writes) diagonal[k] = x[c];
        }
        square = warp_sum(square);
        if (lane == 0) norm_parts[warp] = square;
        __syncthreads();
        if (writes) {
            const double2 pair = pairs[first];
#pragma unroll
            for (int c = 0; c < C; ++c) {
                const int j = t + THREADS * c;
                double a = first < SHARED ? rows[first * WIDTH + j] : 0.0;
#pragma unroll
                for (int r = SHARED; r < R; ++r) a = first == r ? kept[r - SHARED][c] : a;
                a = fma(-pair.x, w[c], fma(-pair.y, v[c], a));
                if (j > k && j < n) post(posted_row + j, a, flag);
            }
        }
        const Reflector h = reflector(head, total<WARPS>(norm_parts));
        double u[C];
#pragma unroll
        for (int c = 0; c < C; ++c) {
            const int j = t + THREADS * c;
            u[c] = j > k + 1 ? x[c] * h.scale : j == k + 1 ? h.top : 0.0;
            if (writes && j < n) reflectors[(size_t)k * out_stride + j] = u[c];
        }
        if (writes && t == 0) {
            taus[k] = h.tau;
            subdiagonal[k] = h.beta;
        }

#pragma unroll
        for (int group = 0; group < R; group += GROUP) {
            double sums[GROUP] = {};
#pragma unroll
            for (int s = 0; s < GROUP; s += BATCH) {
                // Finished rows have zeros in `pairs`, and their sums are not posted.
                if (group + s + BATCH <= first) continue;
                double2 pair[BATCH];
#pragma unroll
                for (int b = 0; b < BATCH; ++b) pair[b] = pairs[group + s + b];
#pragma unroll
                for (int c = 0; c < C; ++c) {
                    const int j = t + THREADS * c;
                    // So have columns that are done in v, w and u.
                    if ((j | 31) <= k) continue;
                    double a[BATCH];
#pragma unroll
                    for (int b = 0; b < BATCH; ++b) {
                        const int r = group + s + b;
                        a[b] = r >= SHARED ? kept[r >= SHARED ? r - SHARED : 0][c] : rows[r * WIDTH + j];
                    }
#pragma unroll
                    for (int b = 0; b < BATCH; ++b) {
                        const int r = group + s + b;
                        a[b] = fma(-pair[b].x, w[c], fma(-pair[b].y, v[c], a[b]));
                        sums[s + b] = fma(a[b], u[c], sums[s + b]);
                        if (r >= SHARED) kept[r >= SHARED ? r - SHARED : 0][c] = a[b];
                        else rows[r * WIDTH + j] = a[b];
                    }
                }
            }
            const double sum = warp_sums(sums);
            if (lane % 4 == 0) products[warp][group + lane / 4] = sum;
        }
        __syncthreads();
        post_products<WARPS, R>(products, posted_y, flag, n, k);
        // No block waits for a block whose rows are finished, so it must not wait for others.
        if (last <= k + 1 && last < n - 1) return;
        writer = writer + 1 < blocks ? writer + 1 : 0;
        first += writes;

        u64 row_bits[C], y_bits[C];
        receive<THREADS>(posted_row, posted_y, flag, n, k, row_bits, y_bits);
        double y[C], dot = 0.0;
#pragma unroll
        for (int c = 0; c < C; ++c) {
            y[c] = __longlong_as_double((long long)y_bits[c]);
            // tau first, because it brings the square of the elements back to their magnitude.
            dot += (h.tau * y[c]) * u[c];
            if (t + THREADS * c == k + 1) head_y = y[c];
        }
        dot = warp_sum(dot);
        if (lane == 0) dot_parts[warp] = dot;
        __syncthreads();
        const double half = 0.5 * h.tau * total<WARPS>(dot_parts);
        const double head_w = h.tau * head_y - half * h.top;
#pragma unroll
        for (int c = 0; c < C; ++c) {
            v[c] = u[c];
            w[c] = h.tau * y[c] - half * u[c];
            x[c] = __longlong_as_double((long long)row_bits[c]) - h.top * w[c] - head_w * u[c];
            const unsigned r = own >> 8 * c & 255;
            if (r < R) pairs[r] = make_double2(v[c], w[c]);
        }
    }
    // One block is left: the owner of the last row.
#pragma unroll
    for (int c = 0; c < C; ++c) {
        if (t + THREADS * c == n - 1) diagonal[n - 1] = x[c];
    }
}

#define TRIDIAGONALISE(name, THREADS, C, R, KEPT, BATCH)                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                         \
        name(const double* matrix, int stride, int n, double* diagonal, double* subdiagonal, double* taus,           \
             double* reflectors, int out_stride, u64* mail) {                                                        \
        tridiagonalise<THREADS, C, R, KEPT, BATCH>(matrix, stride, n, diagonal, subdiagonal, taus, reflectors,       \
                                                   out_stride, mail);                                                \
    }

#ifdef SIDE_512
TRIDIAGONALISE(tridiagonalise_512, 128, 4, 8, 8, 4)
#endif
#ifdef SIDE_1024
TRIDIAGONALISE(tridiagonalise_1024, 256, 4, 8, 8, 4)
#endif
#ifdef SIDE_2048
TRIDIAGONALISE(tridiagonalise_2048, 512, 4, 16, 3, 4)
#endif

#ifdef SIDE_128
// One block for a matrix of up to 128 rows: thread t has column t % 128, and of it the rows t / 128, t / 128 + 4, ...
extern "C" __global__ void __launch_bounds__(512, 1)
    tridiagonalise_128(const double* matrix, int stride, int n, double* diagonal, double* subdiagonal, double* taus,
                       double* reflectors, int out_stride, u64*) {
    constexpr int SIDE = 128, PARTS = 4, ROWS = SIDE / PARTS, BATCH = 8;
    __shared__ double2 pairs[SIDE];
    __shared__ double reflected[SIDE], next[SIDE], partial[PARTS][SIDE];
    __shared__ double norm_parts[PARTS], dot_parts[PARTS];
    __shared__ double head;
    const int t = threadIdx.x, lane = t % WARP, j = t % SIDE, part = t / SIDE, quarter = j / WARP;
    double a[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const int i = part + PARTS * r;
        a[r] = i < n && j < n ? matrix[i * stride + j] : 0.0;
    }
    double v = 0.0, w = 0.0, x = j < n ? matrix[j] : 0.0;
    if (part == 0) pairs[j] = make_double2(0.0, 0.0);

    for (int k = 0; k + 1 < n; ++k) {
        const double square = warp_sum(j > k + 1 ? x * x : 0.0);
        if (part == 0) {
            if (lane == 0) norm_parts[quarter] = square;
            if (j == k + 1) head = x;
            if (j == k) diagonal[k] = x;
        }
        __syncthreads();
        const Reflector h = reflector(head, total<PARTS>(norm_parts));
        const double u = j > k + 1 ? x * h.scale : j == k + 1 ? h.top : 0.0;
        if (part == 0) {
            reflected[j] = u;
            if (j < n) reflectors[k * out_stride + j] = u;
        }
        if (t == 0) {
            taus[k] = h.tau;
            subdiagonal[k] = h.beta;
        }
        __syncthreads();
        double sum[2] = {};
#pragma unroll
        for (int s = 0; s < ROWS; s += BATCH) {
            // Rows and columns that are done have zeros in v, w and u.
            if ((j | 31) <= k || PARTS * (s + BATCH) <= k + 1) continue;
            double2 pair[BATCH];
            double ui[BATCH];
#pragma unroll
            for (int b = 0; b < BATCH; ++b) {
                pair[b] = pairs[part + PARTS * (s + b)];
                ui[b] = reflected[part + PARTS * (s + b)];
            }
#pragma unroll
            for (int b = 0; b < BATCH; ++b) {
                a[s + b] = fma(-pair[b].x, w, fma(-pair[b].y, v, a[s + b]));
                sum[b % 2] = fma(a[s + b], ui[b], sum[b % 2]);
                if (part + PARTS * (s + b) == k + 1) next[j] = a[s + b];
            }
        }
        partial[part][j] = sum[0] + sum[1];
        __syncthreads();
        double y = 0.0;
#pragma unroll
        for (int p = 0; p < PARTS; ++p) y += partial[p][j];
        // Finished columns hold values that are never read.
        if (j <= k) y = 0.0;
        const double dot = warp_sum((h.tau * y) * u);
        if (part == 0 && lane == 0) dot_parts[quarter] = dot;
        const double head_y = (partial[0][k + 1] + partial[1][k + 1]) + (partial[2][k + 1] + partial[3][k + 1]);
        __syncthreads();
        const double half = 0.5 * h.tau * total<PARTS>(dot_parts);
        v = u;
        w = h.tau * y - half * u;
        x = j > k ? next[j] - h.top * w - (h.tau * head_y - half * h.top) * u : 0.0;
        if (part == 0) pairs[j] = make_double2(v, w);
    }
    if (t == n - 1) diagonal[n - 1] = x;
}
#endif
