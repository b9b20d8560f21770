"""Sets the number of threads of the BLAS libraries that this process has loaded."""

import ctypes
import re

# Routines that take a number of threads, by library.
ROUTINES = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
    "MKL_Set_Num_Threads",
    "bli_thread_set_num_threads",
)
_FILE = re.compile(r"(/\S*/(?:lib)?(?:scipy_openblas|openblas|mkl_rt|blis)\S*)$", re.MULTILINE)

_setters = {}


def loaded():
    """Returns the paths of the loaded BLAS libraries whose number of threads can be set; none outside Linux."""
    try:
        with open("/proc/self/maps") as maps:
            paths = sorted(set(_FILE.findall(maps.read())))
    except OSError:
        return []
    for path in paths:
        if path not in _setters:
            library = ctypes.CDLL(path)
            _setters[path] = next((getattr(library, name) for name in ROUTINES if hasattr(library, name)), None)
    return [path for path in paths if _setters[path] is not None]


def use(threads):
    """Sets the number of threads of all libraries that `loaded` has found."""
    for setter in _setters.values():
        if setter is not None:
            setter(threads)
