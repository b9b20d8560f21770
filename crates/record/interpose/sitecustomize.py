"""Records FFTs and ufuncs of NumPy and SciPy, and products of SciPy's sparse matrices, which are no calls of a library that could be
preloaded.

`gpubench record --python` puts this file's folder before the others of PYTHONPATH. Python imports it when it starts; it then imports the
`sitecustomize` that would have been imported without it. Functions are wrapped when the program imports their module. Ufuncs stay what they
are: from Python 3.12 the interpreter reports calls of them (PEP 669).
"""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import math
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FFTS = {
    "fft": "C", "ifft": "C", "fft2": "C", "ifft2": "C", "fftn": "C", "ifftn": "C",
    "rfft": "R", "rfft2": "R", "rfftn": "R", "irfft": "B", "irfft2": "B", "irfftn": "B",
}
LETTERS = {"f": b"s", "d": b"d", "F": b"c", "D": b"z"}
# Elements of an array from which ufuncs are recorded: shorter calls take as long as recording them.
LEAST_ELEMENTS = 10_000
# Shorter calls in a row from which a place in the program is no longer watched.
MOST_SHORT_CALLS = 1000
# The record has room for names of eight letters.
LONGEST_NAME = 8
SHORT_NAMES = {"reciprocal": "recip", "conjugate": "conj"}


def recorder():
    """Returns the function of the preloaded object that counts a call; None where it is not loaded."""
    import ctypes

    try:
        count = ctypes.CDLL(None).gpubench_record_call
    except (AttributeError, OSError):
        return None
    numbers = [ctypes.c_int64] * 5
    count.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char, ctypes.c_char_p, *numbers, ctypes.c_int64]
    count.restype = None
    return count


def described(name, array, args, options):
    """Returns the lengths of the transformed axes, and the number of transforms. The array is the input, or of `irfft` the output."""
    sizes = options.get("n", options.get("s", args[1] if len(args) > 1 else None))
    axes = options.get("axis", options.get("axes", args[2] if len(args) > 2 else None))
    if name.endswith("2"):
        axes = (-2, -1) if axes is None else axes
    elif name.endswith("n"):
        axes = range(-len(sizes) if sizes is not None else -array.ndim, 0) if axes is None else axes
    else:
        axes = (-1,) if axes is None else (axes,)
        sizes = None if sizes is None else (sizes,)
    axes = [axis % array.ndim for axis in axes]
    extents = [array.shape[axis] for axis in axes] if sizes is None or name.startswith("irfft") else list(sizes)
    others = [extent for axis, extent in enumerate(array.shape) if axis not in axes]
    return [int(extent) for extent in extents], math.prod(others)


def timed_fft(count, function, name, library):
    kind = FFTS[name].encode()

    @functools.wraps(function)
    def wrapper(*args, **options):
        start = time.perf_counter_ns()
        result = function(*args, **options)
        ns = time.perf_counter_ns() - start
        try:
            source = args[0] if args else options.get("a", options.get("x"))
            array = result if name.startswith("irfft") else source
            array = array if hasattr(array, "shape") else sys.modules["numpy"].asarray(array)
            extents, batch = described(name, array, args, options)
            while len(extents) > 3:
                extents = [extents[0] * extents[1], *extents[2:]]
            single = getattr(result, "dtype", None) is not None and result.dtype.char in "fF"
            extents += [0] * (3 - len(extents))
            count(b"fft", library, b"s" if single else b"d", kind, *extents, batch, 0, ns)
        except Exception:
            pass  # What cannot be described is not counted; the program has its result.
        return result

    return wrapper


def timed_product(count, function):
    @functools.wraps(function)
    def wrapper(self, other, *args, **options):
        start = time.perf_counter_ns()
        result = function(self, other, *args, **options)
        ns = time.perf_counter_ns() - start
        try:
            shape = getattr(other, "shape", ())
            columns = shape[1] if len(shape) > 1 else 1
            is_sparse = hasattr(other, "nnz")
            entries = int(self.nnz), int(other.nnz) if is_sparse else 0
            dtype = LETTERS.get(self.dtype.char)
            if result is not NotImplemented and dtype and len(shape):
                name = b"spgemm" if is_sparse else b"spmv"
                count(name, b"scipy.sparse", dtype, b"", self.shape[0], columns, self.shape[1], *entries, ns)
        except Exception:
            pass
        return result

    return wrapper


def wrap_ffts(count, module):
    for name in FFTS:
        function = getattr(module, name, None)
        if function is not None:
            setattr(module, name, timed_fft(count, function, name, module.__name__.encode()))


def wrap_products(count, module):
    base = getattr(module, "_spbase", None)
    # The method behind `@`, `dot` and, of matrices, `*`; the second name is that of SciPy before 1.11.
    for name in ("_matmul_dispatch", "_mul_dispatch"):
        function = getattr(base, name, None)
        if function is not None:
            setattr(base, name, timed_product(count, function))
            break


def watch_ufuncs(count, numpy):
    """Counts calls of ufuncs of one large array, and reductions by methods such as `x.sum()`. Nothing of the program's is asked: the
    interpreter tells the function and its first argument, of which only exact types of NumPy count."""
    monitoring = getattr(sys, "monitoring", None)
    # The last is the least likely to be another tool's.
    tool = next((tool for tool in (5, 4, 3) if monitoring and monitoring.get_tool(tool) is None), None)
    if tool is None:
        return
    ufunc_type, array_type, method_type = numpy.ufunc, numpy.ndarray, type(len)
    names, short_calls, started = {}, {}, threading.local()

    def watched(called):
        """The routine and the name of a function that is counted."""
        if type(called) is ufunc_type:
            # With a signature it is a call of a library, or of loops that it replaces; of two arrays only one would be known.
            ufunc, routine, is_counted = called, b"ufunc", called.nin == 1 and called.signature is None
        elif type(called) is method_type and type(called.__self__) is ufunc_type:
            ufunc, routine, is_counted = called.__self__, b"reduce", called.__name__ == "reduce"
        else:
            return None
        if ufunc not in names:
            names[ufunc] = SHORT_NAMES.get(ufunc.__name__, ufunc.__name__).encode()
        return (routine, names[ufunc]) if is_counted and len(names[ufunc]) <= LONGEST_NAME else None

    def before(code, offset, called, first):
        if watched(called) is None:
            return monitoring.DISABLE
        place = (id(code), offset)
        if type(first) is array_type and first.size >= LEAST_ELEMENTS:
            short_calls[place] = 0
            started.ns = time.perf_counter_ns()
            return None
        short_calls[place] = short_calls.get(place, 0) + 1
        return monitoring.DISABLE if short_calls[place] >= MOST_SHORT_CALLS else None

    def after(code, offset, called, first):
        ns = time.perf_counter_ns()
        start, started.ns = getattr(started, "ns", None), None
        found = watched(called)
        if found and start and type(first) is array_type and first.size >= LEAST_ELEMENTS and first.dtype.char in LETTERS:
            count(found[0], b"numpy", LETTERS[first.dtype.char], found[1], first.size, 0, 0, 0, 0, ns - start)

    monitoring.use_tool_id(tool, "gpubench record")
    monitoring.register_callback(tool, monitoring.events.CALL, before)
    monitoring.register_callback(tool, monitoring.events.C_RETURN, after)
    # Returns are reported of the calls that are.
    monitoring.set_events(tool, monitoring.events.CALL)


WRAPPERS = {"numpy": watch_ufuncs, "numpy.fft": wrap_ffts, "scipy.fft": wrap_ffts, "scipy.sparse._base": wrap_products}


class Wrapping(importlib.abc.MetaPathFinder):
    """Wraps the functions of a module after its own loader has executed it."""

    def __init__(self, count):
        self.count = count

    def find_spec(self, name, path, target=None):
        if name not in WRAPPERS:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self and hasattr(finder, "find_spec") else None
            if spec is not None and spec.loader is not None:
                execute = spec.loader.exec_module

                def exec_module(module, execute=execute, name=name):
                    execute(module)
                    try:
                        WRAPPERS[name](self.count, module)
                    except Exception:
                        pass  # The module stays as it is, and unrecorded.

                spec.loader.exec_module = exec_module
                return spec
        return None


def chain():
    """Imports the `sitecustomize` that this file hides."""
    folders = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def begin():
    count = recorder()
    if count is not None:
        sys.meta_path.insert(0, Wrapping(count))
        try:
            open(os.path.join(HERE, "begun"), "wb").close()
        except OSError:
            pass  # A later process of the program, whose recorder has gone.


begin()
chain()
