"""Describes operations of the user's own and judges their answers, in a process that times nothing."""

import itertools
import math
import sys

import numpy as np

from . import own_op
from .errors import CellFailed, Unavailable, one_line
from .generator import Csr
from .operands import Case
from .own_job import Inputs, leaves, read, values
from .own_op import OpError
from .registry import ADAPTERS, BOTH
from .storage import Storage

# The error of an answer that no number describes.
WRONG = 1.7976931348623157e308
# The bound of the error relative to the largest value, in units of roundoff: a constant, and one per operation of an element.
CONSTANT = 100.0
# Elements whose change is tried until the right answer changes by more than MARGIN bounds.
TRIES, MARGIN = 4, 16.0


class Judge:
    """The operations of some files, with the right answer of the case that was judged last."""

    def __init__(self):
        self.ops, self.case, self.inputs, self.right, self.decisive = [], None, None, None, None

    def describe_ops(self, request):
        """Loads files, and describes their operations at the sizes requested, else their own."""
        self.ops, described = [], []
        for path in request["files"]:
            try:
                loaded = own_op.load(path, "ops")
                described += [self._described(op, path, request.get("sizes")) for op in loaded]
                self.ops += loaded
            except OpError as error:
                return {"type": "unavailable", "reason": str(error), "fix": None}
        return {"type": "described-ops", "ops": described}

    def _described(self, op, path, sizes):
        sizes = sizes or op.sizes
        try:
            if op.takes_dtype:
                dtypes = list(BOTH)
            else:
                # The smallest size, because a larger one may not fit.
                dtypes = [Inputs(op, op.sizes[0], 0, None).dtype()]
            work = [self._work(op, n) for n in sizes] if op.work else []
        except OpError:
            raise
        except Exception as error:
            raise OpError("%s: the inputs or the work of %s: %s" % (path.split("/")[-1], op.name, one_line(error))) from None
        variants = [
            {
                "op": op.name, "name": variant.name, "summary": variant.summary, "accuracy": "ieee", "default": True,
                "dtypes": dtypes, "side": ADAPTERS[variant.backend].side, "backend": variant.backend,
            }
            for variant in op.variants
        ]
        found = {"name": op.name, "summary": op.summary, "sizes": op.sizes, "dtypes": dtypes, "file": path}
        return dict(found, variants=variants, work=work)

    @staticmethod
    def _work(op, n):
        moved, flop = (float(amount) for amount in op.work(n))
        if not (math.isfinite(moved) and math.isfinite(flop) and moved >= 0 and flop >= 0):
            raise CellFailed("work(%d) must return bytes and FLOP, two numbers of at least 0" % n)
        return [n, moved, flop]

    def judge(self, request):
        """Judges the answer in a file."""
        case = request["case"]
        op = own_op.find(self.ops, case["op"])
        if op is None:
            raise CellFailed("there is no operation named %s" % case["op"])
        self._prepare(op, case)
        answer = read(request["answer"])
        bound = self._bound(op, case)
        fault, value = None, 0.0
        if op.judges is not None:
            value = float(op.judges(answer if len(answer) != 1 else answer[0], *self.inputs.arguments([_plain(operand) for operand in self.inputs.operands])))
            value = value if math.isfinite(value) else WRONG
        else:
            value, fault = compare(answer, self.right)
        if self.decisive is None:
            self.decisive = self._decisive(op, bound)
        found = {"type": "judged", "value": WRONG if fault else value, "bound": bound, "fault": fault}
        return dict(found, inputs=self.fingerprint, decisive=self.decisive or None)

    def _prepare(self, op, case):
        if case == self.case:
            return
        self.case, self.decisive = None, None
        typed = Case(case)
        self.inputs, again = (Inputs(op, typed.n, typed.seed, typed.dtype) for _ in range(2))
        self.fingerprint = self.inputs.fingerprint()
        if again.fingerprint() != self.fingerprint:
            raise CellFailed("the inputs of %s differ between two calls with one seed: take all random numbers from rng" % op.name)
        self.right = None if op.judges else self._right(op)
        self.case = case

    def _right(self, op):
        """Returns the leaves of the right answer, from the inputs in float64."""
        function = op.right
        arguments = self.inputs.arguments([_plain(_promoted(operand)) for operand in self.inputs.operands])
        if function is None:
            function = next(variant for variant in op.variants if variant.backend == "numpy").call(arguments)
        try:
            found = leaves(function(*arguments))
        except Unavailable:
            raise
        except Exception as error:
            raise CellFailed("the reference of %s failed: %s" % (op.name, one_line(error))) from None
        return [_leaf(one) for one in found]

    def _bound(self, op, case):
        if op.tolerance is not None:
            # A bound of 0 would leave no ratio of error and bound.
            return max(op.tolerance, sys.float_info.min)
        roundoff = {"f16": 2.0**-11, "f32": 2.0**-24, "c64": 2.0**-24}.get(case["dtype"], 2.0**-53)
        elements = max(1, sum(values(leaf).size for leaf in self.right))
        operations = op.work(case["n"])[1] if op.work else sum(values(operand).size for operand in self.inputs.operands)
        return min(0.01, (CONSTANT + operations / elements) * roundoff)

    def _decisive(self, op, bound):
        """Returns a change of one element of an input that changes the right answer clearly; `False` if none was found."""
        if op.judges is not None:
            return False
        rng = np.random.default_rng(0)
        for index, operand in enumerate(self.inputs.operands):
            stored = values(operand).reshape(-1)
            if stored.dtype.kind != "f" or stored.size == 0:
                continue
            sizes = np.abs(stored.astype(np.float64))
            indices = [0] + [int(index) for index in rng.integers(0, stored.size, TRIES - 1)]
            # Beyond all values, or beyond their sum, which the rounding of no sum hides.
            for element, value in itertools.product(indices, (2.0 * float(sizes.max()) + 1.0, float(sizes.sum()) + 2.0)):
                if not value < float(np.finfo(stored.dtype).max):
                    continue
                old = stored[element].item()
                stored[element] = value
                try:
                    changed, fault = compare(self._right(op), self.right)
                except (CellFailed, Unavailable):
                    continue
                finally:
                    stored[element] = old
                if fault or changed > MARGIN * bound:
                    return {"operand": index, "element": element, "value": value}
        return False


def _plain(operand):
    """Returns an operand as an array of NumPy or a matrix of SciPy."""
    if not isinstance(operand, Csr):
        return operand
    return Storage().sparse(operand.indptr, operand.indices, operand.values, operand.shape)


def _promoted(operand):
    if isinstance(operand, Csr):
        return Csr(operand.shape, operand.indptr.copy(), operand.indices.copy(), _promoted(operand.values))
    wide = {"f": np.float64, "c": np.complex128}.get(operand.dtype.kind, operand.dtype)
    return operand.astype(wide)


def _leaf(leaf):
    if hasattr(leaf, "tocsr"):
        matrix = leaf.tocsr()
        return Csr(tuple(matrix.shape), matrix.indptr, matrix.indices, matrix.data)
    return np.array(leaf)


def compare(answer, right):
    """Returns the largest error of the leaves of an answer, each relative to the largest value of the right one, and a fault
    that no number describes, or `None`."""
    if len(answer) != len(right):
        return WRONG, "has %d arrays, not %d" % (len(answer), len(right))
    worst = 0.0
    for one, other in zip(answer, right):
        if tuple(one.shape) != tuple(other.shape):
            return WRONG, "has the shape %s, not %s" % (tuple(one.shape), tuple(other.shape))
        if isinstance(one, Csr) or isinstance(other, Csr):
            error, fault = _sparse_error(one, other)
        else:
            error, fault = _dense_error(one, other)
        if fault:
            return WRONG, fault
        worst = max(worst, error)
    return worst, None


def _sparse_error(one, other):
    if not (isinstance(one, Csr) and isinstance(other, Csr)):
        return WRONG, "is dense where the right one is sparse, or the other way round"
    if not (np.isfinite(one.values).all()):
        return WRONG, "contains values that are not finite"
    difference = _plain(one) - _plain(other)
    scale = float(np.abs(other.values).max()) if other.values.size else 1.0
    return (float(np.abs(difference.data).max()) if difference.nnz else 0.0) / (scale or 1.0), None


def _dense_error(one, other):
    if one.dtype.kind in "biu" and other.dtype.kind in "biu":
        differing = int(np.count_nonzero(one != other))
        return WRONG if differing else 0.0, "differs in %d elements" % differing if differing else None
    if one.dtype.kind == "c" and other.dtype.kind != "c":
        return WRONG, "is complex where the right one is real"
    if one.dtype.kind != "c" and other.dtype.kind == "c":
        return WRONG, "is real where the right one is complex"
    wide = np.complex128 if other.dtype.kind == "c" else np.float64
    found, right = one.astype(wide), other.astype(wide)
    if found.size == 0:
        return 0.0, None
    finite = np.isfinite(right)
    if not np.array_equal(np.isfinite(found), finite):
        return WRONG, "contains values that are not finite"
    if not np.array_equal(found[~finite], right[~finite], equal_nan=True):
        return WRONG, "has another value that is not finite than the right one"
    if not finite.any():
        return 0.0, None
    scale = float(np.abs(right[finite]).max()) or 1.0
    return float(np.abs(found[finite] - right[finite]).max()) / scale, None
