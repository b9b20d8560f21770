"""gpubench's seven ops as operations of the user's own: their times must agree with those of the built-in ones.

    gpubench run --ops matmul,elementwise,reduction,fft,solve,spgemm,svd,crates/backend/adapters/builtin_ops.py \\
        --sizes 512,2048 --dtypes f64 --backends numpy,cupy,torch
"""

import cupy
import gpubench
import numpy as np
import scipy.fft
import scipy.sparse
import torch

SIZES = [512, 2048]


def define(name, inputs, functions, tolerance=1e-9):
    """Defines an operation with a function for each library."""
    op = gpubench.Op("own-" + name, SIZES, tolerance=tolerance)
    op.inputs(inputs)
    for library, function in functions.items():
        op.variant(name, library=library)(function)


def matrix(n, rng):
    return rng.random((n, n))


def matrices(n, rng):
    return rng.random((n, n)), rng.random((n, n))


def system(n, rng):
    a = rng.random((n, n))
    return a.T @ a + np.eye(n), rng.random(n)


def sparse(n, rng):
    return tuple(scipy.sparse.random(n, n, 0.01, format="csr", random_state=rng) for _ in range(2))


define("matmul", matrices, dict.fromkeys(("numpy", "cupy", "torch"), lambda a, b: a @ b))
define("elementwise", matrices, {
    "numpy": lambda a, b: a * b + np.sin(a) + np.cos(b),
    "cupy": lambda a, b: a * b + cupy.sin(a) + cupy.cos(b),
    "torch": lambda a, b: a * b + torch.sin(a) + torch.cos(b),
})
define("reduction", matrix, {
    "numpy": lambda a: (np.sum(a), np.mean(a), np.std(a)),
    "cupy": lambda a: (cupy.sum(a), cupy.mean(a), cupy.std(a)),
    "torch": lambda a: (a.sum(), a.mean(), a.std(correction=0)),
})
define("fft", matrix, {"numpy": scipy.fft.fft2, "cupy": lambda a: cupy.fft.fft2(a), "torch": lambda a: torch.fft.fft2(a)})
define("solve", system, {
    "numpy": np.linalg.solve,
    "cupy": lambda a, b: cupy.linalg.solve(a, b),
    "torch": lambda a, b: torch.linalg.solve(a, b),
}, tolerance=1e-4)
define("spgemm", sparse, dict.fromkeys(("numpy", "cupy", "torch"), lambda a, b: a @ b))


def reconstructed(factors, a):
    """Returns the largest error of a product of factors, relative to the largest element."""
    u, s, vt = factors
    return np.abs((u * s) @ vt - a).max() / np.abs(a).max()


svd = gpubench.Op("own-svd", SIZES, tolerance=1e-9)
svd.inputs(matrix)
svd.judge(reconstructed)
svd.variant("svd", library="numpy")(lambda a: np.linalg.svd(a, full_matrices=False))
svd.variant("svd", library="cupy")(lambda a: cupy.linalg.svd(a, full_matrices=False))
svd.variant("svd", library="torch")(lambda a: torch.linalg.svd(a, full_matrices=False))
