"""Makes the inputs of operations of the user's own, runs their functions, and writes what these return."""

import hashlib
import json

import numpy as np

from .errors import CellFailed
from .generator import Csr, widened
from .job import Job
from .own_op import check_present, kind_of
from .storage import Storage

# Types of NumPy's elements that an input may have: booleans, integers, real and complex numbers.
KINDS = "biufc"


class Inputs:
    """The inputs of one case. Arrays and sparse matrices are operands; the rest are constants."""

    def __init__(self, op, n, seed, dtype):
        """`dtype` is the type of NumPy for which inputs are made, where their function takes one."""
        rng = np.random.default_rng([seed, n])
        made = op.make(n, rng, dtype) if op.takes_dtype else op.make(n, rng)
        self.operands, self.form = [], []
        for value in made if isinstance(made, (tuple, list)) else [made]:
            check_present(value)
            operand = _operand(value)
            if operand is not None:
                self.form.append((True, len(self.operands)))
                self.operands.append(operand)
            elif value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
                self.form.append((False, value))
            else:
                raise CellFailed("the inputs have %s: return NumPy arrays, SciPy's sparse matrices, numbers or texts" % kind_of(value))

    def __iter__(self):
        """The operands, as those of a built-in op."""
        return iter(self.operands)

    def arguments(self, operands):
        """Returns the arguments of a variant, with these operands in place of the arrays."""
        return [operands[value] if is_operand else value for is_operand, value in self.form]

    def dtype(self):
        """Returns the element type of the inputs' numbers: the longest, complex if one is, and `f64` where there are none."""
        types = [kind for kind in (values(operand).dtype for operand in self.operands) if kind.kind in "fc"]
        bits = max((np.finfo(kind).bits for kind in types), default=64)
        if any(kind.kind == "c" for kind in types):
            return "c64" if bits <= 32 else "c128"
        return "f16" if bits <= 16 else "f32" if bits <= 32 else "f64"

    def fingerprint(self):
        """Returns the fingerprint of the operands."""
        return fingerprint(self.operands)


def _operand(value):
    """Returns an array or a sparse matrix as an operand, in memory that is its own; `None` for other values."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in KINDS:
            raise CellFailed("the inputs have an array of type %s: use booleans or numbers" % value.dtype)
        return np.array(value, order="C", subok=False)
    if hasattr(value, "tocsr"):
        matrix = value.tocsr()
        matrix.sort_indices()
        indptr, indices = (part.astype(np.int32) for part in (matrix.indptr, matrix.indices))
        return Csr(tuple(matrix.shape), indptr, indices, matrix.data.copy())
    return None


def _parts(operand):
    return [operand.indptr, operand.indices, operand.values] if isinstance(operand, Csr) else [operand]


def values(operand):
    """Returns the array of an operand's stored values."""
    return operand.values if isinstance(operand, Csr) else operand


def fingerprint(operands):
    """Returns 16 hexadecimal digits that depend on types, shapes and all elements of operands on the host."""
    state = hashlib.blake2b(digest_size=8)
    for operand in operands:
        for part in _parts(operand):
            part = np.ascontiguousarray(part)
            state.update(("%s %s;" % (part.dtype.str, part.shape)).encode())
            state.update(part.reshape(-1).view(np.uint8).data)
    return state.hexdigest()


def leaves(result):
    """Returns the arrays, sparse matrices and numbers of what a function returned, in its order."""
    check_present(result)
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    if isinstance(result, dict):
        return [leaf for key in sorted(result, key=str) for leaf in leaves(result[key])]
    if result is None:
        raise CellFailed("the function returned None: it must return its result")
    if hasattr(result, "__next__"):
        raise CellFailed("the function returned a generator, which has computed nothing yet: return an array")
    if hasattr(result, "__dask_graph__") or (hasattr(result, "collect") and hasattr(result, "lazy")):
        raise CellFailed("the function returned a lazy value, which has computed nothing yet: call its compute()")
    is_array = hasattr(result, "dtype") and hasattr(result, "shape")
    if is_array or hasattr(result, "tocsr") or isinstance(result, (bool, int, float, complex)):
        return [result]
    raise CellFailed("the function returned %s: return arrays, sparse matrices or numbers" % kind_of(result))


def is_on_host(leaf):
    """Whether a leaf is a number, or an array of NumPy."""
    return isinstance(leaf, (bool, int, float, complex, np.generic, np.ndarray))


def write(path, found):
    """Writes leaves on the host to a file: a line with the shape of each sparse one, then the arrays as NumPy writes them."""
    with open(path, "wb") as file:
        file.write(json.dumps([list(leaf.shape) if isinstance(leaf, Csr) else None for leaf in found]).encode() + b"\n")
        for leaf in found:
            for part in _parts(leaf):
                np.lib.format.write_array(file, np.asarray(part), allow_pickle=False)


def read(path):
    """Returns the leaves of a file that `write` wrote."""
    with open(path, "rb") as file:
        shapes = json.loads(file.readline().decode())
        next_array = lambda: np.lib.format.read_array(file, allow_pickle=False)
        return [next_array() if shape is None else Csr(tuple(shape), *(next_array() for _ in range(3))) for shape in shapes]


class OwnJob(Job):
    """A prepared call of a function of the user's own."""

    def __init__(self, storage, op, variant, inputs):
        super().__init__(storage, inputs.operands, None)
        self.mutates, self.is_host = op.mutates, type(storage) is Storage
        function, arguments = variant.call(inputs.arguments(self.operands)), inputs.arguments
        # Without constants among the inputs, nothing but the function itself is in the time.
        has_constants = not all(is_operand for is_operand, _ in inputs.form)
        self.call = (lambda *operands: function(*arguments(operands))) if has_constants else function
        self.parts = lambda result: [leaf for leaf in self.leaves(result) if not is_on_host(leaf) or self.is_host]
        self.kept = [storage.upload(operand) for operand in inputs.operands] if op.mutates else None
        if op.mutates:
            self.restore = lambda *operands: [self._assign(one, other) for one, other in zip(operands, self.kept)]

    @property
    def sources(self):
        # Where executions change their operands, each begins with those of the copies.
        return self.kept if self.mutates else self.operands

    def write(self, path, arrays):
        write(path, arrays)
        # The parent compares files as they are, and its protocol describes arrays of built-in operations alone.
        return []

    def leaves(self, result):
        """Returns the dense arrays of a result in the library's form; of sparse matrices their parts."""
        found = []
        for leaf in leaves(result):
            if not is_on_host(leaf) and self._is_sparse(leaf):
                found += self.storage.csr_parts(self._csr(leaf))
            elif not self.is_host or not isinstance(leaf, (bool, int, float, complex, np.generic)):
                found.append(leaf)
        return found

    def _is_sparse(self, leaf):
        return hasattr(leaf, "tocsr") or str(getattr(leaf, "layout", "")) == "torch.sparse_csr" or hasattr(leaf, "indptr")

    @staticmethod
    def _csr(leaf):
        return leaf.tocsr() if hasattr(leaf, "tocsr") else leaf

    def execute(self):
        try:
            super().execute()
        except SystemExit as error:
            raise CellFailed("the function called exit(%s)" % error) from None

    def answer(self):
        """Returns the leaves of the last result on the host."""
        found = []
        for leaf in leaves(self.result):
            if is_on_host(leaf):
                found.append(np.asarray(leaf))
            elif self._is_sparse(leaf):
                matrix = self._csr(leaf)
                parts = [self.storage.host(part) for part in self.storage.csr_parts(matrix)]
                found.append(Csr(tuple(matrix.shape), *parts))
            else:
                found.append(self._host(leaf))
        for leaf in found:
            for part in _parts(leaf):
                if part.dtype.kind not in KINDS:
                    raise CellFailed("the function returned elements of type %s" % part.dtype)
        return found

    def _host(self, leaf):
        try:
            return widened(self.storage.host(leaf))
        except TypeError:
            # PyTorch has types that NumPy lacks.
            return self.storage.host(leaf.float())

    def check_result(self):
        """Raises an error if the result is an input, or shares memory with one."""
        if self.mutates:
            return
        inputs = {address for operand in self.operands for address in self._addresses(operand)}
        if any(address in inputs for leaf in self.leaves(self.result) for address in self._addresses(leaf)):
            raise CellFailed("the function returned an input, or a view of one: return a new array, or say mutates=True")

    def _addresses(self, array):
        """Returns the addresses of the memory that arrays own, where the library tells them."""
        if self._is_sparse(array):
            return [address for part in self.storage.csr_parts(array) for address in self._addresses(part)]
        if isinstance(array, np.ndarray):
            while isinstance(array.base, np.ndarray):
                array = array.base
            return [array.ctypes.data] if array.size else []
        if hasattr(array, "untyped_storage"):
            return [array.untyped_storage().data_ptr()] if array.numel() else []
        memory = getattr(getattr(array, "data", None), "mem", None)
        return [memory.ptr] if memory is not None and array.size else []

    def _assign(self, operand, value):
        for part, source in zip(self._dense(operand), self._dense(value)):
            if hasattr(part, "copy_"):
                part.copy_(source)
            else:
                part[...] = source

    def _dense(self, operand):
        return self.storage.csr_parts(operand) if self._is_sparse(operand) else [operand]

    def fingerprint(self):
        if self.mutates:
            self.restore(*self.operands)
        return fingerprint([self.storage.download(operand) for operand in self.operands])
