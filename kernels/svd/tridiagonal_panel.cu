// Householder reduction of the first columns of a symmetric matrix that does not fit on chip: 64 columns per launch.
//
// As in LAPACK's latrd, the matrix A stays as it is during a panel, and the reflectors V so far, with the matching
// columns of W, are kept separately: the matrix is A - V W^T - W V^T. The caller subtracts these products after the
// panel. A column takes two barriers of the grid. Before the first, the blocks multiply A by the reflector u, which
// reads the lower triangle of A once, tile by tile: a tile contributes to the elements of the product in its rows, and
// transposed to those in its columns. Before the second, each block adds up the contributions to its rows of y, which
// gives its rows of w and of the next column. All sums have a fixed order.

#include "common.cuh"
#include "reflector.cuh"

constexpr int THREADS = 512, WARPS = THREADS / WARP;
constexpr int PANEL = 64, TILE = 64;
// A thread has one row of a tile and GROUP of its columns.
constexpr int GROUPS = TILE / GROUP;
// Rows of which a block computes w at a time, a lane each; the warps share the terms.
constexpr int ROWS = WARP;
// Parts of each product of u with a column of V or W, a warp each.
constexpr int SEGMENTS = 16;
// Barriers of the grid per launch.
constexpr u32 BARRIERS = 1 + 2 * PANEL;

static_assert(GROUPS * TILE == THREADS, "a thread per row and group of columns");

// Reads what another block has written before a barrier of the grid: from the L2 cache, and each time again.
__device__ __forceinline__ double load_written(const double* from) {
    double value;
    asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(value) : "l"(from));
    return value;
}

__device__ __forceinline__ void wait_for_grid(u32* arrivals, u32 arrived) {
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals) : "memory");
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
        while (seen < arrived);
    }
    __syncthreads();
}

// Offsets in `work` of what the blocks exchange: the current column x at 0, contributions k to element i of A u in
// `rows` and `columns` (at k * side + i), and parts of sums. 32 bits, because addresses would take too many registers.
struct Exchange {
    u32 rows, columns, dots, norms, forms;

    __device__ explicit Exchange(u32 side) {
        const u32 tiles = side / TILE;
        rows = side;
        columns = rows + (tiles + 1) * side;
        dots = columns + tiles * side;
        norms = dots + 2 * PANEL * SEGMENTS;
        forms = norms + gridDim.x;
    }
};

// The division of the lower triangle's tiles among the blocks: consecutive tiles, row by row.
struct Division {
    int rows;
    // 32 bits are enough for products with the number of blocks, up to 260 000 rows.
    u32 tiles;

    __device__ explicit Division(int rows) : rows(rows), tiles(rows * (rows + 1) / 2) {}
    __device__ static int start_of_row(int row) { return row * (row + 1) / 2; }
    __device__ int start_of_block(u32 block) const { return block * tiles / gridDim.x; }
    __device__ int block_of(u32 tile) const { return ((tile + 1) * gridDim.x - 1) / tiles; }
    __device__ int row_of(int tile) const {
        int row = (int)((sqrtf(8.0f * tile + 1.0f) - 1.0f) * 0.5f);
        while (start_of_row(row) > tile) --row;
        while (start_of_row(row + 1) <= tile) ++row;
        return row;
    }
    // Blocks that contribute to a row of tiles from the left.
    __device__ int blocks_of_row(int row) const {
        return block_of(start_of_row(row + 1) - 1) - block_of(start_of_row(row)) + 1;
    }
};

// The sums over a block of two values, in all threads. No thread may still use `parts`.
__device__ __forceinline__ double2 block_sums(double first, double second, double2 (&parts)[WARPS]) {
    first = warp_sum(first);
    second = warp_sum(second);
    if (threadIdx.x % WARP == 0) parts[threadIdx.x / WARP] = make_double2(first, second);
    __syncthreads();
    double2 sum = make_double2(0.0, 0.0);
#pragma unroll
    for (int warp = 0; warp < WARPS; ++warp) {
        sum.x += parts[warp].x;
        sum.y += parts[warp].y;
    }
    return sum;
}

// `padded` (side x side) becomes the n x n matrix with zeros to the right and below.
extern "C" __global__ void __launch_bounds__(256)
    pad(const double* __restrict__ matrix, int n, int side, double* __restrict__ padded) {
    const u64 area = (u64)side * side;
    for (u64 at = grid_thread(); at < area; at += grid_threads()) {
        const int i = (int)(at % side), j = (int)(at / side);
        padded[at] = i < n && j < n ? matrix[(size_t)j * n + i] : 0.0;
    }
}

// Reduces, in at most THREADS blocks, columns `start` to `start + 63` of a symmetric matrix of `side` rows, a multiple
// of 64, of which rows n and above are zero. `panel` has three times 64 columns of `side` elements: V, W and V again,
// so that [V W] [W V]^T is one product. Column k of `reflectors` (of n elements) is v of step k, zero up to its
// element k. `arrivals` counts arrivals at barriers; it is zero at the start of the first panel.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    reduce_panel(const double* __restrict__ matrix, int side, int n, int start, double* __restrict__ diagonal,
                 double* __restrict__ subdiagonal, double* __restrict__ taus, double* __restrict__ reflectors,
                 double* panel, double* work, u32* arrivals) {
    __shared__ double u_tile[2][TILE], group_sums[2][GROUPS][TILE], column_sums[2][2][TILE];
    __shared__ double v_dots[PANEL], w_dots[PANEL], head_v[PANEL], head_w[PANEL];
    __shared__ double y_parts[WARPS][ROWS], x_parts[WARPS][ROWS];
    __shared__ double norm_parts[WARPS], form_parts[WARPS];
    __shared__ double2 pair_parts[WARPS];
    const int t = threadIdx.x, lane = t % WARP, warp = t / WARP;
    const int block = blockIdx.x, blocks = gridDim.x;
    const Exchange at(side);
    const Division division((side - start) / TILE);
    const int first_tile = division.start_of_block(block), end_tile = division.start_of_block(block + 1);
    // Where in `panel` column p of W begins, and that of V a second time.
    const auto w_at = [&](u32 p) { return (PANEL + p) * side; };
    const auto v_again_at = [&](u32 p) { return (2 * PANEL + p) * side; };
    u32 arrived = (u32)(start / PANEL) * BARRIERS * blocks;
    const auto next_barrier = [&] {
        arrived += blocks;
        wait_for_grid(arrivals, arrived);
    };

    double square = 0.0;
    if (warp == 0) {
        for (int i = start + ROWS * block + lane; i < side; i += ROWS * blocks) {
            const double x = matrix[(size_t)start * side + i];
            __stcg(work + i, x);
            if (i > start + 1) square += x * x;
        }
        square = warp_sum(square);
        if (lane == 0) __stcg(work + at.norms + block, square);
    }
    next_barrier();

    for (int c = 0; c < PANEL; ++c) {
        // Column j becomes zero below its element j + 1.
        const int j = start + c, head_row = j + 1;
        const double norm = t < blocks ? load_written(work + at.norms + t) : 0.0;
        const double head = load_written(work + head_row);
        const Reflector h = reflector(head, block_sum(norm, norm_parts));
        if (block == 0 && t == 0) {
            diagonal[j] = load_written(work + j);
            subdiagonal[j] = h.beta;
            taus[j] = h.tau;
        }
        const auto u_at = [&](int i) {
            return i > head_row ? load_written(work + i) * h.scale : i == head_row ? h.top : 0.0;
        };

        // A u, in parts, and u^T A u times tau. tau first, because it brings the square of the elements back to their
        // magnitude.
        double form = 0.0;
        {
            const int r = t % TILE, group = t / TILE;
            int row = first_tile < end_tile ? division.row_of(first_tile) : 0;
            int column = first_tile - Division::start_of_row(row);
            double a[GROUP];
            const auto load = [&](int tile_row, int tile_column) {
                const int from = start + tile_column * TILE + group * GROUP;
                const double* const first = matrix + (size_t)from * side + start + tile_row * TILE + r;
#pragma unroll
                for (int k = 0; k < GROUP; ++k) a[k] = first[(size_t)k * side];
            };
            if (first_tile < end_tile) load(row, column);
            if (t < TILE) u_tile[first_tile % 2][t] = u_at(start + column * TILE + t);
            double u_row = u_at(start + row * TILE + r), sum = 0.0;
            // While the first tile is on its way: V^T u and W^T u, in parts.
            for (int item = warp * blocks + block; item < 2 * c * SEGMENTS; item += WARPS * blocks) {
                const int dot = item / SEGMENTS, segment = item % SEGMENTS;
                // W follows V in `panel` and in the parts.
                const u32 p = dot < c ? dot : PANEL + dot - c;
                double part = 0.0;
#pragma unroll 4
                for (int i = start + segment * WARP + lane; i < side; i += SEGMENTS * WARP)
                    part = fma(load_written(panel + (p * side + i)), u_at(i), part);
                part = warp_sum(part);
                if (lane == 0) __stcg(work + (at.dots + p * SEGMENTS + segment), part);
            }
            __syncthreads();
            for (int tile = first_tile; tile < end_tile; ++tile) {
                const bool ends = column == row, last = ends || tile + 1 == end_tile;
                const int next_row = row + ends, next_column = ends ? 0 : column + 1;
                double now[GROUP], across[GROUP], u_next = 0.0;
#pragma unroll
                for (int k = 0; k < GROUP; ++k) now[k] = a[k];
                if (tile + 1 < end_tile) {
                    load(next_row, next_column);
                    if (t < TILE) u_next = u_at(start + next_column * TILE + t);
                }
#pragma unroll
                for (int k = 0; k < GROUP; ++k) {
                    // Of a tile on the diagonal, the lower triangle counts, with the diagonal once.
                    const int below = ends ? r - (group * GROUP + k) : 1;
                    const double u = u_tile[tile % 2][group * GROUP + k];
                    sum = fma(below >= 0 ? now[k] : 0.0, u, sum);
                    across[k] = below > 0 ? now[k] * u_row : 0.0;
                    form = fma(h.tau * across[k], u, form);
                }
                const double across_sum = warp_sums_by_shuffles(across);
                if (lane % 4 == 0) column_sums[tile % 2][warp % 2][group * GROUP + lane / 4] = across_sum;
                if (last) {
                    group_sums[tile % 2][group][r] = sum;
                    form = fma(h.tau * sum, u_row, form);
                    sum = 0.0;
                }
                if (t < TILE) u_tile[(tile + 1) % 2][t] = u_next;
                __syncthreads();
                if (t < TILE) {
                    const double total = column_sums[tile % 2][0][t] + column_sums[tile % 2][1][t];
                    __stcg(work + (at.columns + row * side + start + column * TILE + t), total);
                    if (last) {
                        double in_row = 0.0;
#pragma unroll
                        for (int g = 0; g < GROUPS; ++g) in_row += group_sums[tile % 2][g][t];
                        const int k = block - division.block_of(Division::start_of_row(row));
                        __stcg(work + (at.rows + k * side + start + row * TILE + t), in_row);
                    }
                }
                if (ends && tile + 1 < end_tile) u_row = u_at(start + next_row * TILE + r);
                row = next_row;
                column = next_column;
            }
        }
        form = block_sum(form, form_parts);
        if (t == 0) __stcg(work + at.forms + block, form);
        next_barrier();

        // The sum of the contributions `from`, `from + step`, ... to element i of A u.
        const auto contributions = [&](int i, int from, int step) {
            const int row = (i - start) / TILE, below = division.rows - row, left = division.blocks_of_row(row);
            double sum = 0.0;
            for (int k = from; k < below; k += step) sum += load_written(work + (at.columns + (row + k) * side + i));
            for (int k = from; k < left; k += step) sum += load_written(work + (at.rows + k * side + i));
            return sum;
        };
        // What every block needs: V^T u, W^T u, u^T A u, and elements of A u, V and W in the row of the next column.
        // All loads are in flight together.
        form = t < blocks ? load_written(work + at.forms + t) : 0.0;
        constexpr int SUMMING = THREADS / (2 * PANEL), PARTS = SEGMENTS / SUMMING;
        const int p = t / SUMMING;
        double dot = 0.0, head_element = 0.0;
        if (p % PANEL < c) {
            head_element = load_written(panel + (p * side + head_row));
#pragma unroll
            for (int k = 0; k < PARTS; ++k) dot += load_written(work + (at.dots + t * PARTS + k));
        }
        const double head_contribution = contributions(head_row, t, THREADS);
#pragma unroll
        for (int mask = SUMMING / 2; mask > 0; mask /= 2) dot += __shfl_xor_sync(EVERY_LANE, dot, mask);
        if (t % SUMMING == 0) {
            (p < PANEL ? v_dots : w_dots)[p % PANEL] = dot;
            (p < PANEL ? head_v : head_w)[p % PANEL] = head_element;
        }
        const double2 both = block_sums(form, head_contribution, pair_parts);
        double dots = 0.0, head_terms = 0.0;
        for (int p = lane; p < c; p += WARP) {
            dots = fma(h.tau * v_dots[p], w_dots[p], dots);
            head_terms = fma(head_v[p], w_dots[p], fma(head_w[p], v_dots[p], head_terms));
        }
        const double head_y = both.y - warp_sum(head_terms);
        const double half = 0.5 * h.tau * (both.x - 2.0 * warp_sum(dots));
        const double head_w_now = h.tau * head_y - half * h.top;

        square = 0.0;
        for (int from = start + ROWS * block; from < side; from += ROWS * blocks) {
            const int i = from + lane;
            double y = contributions(i, warp, WARPS), next = 0.0;
// More would take too many registers.
#pragma unroll 2
            for (int p = warp; p < c; p += WARPS) {
                const double v = load_written(panel + (p * side + i));
                const double w = load_written(panel + (w_at(p) + i));
                y = fma(-v, w_dots[p], fma(-w, v_dots[p], y));
                next = fma(-v, head_w[p], fma(-w, head_v[p], next));
            }
            y_parts[warp][lane] = y;
            x_parts[warp][lane] = next;
            __syncthreads();
            if (warp == 0) {
                y = 0.0;
                next = matrix[(size_t)head_row * side + i];
#pragma unroll
                for (int k = 0; k < WARPS; ++k) {
                    y += y_parts[k][lane];
                    next += x_parts[k][lane];
                }
                const double u = u_at(i), w = i > j ? h.tau * y - half * u : 0.0;
                next = fma(-u, head_w_now, fma(-w, h.top, next));
                __stcg(panel + (c * side + i), u);
                __stcg(panel + (w_at(c) + i), w);
                __stcg(panel + (v_again_at(c) + i), u);
                if (i < n) reflectors[(size_t)j * n + i] = u;
                __stcg(work + i, next);
                if (i > head_row + 1) square += next * next;
            }
            __syncthreads();
        }
        if (warp == 0) {
            square = warp_sum(square);
            if (lane == 0) __stcg(work + at.norms + block, square);
        }
        next_barrier();
    }
}
