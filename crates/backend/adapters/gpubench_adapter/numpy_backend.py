"""Runs NumPy and SciPy."""

import numpy as np

from . import answers, blas_threads
from .backend import Backend, finding, load, missing, serial
from .errors import Unavailable
from .job import Job
from .storage import Storage

# Side of the product that wakes the threads of a BLAS library: more than it does on one thread.
WAKING_SIDE = 192
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


def findings(adapter):
    """Returns what `doctor` reports."""
    found = [finding("NumPy", np, _numpy_version())]
    try:
        found.append(finding("SciPy", load("scipy", adapter.install), serves=OF_SCIPY))
    except Unavailable as error:
        found.append(missing("SciPy", error, OF_SCIPY))
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
        blas_threads.loaded()
        blas_threads.use(self.threads)
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

    def scipy(self, module=None):
        """Returns SciPy, or one of its modules."""
        return load("scipy." + module if module else "scipy", self.adapter.install)

    def with_blas(self, job, case, wake=None):
        """Lets a job choose the number of threads of the BLAS library."""
        # SciPy's library is loaded with its module.
        choose = blas_threads.use if blas_threads.loaded() else None
        job = self.give_choice(job, choose, wake or self.wake_blas, case.n)
        if choose is None:
            job.thread_choices = [self.threads]
        return job

    def wake_blas(self):
        """Wakes the threads of NumPy's BLAS library."""
        np.matmul(self.square, self.square, out=self.product)


def _matmul(backend, case, operands):
    return backend.with_blas(Job(backend.storage, operands, lambda a, b: a @ b), case)


def _matmul_out(backend, case, operands):
    c = np.empty_like(operands[0])
    job = Job(backend.storage, operands, lambda a, b: np.matmul(a, b, out=c), outputs=[c])
    return backend.with_blas(job, case)


def _ufuncs(backend, case, operands):
    return serial(Job(backend.storage, operands, lambda a, b: a * b + np.sin(a) + np.cos(b)))


def _ufuncs_out(backend, case, operands):
    c, t = np.empty_like(operands[0]), np.empty_like(operands[0])

    def call(a, b):
        np.multiply(a, b, out=c)
        np.add(c, np.sin(a, out=t), out=c)
        return np.add(c, np.cos(b, out=t), out=c)

    return serial(Job(backend.storage, operands, call, outputs=[c, t]))


def _sin(backend, case, operands):
    return serial(Job(backend.storage, operands, np.sin))


def _sin_out(backend, case, operands):
    c = np.empty_like(operands[0])
    return serial(Job(backend.storage, operands, lambda a: np.sin(a, out=c), outputs=[c]))


def _reduction(backend, case, operands):
    def call(a):
        return np.sum(a), np.mean(a), np.std(a)

    return serial(Job(backend.storage, operands, call, list, answers.moments))


def _scipy_fft(function, finish=None):
    def prepare(backend, case, operands):
        transform = getattr(backend.scipy("fft"), function)
        workers = [backend.threads]

        def set_threads(threads):
            workers[0] = threads

        job = Job(backend.storage, operands, lambda a: transform(a, workers=workers[0]), finish=finish)
        small = np.ones((64, 64), case.dtype)
        return backend.give_choice(job, set_threads, lambda: transform(small, workers=workers[0]), case.n)

    return prepare


def _numpy_fft(backend, case, operands):
    complex_type = np.result_type(case.dtype, np.complex64)

    def finish(arrays):
        # NumPy before 2.0 transforms float32 in float64.
        return [arrays[0].astype(complex_type, copy=False)]

    return serial(Job(backend.storage, operands, np.fft.fft2, finish=finish))


def _solve(backend, case, operands):
    return backend.with_blas(Job(backend.storage, operands, np.linalg.solve, finish=answers.columns), case)


def _scipy_blas(backend, case):
    """Returns a function that wakes the threads of SciPy's BLAS library, which is another copy than NumPy's."""
    gemm = backend.scipy("linalg").blas.dgemm
    return lambda: gemm(1.0, backend.square, backend.square)


def _scipy_pos(backend, case, operands):
    solve = backend.scipy("linalg").solve
    job = Job(backend.storage, operands, lambda a, b: solve(a, b, assume_a="pos"), finish=answers.columns)
    return backend.with_blas(job, case, _scipy_blas(backend, case))


def _posv(backend, case, operands):
    linalg = backend.scipy("linalg")
    posv = linalg.get_lapack_funcs("posv", (operands[0], operands[1]))
    # LAPACK takes columns, and A is symmetric: its rows are its columns.
    factor, x = np.empty(operands[0].shape, case.dtype, order="F"), np.empty_like(operands[1])

    def restore(a, b):
        factor.T[:] = a
        x[:] = b

    def call(a, b):
        _, solution, info = posv(factor, x, overwrite_a=True, overwrite_b=True)
        if info != 0:
            raise np.linalg.LinAlgError("posv returned %d" % info)
        return solution

    job = Job(backend.storage, operands, call, finish=answers.columns, outputs=[factor, x], restore=restore)
    return backend.with_blas(job, case, _scipy_blas(backend, case))


def _sparse_product(backend, case, operands):
    backend.scipy("sparse")
    return serial(Job(backend.storage, operands, lambda a, b: a @ b, backend.storage.csr_parts, answers.csr))


def _sparse_vector(backend, case, operands):
    backend.scipy("sparse")
    return serial(Job(backend.storage, operands, lambda a, x: a @ x, finish=answers.columns))


def _gesdd(backend, case, operands):
    job = Job(backend.storage, operands, lambda a: np.linalg.svd(a, full_matrices=False), list, answers.factors)
    return backend.with_blas(job, case)


def _gesvd(backend, case, operands):
    svd = backend.scipy("linalg").svd
    job = Job(backend.storage, operands, lambda a: svd(a, full_matrices=False, lapack_driver="gesvd"), list, answers.factors)
    return backend.with_blas(job, case, _scipy_blas(backend, case))


NumpyBackend.JOBS = {
    ("matmul", "matmul"): _matmul,
    ("matmul", "out"): _matmul_out,
    ("elementwise", "ufuncs"): _ufuncs,
    ("elementwise", "out"): _ufuncs_out,
    ("sin", "ufunc"): _sin,
    ("sin", "out"): _sin_out,
    ("reduction", "numpy"): _reduction,
    ("fft", "scipy-fft2"): _scipy_fft("fft2"),
    ("fft", "scipy-rfft2"): _scipy_fft("rfft2", answers.whole_spectrum),
    ("fft", "numpy-fft2"): _numpy_fft,
    ("solve", "solve"): _solve,
    ("solve", "scipy-pos"): _scipy_pos,
    ("solve", "posv"): _posv,
    ("spgemm", "scipy-csr"): _sparse_product,
    ("spmv", "scipy-csr"): _sparse_vector,
    ("svd", "gesdd"): _gesdd,
    ("svd", "gesvd"): _gesvd,
}


def start(name, options):
    """Starts the backend."""
    return NumpyBackend(name, options)
