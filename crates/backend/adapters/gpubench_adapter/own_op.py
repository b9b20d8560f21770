"""Defines operations of the user's own. A file that is named in `--ops` imports this module as `gpubench`.

    import gpubench, numpy as np

    blur = gpubench.Op("blur", sizes=[256, 1024])

    @blur.inputs
    def image(n, rng):
        return rng.random((n, n), dtype="float32")

    @blur.variant("scipy")
    def _(image):
        return scipy.ndimage.gaussian_filter(image, 3)
"""

import contextlib
import importlib.abc
import importlib.util
import inspect
import os
import re
import sys
import traceback
import types

from .errors import CellFailed, Unavailable
from .own_mtx import read_mtx  # noqa: F401  a part of what a file imports

# The adapter that runs a library's functions, on a GPU and on the CPU; None: on that side it has none.
LIBRARIES = {
    "numpy": (None, "numpy"),
    "scipy": (None, "numpy"),
    "sklearn": (None, "numpy"),
    "numba": ("cupy", "numpy"),
    "cupy": ("cupy", None),
    "cupyx": ("cupy", None),
    "torch": ("torch", "torch-cpu"),
    "torch-cpu": (None, "torch-cpu"),
    "torch-mps": ("torch-mps", None),
    "torch-xpu": ("torch-xpu", None),
    "triton": ("torch", None),
    "jax": ("jax", "jax-cpu"),
    "jax-cpu": (None, "jax-cpu"),
}
# Packages that only the adapters named may import. In the process of another adapter, and where they are not installed, a
# placeholder stands for them, so that one file serves machines with and without a GPU and no process times with two libraries.
OWNERS = {
    "cupy": ("cupy",),
    "cupyx": ("cupy",),
    "cuml": ("cupy",),
    "cudf": ("cupy",),
    "torch": ("torch",),
    "triton": ("torch",),
    "jax": ("jax",),
    "jaxlib": ("jax",),
    "numba": ("numpy", "cupy"),
    "scipy": ("numpy", "cupy", "torch", "jax", "ops"),
    "sklearn": ("numpy", "ops"),
}
# Where this module is from; `gpubench run` holds it in memory, without a `__file__`.
OWN_FOLDER = os.path.dirname(sys._getframe().f_code.co_filename)
NAME = re.compile(r"^[a-z][a-z0-9_-]{0,39}$")
MAX_SIZE = 1 << 40


class OpError(CellFailed):
    """A file with operations is not as it should be. The message says what to change."""


def _require(holds, message, *values):
    if not holds:
        raise OpError(message % values)


class Variant:
    """One way to compute an operation: a function and the adapter that runs it."""

    def __init__(self, name, function, backend, makes_call, summary):
        self.name, self.function, self.backend = name, function, backend
        self.makes_call, self.summary = makes_call, summary

    def call(self, arguments):
        """Returns the function to time: the variant's own, or what it returns for the inputs.

        Raises `Unavailable` if it uses a package that is not installed."""
        for value in used_by(self.function):
            value = vars(value).get("needs") if isinstance(value, types.FunctionType) else value
            if isinstance(value, Missing) and _adapter[0].split("-")[0] in OWNERS[value.__dict__["package"]]:
                check_present(value)
        if not self.makes_call:
            return self.function
        call = self.function(*arguments)
        if not callable(call):
            raise CellFailed("with setup=True the function must return the function to time, not %s" % kind_of(call))
        return call


class Op:
    """An operation: how its inputs are made, and the ways to compute it.

    `sizes` are the sizes of a run without --sizes, passed to the function of the inputs. `tolerance` is the largest error that
    a right answer may have, relative to the largest value of the right one; the default depends on the element type and on the
    number of operations. `work(n)` returns bytes moved and FLOP, for rates. `mutates=True` says that variants change their
    inputs, which are then restored before each call, outside the clock.
    """

    def __init__(self, name, sizes, tolerance=None, work=None, mutates=False, summary=None):
        _require(isinstance(name, str) and NAME.match(name), "'%s' is no name of an operation: use a-z, 0-9, '-' and '_'", name)
        try:
            self.sizes = sorted({int(size) for size in sizes})
        except (TypeError, ValueError):
            raise OpError("the sizes of %s must be a list of whole numbers" % name) from None
        _require(self.sizes and 1 <= self.sizes[0] and self.sizes[-1] <= MAX_SIZE, "%s needs sizes of at least 1", name)
        _require(tolerance is None or 0 <= tolerance < 1, "the tolerance of %s must be at least 0 and below 1", name)
        _require(work is None or callable(work), "the work of %s must be a function of n", name)
        self.name, self.tolerance, self.work, self.mutates = name, tolerance, work, bool(mutates)
        self.summary = " ".join((summary or "an operation of the user's own").split())
        self.variants, self.make, self.right, self.judges = [], None, None, None
        _defined.append(self)

    def inputs(self, function):
        """Decorates the function that makes the inputs from a size and a seeded `numpy.random.Generator`; with a third
        parameter, also from an element type."""
        count = len(inspect.signature(function).parameters)
        _require(count in (2, 3), "the inputs of %s must be a function of n and rng, or of n, rng and dtype", self.name)
        self.make = function
        return function

    def variant(self, name, library=None, side=None, setup=False, summary=None):
        """Decorates a function of the inputs that computes the operation. Library and side (`cpu` or `gpu`) are found from the
        modules that the function uses, unless they are named. With `setup=True` the function is called once, outside the
        clock, and returns the function to time."""
        _require(isinstance(name, str) and NAME.match(name), "'%s' is no name of a variant of %s: use a-z, 0-9, '-' and '_'", name, self.name)
        _require(side in (None, "cpu", "gpu"), "the side of %s of %s must be 'cpu' or 'gpu', not '%s'", name, self.name, side)

        def decorate(function):
            backend = self._backend(name, function, library, side)
            taken = any((variant.name, variant.backend) == (name, backend) for variant in self.variants)
            _require(not taken, "%s has two variants named %s of %s", self.name, name, backend)
            text = summary or inspect.getdoc(function) or "function of the user's own"
            self.variants.append(Variant(name, function, backend, setup, " ".join(text.split())[:120]))
            return function

        return decorate

    def reference(self, function):
        """Decorates the function that gives the right answer, in float64, for inputs in float64. Without it, the first variant
        of NumPy is called with them."""
        self.right = function
        return function

    def judge(self, function):
        """Decorates a function of an answer and the inputs that returns the answer's error, for operations whose answers
        differ between calls. An answer is right if its error is at most the tolerance, which is then needed."""
        _require(self.tolerance is not None, "%s has a judge, so it needs a tolerance", self.name)
        self.judges = function
        return function

    def _backend(self, name, function, library, side):
        found = [library] if library else libraries_of(function)
        if not found and name in LIBRARIES:
            found = [name]
        found = found or ["numpy"]
        for one in found:
            _require(one in LIBRARIES, "'%s' of variant %s is no library that gpubench knows: use one of %s", one, name, ", ".join(LIBRARIES))
        # A function that uses CuPy may use NumPy too, for constants.
        found = [one for one in found if one not in ("numpy", "scipy")] or found[:1]
        backends = {self._of_side(name, one, side) for one in found}
        _require(len(backends) == 1, "variant %s of %s uses %s: name one by library=", name, self.name, " and ".join(found))
        return backends.pop()

    def _of_side(self, name, library, side):
        on_gpu, on_cpu = LIBRARIES[library]
        # numba compiles for the CPU unless its variant says otherwise.
        default = on_cpu if library == "numba" else on_gpu or on_cpu
        backend = {"gpu": on_gpu, "cpu": on_cpu, None: default}[side]
        _require(backend, "%s does not run on the side %s that variant %s names", library, side, name)
        return backend

    @property
    def takes_dtype(self):
        """Whether the inputs are made for an element type."""
        return len(inspect.signature(self.make).parameters) == 3

    def check(self):
        """Raises `OpError` if something is missing."""
        _require(self.make, "%s has no inputs: decorate a function of n and rng with @%s.inputs", self.name, self.name)
        _require(self.variants, "%s has no variants: decorate a function of the inputs with @%s.variant(NAME)", self.name, self.name)
        has_right = self.right or self.judges or any(variant.backend == "numpy" for variant in self.variants)
        _require(has_right, "%s has nothing to compare answers with: add a variant of NumPy, or a @%s.reference", self.name, self.name)


# The operations of the file that is being loaded.
_defined = []


def kind_of(value):
    """Returns what a value is, for messages."""
    return "None" if value is None else "a value of type %s" % type(value).__name__


def names_of(code):
    """Returns the names of variables outside of a function that its code, and functions defined in it, use."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return [*code.co_names, *code.co_freevars, *(name for one in inner for name in names_of(one))]


def variables_of(function):
    """Returns the variables outside of a function that it uses, with their values."""
    known, code = dict(function.__globals__), function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        with contextlib.suppress(ValueError):
            known[name] = cell.cell_contents
    return {name: known[name] for name in names_of(code) if name in known}


def libraries_of(function):
    """Returns the libraries that a function belongs to or uses."""
    return [root for root in dict.fromkeys(map(_library, used_by(function))) if root]


def used_by(function):
    """Yields a function, and the values of its variables and of those of the functions next to it that it calls."""
    pending, seen = [inspect.unwrap(function)], []
    while pending:
        one = pending.pop()
        seen.append(one)
        yield one
        variables = variables_of(one) if isinstance(one, types.FunctionType) and not _library(one) else {}
        yield from variables.values()
        for value in variables.values():
            value = inspect.unwrap(value) if callable(value) and not isinstance(value, Missing) else value
            is_neighbour = isinstance(value, types.FunctionType) and value.__module__ == one.__module__
            if is_neighbour and not any(value is other for other in seen):
                pending.append(value)


def _library(value):
    """Returns the library that a value belongs to, or `None`."""
    if isinstance(value, Missing):
        module = value.__dict__["package"]
    elif isinstance(value, types.ModuleType):
        module = value.__name__
    elif isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
        module = value.__module__
    else:
        module = type(value).__module__
    root = (module or "").split(".")[0]
    return root if root in LIBRARIES else None


class Missing(types.ModuleType):
    """Stands for a package that this process does not import. Everything taken from it, or made with it, is one too."""

    def __init__(self, package):
        super().__init__(package)
        self.__dict__.update(package=package, __path__=[])

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(self.__dict__["package"])

    def __call__(self, *arguments, **named):
        if len(arguments) != 1 or not inspect.isfunction(arguments[0]):
            return Missing(self.__dict__["package"])
        # As a decorator it leaves the function, which other libraries may call.
        arguments[0].needs = self
        return arguments[0]


class _Placeholders(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives placeholders to the files of a folder."""

    def __init__(self, folder, adapter):
        self.folder, self.library = folder + os.sep, adapter.split("-")[0]
        self.made = []

    def find_spec(self, fullname, path=None, target=None):
        package = fullname.split(".")[0]
        if package not in OWNERS or not self._is_asked_by_the_user():
            return None
        if self.library in OWNERS[package] and package not in self.made:
            try:
                if importlib.util.find_spec(package) is not None:
                    return None
            except (ImportError, ValueError):
                pass
        self.made.append(package)
        return importlib.util.spec_from_loader(fullname, self)

    def _is_asked_by_the_user(self):
        frame = sys._getframe(2)
        while frame is not None:
            file = frame.f_code.co_filename
            if not file.startswith("<frozen importlib") and "importlib" not in file:
                # An environment may be next to the file; its packages are not the user's.
                is_inside = file.startswith(self.folder) and not file.startswith(OWN_FOLDER)
                return is_inside and not re.search("/(site|dist)-packages/", file[len(self.folder) - 1 :].replace(os.sep, "/"))
            frame = frame.f_back
        return False

    def create_module(self, spec):
        return Missing(spec.name.split(".")[0])

    def exec_module(self, module):
        pass


# The adapter that this process runs.
_adapter = [None]


@contextlib.contextmanager
def placeholders(folder):
    """A context in which the files of a folder import placeholders for the libraries of other adapters."""
    finder = _Placeholders(folder, _adapter[0])
    # What is found already hides what is not: the placeholders must come first.
    sys.meta_path.insert(0, finder)
    before = set(sys.modules)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if isinstance(sys.modules[name], Missing):
                del sys.modules[name]


def load(path, adapter):
    """Returns the operations of a file, which is imported with placeholders for the libraries of other adapters.

    Raises `OpError` with the line at fault.
    """
    path = os.path.abspath(path)
    folder = os.path.dirname(path)
    sys.modules["gpubench"] = sys.modules[__name__]
    _adapter[0] = adapter
    _defined.clear()
    # The file's neighbours come last.
    sys.path.append(folder)
    try:
        name = "gpubench_file_" + re.sub(r"\W", "_", os.path.basename(path))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        with placeholders(folder):
            spec.loader.exec_module(module)
    except SyntaxError as error:
        raise OpError("%s:%s: %s" % (os.path.basename(error.filename or path), error.lineno, error.msg)) from None
    except OpError as error:
        raise OpError("%s: %s" % (_place(path, error), error)) from None
    except FileNotFoundError as error:
        if error.filename == path:
            raise OpError("there is no file %s" % path) from None
        raise OpError("%s: FileNotFoundError: %s" % (_place(path, error), error)) from None
    except BaseException as error:
        # Also SystemExit: a file that exits defines nothing.
        if isinstance(error, KeyboardInterrupt):
            raise
        said = " ".join(str(error).split())
        raise OpError("%s: %s%s" % (_place(path, error), type(error).__name__, ": " + said if said else "")) from None
    ops = list(_defined)
    _require(ops, "%s defines no operation: make one by gpubench.Op(NAME, sizes=[...])", os.path.basename(path))
    for op in ops:
        op.check()
    names = [op.name for op in ops]
    twice = [name for name in names if names.count(name) > 1]
    _require(not twice, "%s defines the operation %s twice", os.path.basename(path), twice[0] if twice else "")
    return ops


def _place(path, error):
    """Returns the file and line of the user's that an exception passed through last."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if os.path.abspath(frame.filename) == path]
    return "%s:%d" % (os.path.basename(path), lines[-1]) if lines else os.path.basename(path)


def find(ops, name):
    """Returns the operation of that name, or `None`."""
    return next((op for op in ops if op.name == name), None)


def check_present(value):
    """Raises `Unavailable` for a placeholder."""
    if isinstance(value, Missing):
        package = value.__dict__["package"].replace("sklearn", "scikit-learn")
        raise Unavailable("the function needs %s" % package, "pip install %s" % package)
