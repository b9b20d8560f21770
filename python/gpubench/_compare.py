"""Compares functions, and times one, as operations of the user's own."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
import tempfile
import weakref
from types import ModuleType
from typing import Any, Callable, Mapping, Optional, Sequence

from . import _functions, _report
from ._program import RunError
from ._report import Report

Function = Callable[..., Any]
# The file that `gpubench run --ops` gets. It loads each function where it is called, and no other.
HEAD = """
import gpubench
import gpubench_functions

def load(name):
    return gpubench_functions.load(%r + name, gpubench.placeholders)

op = gpubench.Op(%r, sizes=%r, tolerance=%r, mutates=%r, work=%s)
op.inputs(lambda %s: load("inputs")(%s))
"""
VARIANT = "op.variant(%r, library=%r, setup=True, summary=%r)(lambda *inputs: load(%r))\n"
OTHER = "op.%s(lambda *inputs: load(%r)(*inputs))\n"

# The error of such an answer, for `time`.
NOT_FINITE = 1.0


def own_op() -> ModuleType:
    """Returns the module that defines operations. Raises `ImportError` without NumPy."""
    try:
        from ._adapter import own_op
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise ImportError("gpubench.compare, time, Op and read_mtx need NumPy: pip install numpy") from None
    return own_op


def compare(
    functions: Mapping[str, Function],
    inputs: Function,
    sizes: Sequence[int],
    *,
    reference: Optional[Function] = None,
    tolerance: Optional[float] = None,
    work: Optional[Callable[[int], tuple[float, float]]] = None,
    mutates: bool = False,
    name: str = "operation",
    libraries: Optional[Mapping[str, str]] = None,
    sides: Optional[Mapping[str, str]] = None,
    arguments: Sequence[str] = (),
    quiet: bool = False,
) -> Report:
    """Measures functions that do the same with several libraries, such as NumPy and CuPy, and returns the report.

    `functions` maps labels to functions of the inputs that return arrays, sparse matrices or numbers. Each gets arrays of its
    own library. They need not synchronise a device. `inputs(n, rng)` makes the inputs for a size from a seeded
    `numpy.random.Generator`: an array of NumPy, or a tuple of arrays, SciPy's sparse matrices, numbers and texts. With a third
    parameter `dtype` it makes them for an element type, and `arguments=["--dtypes", "all"]` measures both.

    Each library runs in a process of its own, with this interpreter. Functions may be lambdas, closures, and functions of a
    notebook. The library of a function is that of its label (NumPy, SciPy, Numba, CuPy, PyTorch, JAX), else of the modules that it
    uses; `libraries` and `sides` (`cpu` or `gpu`) map labels to others.

    Every answer is compared with that of `reference`, by default the first function that uses NumPy, called with the inputs in
    float64. `tolerance` is the largest error of a right answer, relative to the largest value of the right one. `work(n)` returns
    bytes moved and FLOP, for rates. `mutates=True` says that functions change their inputs, which are then restored before each
    call. `arguments` are further arguments of `gpubench run`, such as `["--max-time", "2s"]`. Unless they name a folder by
    `--out`, the results are in a new folder in `results`. Progress is shown on `sys.stderr` unless `quiet`.

    Raises `ValueError` or `TypeError` for arguments that are not as described, and `RunError` if nothing was measured. A wrong
    answer raises nothing: `Report.failed` has its row.
    """
    with tempfile.TemporaryDirectory(prefix="gpubench-") as folder:
        others = {"reference": reference, "work": work}
        file = _write_operation(
            folder, functions, inputs, sizes, others, name, libraries or {}, sides or {}, tolerance=tolerance, mutates=mutates
        )
        return _run(file, arguments, quiet)


def _write_operation(
    folder: str, functions: Mapping[str, Function], inputs: Function, sizes: Sequence[int], others: Mapping[str, Optional[Function]],
    name: str, libraries: Mapping[str, str], sides: Mapping[str, str], tolerance: Optional[float], mutates: bool = False,
) -> str:  # fmt: skip
    """Writes an operation into a folder, and returns the path of its file. `others` may have `reference`, `judge` and `work`."""
    own = own_op()
    if not isinstance(functions, Mapping) or not all(isinstance(label, str) for label in functions):
        raise TypeError("functions must be a dictionary of labels and functions, such as {'NumPy': function}")
    for labels, parameter in ((libraries, "libraries"), (sides, "sides")):
        for label in labels:
            if label not in functions:
                raise ValueError("%s names %r, which is no label of the functions (%s)" % (parameter, label, ", ".join(functions)))
    stored = {"inputs": inputs, **{what: function for what, function in others.items() if function is not None}}
    for what, function in [*stored.items(), *functions.items()]:
        if not callable(function):
            raise TypeError("%s must be a function, not %s" % (what, own.kind_of(function)))
    try:
        work = stored.get("work")
        op = own.Op(name, sizes, tolerance, work, mutates)
        # The module keeps operations for files that define several.
        own._defined.remove(op)
        op.inputs(inputs)
        for label, function in functions.items():
            variant = re.sub("[^a-z0-9]+", "-", label.lower()).strip("-")
            library = libraries.get(label, "torch" if variant == "pytorch" else variant if variant in own.LIBRARIES else None)
            op.variant(variant, library, sides.get(label))(function)
    except own.OpError as error:
        raise ValueError(str(error)) from None
    if not functions:
        raise ValueError("there is no function to measure: compare({'NumPy': function, ...}, inputs, sizes)")
    if not ({"reference", "judge"} & set(stored) or any(variant.backend == "numpy" for variant in op.variants)):
        raise ValueError("there is nothing to compare answers with: add a function that uses NumPy, or reference=FUNCTION")

    shutil.copyfile(_functions.__file__, os.path.join(folder, "gpubench_functions.py"))
    stored.update(("variant-%d" % index, variant.function) for index, variant in enumerate(op.variants))
    for what, function in stored.items():
        _functions.save(function, os.path.join(folder, what), own.variables_of)
    parameters = "n, rng, dtype" if op.takes_dtype else "n, rng"
    deferred = "lambda n: load('work')(n)" if work else None
    text = HEAD % (os.path.join(folder, ""), name, op.sizes, tolerance, mutates, deferred, parameters, parameters)
    for index, (label, variant) in enumerate(zip(functions, op.variants)):
        text += VARIANT % (variant.name, variant.backend, inspect.getdoc(variant.function) or label, "variant-%d" % index)
    text += "".join(OTHER % (what, what) for what in ("reference", "judge") if what in stored)
    path = os.path.join(folder, "operation.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _run(file: str, arguments: Sequence[str], quiet: bool, *others: str) -> Report:
    if isinstance(arguments, str):
        raise TypeError("further arguments must be a list, such as ['--max-time', '2s'], not a text")
    # The code of functions is that of one version of Python.
    return _report.run("--ops", file, "--python", sys.executable, *others, *arguments, quiet=quiet)


class Timing:
    """The time of a call, as medians with their 95 % intervals, in seconds.

    `host_s` is the time from the call until its result is ready. `device_s` is the time of the work on the GPU alone, or `None`
    where there is no such clock. `report` has all other figures.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        row = report.rows[0]
        self.host_s: float = row["host_median_s"]
        self.host_interval_s: tuple[float, float] = (row["host_ci95_low_s"], row["host_ci95_high_s"])
        on_host = row["clock"] == "host"
        self.device_s: Optional[float] = None if on_host else row["median_s"]
        self.device_interval_s: Optional[tuple[float, float]] = None if on_host else (row["ci95_low_s"], row["ci95_high_s"])
        self._marks = "" if row["grade"] != "D" else ", unreliable (%s)" % (row["warnings"] or "").replace(";", ", ")

    def __repr__(self) -> str:
        text = "host %s" % _span(self.host_s, self.host_interval_s)
        if self.device_s is not None and self.device_interval_s is not None:
            text += ", device %s" % _span(self.device_s, self.device_interval_s)
        return "<Timing: %s%s>" % (text, self._marks)


def _span(seconds: float, interval: tuple[float, float]) -> str:
    scale, unit = next((pair for pair in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if seconds >= pair[0]), (1e-9, "ns"))
    return "%.3g %s (%.3g to %.3g)" % (seconds / scale, unit, interval[0] / scale, interval[1] / scale)


def time(
    function: Function,
    *arguments: Any,
    library: Optional[str] = None,
    side: Optional[str] = None,
    options: Sequence[str] = (),
) -> Timing:
    """Measures one call of a function, by the method of `compare`: in a process of its own, until the median is known within 1 %.

    `arguments` are arrays of NumPy, CuPy, PyTorch or JAX, sparse matrices, numbers and texts. The function gets arrays of its
    library, which is found by the modules that it uses, else by the arrays, unless `library` and `side` (`cpu` or `gpu`) name it.
    `options` are further arguments of `gpubench run`, such as `["--cache", "hot"]`: by default operands are not in the caches.

    There is nothing to compare the answer with. It must be finite where the arguments are; `compare` checks its values.

    Raises `RunError` if the function fails, and `TypeError` for arguments of other types. The report is deleted with the result.
    """
    own = own_op()
    homes = [home for home in map(_home, arguments) if home]
    if library is None and homes and set(own.libraries_of(function)) <= {"numpy", "scipy"}:
        library = homes[0][0]
    if side is None and any(home == ("torch", "cpu") or home == ("jax", "cpu") for home in homes):
        side = "cpu"
    values = [_on_host(argument) for argument in arguments]
    sizes = [max([1, *getattr(value, "shape", ())]) for value in values if hasattr(value, "shape")] or [1]
    name = getattr(function, "__name__", "function")
    label = name[:40] if re.match("[A-Za-z]", name) else "function"
    folder = _Folder()
    file = _write_operation(
        folder.path, {label: function}, lambda n, rng: tuple(values), sizes[:1], {"judge": _is_finite}, "call",
        {label: library} if library else {}, {label: side} if side else {}, tolerance=NOT_FINITE / 2,
    )  # fmt: skip
    results = os.path.join(folder.path, "results")
    try:
        report = _run(file, options, True, "--out", results, "--format", "csv")
    except RunError as error:
        raise RunError(str(error).replace("; the report is in " + results, "")) from None
    report._folder = folder
    row = report.rows[0]
    if row["outcome"] != "measured":
        reason = "its answer has values that are not finite" if row["error"] == NOT_FINITE else row["reason"]
        raise RunError("%s was not timed: %s%s" % (name, reason, " (%s)" % row["fix"] if row["fix"] else ""))
    return Timing(report)


class _Folder:
    """A temporary folder that is removed with this object."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="gpubench-")
        weakref.finalize(self, shutil.rmtree, self.path, True)


def _home(value: Any) -> Optional[tuple[str, str]]:
    """Returns the library of an array and the side of its memory; `None` for those of NumPy and SciPy, and for other values."""
    root = type(value).__module__.split(".")[0]
    if root in ("cupy", "cupyx"):
        return "cupy", "gpu"
    if root == "torch":
        return "torch", "cpu" if value.device.type == "cpu" else "gpu"
    if root in ("jax", "jaxlib") and hasattr(value, "devices"):
        return "jax", "cpu" if next(iter(value.devices())).platform == "cpu" else "gpu"
    return None


def _on_host(value: Any) -> Any:
    """Returns an argument as an array of NumPy, a matrix of SciPy, a number or a text."""
    home = _home(value)
    if home is None:
        is_plain = value is None or isinstance(value, (bool, int, float, complex, str, bytes)) or hasattr(value, "tocsr")
        if is_plain or type(value).__module__.split(".")[0] == "numpy":
            return value
        message = "an argument has the type %s: pass arrays, sparse matrices, numbers and texts"
        raise TypeError(message % type(value).__name__)
    if home[0] == "torch":
        return value.detach().cpu().numpy()
    if home[0] == "cupy":
        return value.get()
    import numpy

    return numpy.asarray(value)


def _is_finite(answer: Any, *inputs: Any) -> float:
    """Returns the error of an answer: 0 if all values are finite, or if those of the inputs are not."""
    import numpy

    def finite(values: Any) -> bool:
        parts = values if isinstance(values, (list, tuple)) else [values]
        arrays = [numpy.asarray(getattr(part, "values", getattr(part, "data", part) if hasattr(part, "tocsr") else part)) for part in parts]
        return all(bool(numpy.isfinite(array).all()) for array in arrays if array.dtype.kind in "fc")

    return 0.0 if finite(answer) or not finite(inputs) else NOT_FINITE
