// The kernels that take a sample besides the timed work: see crates/cuda/src/timing.
//
// `mailbox` is host memory visible to the device. Word 0 is the newest ticket that the host released, word 1 the last
// ticket whose wait timed out, and each timestamp has two words, starting at word 2.

#include "common.cuh"
#include "dependent_launch.cuh"

__device__ __forceinline__ u64 now_ns() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// The blocking kernel: one thread that blocks the stream until the host releases `ticket`. It times out after
// `limit_ns`, so that a host that waits for later work before the release does not deadlock.
extern "C" __global__ void block_stream(volatile u64* mailbox, u64 ticket, u64 limit_ns) {
    const u64 start = now_ns();
    while (mailbox[0] < ticket) {
        if (now_ns() - start > limit_ns) {
            mailbox[1] = ticket;
            break;
        }
    }
    __threadfence_system();
}

// One block per multiprocessor. The block on multiprocessor 0 reads both its clocks, so all timestamps use the same
// ones.
extern "C" __global__ void timestamp(volatile u64* mailbox, u32 slot) {
    u32 multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    if (multiprocessor != 0 || threadIdx.x != 0) return;
    const u64 ns = now_ns();
    const u64 cycles = (u64)clock64();
    mailbox[2 + 2 * slot] = ns;
    mailbox[3 + 2 * slot] = cycles;
}

// Flushes the L2 cache by reading all of `buffer` through it. The buffer must hold zeros: the store, which keeps the
// compiler from dropping the loads, then never executes, and no line must be written back during timed work.
extern "C" __global__ void flush_l2(uint4* buffer, u64 count) {
    const u64 step = grid_threads();
    u32 sum = 0;
#pragma unroll 4
    for (u64 i = grid_thread(); i < count; i += step) {
        // Cached only in L2, with normal priority.
        const uint4 line = __ldcg(buffer + i);
        sum |= line.x | line.y | line.z | line.w;
    }
    if (sum != 0) buffer[0].x = sum;
}

// The end of a graph: writes a word, which is host memory visible to the device, when the kernel before has ended.
extern "C" __global__ void signal(volatile u64* word) {
    await_previous();
    *word = 1;
}

extern "C" __global__ void empty() {}

// Spins for a number of cycles of the multiprocessor and touches no memory, as `torch.cuda._sleep` and the kernel of the adapter for
// CuPy do: the constants of all device times are measured with the same code.
extern "C" __global__ void spin_cycles(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

// Spins for at least `ns` and writes the actual duration.
extern "C" __global__ void spin(u64 ns, u64* spun, u32 slot) {
    const u64 start = now_ns();
    u64 passed;
    do passed = now_ns() - start;
    while (passed < ns);
    spun[slot] = passed;
}
