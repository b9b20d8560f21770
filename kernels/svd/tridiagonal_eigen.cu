// Eigenvalues of a symmetric tridiagonal matrix by bisection, and its eigenvectors by twisted factorisations.
//
// Each eigenvalue and each vector is computed independently, so vectors of close eigenvalues are not quite
// orthogonal. The caller must check and repair them.

#include "common.cuh"

__device__ __forceinline__ double power_of_two(int exponent) { return __hiloint2double((exponent + 1023) << 20, 0); }

__device__ __forceinline__ int exponent_of(double value) { return (__double2hiint(value) >> 20 & 2047) - 1023; }

// Steps of a three-term recurrence between two scalings, and the minimum magnitude of an off-diagonal element, far
// below rounding: two steps shrink the recurrence by at most its square, so it cannot vanish between scalings.
constexpr int STRIDE = 16;
constexpr double SMALLEST = 1e-17;

// Scales two successive terms of a recurrence to magnitudes around 1.
__device__ __forceinline__ void rescale(double& p, double& q) {
    const double back = power_of_two(-exponent_of(fmax(fabs(p), fabs(q))));
    p *= back;
    q *= back;
}

// A power of two that scales the matrix to a norm between 1/2 and 1, so that no recurrence overflows or underflows.
template <int WARPS>
__device__ __forceinline__ int scaling(const double* diagonal, const double* subdiagonal, int n,
                                       double (&parts)[WARPS]) {
    double norm = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const double left = i > 0 ? fabs(subdiagonal[i - 1]) : 0.0, right = i + 1 < n ? fabs(subdiagonal[i]) : 0.0;
        norm = fmax(norm, fabs(diagonal[i]) + left + right);
    }
    norm = block_max(norm, parts);
    return norm > 0.0 ? min(max(exponent_of(norm), -1000), 1000) + 1 : 0;
}

// A warp per scheduler: more would only share its float64 units.
constexpr int BISECTING = 128;
constexpr int PASSES = 12;

// `values[j]` is the eigenvalue that j others exceed. A warp finds one: its lanes test 32 points of the interval at a
// time and count the eigenvalues below each by the changes of sign in the sequence of leading minors.
extern "C" __global__ void __launch_bounds__(BISECTING, 4)
    bisect(const double* __restrict__ diagonal, const double* __restrict__ subdiagonal, int n,
           double* __restrict__ values) {
    extern __shared__ double2 entries[];
    __shared__ double parts[BISECTING / WARP];
    const int exponent = scaling(diagonal, subdiagonal, n, parts);
    const double scale = power_of_two(-exponent);
    // Rounded up to whole strides by entries that do not contribute.
    const int padded = (n + STRIDE - 1) / STRIDE * STRIDE;
    for (int i = threadIdx.x; i < padded; i += BISECTING) {
        const double b = i > 0 && i < n ? fmax(fabs(subdiagonal[i - 1] * scale), SMALLEST) : 0.0;
        entries[i] = i < n ? make_double2(diagonal[i] * scale, b * b) : make_double2(4.0, 0.0);
    }
    __syncthreads();
    const int lane = threadIdx.x % WARP;
    const int j = (blockIdx.x * BISECTING + threadIdx.x) / WARP;
    if (j >= n) return;
    const int below = n - 1 - j;
    double low = -1.0, width = 2.0;
    for (int pass = 0; pass < PASSES; ++pass) {
        const double step = width * (1.0 / 33.0);
        const double x = fma(step, lane + 1.0, low);
        double p = 1.0, q = 0.0;
        int changes = 0;
        for (int i = 0; i < padded; i += STRIDE) {
            // The last sign of the previous stride, then one bit per step.
            unsigned signs = (unsigned)__double2hiint(p) >> 31;
#pragma unroll
            for (int k = 0; k < STRIDE; ++k) {
                const double2 entry = entries[i + k];
                const double next = fma(entry.x - x, p, -(entry.y * q));
                signs = __funnelshift_l(__double2hiint(next), signs, 1);
                q = p;
                p = next;
            }
            changes += __popc((signs ^ signs >> 1) & (1u << STRIDE) - 1);
            rescale(p, q);
        }
        const int steps = __popc(__ballot_sync(EVERY_LANE, changes <= below));
        low = fma(step, (double)steps, low);
        width = step;
    }
    if (lane == 0) values[j] = (low + 0.5 * width) * power_of_two(exponent);
}

constexpr int FACTORISING = 256;

// Factorises T - value I from the top (STEP 1) or the bottom (STEP -1): writes the ratios of its off-diagonal
// elements to its pivots, one row of `ratios` per step. The pivots are those of the recurrence of leading minors,
// whose divisions are independent.
template <int STEP>
__device__ __forceinline__ void factorise(const double2* entries, double value, int n, double* __restrict__ ratios) {
    constexpr double LEAST_PIVOT = 1e-30;
    double p = 1.0, q = 0.0, before = 0.0;
    for (int start = 0; start < n - 1; start += STRIDE) {
#pragma unroll
        for (int k = 0; k < STRIDE; ++k) {
            const int row = STEP > 0 ? start + k : max(n - 1 - start - k, 0);
            const int between = STEP > 0 ? row : max(row - 1, 0);
            const double b = entries[between].y;
            const double next = fma(entries[row].x - value, p, -(before * before * q));
            const double least = LEAST_PIVOT * p;
            const double minor = fabs(next) < fabs(least) ? least : next;
            if (start + k < n - 1) ratios[(size_t)between * n] = b * p * reciprocal(minor);
            q = p;
            p = next;
            before = b;
        }
        rescale(p, q);
    }
}

// Computes the elements of a vector from its largest, 1 in row `place`, to one end; `nearest` is the first such row
// of the warp. Returns the sum of their squares without the largest.
template <int STEP>
__device__ __forceinline__ double follow(int nearest, int place, int n, const double* __restrict__ ratios,
                                         double* __restrict__ found) {
    constexpr int BATCH = 16;
    const int steps = STEP > 0 ? n - 1 - nearest : nearest;
    double z = 1.0, square = 0.0;
    for (int start = 1; start <= steps; start += BATCH) {
        double batch[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; ++k) {
            const int step = min(start + k, steps);
            batch[k] = ratios[(size_t)(STEP > 0 ? nearest + step - 1 : nearest - step) * n];
        }
#pragma unroll
        for (int k = 0; k < BATCH; ++k) {
            const int i = nearest + STEP * (start + k);
            if (start + k <= steps && (STEP > 0 ? i > place : i < place)) {
                z *= -batch[k];
                square += z * z;
                found[(size_t)i * n] = z;
            }
        }
    }
    return square;
}

// Column j of `vectors` (n x n, column-major) is the eigenvector of `values[j]`, of length 1. A block computes 32 of
// them: one warp factorises from the top, another from the bottom. The vector is largest where the pivot in which
// both meet is smallest, and is computed from there to both ends. `scratch` has 3 n^2 elements.
extern "C" __global__ void __launch_bounds__(FACTORISING)
    twisted_vectors(const double* __restrict__ diagonal, const double* __restrict__ subdiagonal,
                    const double* __restrict__ values, int n, double* __restrict__ vectors,
                    double* __restrict__ scratch) {
    constexpr int WARPS = FACTORISING / WARP;
    extern __shared__ double2 entries[];
    __shared__ double tile[WARPS / 2][WARP][WARP + 1];
    __shared__ double pivots[WARPS][WARP], squares[2][WARP], parts[WARPS];
    __shared__ int places[WARPS][WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int exponent = scaling(diagonal, subdiagonal, n, parts);
    const double scale = power_of_two(-exponent);
    const int padded = (n + STRIDE - 1) / STRIDE * STRIDE;
    for (int i = threadIdx.x; i < padded; i += FACTORISING) {
        const double b = i + 1 < n ? subdiagonal[i] * scale : 0.0;
        entries[i] = make_double2(i < n ? diagonal[i] * scale : 4.0, copysign(fmax(fabs(b), SMALLEST), b));
    }
    __syncthreads();
    const int j = min(blockIdx.x * WARP + lane, n - 1);
    const double value = values[j] * scale;
    double* const lower = scratch + j;
    double* const upper = lower + (size_t)n * n;
    double* const found = upper + (size_t)n * n;

    if (warp == 0) factorise<1>(entries, value, n, lower);
    if (warp == 1) factorise<-1>(entries, value, n, upper);
    __syncthreads();
    double least = 1e300;
    int place = 0;
#pragma unroll 8
    for (int i = warp; i < n; i += WARPS) {
        double pivot = entries[i].x - value;
        if (i > 0) pivot -= entries[i - 1].y * lower[(size_t)(i - 1) * n];
        if (i + 1 < n) pivot -= entries[i].y * upper[(size_t)i * n];
        if (fabs(pivot) < least) {
            least = fabs(pivot);
            place = i;
        }
    }
    pivots[warp][lane] = least;
    places[warp][lane] = place;
    __syncthreads();
    least = pivots[0][lane];
    place = places[0][lane];
#pragma unroll
    for (int i = 1; i < WARPS; ++i) {
        if (pivots[i][lane] < least) {
            least = pivots[i][lane];
            place = places[i][lane];
        }
    }
    int nearest = place, farthest = place;
#pragma unroll
    for (int mask = WARP / 2; mask > 0; mask /= 2) {
        nearest = min(nearest, __shfl_xor_sync(EVERY_LANE, nearest, mask));
        farthest = max(farthest, __shfl_xor_sync(EVERY_LANE, farthest, mask));
    }
    if (warp == 0) squares[0][lane] = follow<-1>(farthest, place, n, lower, found);
    if (warp == 1) squares[1][lane] = follow<1>(nearest, place, n, upper, found);
    if (warp == 2) found[(size_t)place * n] = 1.0;
    __syncthreads();
    const double inverse = rsqrt(1.0 + squares[0][lane] + squares[1][lane]);
    if (warp >= WARPS / 2) return;
    for (int i = warp * WARP; i < n; i += WARPS / 2 * WARP) {
#pragma unroll 16
        for (int k = 0; k < WARP; ++k) tile[warp][k][lane] = found[(size_t)min(i + k, n - 1) * n] * inverse;
        __syncwarp();
#pragma unroll 4
        for (int k = 0; k < WARP; ++k) {
            const int column = blockIdx.x * WARP + k;
            if (column < n && i + lane < n) vectors[(size_t)column * n + i + lane] = tile[warp][lane][k];
        }
        __syncwarp();
    }
}
