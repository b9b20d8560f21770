// What the text of a CUDA kernel needs to run on a host under ThreadSanitizer, a fiber for each CUDA thread.
//
// ThreadSanitizer takes a fiber for a thread, and sees the order that CUDA promises and no other: from all arrivals at
// a phase of a barrier to the waits of that phase. All else that has fibers wait for each other is hidden from it.

#pragma once

#include <sanitizer/tsan_interface.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define HIDDEN __attribute__((noinline, no_sanitize("thread")))

struct Index {
    int x;
};
inline Index threadIdx, blockIdx, blockDim, gridDim;

namespace host {

constexpr int threads = 256, lanes = 32, named = 16, most_threads = 1024;
constexpr std::size_t stack_size = 256 << 10;

struct Block;
struct Thread {
    Block* block;
    int index, place;
    unsigned shuffles;
    Thread* next;
    void* fiber;
    ucontext_t context;
};

inline Thread* current;
// Those that can go on; those that found data not there yet, which go on when no other can.
inline Thread *ready[most_threads], *idle[most_threads];
inline int ready_count, idle_count;
inline std::uint64_t chance;
inline ucontext_t scheduler;
inline void* scheduler_fiber;

// What is left out to see whether ThreadSanitizer tells: a named barrier, or the calls in a line of the kernel.
inline int broken_barrier, broken_line;

[[noreturn]] inline void fail(const char* what, int barrier) {
    std::fprintf(stderr, "host: barrier %d: %s\n", barrier, what);
    _exit(3);
}

// Lets others run until the scheduler takes this one again.
HIDDEN inline void pause() {
    __tsan_switch_to_fiber(scheduler_fiber, __tsan_switch_to_fiber_no_sync);
    swapcontext(&current->context, &scheduler);
}

HIDDEN inline void pause_idle() {
    idle[idle_count++] = current;
    pause();
}

// An arrival counts and goes on; who waits goes on when `parties` threads have come.
class Barrier {
public:
    int id = -1;

    HIDDEN bool arrive(unsigned parties, int thread, bool ordered) {
        if (came == 0) expected = parties;
        if (expected != parties) fail("two numbers of threads in one phase", id);
        if (last[thread] == phase + 1) fail("a thread comes twice in one phase", id);
        if (ordered && phase == phases) fail("more phases than there is room for", id);
        last[thread] = phase + 1;
        if (ordered) __tsan_release(&edges[phase]);
        if (++came < parties) return false;
        came = 0;
        ++phase;
        for (; waiting; waiting = waiting->next) ready[ready_count++] = waiting;
        return true;
    }

    HIDDEN void wait(unsigned parties, int thread, bool ordered) {
        const unsigned mine = phase;
        if (!arrive(parties, thread, ordered)) {
            current->next = waiting;
            waiting = current;
            pause();
        }
        if (ordered) __tsan_acquire(&edges[mine]);
    }

private:
    static constexpr unsigned phases = 2048;
    unsigned phase = 0, came = 0, expected = 0;
    Thread* waiting = nullptr;
    unsigned last[threads] = {};
    // What a phase orders: an address each, since one that served twice would also order a phase before the next.
    std::uint64_t edges[phases] = {};
};

struct Warp {
    Barrier sync, exchange;
    std::uint64_t slots[2][lanes];
};

struct Block {
    Barrier barriers[named];
    Warp warps[threads / lanes];
    std::unique_ptr<unsigned char[]> shared;
};

HIDDEN inline unsigned char* shared() { return current->block->shared.get(); }
HIDDEN inline Warp& warp() { return current->block->warps[current->index / lanes]; }

HIDDEN inline void wait(int barrier, int parties) {
    if (barrier != broken_barrier) current->block->barriers[barrier].wait(parties, current->index, true);
}
HIDDEN inline void arrive(int barrier, int parties) {
    if (barrier != broken_barrier) current->block->barriers[barrier].arrive(parties, current->index, true);
}
HIDDEN inline void sync_block(int line) {
    if (line != broken_line) current->block->barriers[0].wait(threads, current->index, true);
}
HIDDEN inline void sync_warp(int line) {
    if (line != broken_line) warp().sync.wait(lanes, current->index % lanes, true);
}

// Lanes exchange values; CUDA promises no order of memory with that. Two rows of slots, so that the next exchange
// overwrites none that a slow lane still reads.
HIDDEN inline std::uint64_t exchange(std::uint64_t bits, int from) {
    Warp& mine = warp();
    std::uint64_t* slots = mine.slots[current->shuffles++ % 2];
    slots[current->index % lanes] = bits;
    mine.exchange.wait(lanes, current->index % lanes, false);
    return slots[from % lanes];
}
template <typename T> T shuffle(T value, int from) {
    if constexpr (sizeof(T) == 8)
        return std::bit_cast<T>(exchange(std::bit_cast<std::uint64_t>(value), from));
    else
        return std::bit_cast<T>((std::uint32_t)exchange(std::bit_cast<std::uint32_t>(value), from));
}

// Data that are their own flags: relaxed, and each element for itself.
template <typename T> T load(const T* at) {
    T value;
    __atomic_load(at, &value, __ATOMIC_RELAXED);
    if (value == 0 && !std::signbit(value)) pause_idle();
    return value;
}
template <typename T, int N> void load(const T* at, T (&to)[N]) {
    for (int e = 0; e < N; ++e) to[e] = load(at + e);
}
template <typename T> void store(T* at, T value) { __atomic_store(at, &value, __ATOMIC_RELAXED); }

// Goes on as a thread of another block, as when a multiprocessor takes the blocks of a grid in turn.
HIDDEN inline void move_to(int place) { blockIdx.x = current->place = place; }

HIDDEN inline std::uint64_t next(std::uint64_t state) { return state * 6364136223846793005u + 1442695040888963407u; }

// Takes any of the threads that can go on, and now and then lets those look again that found nothing.
HIDDEN inline Thread* take() {
    chance = next(chance);
    if (ready_count == 0 || chance >> 52 == 0)
        while (idle_count > 0) ready[ready_count++] = idle[--idle_count];
    if (ready_count == 0) fail("all threads wait", -1);
    std::swap(ready[(chance >> 33) % ready_count], ready[ready_count - 1]);
    return ready[--ready_count];
}

template <typename F> struct Grid {
    const F& kernel;
    std::unique_ptr<Block[]> blocks;
    std::unique_ptr<Thread[]> all;
    int left;
};

template <typename F> HIDDEN void body(unsigned high, unsigned low) {
    auto& grid = *reinterpret_cast<Grid<F>*>((std::uint64_t)high << 32 | low);
    grid.kernel();
    __tsan_release(&grid);
    --grid.left;
    pause();
}

// Runs `kernel` on all threads of a grid. The ends of a launch order everything, as a stream does.
template <typename F> HIDDEN void launch(int blocks, std::size_t shared, const F& kernel) {
    static void* const stacks = mmap(nullptr, most_threads * stack_size, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const int count = blocks * threads;
    if (stacks == MAP_FAILED || count > most_threads) fail("too many threads", -1);
    Grid<F> grid{kernel, std::make_unique<Block[]>(blocks), std::make_unique<Thread[]>(count), count};
    const auto at = reinterpret_cast<std::uint64_t>(&grid);
    scheduler_fiber = __tsan_get_current_fiber();
    for (int t = 0; t < count; ++t) {
        Thread& thread = grid.all[t];
        Block& block = grid.blocks[t / threads];
        if (t % threads == 0) {
            block.shared = std::make_unique<unsigned char[]>(shared);
            for (int id = 0; id < named; ++id) block.barriers[id].id = id;
        }
        thread.block = &block;
        thread.index = t % threads;
        thread.place = t / threads;
        thread.fiber = __tsan_create_fiber(0);
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = static_cast<char*>(stacks) + t * stack_size;
        thread.context.uc_stack.ss_size = stack_size;
        makecontext(&thread.context, reinterpret_cast<void (*)()>(body<F>), 2, (unsigned)(at >> 32), (unsigned)at);
        ready[ready_count++] = &thread;
    }
    while (grid.left > 0) {
        current = take();
        threadIdx.x = current->index;
        blockIdx.x = current->place;
        blockDim.x = threads;
        gridDim.x = blocks;
        __tsan_switch_to_fiber(current->fiber, __tsan_switch_to_fiber_no_sync);
        swapcontext(&scheduler, &current->context);
    }
    __tsan_acquire(&grid);
    for (int t = 0; t < count; ++t) __tsan_destroy_fiber(grid.all[t].fiber);
}

}  // namespace host

#define __syncthreads() host::sync_block(__LINE__)
#define __syncwarp() host::sync_warp(__LINE__)

template <typename T> T __shfl_sync(unsigned, T value, int from) { return host::shuffle(value, from); }
template <typename T> T __shfl_xor_sync(unsigned, T value, int mask) {
    return host::shuffle(value, threadIdx.x % host::lanes ^ mask);
}

inline std::uint32_t __float_as_uint(float value) { return std::bit_cast<std::uint32_t>(value); }
inline std::int64_t __double_as_longlong(double value) { return std::bit_cast<std::int64_t>(value); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline int atomicMax(int* at, int value) {
    int old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}
using std::max;
using std::min;
