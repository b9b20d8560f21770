// C = A B for matrices in compressed sparse row form, by rows after Gustavson (ACM TOMS 4(3), 1978), in one pass. A
// warp computes the entries of one row of C in one tile of columns. It takes the entries of the row of A in order and
// adds that multiple of the row of B, with lanes across the row of B. Its columns differ, so no two lanes collide and
// no atomics are needed; each entry of C is summed in the order of A's entries, so results are bitwise reproducible.
// The position of a block's entries in C is found by decoupled look-back (Merrill and Garland, NVR-2016-002).
//
// `spgemm_dense_*` keeps an element per column of the tile in shared memory. `spgemm_ranked_*` keeps a bit per column
// and sums only for columns whose bit is set, at the index given by the number of set bits before it.

#include "common.cuh"

// Pieces of rows of B whose loads are in flight together.
constexpr u32 DEPTH = 8;

// The initial value of an element: a signalling NaN, which no arithmetic produces.
template <typename T> struct Place;
template <> struct Place<float> {
    static constexpr u32 VACANT = 0x7fa00000u;
    static __device__ __forceinline__ bool is_vacant(float x) { return __float_as_uint(x) == VACANT; }
    static __device__ __forceinline__ float add(float a, float b, float x) { return fmaf(a, b, x); }
};
template <> struct Place<double> {
    static constexpr u32 VACANT = 0x7ff40000u;
    static __device__ __forceinline__ bool is_vacant(double x) { return (u32)__double2hiint(x) == VACANT; }
    static __device__ __forceinline__ double add(double a, double b, double x) { return fma(a, b, x); }
};

// Adds a product to an element and returns whether it was the first.
template <typename T> __device__ __forceinline__ bool add_product(T* place, T a, T b) {
    const T old = *place;
    const bool first = Place<T>::is_vacant(old);
    // a * b + -0 is a * b, also where that is a zero.
    *place = Place<T>::add(a, b, first ? T(-0.0) : old);
    return first;
}

__device__ __forceinline__ u32 lane_id() { return threadIdx.x & 31u; }

// Sum over the lanes up to and including this one.
__device__ __forceinline__ u32 warp_scan(u32 value) {
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const u32 below = __shfl_up_sync(EVERY_LANE, value, offset);
        if (lane_id() >= offset) value += below;
    }
    return value;
}

// Fills `bytes` bytes, a multiple of 16, by one warp.
__device__ __forceinline__ void warp_fill(void* memory, u32 bytes, u32 word) {
    uint4* packs = static_cast<uint4*>(memory);
#pragma unroll 4
    for (u32 i = lane_id(); i < bytes / 16; i += 32) packs[i] = make_uint4(word, word, word, word);
}

// The factors. `b_starts` holds the start of the entries of each row of B in each tile of columns, row by row and
// within a row tile by tile; with one tile these are B's offsets.
template <typename T> struct Factors {
    const int* __restrict__ a_offsets;
    const int* __restrict__ a_columns;
    const T* __restrict__ a_values;
    const int* __restrict__ b_starts;
    const int* __restrict__ b_columns;
    const T* __restrict__ b_values;
};

// The product; `columns` and `values` are null where only offsets are asked for.
template <typename T> struct Product {
    int* offsets;
    int* columns;
    T* values;
};

// At most 32 entries of a row of B and their factor.
template <typename T> struct alignas(16) Piece {
    u32 from, to;
    T factor;
};

// The work of a warp: entries [begin, end) of A and a tile of columns of the row.
struct Item {
    u32 row, tile, begin, end;

    template <typename T>
    __device__ __forceinline__ Item(const Factors<T>& factors, u32 rows, u32 tiles) : begin(0), end(0) {
        const u32 item = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
        row = item / tiles;
        tile = item % tiles;
        if (row < rows) {
            begin = factors.a_offsets[row];
            end = factors.a_offsets[row + 1];
        }
    }
};

// All lanes call `visit(column, live, a, b)` for every product of the item, in the order of A's entries; lanes that
// are not live have no product. Rows of B are cut into pieces of 32, which `pieces` lists, 32 at a time.
template <typename T, bool WITH_VALUES, typename Visit>
__device__ __forceinline__ void products(const Factors<T>& factors, const Item& item, u32 tiles, Piece<T>* pieces,
                                         Visit visit) {
    const u32 lane = lane_id();
    for (u32 group = item.begin; group < item.end; group += 32) {
        Piece<T> mine{0, 0, 0};
        if (group + lane < item.end) {
            const u64 start = (u64)(u32)factors.a_columns[group + lane] * tiles + item.tile;
            if (WITH_VALUES) mine.factor = factors.a_values[group + lane];
            mine.from = factors.b_starts[start];
            mine.to = factors.b_starts[start + 1];
        }
        const u32 count = (mine.to - mine.from + 31) / 32, upto = warp_scan(count);
        const u32 total = __shfl_sync(EVERY_LANE, upto, 31);
        u32 next = upto - count;
        for (u32 window = 0; window < total; window += 32) {
            for (; next < min(upto, window + 32); ++next, mine.from += 32) pieces[next - window] = mine;
            const u32 filled = min(total - window, 32u);
            if (lane >= filled) pieces[lane] = Piece<T>{0, 0, 0};
            __syncwarp();
            for (u32 first = 0; first < filled; first += DEPTH) {
                int column[DEPTH];
                bool live[DEPTH];
                u32 at[DEPTH];
                T b[DEPTH];
                // All places are known before the first load, so that the loads follow each other.
#pragma unroll
                for (u32 i = 0; i < DEPTH; ++i) {
                    const Piece<T>& piece = pieces[first + i];
                    live[i] = piece.from + lane < piece.to;
                    at[i] = live[i] ? piece.from + lane : piece.from;
                }
#pragma unroll
                for (u32 i = 0; i < DEPTH; ++i) {
                    column[i] = factors.b_columns[at[i]];
                    if (WITH_VALUES) b[i] = factors.b_values[at[i]];
                }
                // The factors come from shared memory only now: registers that held them would delay the loads.
#pragma unroll
                for (u32 i = 0; i < DEPTH; ++i) {
                    visit(column[i], live[i], WITH_VALUES ? pieces[first + i].factor : T(0), b[i]);
                    __syncwarp();
                }
            }
        }
    }
}

// What the lower half of a word of LookBack counts. The upper half holds this, and UNWRITTEN until the word is written:
// each launch clears the words of the next.
enum Counts : u32 {
    UNWRITTEN,
    OF_BLOCK,  // the entries of the block
    UP_TO      // its entries and those of all blocks before it
};

// Start of the blocks' entries in C, by one word of `state` per block. Blocks exchange only these words, so no fences are
// needed. A block waits for those before it, so blocks must start in the order of their numbers, as they do on every
// chip.
struct LookBack {
    u64* state;

    __device__ __forceinline__ LookBack(u64* state_, u64* next) : state(state_) {
        if (threadIdx.x == 0) next[blockIdx.x] = 0;
    }

    static __device__ __forceinline__ u64 word(Counts what, u32 entries) { return (u64)what << 32 | entries; }

    __device__ __forceinline__ void publish(Counts what, u32 entries) const {
        store_relaxed(state + blockIdx.x, word(what, entries));
    }

    __device__ __forceinline__ u64 read(u32 block) const { return load_relaxed(state + block); }

    // Entries of all blocks before this one; called by one warp. Each lane looks at NEAREST blocks.
    __device__ __forceinline__ u32 before() const {
        constexpr u32 NEAREST = 8;
        u32 sum = 0;
        // Counted from 1, so that 0 stands before the first block.
        for (u32 nearest = blockIdx.x;; nearest -= 32 * NEAREST) {
            const u32 mine = nearest > lane_id() * NEAREST ? nearest - lane_id() * NEAREST : 0;
            u64 words[NEAREST];
#pragma unroll
            for (u32 i = 0; i < NEAREST; ++i) words[i] = mine > i ? UNWRITTEN : word(UP_TO, 0);
            bool unknown = mine > 0;
            while (true) {
                if (unknown) {
#pragma unroll
                    for (u32 i = 0; i < NEAREST; ++i)
                        if (words[i] == UNWRITTEN) words[i] = read(mine - i - 1);
                }
                u32 entries = 0;
                bool found = false;
                unknown = false;
#pragma unroll
                for (u32 i = 0; i < NEAREST; ++i) {
                    unknown = unknown || (!found && words[i] == UNWRITTEN);
                    entries += found ? 0 : (u32)words[i];
                    found = found || (u32)(words[i] >> 32) == UP_TO;
                }
                const u32 complete = __ballot_sync(EVERY_LANE, found);
                // The lanes up to the nearest that found a complete one.
                const u32 needed = complete ? complete ^ (complete - 1) : EVERY_LANE;
                unknown = unknown && (needed >> lane_id() & 1);
                if (!__any_sync(EVERY_LANE, unknown)) {
                    if (needed >> lane_id() & 1) sum += entries;
                    if (complete) return warp_sum(sum);
                    break;
                }
                // Many warps wait for few words, so known words are not read again, and there is a pause between
                // reads.
                __nanosleep(20);
            }
        }
    }
};

// Position of a block's items in C: call `report` when the number of entries is known, then `offset`.
struct Placement {
    LookBack look_back;
    u32* counts;  // shared: one a warp, then the offset of the block
    u32 within, total;

    __device__ __forceinline__ void report(u32 entries) {
        const u32 warps = blockDim.x / WARP, warp = threadIdx.x / WARP, lane = lane_id();
        if (lane == 0) counts[warp] = entries;
        __syncthreads();
        const u32 upto = warp_scan(lane < warps ? counts[lane] : 0);
        total = __shfl_sync(EVERY_LANE, upto, 31);
        within = __shfl_sync(EVERY_LANE, upto, warp) - entries;
        if (threadIdx.x == 0) look_back.publish(blockIdx.x == 0 ? UP_TO : OF_BLOCK, total);
    }

    // The offset of the item, which has `entries` entries.
    __device__ __forceinline__ u32 offset(const Item& item, u32 entries, u32 rows, u32 tiles, int* offsets) {
        if (threadIdx.x < 32) {
            const u32 before = look_back.before();
            if (threadIdx.x == 0) {
                if (blockIdx.x > 0) look_back.publish(UP_TO, before + total);
                counts[32] = before;
            }
        }
        __syncthreads();
        const u32 begin = counts[32] + within;
        if (lane_id() == 0 && item.row < rows) {
            if (item.tile == tiles - 1) offsets[item.row + 1] = (int)(begin + entries);
            if (item.row == 0 && item.tile == 0) offsets[0] = 0;
        }
        return begin;
    }
};

// A warp's shared memory in `dense`: an element for each of `width` columns, a multiple of 32, and one per lane for
// lanes that are not live. Before them are 32 pieces, and afterwards the columns that have entries, of one group of 1024
// columns at a time.
template <typename T> struct Dense {
    static constexpr u32 GROUP = 1024, GROUPS = 2;

    u16* listed;
    T* places;
    u32 width, room;
    // For each group a bit of each of the lane's 32 columns that has an entry.
    u32 taken[GROUPS];

    __device__ __forceinline__ Dense(uint4* shared, u32 width_)
        : width(width_), room(max(32 * (u32)sizeof(Piece<T>) / 2, width_ / 4)) {
        const u32 stride = 2 * room + (width + 32) * sizeof(T);
        listed = reinterpret_cast<u16*>(reinterpret_cast<char*>(shared) + threadIdx.x / WARP * stride);
        places = reinterpret_cast<T*>(listed + room);
    }

    __device__ __forceinline__ void clear() const {
        warp_fill(places, width * sizeof(T), Place<T>::VACANT);
        places[width + lane_id()] = 0;
    }

    // Sums the products and returns the number of entries.
    __device__ __forceinline__ u32 sum(const Factors<T>& factors, const Item& item, u32 tiles) const {
        u32 entries = 0;
        const u32 first = item.tile * width, unused = first + width + lane_id();
        products<T, true>(factors, item, tiles, reinterpret_cast<Piece<T>*>(listed),
                          [&](int column, bool live, T a, T b) {
                              entries += add_product(places + ((live ? (u32)column : unused) - first), a, b);
                          });
        return warp_sum(entries);
    }

    // Words of 32 columns in a group.
    __device__ __forceinline__ u32 words(u32 group) const {
        return width > group * GROUP ? min(width - group * GROUP, GROUP) / 32 : 0;
    }

    __device__ __forceinline__ void mark() {
#pragma unroll
        for (u32 group = 0; group < GROUPS; ++group) {
            const T* part = places + group * GROUP + lane_id();
            taken[group] = 0;
#pragma unroll 8
            for (u32 i = 0; i < words(group); ++i) {
                const u32 word = __ballot_sync(EVERY_LANE, !Place<T>::is_vacant(part[32 * i]));
                if (lane_id() == i) taken[group] = word;
            }
        }
    }

    // Lists the columns of a group that have entries, in ascending order, if there is room. Returns their number.
    __device__ __forceinline__ u32 list(u32 group) const {
        const u32 count = __popc(taken[group]), upto = warp_scan(count);
        const u32 total = __shfl_sync(EVERY_LANE, upto, 31);
        if (total <= room) {
            u16* to = listed + upto - count;
            for (u32 rest = taken[group]; rest != 0; rest &= rest - 1) *to++ = (u16)(32 * lane_id() + __ffs(rest) - 1);
            __syncwarp();
        }
        return total;
    }

    // Writes the entries of a group. If they could not be listed, most stores of a warp have several of them anyway.
    __device__ __forceinline__ void write(const Product<T>& product, const Item& item, u32 group, u32 at,
                                          u32 entries) const {
        const u32 lane = lane_id();
        const int first = (int)(item.tile * width + group * GROUP);
        const T* part = places + group * GROUP;
        if (entries <= room) {
#pragma unroll 4
            for (u32 i = lane; i < entries; i += 32) {
                const u32 column = listed[i];
                const T sum = part[column];
                __stcs(product.columns + at + i, first + (int)column);
                __stcs(product.values + at + i, sum);
            }
            return;
        }
        const u32 count = __popc(taken[group]), begin = at + warp_scan(count) - count;
#pragma unroll 8
        for (u32 i = 0; i < words(group); ++i) {
            const u32 word = __shfl_sync(EVERY_LANE, taken[group], i);
            const u32 place = __shfl_sync(EVERY_LANE, begin, i) + __popc(word & ((1u << lane) - 1));
            const T sum = part[32 * i + lane];
            if (word >> lane & 1) {
                __stcs(product.columns + place, first + (int)(32 * i + lane));
                __stcs(product.values + place, sum);
            }
        }
    }
};

template <typename T>
__device__ __forceinline__ void dense(const Factors<T>& factors, const Product<T>& product, u64* state, u64* next,
                                      u32 rows, u32 tiles, u32 width) {
    extern __shared__ uint4 shared[];
    __shared__ u32 counts[33];
    Placement placement{LookBack(state, next), counts};
    Dense<T> work(shared, width);
    const Item item(factors, rows, tiles);
    // Before the item is read, because the offsets of A are still on their way.
    work.clear();
    const u32 entries = item.begin < item.end ? work.sum(factors, item, tiles) : 0;
    placement.report(entries);
    const bool wanted = product.columns != nullptr && entries > 0;
    if (wanted) work.mark();
    u32 at = 0;
#pragma unroll
    for (u32 group = 0; group < Dense<T>::GROUPS; ++group) {
        const u32 listed = wanted ? work.list(group) : 0;
        // The counts of other blocks arrived while the first group was listed.
        if (group == 0) at = placement.offset(item, entries, rows, tiles, product.offsets);
        if (wanted) work.write(product, item, group, at, listed);
        at += listed;
        __syncwarp();
    }
}

// A warp's shared memory in `ranked`: 32 pieces; a bit for each of `width` columns, a multiple of 256; an element for
// each of `room` entries, a multiple of 8, and one per lane for lanes that are not live; for each 32 columns the
// number of set bits before them; and the column of each entry.
template <typename T> struct Ranked {
    Piece<T>* pieces;
    u32* bits;
    T* places;
    u16* ranks;
    u16* listed;
    u32 width, room;

    static __device__ __forceinline__ u32 stride(u32 width, u32 room) {
        return 32 * sizeof(Piece<T>) + width / 8 + (room + 32) * sizeof(T) + width / 16 + 2 * room;
    }

    __device__ __forceinline__ Ranked(char* memory, u32 width_, u32 room_) : width(width_), room(room_) {
        pieces = reinterpret_cast<Piece<T>*>(memory);
        bits = reinterpret_cast<u32*>(pieces + 32);
        places = reinterpret_cast<T*>(bits + width / 32);
        ranks = reinterpret_cast<u16*>(places + room + 32);
        listed = ranks + width / 32;
    }

    // Sets the bits of the columns that have products, ranks them and returns their number.
    __device__ __forceinline__ u32 mark(const Factors<T>& factors, const Item& item, u32 tiles) {
        const u32 lane = lane_id(), first = item.tile * width;
        warp_fill(bits, width / 8, 0);
        products<T, false>(factors, item, tiles, pieces, [&](int column, bool live, T, T) {
            const u32 c = column - first;
            if (live) atomicOr(bits + c / 32, 1u << (c & 31));
        });
        u32 sum = 0;
        for (u32 from = 0; from < width / 128; from += 32) {
            const u32 i = from + lane;
            const bool inside = i < width / 128;
            const uint4 four = inside ? reinterpret_cast<const uint4*>(bits)[i] : make_uint4(0, 0, 0, 0);
            const u32 x = __popc(four.x), y = x + __popc(four.y), z = y + __popc(four.z), all = z + __popc(four.w);
            const u32 upto = warp_scan(all), before = sum + upto - all;
            const ushort4 quad = make_ushort4(before, before + x, before + y, before + z);
            if (inside) reinterpret_cast<ushort4*>(ranks)[i] = quad;
            sum += __shfl_sync(EVERY_LANE, upto, 31);
        }
        __syncwarp();
        return sum;
    }

    // Sums the entries of ranks `done` to `done + room`, at most `entries` of them.
    __device__ __forceinline__ void sum(const Factors<T>& factors, const Item& item, u32 tiles, u32 done, u32 entries) {
        const u32 lane = lane_id(), first = item.tile * width;
        warp_fill(places, (entries * (u32)sizeof(T) + 15) / 16 * 16, Place<T>::VACANT);
        places[room + lane] = 0;
        products<T, true>(factors, item, tiles, pieces, [&](int column, bool live, T a, T b) {
            const u32 c = live ? column - first : 0;
            const u32 rank = ranks[c / 32] + __popc(bits[c / 32] & ((1u << (c & 31)) - 1)) - done;
            const u32 place = live && rank < room ? rank : room + lane;
            if (add_product(places + place, a, b)) listed[place] = (u16)c;
        });
    }

    __device__ __forceinline__ void write(const Product<T>& product, const Item& item, u32 at, u32 entries) const {
        const int first = (int)(item.tile * width);
        for (u32 i = lane_id(); i < entries; i += 32) {
            __stcs(product.columns + at + i, first + listed[i]);
            __stcs(product.values + at + i, places[i]);
        }
        __syncwarp();
    }
};

template <typename T>
__device__ __forceinline__ void ranked(const Factors<T>& factors, const Product<T>& product, u64* state, u64* next,
                                       u32 rows, u32 tiles, u32 width, u32 room) {
    extern __shared__ uint4 shared[];
    __shared__ u32 counts[33];
    Placement placement{LookBack(state, next), counts};
    const u32 stride = Ranked<T>::stride(width, room);
    Ranked<T> work(reinterpret_cast<char*>(shared) + threadIdx.x / WARP * stride, width, room);
    const Item item(factors, rows, tiles);
    const u32 entries = item.begin < item.end ? work.mark(factors, item, tiles) : 0;
    placement.report(entries);
    const bool wanted = product.columns != nullptr && entries > 0;
    if (wanted) work.sum(factors, item, tiles, 0, min(entries, room));
    // Nothing so far depended on earlier items, and by now most of them are known.
    const u32 at = placement.offset(item, entries, rows, tiles, product.offsets);
    if (!wanted) return;
    work.write(product, item, at, min(entries, room));
    for (u32 done = room; done < entries; done += room) {
        work.sum(factors, item, tiles, done, min(entries - done, room));
        work.write(product, item, at + done, min(entries - done, room));
    }
}

#ifdef STARTS
// Finds the start of each row of B in each tile of `width` columns, one thread each and one for the end.
extern "C" __global__ void spgemm_starts(const int* __restrict__ offsets, const int* __restrict__ columns, int* starts,
                                         u32 rows, u32 tiles, u32 width) {
    const u64 all = (u64)rows * tiles, i = grid_thread();
    if (i > all) return;
    const u32 row = (u32)(i / tiles), tile = (u32)(i % tiles);
    u32 begin = offsets[row];
    if (tile > 0) {
        u32 end = offsets[row + 1];
        while (begin < end) {
            const u32 middle = begin + (end - begin) / 2;
            if ((u32)columns[middle] < tile * width) begin = middle + 1;
            else end = middle;
        }
    }
    starts[i] = (int)begin;
}
#endif

#define DENSE(type, suffix)                                                                                       \
    extern "C" __global__ void spgemm_dense_##suffix(                                                             \
        const int* a_offsets, const int* a_columns, const type* a_values, const int* b_starts,                    \
        const int* b_columns, const type* b_values, int* offsets, int* columns, type* values, u64* state,         \
        u64* next, u32 rows, u32 tiles, u32 width) {                                                              \
        dense<type>({a_offsets, a_columns, a_values, b_starts, b_columns, b_values}, {offsets, columns, values},  \
                    state, next, rows, tiles, width);                                                             \
    }
#define RANKED(type, suffix)                                                                                      \
    extern "C" __global__ void spgemm_ranked_##suffix(                                                            \
        const int* a_offsets, const int* a_columns, const type* a_values, const int* b_starts,                    \
        const int* b_columns, const type* b_values, int* offsets, int* columns, type* values, u64* state,         \
        u64* next, u32 rows, u32 tiles, u32 width, u32 room) {                                                    \
        ranked<type>({a_offsets, a_columns, a_values, b_starts, b_columns, b_values}, {offsets, columns, values}, \
                     state, next, rows, tiles, width, room);                                                      \
    }

#ifdef DENSE_F32
DENSE(float, f32)
#endif
#ifdef DENSE_F64
DENSE(double, f64)
#endif
#ifdef RANKED_F32
RANKED(float, f32)
#endif
#ifdef RANKED_F64
RANKED(double, f64)
#endif
