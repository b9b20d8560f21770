"""A kernel of one's own against the calls of the library that do the same."""

import cupy
import gpubench
import numpy as np

softplus = gpubench.Op("softplus", sizes=[10_000, 1_000_000, 100_000_000], work=lambda n: (8 * n, 4 * n))

kernel = cupy.RawKernel(
    """
    extern "C" __global__ void softplus(const float* x, float* y, long long n) {
        const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
        if (i < n) y[i] = log1pf(expf(x[i]));
    }
    """,
    "softplus",
)


@softplus.inputs
def vector(n, rng):
    return rng.random(n, dtype="float32")


@softplus.variant("numpy")
def _(x):
    return np.log1p(np.exp(x))


@softplus.variant("cupy")
def _(x):
    return cupy.log1p(cupy.exp(x))


@softplus.variant("raw-kernel")
def _(x):
    y = cupy.empty_like(x)
    kernel((-(-x.size // 256),), (256,), (x, y, np.int64(x.size)))
    return y
