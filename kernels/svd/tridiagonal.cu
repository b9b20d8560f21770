// Householder reduction of a symmetric matrix to tridiagonal form, in one launch.
//
// The matrix is in the registers and shared memory of all blocks: block b has rows b, b + blocks, ..., and thread t
// has columns t, t + THREADS, ... of each. A step needs one exchange: each block posts its elements of y = A v, one
// block the next row of A. Every block reads all of both and does the rest of the step itself, in the same order, so
// all compute the same v and w. A posted number carries its own flag in its lowest bit, so no barrier is needed.
//
// A step subtracts v w^T + w v^T with w = tau y - half v. The next column is s + along v, for s = the next row -
// v[k + 1] tau y. So the length of what the next reflector maps follows from three sums, which are taken together with
// the one for `half`.

#include "common.cuh"
#include "reflector.cuh"

__device__ __forceinline__ void post(u64* slot, double value, u32 flag) {
    const u64 bits = ((u64)__double_as_longlong(value) & ~1ull) | flag;
    store_relaxed(slot, bits);
}

template <int COUNT>
__device__ __forceinline__ double total(const double* parts) {
    double sum[4] = {};
#pragma unroll
    for (int i = 0; i < COUNT; ++i) sum[i % 4] += parts[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The sums of a step over all columns, by warp: of (tau y) v, and below the next diagonal element of s s, s v and v v.
// And elements of the vectors in the next two columns.
template <int WARPS> struct Sums {
    double parts[4][WARPS];
    double y, s, next_s, next_v;

    __device__ __forceinline__ void report(int warp, int lane, const double (&values)[4]) {
        const double sum = warp_sums(values);
        if (lane % 8 == 0) parts[lane / 8][warp] = sum;
    }

    // The sums over all warps.
    __device__ __forceinline__ void add_up(double (&all)[4]) const {
        if constexpr (WARPS <= 4) {
#pragma unroll
            for (int i = 0; i < 4; ++i) all[i] = total<WARPS>(parts[i]);
        } else {
            // Eight lanes add up one: together, many warps would read too much.
            const int lane = threadIdx.x % WARP;
            double sum = 0.0;
#pragma unroll
            for (int i = 0; i < WARPS; i += 8) sum += parts[lane / 8][i + lane % 8];
            for (int mask = 4; mask > 0; mask /= 2) sum += __shfl_xor_sync(EVERY_LANE, sum, mask);
#pragma unroll
            for (int i = 0; i < 4; ++i) all[i] = __shfl_sync(EVERY_LANE, sum, 8 * i);
        }
    }
};

// What follows from the sums: w = tau y - half v; the next column is s + along v, its element on the diagonal and the
// one below it; and its length from there, squared.
struct Turn {
    double half, along, diagonal, head, length;
    // Whether most of the length's terms have cancelled.
    bool lost;

    template <int WARPS>
    __device__ __forceinline__ Turn(const Sums<WARPS>& sums, const Reflector& h) {
        double all[4];
        sums.add_up(all);
        const double product = all[0], squares = all[1], mixed = 2.0 * all[2], squares_of_v = all[3];
        half = 0.5 * h.tau * product;
        along = fma(h.tau * h.top, product, -sums.y);
        diagonal = fma(along, h.top, sums.s);
        head = fma(along, sums.next_v, sums.next_s);
        length = fma(along, fma(along, squares_of_v, mixed), squares);
        lost = !(64.0 * length > fma(along * along, squares_of_v, squares));
    }
};

// Posts the products of R rows after `done`, which the warps have in parts, and notes them in `pairs`.
template <int WARPS, int R>
__device__ __forceinline__ void post_products(const double (&products)[WARPS][R + 1], double2 (&pairs)[R], u64* slots,
                                              u32 flag, int n, int done) {
    const int r = threadIdx.x, i = blockIdx.x + gridDim.x * r;
    if (r >= R) return;
    double parts[WARPS];
#pragma unroll
    for (int warp = 0; warp < WARPS; ++warp) parts[warp] = products[warp][r];
    const bool left = i > done && i < n;
    const double y = left ? total<WARPS>(parts) : 0.0;
    if (left) post(slots + i, y, flag);
    pairs[r].y = y;
}

// Waits for what the blocks post in a thread's C columns of two vectors: zero in columns up to `done`.
template <int THREADS, int C>
__device__ __forceinline__ void receive(const u64* first, const u64* second, u32 flag, int n, int done,
                                        u64 (&first_bits)[C], u64 (&second_bits)[C]) {
    const int t = threadIdx.x;
#pragma unroll
    for (int c = 0; c < C; ++c) {
        const int j = t + THREADS * c;
        first_bits[c] = second_bits[c] = j > done && j < n ? flag ^ 1 : 0;
    }
    // What was posted takes longer than this to arrive. Earlier reads would only be in its way.
    const unsigned begin = clock();
    while (clock() - begin < 200) {}
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

// C columns per thread, R rows per block, of which the last KEPT are in registers. `mail` has 4 n slots, all zero at
// the start. Row k of `reflectors` is v of step k, zero up to its element k. Rows of the matrix and of `reflectors` are
// `stride` and `out_stride` elements apart.
template <int THREADS, int C, int R, int KEPT>
__device__ __forceinline__ void tridiagonalise(const double* __restrict__ matrix, int stride, int n,
                                               double* __restrict__ diagonal, double* __restrict__ subdiagonal,
                                               double* __restrict__ taus, double* __restrict__ reflectors,
                                               int out_stride, u64* mail) {
    constexpr int WARPS = THREADS / WARP, SHARED = R - KEPT, WIDTH = C * THREADS;
    // Rows whose products are added together, and rows that are updated together.
    constexpr int PART = R < GROUP ? R : GROUP, BATCH = 4;
    extern __shared__ double rows[];
    __shared__ Sums<WARPS> sums;
    __shared__ double products[WARPS][R + 1], squares[WARPS];
    // For the block's own rows, elements of v and of y. Two steps alternate.
    __shared__ double2 pairs[2][R];
    const int t = threadIdx.x, lane = t % WARP, warp = t / WARP;
    const int block = blockIdx.x, blocks = gridDim.x;

    double kept[KEPT > 0 ? KEPT : 1][C];
    double v[C], w[C], x[C], square = 0.0;
    // Maps column numbers to the block's rows: a byte each, 255 for none.
    unsigned own = ~0u;
#pragma unroll
    for (int c = 0; c < C; ++c) {
        const int j = t + THREADS * c;
        v[c] = w[c] = 0.0;
        x[c] = j < n ? matrix[j] : 0.0;
        if (j > 1) square += x[c] * x[c];
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
    if (t < R) pairs[0][t] = pairs[1][t] = make_double2(0.0, 0.0);
    if (block == 0 && t == 0) diagonal[0] = matrix[0];
    Reflector h = reflector(n > 1 ? matrix[1] : 0.0, block_sum(square, squares));
    double half = 0.0, last_tau = 0.0;

    // The block's first row that is left.
    int first = block > 0 ? 0 : 1;
    const auto is_next = [&](int row) { return block + blocks * first == row; };
    for (int k = 0; k + 1 < n; ++k) {
        const u32 flag = (k >> 1 & 1) ^ 1;
        u64* const posted_y = mail + (k & 1) * n;
        u64* const posted_row = mail + (2 + (k & 1)) * n;
        double2(&before)[R] = pairs[k + 1 & 1];
        double2(&now)[R] = pairs[k & 1];
        const bool writes = is_next(k + 1);
        // For an own row, what it subtracts of w and of v.
        const auto factors = [&](int r) {
            const double2 pair = before[r];
            return make_double2(pair.x, fma(-half, pair.x, last_tau * pair.y));
        };

        if (writes) {
            const double2 pair = factors(first);
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
        double u[C];
#pragma unroll
        for (int c = 0; c < C; ++c) {
            const int j = t + THREADS * c;
            u[c] = j > k + 1 ? x[c] * h.scale : j == k + 1 ? h.top : 0.0;
            if (writes && j < n) reflectors[(size_t)k * out_stride + j] = u[c];
            const unsigned r = own >> 8 * c & 255;
            if (r < R) now[r].x = u[c];
        }
        if (writes && t == 0) {
            taus[k] = h.tau;
            subdiagonal[k] = h.beta;
        }

#pragma unroll
        for (int group = 0; group < R; group += PART) {
            double sums_of_rows[PART] = {};
#pragma unroll
            for (int s = 0; s < PART; s += BATCH) {
                // Finished rows have zeros in `pairs`, and their sums are not posted.
                if (group + s + BATCH <= first) continue;
                double2 pair[BATCH];
#pragma unroll
                for (int b = 0; b < BATCH; ++b) pair[b] = factors(group + s + b);
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
                        sums_of_rows[s + b] = fma(a[b], u[c], sums_of_rows[s + b]);
                        if (r >= SHARED) kept[r >= SHARED ? r - SHARED : 0][c] = a[b];
                        else rows[r * WIDTH + j] = a[b];
                    }
                }
            }
            // Many warps would wait for the tensor cores.
            const double sum = WARPS <= 8 ? warp_sums(sums_of_rows) : warp_sums_by_shuffles(sums_of_rows);
            if (lane % (WARP / PART) == 0) products[warp][group + lane / (WARP / PART)] = sum;
        }
        __syncthreads();
        post_products<WARPS, R>(products, now, posted_y, flag, n, k);
        first += writes;
        // No block waits for a block whose rows are finished, so it must not wait for others.
        if (block + blocks * first >= n && k + 2 < n) return;

        u64 row_bits[C], y_bits[C];
        receive<THREADS>(posted_row, posted_y, flag, n, k, row_bits, y_bits);
        double y[C], s[C], terms[4] = {};
#pragma unroll
        for (int c = 0; c < C; ++c) {
            // tau first, because it brings the square of the elements back to their magnitude.
            y[c] = h.tau * __longlong_as_double((long long)y_bits[c]);
            s[c] = fma(-h.top, y[c], __longlong_as_double((long long)row_bits[c]));
            terms[0] = fma(y[c], u[c], terms[0]);
            const int j = t + THREADS * c;
            if (j > k + 1) {
                terms[1] = fma(s[c], s[c], terms[1]);
                terms[2] = fma(s[c], u[c], terms[2]);
                terms[3] = fma(u[c], u[c], terms[3]);
            }
            if (j == k + 1) sums.y = y[c], sums.s = s[c];
            if (j == k + 2) sums.next_s = s[c], sums.next_v = u[c];
        }
        sums.report(warp, lane, terms);
        __syncthreads();
        const Turn turn(sums, h);
        half = turn.half;
        last_tau = h.tau;
        // Only the block with the next row and, at the end, the one with the last row are sure to be left.
        if (t == 0 && (is_next(k + 2) || k + 2 == n)) diagonal[k + 1] = turn.diagonal;
#pragma unroll
        for (int c = 0; c < C; ++c) {
            v[c] = u[c];
            w[c] = fma(-half, u[c], y[c]);
            x[c] = fma(turn.along, u[c], s[c]);
        }
        // All blocks have the same numbers and agree.
        h = reflector_of_length(turn.head, turn.length);
        if (turn.lost && k + 2 < n) {
            square = 0.0;
#pragma unroll
            for (int c = 0; c < C; ++c)
                if (t + THREADS * c > k + 2) square = fma(x[c], x[c], square);
            h = reflector(turn.head, block_sum(square, squares));
        }
    }
}

#define TRIDIAGONALISE(name, THREADS, C, R, KEPT)                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                         \
        name(const double* matrix, int stride, int n, double* diagonal, double* subdiagonal, double* taus,           \
             double* reflectors, int out_stride, u64* mail) {                                                        \
        tridiagonalise<THREADS, C, R, KEPT>(matrix, stride, n, diagonal, subdiagonal, taus, reflectors, out_stride,  \
                                            mail);                                                                   \
    }

#ifdef SIDE_64
TRIDIAGONALISE(tridiagonalise_64, 64, 1, 8, 8)
#endif
#ifdef SIDE_128
TRIDIAGONALISE(tridiagonalise_128, 128, 1, 4, 4)
#endif
#ifdef SIDE_256
TRIDIAGONALISE(tridiagonalise_256, 128, 2, 4, 4)
#endif
#ifdef SIDE_512
TRIDIAGONALISE(tridiagonalise_512, 128, 4, 4, 4)
#endif
#ifdef SIDE_1024
TRIDIAGONALISE(tridiagonalise_1024, 256, 4, 8, 8)
#endif
// Devices before compute capability 8.0 have too little shared memory for it.
#if defined(SIDE_2048) && __CUDA_ARCH__ >= 800
TRIDIAGONALISE(tridiagonalise_2048, 512, 4, 16, 3)
#endif
