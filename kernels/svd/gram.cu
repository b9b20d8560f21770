// The steps of a singular value decomposition by the Gram matrix other than its products. All matrices are n x n,
// column-major, in float64.

#include "common.cuh"

constexpr int THREADS = 256;
// Reflectors that are applied together.
constexpr int PANEL = 64;

// The products with which `join` makes pairs of groups of SIZE reflectors into one: a thread has one row of them, and
// some columns, possibly of several pairs.
template <int SIZE> struct Products {
    static constexpr int ALL = PANEL / 2 * SIZE, EACH = (ALL + THREADS - 1) / THREADS;
    const int row = threadIdx.x % SIZE;

    // Calls `store` with each element of the product, the sum over k < SIZE of the products of the two `factors`. Both
    // get the first reflector of the pair and the column of the element.
    template <typename Factors, typename Store>
    __device__ __forceinline__ void compute(Factors factors, Store store) const {
        if (threadIdx.x >= ALL) return;
        int first[EACH], column[EACH];
        double sum[EACH] = {};
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const int i = threadIdx.x + e * THREADS;
            first[e] = i / (SIZE * SIZE) * 2 * SIZE;
            column[e] = i / SIZE % SIZE;
        }
#pragma unroll 8
        for (int k = 0; k < SIZE; ++k)
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                const double2 both = factors(first[e], column[e], k);
                sum[e] = fma(both.x, both.y, sum[e]);
            }
#pragma unroll
        for (int e = 0; e < EACH; ++e) store(first[e], column[e], sum[e]);
    }
};

// Joins neighbouring groups of SIZE reflectors: triangles T1 and T2 become [T1, -T1 S12 T2; 0, T2] (Schreiber and Van
// Loan 1989). `t` has S above its diagonal until T takes that place; below it, S12 T2 for the time being, transposed.
template <int SIZE> __device__ __forceinline__ void join(double (&t)[PANEL][PANEL + 1]) {
    const Products<SIZE> products;
    const int row = products.row;
    __syncthreads();
    products.compute(
        [&](int first, int column, int k) {
            const double factor = t[first + SIZE + k][first + SIZE + column];
            return make_double2(t[first + row][first + SIZE + k], k <= column ? factor : 0.0);
        },
        [&](int first, int column, double sum) { t[first + SIZE + column][first + row] = sum; });
    __syncthreads();
    products.compute(
        [&](int first, int column, int k) {
            const double factor = t[first + row][first + k];
            return make_double2(k >= row ? -factor : 0.0, t[first + SIZE + column][first + k]);
        },
        [&](int first, int column, double sum) { t[first + row][first + SIZE + column] = sum; });
}

// For each panel, in place: converts the products S = Y^T Y of its reflectors to the triangular T for which their
// product is I - Y T Y^T. For one reflector T is tau; then groups are joined in pairs until there is one.
extern "C" __global__ void __launch_bounds__(THREADS)
    panel_factors(double* __restrict__ products, const double* __restrict__ taus, int n) {
    __shared__ double t[PANEL][PANEL + 1];
    double* const panel = products + (size_t)blockIdx.x * PANEL * PANEL;
#pragma unroll
    for (int i = threadIdx.x; i < PANEL * PANEL; i += THREADS) {
        const int row = i % PANEL, column = i / PANEL, k = blockIdx.x * PANEL + row;
        t[row][column] = row != column ? panel[i] : k < n - 1 ? taus[k] : 0.0;
    }
    join<1>(t);
    join<2>(t);
    join<4>(t);
    join<8>(t);
    join<16>(t);
    join<32>(t);
    static_assert(PANEL == 64);
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.x; i < PANEL * PANEL; i += THREADS) {
        const int row = i % PANEL, column = i / PANEL;
        panel[i] = row <= column ? t[row][column] : 0.0;
    }
}

// Adds to `sums` what the threads of all blocks have of each.
template <int COUNT>
__device__ __forceinline__ void add_to(double* sums, const double (&values)[COUNT]) {
    __shared__ double parts[COUNT][THREADS / WARP];
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const double value = warp_sum(values[k]);
        if (threadIdx.x % WARP == 0) parts[k][threadIdx.x / WARP] = value;
    }
    __syncthreads();
    if (threadIdx.x < COUNT) {
        double value = 0.0;
        for (int i = 0; i < THREADS / WARP; ++i) value += parts[threadIdx.x][i];
        atomicAdd(sums + threadIdx.x, value);
    }
}

// Computes from S = X^T X the matrix by which X is multiplied to get orthonormal columns: it scales the columns to
// length 1 and takes a Newton-Schulz step 1.5 I - 0.5 S. Writes the lengths to `lengths`. Adds to `figures`: the sum
// of squares of E, the scaled S minus I; the same with each column of E times its length, which is twice the distance
// that the step moves X; and the sum of squares of the lengths.
extern "C" __global__ void __launch_bounds__(THREADS)
    newton_schulz(const double* __restrict__ gram, int n, double* __restrict__ step, double* __restrict__ lengths,
                  double* figures) {
    double sums[3] = {};
    for (int j = blockIdx.x; j < n; j += gridDim.x) {
        const double square = gram[(size_t)j * n + j], length = sqrt(square), inverse_j = 1.0 / length;
        if (threadIdx.x == 0) {
            lengths[j] = length;
            sums[2] += square;
        }
        for (int i = threadIdx.x; i < n; i += THREADS) {
            const double inverse_i = rsqrt(gram[(size_t)i * n + i]);
            const double scaled = gram[(size_t)j * n + i] * inverse_i * inverse_j;
            const double off = i == j ? 0.0 : scaled;
            sums[0] += off * off;
            sums[1] += off * off * square;
            step[(size_t)j * n + i] = inverse_i * (i == j ? 1.0 : -0.5 * scaled);
        }
    }
    add_to(figures, sums);
}

// Adds the sum of squares of X^T X - I to `figures`.
extern "C" __global__ void __launch_bounds__(THREADS)
    orthogonality(const double* __restrict__ gram, int n, double* figures) {
    double sums[1] = {};
    for (int j = blockIdx.x; j < n; j += gridDim.x) {
        for (int i = threadIdx.x; i < n; i += THREADS) {
            const double off = gram[(size_t)j * n + i] - (i == j ? 1.0 : 0.0);
            sums[0] += off * off;
        }
    }
    add_to(figures, sums);
}

// Adds the sums of squares of A V - U S and of A V to `figures`.
extern "C" __global__ void __launch_bounds__(THREADS)
    residual(const double* __restrict__ products, const double* __restrict__ left, const double* __restrict__ values,
             int n, double* figures) {
    double sums[2] = {};
    for (int j = blockIdx.x; j < n; j += gridDim.x) {
        const double value = values[j];
        for (int i = threadIdx.x; i < n; i += THREADS) {
            const double product = products[(size_t)j * n + i];
            const double off = product - left[(size_t)j * n + i] * value;
            sums[0] += off * off;
            sums[1] += product * product;
        }
    }
    add_to(figures, sums);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(const double* __restrict__ from, int n, double* __restrict__ to) {
    for (int j = blockIdx.x; j < n; j += gridDim.x) {
        for (int i = threadIdx.x; i < n; i += THREADS) to[(size_t)j * n + i] = from[(size_t)i * n + j];
    }
}

// The rank of each value in descending order; equal values keep their order.
extern "C" __global__ void __launch_bounds__(THREADS)
    rank_descending(const double* __restrict__ values, int n, int* __restrict__ ranks) {
    const int j = (blockIdx.x * THREADS + threadIdx.x) / WARP;
    if (j >= n) return;
    const double value = fabs(values[j]);
    int rank = 0;
    for (int i = threadIdx.x % WARP; i < n; i += WARP) {
        const double other = fabs(values[i]);
        rank += other > value || (other == value && i < j);
    }
    rank = warp_sum(rank);
    if (threadIdx.x % WARP == 0) ranks[j] = min(rank, n - 1);
}

// Sorts values and columns, in the element type of the answer. Rounding can make a tiny value negative; its sign then
// moves to its left vector.
template <typename T>
__device__ __forceinline__ void arrange(const double* __restrict__ values, const double* __restrict__ left,
                                        const double* __restrict__ right, const int* __restrict__ ranks, int n,
                                        T* __restrict__ values_out, T* __restrict__ left_out,
                                        T* __restrict__ right_out) {
    for (int j = blockIdx.x; j < n; j += gridDim.x) {
        const size_t from = (size_t)j * n, to = (size_t)ranks[j] * n;
        const double value = values[j], sign = value < 0.0 ? -1.0 : 1.0;
        if (threadIdx.x == 0) values_out[ranks[j]] = static_cast<T>(fabs(value));
        for (int i = threadIdx.x; i < n; i += THREADS) {
            left_out[to + i] = static_cast<T>(sign * left[from + i]);
            right_out[to + i] = static_cast<T>(right[from + i]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    arrange_f32(const double* values, const double* left, const double* right, const int* ranks, int n,
                float* values_out, float* left_out, float* right_out) {
    arrange(values, left, right, ranks, n, values_out, left_out, right_out);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    arrange_f64(const double* values, const double* left, const double* right, const int* ranks, int n,
                double* values_out, double* left_out, double* right_out) {
    arrange(values, left, right, ranks, n, values_out, left_out, right_out);
}

// One step of Ogita and Aishima's refinement of a decomposition: from U^T U, V^T V and U^T A V to the matrices I + F and
// I + G for which U (I + F) and V (I + G) are orthonormal and U^T A V diagonal, up to the squares of F and G, whose own
// sum of squares is added to `figures`. `*norm` is the squared norm of A. Vectors of values so close that rounding would
// turn them into each other at will are only made orthogonal, unless U^T A V has more than rounding between them.
extern "C" __global__ void __launch_bounds__(THREADS)
    refinement(const double* __restrict__ gram_u, const double* __restrict__ gram_v,
               const double* __restrict__ middle, const double* norm, int n, double* __restrict__ values,
               double* __restrict__ correct_u, double* __restrict__ correct_v, double* figures) {
    constexpr double CLOSE = 1e-8, ROUNDING = 16 * 2.2e-16, LARGEST = 0.25;
    const double typical = sqrt(*norm / n);
    double sums[1] = {};
    for (int j = blockIdx.x; j < n; j += gridDim.x) {
        const size_t jj = (size_t)j * n + j;
        const double sj = middle[jj] / (0.5 * (gram_u[jj] + gram_v[jj]));
        if (threadIdx.x == 0) values[j] = sj;
        for (int i = threadIdx.x; i < n; i += THREADS) {
            const size_t ij = (size_t)j * n + i, ji = (size_t)i * n + j, ii = (size_t)i * n + i;
            const double one = i == j ? 1.0 : 0.0, r = one - gram_u[ij], q = one - gram_v[ij];
            double f = 0.5 * r, g = 0.5 * q;
            const double si = middle[ii] / (0.5 * (gram_u[ii] + gram_v[ii]));
            const double a = middle[ij] + r * sj, b = middle[ji] + q * sj;
            const bool close = fabs(sj - si) <= CLOSE * (si + sj);
            if (i != j && !(close && fabs(a) + fabs(b) <= ROUNDING * (si + sj + typical))) {
                const double gap = (sj - si) * (sj + si);
                const double turn_u = (a * sj + b * si) / gap, turn_v = (a * si + b * sj) / gap;
                if (fabs(turn_u) < LARGEST && fabs(turn_v) < LARGEST) f = turn_u, g = turn_v;
            }
            sums[0] += f * f + g * g;
            correct_u[ij] = one + f;
            correct_v[ij] = one + g;
        }
    }
    add_to(figures, sums);
}
