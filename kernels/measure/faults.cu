// Kernels that break the context, or never end, for tests of what a fault costs: see crates/cuda/src/faults.rs.

#include "common.cuh"

// Writes where no allocation can be.
extern "C" __global__ void illegal_address() { *(volatile u64*)8 = 1; }

// Raises a fault.
extern "C" __global__ void trap() { asm volatile("trap;"); }

// Never ends.
extern "C" __global__ void endless() {
    for (;;) asm volatile("" ::: "memory");
}
