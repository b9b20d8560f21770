"""The article's two functions of an operation, here the product of two matrices, in this form.

    def benchmark_operation(numpy_func, cupy_func, sizes): ...
    benchmark_operation(lambda a, b: np.dot(a, b), lambda a, b: cp.dot(a, b), [100, 500, 1000])
"""

import cupy as cp
import gpubench
import numpy as np

product = gpubench.Op("product", sizes=[100, 500, 1000], work=lambda n: (12 * n * n, 2 * n**3))  # sizes


@product.inputs
def matrices(n, rng):  # np.random.rand(size, size), twice
    return rng.random((n, n), dtype="float32"), rng.random((n, n), dtype="float32")


@product.variant("numpy")
def _(a, b):  # numpy_func
    return np.dot(a, b)


@product.variant("cupy")
def _(a, b):  # cupy_func
    return cp.dot(a, b)
