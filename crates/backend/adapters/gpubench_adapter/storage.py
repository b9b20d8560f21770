"""Keeps operands in a library's arrays. This module has the storage of NumPy and SciPy, which others derive from."""

import numpy as np

from . import answers
from .generator import Csr, fingerprint, weigh


class Storage:
    """NumPy's arrays, and SciPy's sparse matrices."""

    # Whether `pinned`, `pinned_like`, `send_pinned` and `receive_pinned` exist: copies from page-locked host memory and to it.
    has_pinned = False

    def upload(self, operand):
        """Returns a copy of a generated operand in the library's form."""
        parts = [self.send(part) for part in self.host_parts(operand)]
        return self.sparse(*parts, operand.shape) if isinstance(operand, Csr) else parts[0]

    def sparse(self, indptr, indices, values, shape):
        """Returns a sparse matrix of the library."""
        from scipy import sparse

        return getattr(sparse, "csr_array", sparse.csr_matrix)((values, indices, indptr), shape)

    def host(self, array):
        """Returns a dense array of the library as one of NumPy."""
        return np.asarray(array)

    def csr_parts(self, matrix):
        """Returns row offsets, columns and values of the library's sparse matrix."""
        return matrix.indptr, matrix.indices, matrix.data

    def is_sparse(self, operand):
        """Returns whether an operand is a sparse matrix of the library."""
        return hasattr(operand, "indptr")

    def stored(self, operand):
        """Returns the stored values of an operand as a flat view."""
        return operand.data if self.is_sparse(operand) else operand.reshape(-1)

    def for_download(self, array):
        """Returns an array whose next copy to the host is a real one."""
        return array

    def download(self, operand):
        """Returns an operand as it is now in the form in which it was generated."""
        if not self.is_sparse(operand):
            return self.host(self.for_download(operand))
        parts = [self.host(self.for_download(part)) for part in self.csr_parts(operand)]
        return Csr(tuple(operand.shape), *answers.csr(parts))

    def fingerprint(self, operands):
        """Returns the fingerprint of the library's operands."""
        return fingerprint([self.download(x) if self.is_sparse(x) else x for x in operands], self.weigh)

    def weigh(self, array):
        """Returns `generator.weigh` of a dense array of the library."""
        return weigh(self.download(array))

    def exchange(self, operand, element, value):
        """Returns the operand with another value at a stored element, and the element's old value as a number."""
        stored = self.stored(operand)
        old = stored[element].item()
        stored[element] = value
        return operand, old

    def erase(self, output):
        """Overwrites an array with NaN."""
        output.fill(np.nan)

    def erase_result(self, part):
        """Overwrites a part of a result with NaN if it is an array of numbers that have one and the library can write to it."""
        if isinstance(part, np.ndarray) and part.dtype.kind in "fc" and part.flags.writeable:
            self.erase(part)

    def memory(self, array):
        """Returns host arrays over all memory of an array; none for memory of a device."""
        parts = self.csr_parts(array) if self.is_sparse(array) else [array]
        return [self.host(part) for part in parts]

    def nbytes(self, array):
        """Returns the bytes of a dense array of the library."""
        return array.nbytes

    def send(self, array):
        """Returns a copy of a host array in the library's memory."""
        return array.copy()

    def host_parts(self, operand):
        """Returns the host arrays of a generated operand."""
        if isinstance(operand, Csr):
            return [operand.indptr, operand.indices, operand.values]
        return [operand]
