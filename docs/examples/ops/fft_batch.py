"""One-dimensional transforms of 1000 signals of length n."""

import cupy
import gpubench
import numpy as np
import scipy.fft

batch = gpubench.Op(
    "fft-batch",
    sizes=[128, 1024, 4096],
    work=lambda n: (1000 * n * (4 + 8), 1000 * 2.5 * n * np.log2(n)),
)


@batch.inputs
def signals(n, rng):
    return rng.random((1000, n), dtype="float32")


@batch.variant("numpy")
def _(a):
    return np.fft.rfft(a)


@batch.variant("scipy")
def _(a):
    return scipy.fft.rfft(a, workers=-1)


@batch.variant("cupy")
def _(a):
    return cupy.fft.rfft(a)
