"""Makes the operands of a case, and keeps those of the last one for its next cell."""

from functools import lru_cache

import numpy as np

from . import host
from .errors import CellFailed, OutOfMemory, Unavailable
from .generator import Csr, Stream, fingerprint, short_uniforms, sparse
from . import own_job, own_mtx

DTYPES = {"f32": np.float32, "f64": np.float64}
# Expected entries of a sparse operand that certainly fit into 32-bit offsets.
MAX_EXPECTED_ENTRIES = 2.147e9


@lru_cache(maxsize=None)
def _of_file(identity, path):
    """Returns the matrix of that name and fingerprint."""
    if path is None:
        raise CellFailed("no file of this run has the matrix %s" % identity)
    matrix = own_mtx.read_csr(path)
    if fingerprint([matrix]) != identity.rpartition("@")[2]:
        raise CellFailed("the file of the matrix %s has changed since the run started" % identity)
    return matrix


class Case:
    """One problem: an op at one size, element type and density, or on the matrix of a file."""

    def __init__(self, fields, own=None, matrices=None):
        # The user's own operation, if it is one.
        self.own = own
        matrix = fields.get("matrix")
        self.matrix = _of_file(matrix, (matrices or {}).get(matrix)) if matrix else None
        self.op, self.n, self.dtype_name = fields["op"], int(fields["n"]), fields["dtype"]
        self.density, self.seed = fields.get("density"), int(fields["seed"])
        self.dtype = np.dtype(DTYPES[self.dtype_name])
        self.fields = fields


def _matrix(operand):
    return lambda case: Stream(case.seed, operand).uniforms((case.n, case.n), case.dtype)


def _vector(operand):
    return lambda case: Stream(case.seed, operand).uniforms((case.n,), case.dtype)


def _sparse(operand):
    return lambda case: sparse(case.seed, operand, case.n, case.density, case.dtype)


def _positive_definite(case):
    x = short_uniforms(case.seed, case.n)
    # Every product and sum is exact in float64 up to n = 32768, in any order.
    gram = np.matmul(x.T, x)
    gram[np.diag_indices(case.n)] += 1.0
    return gram.astype(case.dtype, copy=False)


def _on_matrix(case):
    """Returns the operands of an op on the matrix of a file."""
    matrix, vector = case.matrix, OPERANDS[case.op][1]
    values = matrix.values.astype(case.dtype)
    if case.op == "solve":
        dense = np.zeros(matrix.shape, case.dtype)
        dense[np.repeat(np.arange(case.n), np.diff(matrix.indptr)), matrix.indices] = values
        return [dense, vector(case)]
    first = Csr(matrix.shape, matrix.indptr, matrix.indices, values)
    return [first, first if case.op == "spgemm" else vector(case)]


# Operands by op, in the order of the protocol.
OPERANDS = {
    "matmul": (_matrix(0), _matrix(1)),
    "elementwise": (_matrix(0), _matrix(1)),
    "sin": (_matrix(0),),
    "reduction": (_matrix(0),),
    "fft": (_matrix(0),),
    "solve": (_positive_definite, _vector(1)),
    "spgemm": (_sparse(0), _sparse(1)),
    "spmv": (_sparse(0), _vector(2)),
    "svd": (_matrix(0),),
}

# Dense n by n matrices of operands and answer by op; a complex matrix counts as two.
MATRICES = {"matmul": 3, "elementwise": 3, "sin": 2, "reduction": 1, "fft": 3, "solve": 1, "svd": 3}


def footprint(case):
    """Returns the bytes of operands and answer."""
    if case.op in MATRICES:
        return (MATRICES[case.op] * case.n + 2) * case.n * case.dtype.itemsize
    entry, entries = case.dtype.itemsize + 4, case.density * case.n**2
    if case.op == "spmv":
        return int(entry * entries) + 12 * case.n
    product = case.n**2 * (1.0 - (1.0 - case.density**2) ** case.n)
    if case.matrix is not None:
        product = min(case.n**2, int(np.diff(case.matrix.indptr)[case.matrix.indices].sum()))
    return int(entry * (2 * entries + product)) + 12 * case.n


def admit(case):
    """Raises an error if a case's operands and answer do not fit into the host's memory twice: as generated, and as the job's or
    as they come back from a device to be verified.
    """
    needed = 2 * footprint(case)
    if case.op == "solve" and case.matrix is None:
        # X and its product, in float64.
        needed = max(needed, footprint(case) + 16 * case.n**2)
    free = host.free_memory()
    if free is not None and needed > free:
        gib = tuple(amount / 2**30 for amount in (needed, free))
        raise OutOfMemory("needs %.2f GiB of host memory, %.2f GiB is free" % gib)


def generated(case):
    """Returns the operands of a built-in op, if they fit."""
    if case.density is not None and case.density * case.n**2 > MAX_EXPECTED_ENTRIES:
        raise Unavailable("the stored entries exceed 32-bit offsets", "choose a smaller size or density")
    admit(case)
    if case.matrix is not None:
        return _on_matrix(case)
    return [make(case) for make in OPERANDS[case.op]]


class Operands:
    """The operands of the last case, if any."""

    def __init__(self):
        self.drop()

    def of(self, case):
        """Returns the operands of `case`; new ones, unless it is the last case again."""
        if case.own is None and case.op not in OPERANDS:
            raise CellFailed("this adapter has no op named %s" % case.op)
        if self.fields != case.fields:
            self.drop()
            self.kept = generated(case) if case.own is None else own_job.Inputs(case.own, case.n, case.seed, case.dtype)
            self.fields = case.fields
        return self.kept

    def fingerprint(self):
        """Returns the fingerprint of the kept operands."""
        if self.sum is None:
            self.sum = self.kept.fingerprint() if isinstance(self.kept, own_job.Inputs) else fingerprint(self.kept)
        return self.sum

    def drop(self):
        """Frees the operands."""
        self.fields, self.kept, self.sum = None, None, None
