"""Runs NumPy and SciPy."""

import ctypes
import re
from functools import partial

import numpy as np

from . import answers
from .backend import Backend, finding, load, serial
from .errors import Unavailable
from .job import Job, call_of, into, moments_of, product, product_into, transform_of
from .storage import Storage

# Side of the product that wakes the threads of a BLAS library: more than it does on one thread.
WAKING_SIDE = 192
# Routines that take a number of threads, by library.
THREAD_ROUTINES = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
    "MKL_Set_Num_Threads",
    "bli_thread_set_num_threads",
)
_BLAS_FILE = re.compile(r"(/\S*/(?:lib)?(?:scipy_openblas|openblas|mkl_rt|blis)\S*)$", re.MULTILINE)
# Variants that need SciPy.
OF_SCIPY = (
    "fft/scipy-fft2",
    "fft/scipy-rfft2",
    "solve/scipy-pos",
    "solve/posv",
    "spgemm/scipy-csr",
    "spmv/scipy-csr",
    "svd/gesvd",
)


class BlasThreads:
    """Sets the number of threads of the BLAS libraries that this process has loaded."""

    def __init__(self):
        self.setters = {}

    def find(self):
        """Returns whether a BLAS library is loaded whose number of threads can be set; never outside Linux."""
        try:
            with open("/proc/self/maps") as maps:
                paths = set(_BLAS_FILE.findall(maps.read()))
        except OSError:
            return False
        for path in sorted(paths - self.setters.keys()):
            library = ctypes.CDLL(path)
            self.setters[path] = next((getattr(library, name) for name in THREAD_ROUTINES if hasattr(library, name)), None)
        return any(self.setters[path] is not None for path in paths)

    def use(self, threads):
        """Sets the number of threads of all libraries found so far."""
        for setter in self.setters.values():
            if setter is not None:
                setter(threads)


def findings(adapter):
    """Returns what `doctor` reports."""
    found = [finding("NumPy", np, _numpy_version())]
    try:
        found.append(finding("SciPy", load("scipy", adapter.install), serves=OF_SCIPY))
    except Unavailable as error:
        found.append(finding("SciPy", problem=str(error), fix=error.fix, serves=OF_SCIPY))
    return found


def _numpy_version():
    try:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return "%s, %s %s" % (np.__version__, blas["name"], blas["version"])
    except (TypeError, KeyError):  # NumPy before 1.25
        return np.__version__


class NumpyBackend(Backend):
    """NumPy, and SciPy where it is installed."""

    def __init__(self, name, options):
        super().__init__(name, options)
        self.storage = Storage()
        self.blas = BlasThreads()
        self.blas.find()
        self.blas.use(self.threads)
        self.square = np.ones((WAKING_SIDE, WAKING_SIDE))
        self.product = np.empty_like(self.square)

    def versions(self):
        found = {"numpy": _numpy_version()}
        try:
            found["scipy"] = self.scipy().__version__
        except Unavailable:
            pass
        return found

    def findings(self):
        return [entry for entry in findings(self.adapter) if entry["problem"] is None]

    def own_job(self, variant, case, inputs):
        return self.with_blas(super().own_job(variant, case, inputs), case)

    def scipy(self, module=None):
        """Returns SciPy, or one of its modules."""
        return load("scipy." + module if module else "scipy", self.adapter.install)

    def with_blas(self, job, case, wake=None):
        """Lets a job choose the number of threads of the BLAS library."""
        # SciPy's library is loaded with its module.
        choose = self.blas.use if self.blas.find() else None
        job = self.give_choice(job, choose, wake or self.wake_blas, case.side)
        if choose is None:
            job.thread_choices = [self.threads]
        return job

    def wake_blas(self):
        """Wakes the threads of NumPy's BLAS library."""
        np.matmul(self.square, self.square, out=self.product)

    def wake_scipy(self):
        """Wakes the threads of SciPy's BLAS library, which is another copy than NumPy's."""
        self.scipy("linalg").blas.dgemm(1.0, self.square, self.square)


def _on_blas(prepare):
    """Returns a preparation of a job on the threads of NumPy's BLAS library."""
    return lambda backend, case, operands: backend.with_blas(prepare(backend, case, operands), case)


def _serial(prepare):
    """Returns a preparation of a job on one thread."""
    return lambda backend, case, operands: serial(prepare(backend, case, operands))


def _ufuncs(a, b):
    return a * b + np.sin(a) + np.cos(b)


def _ufuncs_out(backend, case, operands):
    c, t = np.empty_like(operands[0]), np.empty_like(operands[0])

    def call(a, b):
        np.multiply(a, b, out=c)
        np.add(c, np.sin(a, out=t), out=c)
        return np.add(c, np.cos(b, out=t), out=c)

    return serial(Job(backend.storage, operands, call, outputs=[c, t]))


def _moments(a, **along):
    return np.sum(a, **along), np.mean(a, **along), np.std(a, **along)


def _moments_of_half(a, **along):
    # Sums in float16 overflow, and NumPy's sums of float16 in float32 are too inexact for N = 10000.
    return tuple(function(a, dtype=np.float64, **along) for function in (np.sum, np.mean, np.std))


def _scipy_fft(function, finish=None):
    def prepare(backend, case, operands):
        module = backend.scipy("fft")
        transform = transform_of(module, case) if function == "fft2" else getattr(module, function)
        workers = [backend.threads]

        def set_threads(threads):
            workers[0] = threads

        job = Job(backend.storage, operands, lambda a: transform(a, workers=workers[0]), finish=finish)
        small = np.ones((64,) * max(2, len(case.axes)), case.dtype)
        return backend.give_choice(job, set_threads, lambda: transform(small, workers=workers[0]), case.n)

    return prepare


def _numpy_fft(backend, case, operands):
    complex_type = np.result_type(case.dtype, np.complex64)
    if case.dtype == np.complex64 and np.fft.fft(np.ones(1, case.dtype)).dtype != case.dtype:
        raise Unavailable("numpy.fft of NumPy %s computes in complex128" % np.__version__, "pip install --upgrade numpy")

    def finish(arrays):
        # NumPy before 2.0 transforms float32 in float64.
        return [arrays[0].astype(complex_type, copy=False)]

    return serial(Job(backend.storage, operands, transform_of(np.fft, case), finish=finish))


def _scipy_linalg(function, parts=None, finish=None, **options):
    """Returns the preparation of a call of `scipy.linalg` with options."""

    def prepare(backend, case, operands):
        call = partial(getattr(backend.scipy("linalg"), function), **options)
        if case.has_batch:
            _require_batches(backend, function, lambda: call(*[np.ones((2, 1, 1))] * len(operands)))
        return backend.with_blas(Job(backend.storage, operands, call, parts, finish), case, backend.wake_scipy)

    return prepare


def _require_batches(backend, function, call_with_batch):
    """Raises `Unavailable` if a function of SciPy takes no batch, as in older versions."""
    try:
        call_with_batch()
    except ValueError:
        version = backend.scipy().__version__
        raise Unavailable("scipy.linalg.%s of SciPy %s takes no batch" % (function, version), "pip install --upgrade scipy") from None


def _posv(backend, case, operands):
    if case.has_batch:
        raise Unavailable("LAPACK's posv takes no batch", "choose the variant solve")
    posv = backend.scipy("linalg").get_lapack_funcs("posv", (operands[0], operands[1]))
    # LAPACK takes columns, and A is symmetric: its rows are its columns, conjugated if they are complex.
    factor, x = (np.empty(operand.shape, case.dtype, order="F") for operand in operands)

    def restore(a, b):
        np.conjugate(a, out=factor.T)
        x[:] = b

    def call(a, b):
        _, solution, info = posv(factor, x, overwrite_a=True, overwrite_b=True)
        if info != 0:
            raise np.linalg.LinAlgError("posv returned %d" % info)
        return solution

    job = Job(backend.storage, operands, call, finish=answers.columns, outputs=[factor, x], restore=restore)
    return backend.with_blas(job, case, backend.wake_scipy)


def _sparse(parts, finish):
    """Returns the preparation of a product with sparse matrices of SciPy."""

    def prepare(backend, case, operands):
        backend.scipy("sparse")
        return serial(Job(backend.storage, operands, lambda a, b: a @ b, parts, finish))

    return prepare


NumpyBackend.JOBS = {
    ("matmul", "matmul"): _on_blas(product),
    ("matmul", "out"): _on_blas(product_into(np.matmul)),
    ("elementwise", "ufuncs"): _serial(call_of(_ufuncs)),
    ("elementwise", "out"): _ufuncs_out,
    ("sin", "ufunc"): _serial(call_of(np.sin)),
    ("sin", "out"): _serial(into(np.sin)),
    ("reduction", "numpy"): _serial(moments_of(_moments, _moments_of_half)),
    ("fft", "scipy-fft2"): _scipy_fft("fft2"),
    ("fft", "scipy-rfft2"): _scipy_fft("rfft2", answers.whole_spectrum),
    ("fft", "numpy-fft2"): _numpy_fft,
    ("solve", "solve"): _on_blas(call_of(np.linalg.solve, finish=answers.columns)),
    ("solve", "scipy-pos"): _scipy_linalg("solve", finish=answers.columns, assume_a="pos"),
    ("solve", "posv"): _posv,
    ("spgemm", "scipy-csr"): _sparse(Storage().csr_parts, answers.csr),
    ("spmv", "scipy-csr"): _sparse(None, answers.columns),
    ("svd", "gesdd"): _on_blas(call_of(partial(np.linalg.svd, full_matrices=False), list, answers.factors)),
    ("svd", "gesvd"): _scipy_linalg("svd", list, answers.factors, full_matrices=False, lapack_driver="gesvd"),
}


def start(name, options):
    """Starts the backend."""
    return NumpyBackend(name, options)
