// y = A x for A in compressed sparse row form, one thread a row: the plain kernel that a first attempt writes.
// Threads of a warp walk different rows, so loads of `values` and `indices` do not coalesce; that is its cost.
template <typename Real>
__device__ __forceinline__ void row_per_thread(const int* __restrict__ indptr, const int* __restrict__ indices,
                                               const Real* __restrict__ values, const Real* __restrict__ x,
                                               Real* __restrict__ y, unsigned rows) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    Real sum = 0;
    const int end = indptr[row + 1];
    for (int k = indptr[row]; k < end; ++k) sum += values[k] * x[indices[k]];
    y[row] = sum;
}

extern "C" __global__ void spmv_row_per_thread_f32(const int* indptr, const int* indices, const float* values,
                                                   const float* x, float* y, unsigned rows) {
    row_per_thread(indptr, indices, values, x, y, rows);
}

extern "C" __global__ void spmv_row_per_thread_f64(const int* indptr, const int* indices, const double* values,
                                                   const double* x, double* y, unsigned rows) {
    row_per_thread(indptr, indices, values, x, y, rows);
}
