"""Makes the operands of a case, and keeps those of the last one for its next cell."""

import math
from functools import lru_cache

import numpy as np

from . import host
from .errors import CellFailed, OutOfMemory, Unavailable
from .generator import DTYPES, Csr, Stream, fingerprint, short_uniforms, sparse
from . import own_job, own_mtx

# Expected entries of a sparse operand that certainly fit into 32-bit offsets.
MAX_EXPECTED_ENTRIES = 2.147e9
# Elements of the systems of a batch that are made together: many small systems, or one that is larger.
SYSTEMS_ELEMENTS = 1 << 20
# Name of the number of problems of one shape that one execution computes.
BATCH = "batch"


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
    """One problem: an op at one size or shape, element type and density, or on the matrix of a file."""

    def __init__(self, fields, own=None, matrices=None):
        # The user's own operation, if it is one.
        self.own = own
        matrix = fields.get("matrix")
        self.matrix = _of_file(matrix, (matrices or {}).get(matrix)) if matrix else None
        self.op, self.n, self.dtype_name = fields["op"], int(fields["n"]), fields["dtype"]
        self.density, self.seed = fields.get("density"), int(fields["seed"])
        self.dtype = np.dtype(DTYPES[self.dtype_name])
        # Dimensions by name; `None` if the operands are square and there is one problem.
        self.shape = fields.get("shape")
        self.fields = fields

    def extent(self, name):
        """Returns the extent of a dimension: without a shape n, and 1 for the batch and the right-hand sides."""
        if self.shape is None:
            return 1 if name in (BATCH, "rhs") else self.n
        return _extent(self.shape.get(name, 1), self.n)

    def form(self, *names):
        """Returns the shape of an array in a library: the batch, if the case has one, then these dimensions."""
        return tuple(self.extent(name) for name in ((BATCH,) if self.has_batch else ()) + names)

    @property
    def is_half(self):
        """Whether elements have 16 bits, so that sums need more."""
        return self.dtype.itemsize == 2

    @property
    def is_complex(self):
        """Whether elements have a real and an imaginary part."""
        return self.dtype.kind == "c"

    @property
    def has_batch(self):
        """Whether the arrays have an axis of problems, even if there is only one problem."""
        return self.shape is not None and BATCH in self.shape

    @property
    def axes(self):
        """The axes that a transform takes."""
        return ("nx", "ny") if self.shape is None else tuple(name for name in ("nx", "ny", "nz") if name in self.shape)

    @property
    def axis(self):
        """The axis along which a matrix is reduced; None for all elements."""
        return None if self.shape is None else self.shape.get("axis")

    @property
    def transposed(self):
        """Whether the first and the second factor of a product are stored transposed."""
        layout = self.shape.get("layout", "nn") if self.shape is not None else "nn"
        return layout[0] == "t", layout[1] == "t"

    @property
    def side(self):
        """The side of the square problem that is as large as one problem of the case."""
        if self.shape is None:
            return self.n
        extents = [self.extent(name) for name in SIDES[self.op]]
        # Of a transform with any number of axes, the side of a matrix.
        return round(math.prod(extents) ** (1 / (2 if self.op == "fft" else len(extents))))


def _extent(value, n):
    """Returns a number as it is, and the value of a multiple of the size such as N or 16N."""
    if isinstance(value, int):
        return value
    return int(value[:-1] or 1) * n


def _uniform(operand, *names):
    return lambda case: Stream(case.seed, operand).uniforms(case.form(*names), case.dtype)


def _array(case):
    """Returns the operand of a transform, which has at least two axes."""
    form = case.form(*case.axes)
    return Stream(case.seed, 0).uniforms(form if len(form) > 1 else (1,) + form, case.dtype)


def _factor(operand, rows, columns):
    """Returns the maker of a factor of a product, which the layout may store transposed."""

    def make(case):
        names = (columns, rows) if case.transposed[operand] else (rows, columns)
        return _uniform(operand, *names)(case)

    return make


def _right_hand_sides(case):
    b = _uniform(1, "n", "rhs")(case)
    # One right-hand side of one system is a vector.
    return b[:, 0] if b.ndim == 2 and b.shape[1] == 1 else b


def _sparse(operand, *names):
    return lambda case: sparse(case.seed, operand, case.form(*names), case.density, case.dtype)


def _positive_definite(case):
    n, systems = case.extent("n"), case.extent(BATCH)
    a, together = np.empty((systems, n, n), case.dtype), max(1, SYSTEMS_ELEMENTS // n**2)
    for start in range(0, systems, together):
        end = min(start + together, systems)
        a[start:end] = _grams(case.seed, n, start, end, case.is_complex)
    return a.reshape(case.form("n", "n"))


def _grams(seed, n, start, end, is_complex):
    """Returns A of the systems from `start` to `end`, with parts in float64."""
    x = short_uniforms(seed, n, start, end, is_complex)
    # Every product and sum is exact in float64 up to n = 32768, in any order.
    gram = np.matmul(x.conj().swapaxes(1, 2), x)
    gram[:, np.arange(n), np.arange(n)] += 1.0
    return gram


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
    "matmul": (_factor(0, "m", "k"), _factor(1, "k", "n")),
    "elementwise": (_uniform(0, "rows", "cols"), _uniform(1, "rows", "cols")),
    "sin": (_uniform(0, "n", "n"),),
    "reduction": (_uniform(0, "rows", "cols"),),
    "fft": (_array,),
    "solve": (_positive_definite, _right_hand_sides),
    "spgemm": (_sparse(0, "m", "k"), _sparse(1, "k", "n")),
    "spmv": (_sparse(0, "m", "n"), _uniform(2, "n")),
    "svd": (_uniform(0, "m", "n"),),
}

# Dimensions of the arrays of operands and answer by op, where they are dense matrices.
ARRAYS = {
    "matmul": (("m", "k"), ("k", "n"), ("m", "n")),
    "elementwise": (("rows", "cols"),) * 3,
    "sin": (("n", "n"),) * 2,
    "reduction": (("rows", "cols"),),
    "solve": (("n", "n"), ("n", "rhs"), ("n", "rhs")),
    # A and the larger of U and V.
    "svd": (("m", "n"),) * 2,
}

# Dimensions of which `Case.side` is the geometric mean, by op.
SIDES = {
    "matmul": ("m", "n", "k"),
    "elementwise": ("rows", "cols"),
    "reduction": ("rows", "cols"),
    "fft": ("nx", "ny", "nz"),
    "solve": ("n",),
    "spgemm": ("m", "n", "k"),
    "spmv": ("m", "n"),
    "svd": ("m", "n"),
}


def footprint(case):
    """Returns the bytes of operands and answer."""
    if case.op == "fft":
        # The spectrum of real elements has two numbers for each.
        arrays = 2 if case.is_complex else 3
        return arrays * math.prod(case.form(*case.axes)) * case.dtype.itemsize
    if case.op in ARRAYS:
        elements = sum(math.prod(case.form(*names)) for names in ARRAYS[case.op])
        if case.op == "svd":
            short = min(case.extent("m"), case.extent("n"))
            # The smaller of U and V, and the singular values.
            elements += case.extent(BATCH) * (short + 1) * short
        # The answer of a reduction has three numbers in float64 per result.
        results = 1 if case.axis is None else case.extent(("cols", "rows")[case.axis])
        return elements * case.dtype.itemsize + (24 * results if case.op == "reduction" else 0)
    item, (m, n) = case.dtype.itemsize, (case.extent("m"), case.extent("n"))
    if case.op == "spmv":
        return int((item + 4) * case.density * m * n) + 4 * (m + 1) + item * (m + n)
    k = case.extent("k")
    product = m * n * (1.0 - (1.0 - case.density**2) ** k)
    if case.matrix is not None:
        product = min(m * n, int(np.diff(case.matrix.indptr)[case.matrix.indices].sum()))
    return int((item + 4) * (case.density * (m + n) * k + product)) + 4 * (2 * m + k + 3)


def _expected_entries(case):
    """Returns the expected number of stored entries of the largest sparse operand."""
    sides = {"spgemm": (("m", "k"), ("k", "n")), "spmv": (("m", "n"),)}.get(case.op, ())
    return max((case.density * math.prod(map(case.extent, names)) for names in sides), default=0)


def admit(case):
    """Raises an error if a case's operands and answer do not fit into the host's memory twice: as generated, and as the job's or
    as they come back from a device to be verified.
    """
    needed = 2 * footprint(case)
    if case.op == "solve" and case.matrix is None:
        # X and its product of the systems that are made together, in float64; if they are complex, also the conjugate of X.
        together = min(case.extent(BATCH) * case.extent("n") ** 2, max(case.extent("n") ** 2, SYSTEMS_ELEMENTS))
        needed = max(needed, footprint(case) + (48 if case.is_complex else 16) * together)
    free = host.free_memory()
    if free is not None and needed > free:
        gib = tuple(amount / 2**30 for amount in (needed, free))
        raise OutOfMemory("needs %.2f GiB of host memory, %.2f GiB is free" % gib)


def generated(case):
    """Returns the operands of a built-in op, if they fit."""
    if case.density is not None and _expected_entries(case) > MAX_EXPECTED_ENTRIES:
        raise Unavailable("the stored entries exceed 32-bit offsets", "choose a smaller size or density")
    if case.density is not None and max(map(case.extent, SIDES[case.op])) > np.iinfo(np.int32).max:
        raise Unavailable("the rows or columns exceed 32-bit indices", "choose a smaller size or shape")
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
