"""Writes answers to files for the parent, which judges them."""

import numpy as np

from .errors import CellFailed
from .generator import DTYPES, stacked, widened

NAMES = {np.dtype(dtype).name: name for name, dtype in dict(DTYPES, i32=np.int32).items()}


def write(path, arrays):
    """Writes arrays one after the other, in C order, and returns their descriptions. A batch is written as its stacked matrices."""
    described = []
    for array in arrays:
        if array.dtype.name not in NAMES:
            raise CellFailed("the library returned elements of type %s" % array.dtype)
        shape = list(array.shape) if array.ndim < 3 else list(stacked(array.shape))
        described.append({"dtype": NAMES[array.dtype.name], "shape": shape})
    with open(path, "wb") as file:
        for array in arrays:
            np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tofile(file)
    return described


def columns(arrays):
    """Returns vectors as n by 1 matrices, and matrices as they are."""
    return [array.reshape(-1, 1) if array.ndim == 1 else array for array in arrays]


def moments(numbers):
    """Returns sums, means and standard deviations as the three rows of a reduction's answer: float64 for every element type."""
    return [np.stack([np.asarray(widened(number), np.float64).reshape(-1) for number in numbers])]


def factors(arrays):
    """Returns the answer of a decomposition from U, the singular values and the transpose of V."""
    u, s, vt = arrays
    return [u, s.reshape(-1, 1), vt]


def csr(arrays):
    """Returns row offsets, columns and values with 32-bit indices."""
    indptr, indices, values = arrays
    return [indptr.astype(np.int32, copy=False), indices.astype(np.int32, copy=False), values]


def whole_spectrum(arrays):
    """Returns the n by n transform of a real matrix from its left half, columns 0 to n / 2."""
    half = arrays[0]
    n, width = half.shape
    full = np.empty((n, n), half.dtype)
    full[:, :width] = half
    # F[r, c] is the conjugate of F[-r, -c].
    rows, mirrored = -np.arange(n) % n, n - np.arange(width, n)
    full[:, width:] = np.conj(half[rows][:, mirrored])
    return [full]
