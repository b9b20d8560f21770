"""Eigenvalues of a symmetric matrix in four libraries, for either element type."""

import cupy
import gpubench
import jax
import numpy as np
import torch

eigh = gpubench.Op("eigh", sizes=[100, 500, 1000], tolerance=1e-4)


@eigh.inputs
def symmetric(n, rng, dtype):
    a = rng.random((n, n))
    return (a + a.T).astype(dtype)


@eigh.variant("numpy")
def _(a):
    return np.linalg.eigvalsh(a)


@eigh.variant("cupy")
def _(a):
    return cupy.linalg.eigvalsh(a)


@eigh.variant("torch")
def _(a):
    return torch.linalg.eigvalsh(a)


eigh.variant("torch-cpu", library="torch-cpu")(lambda a: torch.linalg.eigvalsh(a))


@eigh.variant("jax", setup=True)
def _(a):
    return jax.jit(jax.numpy.linalg.eigvalsh)
