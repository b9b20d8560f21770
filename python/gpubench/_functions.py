"""Sends functions to the processes that time them. `save` writes a function to a file, with the variables that it uses; `load`
reads it in another process of the same interpreter, which imports a copy of this file."""

import contextlib
import functools
import importlib
import linecache
import marshal
import os
import pickle
import sys
import types

# The functions that this process has loaded, and for each of their modules the variables that they share.
_loaded, _variables = {}, {}


class _Variable:
    """A variable of a function, in the stream before its value, so that an error can name it."""

    def __init__(self, function, name, value):
        self.function, self.name, self.value = function, name, value


class _Pickler(pickle.Pickler):
    """Writes functions that no module of the reader's has by their code, and modules by their names."""

    def __init__(self, file, function, variables_of, by_cloudpickle):
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.current = _Variable(function, None, function)
        self.variables_of, self.by_cloudpickle = variables_of, by_cloudpickle

    def reducer_override(self, value):
        if any(value is other for other in self.by_cloudpickle):
            return pickle.loads, (_cloudpickle().dumps(value),)
        if isinstance(value, _Variable):
            self.current = value
            return _same, (value.value,)
        if isinstance(value, types.ModuleType):
            if value.__name__ == "__main__":
                raise pickle.PicklingError("it is the module __main__")
            return importlib.import_module, (value.__name__,)
        if isinstance(value, types.FunctionType) and not _is_importable(value):
            code = marshal.dumps(value.__code__)
            module = None if value.__module__ == "__main__" else value.__module__
            # Some compilers read the source text, which the cells of a notebook have in no file.
            file = value.__code__.co_filename
            lines = [] if os.path.isfile(file) else linecache.getlines(file)
            return _made, (code, module, value.__name__, lines), self._state(value), None, None, _filled
        if getattr(value, "__module__", None) == "__main__" and (isinstance(value, type) or _is_by_name(value)):
            raise pickle.PicklingError("%s is defined in __main__" % value.__qualname__)
        return NotImplemented

    def _state(self, function):
        """Returns what `_filled` gives to a function: variables of its module and of its closure, defaults, and attributes."""
        used = self.variables_of(function)
        named = lambda name: _Variable(function, name, used[name])
        inner = function.__code__.co_freevars
        outer = {name: named(name) for name in used if name not in inner}
        defaults, code = function.__defaults__ or (), function.__code__
        parameters = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        defaults = [_Variable(function, name, value) for name, value in zip(parameters, defaults)]
        keywords = {name: _Variable(function, name, value) for name, value in (function.__kwdefaults__ or {}).items()}
        return outer, {name: named(name) for name in inner if name in used}, defaults, keywords, function.__dict__


class _Unpickler(pickle.Unpickler):
    """Takes the functions of this file from the copy that reads."""

    def find_class(self, module, name):
        return globals()[name] if module == "gpubench._functions" else super().find_class(module, name)


def _is_importable(function):
    """Whether a process that imports the module of a function finds the function there."""
    if function.__module__ == "__main__":
        return False
    try:
        found = functools.reduce(getattr, function.__qualname__.split("."), sys.modules[function.__module__])
    except (AttributeError, KeyError):
        return False
    return found is function


def _is_by_name(value):
    """Whether a callable object would be written as the name that it has in its module."""
    return callable(value) and isinstance(value.__reduce_ex__(4), str)


def _cloudpickle():
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        return None


def save(function, path, variables_of):
    """Writes a function to a file. `variables_of` returns the variables outside of a function that it uses.

    Raises `TypeError` that names a variable that cannot be sent.
    """
    by_cloudpickle = []
    while True:
        with open(path, "wb") as file:
            pickle.dump([os.path.abspath(folder) for folder in sys.path], file)
            pickler = _Pickler(file, function, variables_of, by_cloudpickle)
            try:
                return pickler.dump(function)
            except Exception as error:
                reason = error
        current = pickler.current
        if _cloudpickle() is None or any(current.value is other for other in by_cloudpickle):
            variable = "" if current.name is None else "the variable %s of " % current.name
            message = "%sfunction %s cannot be sent to the process that times it (%s: %s): define the function, with what it uses, in a .py file and import it%s"
            advice = ", or install cloudpickle" if _cloudpickle() is None else ""
            name = getattr(current.function, "__name__", repr(current.function))
            raise TypeError(message % (variable, name, type(reason).__name__, reason, advice)) from None
        by_cloudpickle.append(current.value)


def _same(value):
    return value


def _made(code, module, name, lines):
    """Returns a function without its variables, which may refer to it."""
    code, module = marshal.loads(code), module or "functions of __main__"
    if lines:
        linecache.cache[code.co_filename] = (sum(map(len, lines)), None, lines, code.co_filename)
    shared = _variables.setdefault(module, {"__name__": module, "__builtins__": __builtins__})
    return types.FunctionType(code, shared, name, None, tuple(types.CellType() for _ in code.co_freevars))


def _filled(function, state):
    """Gives a function its variables."""
    outer, inner, defaults, keywords, attributes = state
    function.__globals__.update(outer)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        if name in inner:
            cell.cell_contents = inner[name]
    function.__defaults__, function.__kwdefaults__ = tuple(defaults) or None, keywords or None
    function.__dict__.update(attributes)


def load(path, placeholders):
    """Returns the function in a file. `placeholders(folder)` is a context in which the files of a folder get placeholders for the
    libraries of other processes."""
    if path not in _loaded:
        with open(path, "rb") as file:
            folders = pickle.load(file)
            # Last, so that no file of the user's hides one of a library.
            sys.path += [folder for folder in folders if folder not in sys.path]
            # The package itself, which modules of the user's may import.
            sys.modules.pop("gpubench", None)
            of_python = tuple(prefix + os.sep for prefix in (sys.prefix, sys.base_prefix))
            with contextlib.ExitStack() as stack:
                for folder in [os.path.dirname(os.path.abspath(__file__)), *folders]:
                    if not folder.startswith(of_python):
                        stack.enter_context(placeholders(folder))
                _loaded[path] = _Unpickler(file).load()
    return _loaded[path]
