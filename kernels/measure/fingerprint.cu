// The fingerprint of a range of memory: the sum over its 64-bit words of (word + 1) (2 position + 1), modulo 2^64, as
// in crates/report/src/data/fingerprint.rs. An incomplete last word is padded with zeros.

#include "common.cuh"

// Adds the fingerprint of `count` bytes to `*sum`. Their address must be a multiple of 8.
extern "C" __global__ void fingerprint(const unsigned char* bytes, u64 count, u64* sum) {
    const u64* words = reinterpret_cast<const u64*>(bytes);
    const u64 whole = count / 8;
    const u64 first = grid_thread();
    const u64 step = grid_threads();
    u64 part = 0;
#pragma unroll 4
    for (u64 i = first; i < whole; i += step) part += (words[i] + 1) * (2 * i + 1);
    if (first == 0) {
        u64 last = 0;
        for (u64 i = 8 * whole; i < count; ++i) last |= (u64)bytes[i] << (8 * (i - 8 * whole));
        part += (last + 1) * (2 * whole + 1);
    }
    part = warp_sum(part);
    if (threadIdx.x % WARP == 0) atomicAdd(sum, part);
}
