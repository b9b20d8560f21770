// The smallest product of the float64 tensor cores, which every device that has them supports.

#pragma once

#if __CUDA_ARCH__ >= 800
// d += a b, for 8 x 4 elements a and 4 x 8 elements b: lane l has a[l / 4][l % 4] and b[l % 4][l / 4], and of row l / 4
// of d the element `d` in column 2 (l % 4) and its right neighbour.
__device__ __forceinline__ void multiply(double& d, double& right, double a, double b) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d), "+d"(right)
        : "d"(a), "d"(b));
}
#endif
