// What takes a sample besides the work itself: see crates/cuda/src/timing.
//
// `board` is memory of the host that the device sees: word 0 is the newest ticket that the host released, word 1 the
// last one that was not waited for to the end, and each stamp takes two words from word 2 on.

#include "common.cuh"

__device__ __forceinline__ u64 now_ns() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// One thread that keeps all later work of the stream waiting until the host releases `ticket`. It gives up after
// `limit_ns`, so that a host which waits for that later work before it releases is not stuck for ever.
extern "C" __global__ void hold(volatile u64* board, u64 ticket, u64 limit_ns) {
    const u64 start = now_ns();
    while (board[0] < ticket) {
        if (now_ns() - start > limit_ns) {
            board[1] = ticket;
            break;
        }
    }
    __threadfence_system();
}

// One block a multiprocessor; the one on multiprocessor 0 reads both its clocks, so that two stamps read the same.
extern "C" __global__ void stamp(volatile u64* board, u32 slot) {
    u32 multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    if (multiprocessor != 0 || threadIdx.x != 0) return;
    const u64 ns = now_ns();
    const u64 cycles = (u64)clock64();
    board[2 + 2 * slot] = ns;
    board[3 + 2 * slot] = cycles;
}

// Reads all of `buffer` through the L2 cache. It must hold zeros: the store, which keeps the compiler from leaving
// out the loads, then never happens, and no line is left to be written back while something is timed.
extern "C" __global__ void displace(uint4* buffer, u64 count) {
    const u64 step = grid_threads();
    u32 sum = 0;
#pragma unroll 4
    for (u64 i = grid_thread(); i < count; i += step) {
        // Cached in L2 alone, at its ordinary priority.
        const uint4 line = __ldcg(buffer + i);
        sum |= line.x | line.y | line.z | line.w;
    }
    if (sum != 0) buffer[0].x = sum;
}

extern "C" __global__ void empty() {}

// Spins for at least `ns` and tells how long it was.
extern "C" __global__ void spin(u64 ns, u64* spun, u32 slot) {
    const u64 start = now_ns();
    u64 passed;
    do passed = now_ns() - start;
    while (passed < ns);
    spun[slot] = passed;
}
