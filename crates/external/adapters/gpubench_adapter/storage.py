"""Keeps operands in a library's arrays. This module has the storage of NumPy and SciPy, which others derive from."""

import numpy as np

from .generator import Csr


class Storage:
    """NumPy's arrays, and SciPy's sparse matrices."""

    def upload(self, operand):
        """Returns a copy of a generated operand in the library's form."""
        if not isinstance(operand, Csr):
            return operand.copy()
        from scipy import sparse

        matrix = getattr(sparse, "csr_array", sparse.csr_matrix)
        return matrix((operand.values.copy(), operand.indices.copy(), operand.indptr.copy()), operand.shape)

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

    def sparse_answer(self, matrix):
        """Returns a sparse matrix as the three arrays of an answer."""
        indptr, indices, values = (self.host(part) for part in self.csr_parts(matrix))
        return [indptr.astype(np.int32), indices.astype(np.int32), values]

    def download(self, operand):
        """Returns an operand in the form in which it was generated."""
        if not self.is_sparse(operand):
            return self.host(operand)
        return Csr(tuple(operand.shape), *self.sparse_answer(operand))

    def get(self, operand, element):
        """Returns a stored element as a number."""
        return float(self.stored(operand)[element])

    def put(self, operand, element, value):
        """Returns the operand with another value at a stored element."""
        self.stored(operand)[element] = value
        return operand

    def erase(self, output):
        """Overwrites an array with NaN."""
        output.fill(np.nan)

    def memory(self, array):
        """Returns host arrays over all memory of an array; none for memory of a device."""
        return list(self.csr_parts(array)) if self.is_sparse(array) else [self.host(array)]
