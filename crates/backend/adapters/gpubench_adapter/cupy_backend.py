"""Runs CuPy."""

from functools import partial

import cupy
import cupy._core
import cupy.cuda.compiler
import cupyx
import cupyx.scipy.sparse
import numpy as np

from . import answers
from .accelerator import EventBackend
from .backend import finding
from .errors import Unavailable
from .generator import MASK, ON_DEVICE
from .job import Job, call_of, into, moments_of, product, product_into, spectrum
from .storage import Storage

# Spins for a number of cycles of the multiprocessor, as `torch.cuda._sleep` does.
SPIN = r"""
extern "C" __global__ void spin(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}
"""


def findings(adapter):
    """Returns what `doctor` reports."""
    found = finding("CuPy", cupy)
    try:
        check_device(adapter, 0)
        found["version"] += ", CUDA %s, %s" % (cuda_version(), device_name(0))
    except Unavailable as error:
        found.update(problem=str(error), fix=error.fix)
    return [found]


def check_device(adapter, ordinal):
    """Raises an exception if CuPy does not find that GPU."""
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise Unavailable("CuPy %s finds no GPU: %s" % (cupy.__version__, error), "install NVIDIA's driver") from None
    if ordinal >= count:
        raise Unavailable("CuPy finds %d GPUs, so there is no device %d" % (count, ordinal))


def device_name(ordinal):
    """Returns the model of the GPU."""
    return cupy.cuda.runtime.getDeviceProperties(ordinal)["name"].decode()


def cuda_version():
    """Returns the version of the CUDA runtime that CuPy uses: 13.0."""
    number = cupy.cuda.runtime.runtimeGetVersion()
    return "%d.%d" % (number // 1000, number % 1000 // 10)


class CupyStorage(Storage):
    """CuPy's arrays, and the sparse matrices of cupyx."""

    has_pinned = True

    def send(self, array):
        return cupy.asarray(array)

    def sparse(self, indptr, indices, values, shape):
        return cupyx.scipy.sparse.csr_matrix((values, indices, indptr), shape=shape)

    def host(self, array):
        return cupy.asnumpy(array)

    def pinned(self, array):
        block = cupyx.empty_pinned(array.shape, array.dtype)
        block[...] = array
        return block

    def pinned_like(self, array):
        return cupyx.empty_pinned(array.shape, array.dtype, order="F" if array.flags.fnc else "C")

    def send_pinned(self, block):
        array = cupy.empty(block.shape, block.dtype)
        array.set(block)
        return array

    def receive_pinned(self, array, block):
        (array if array.flags.forc else cupy.ascontiguousarray(array)).get(out=block)

    def weigh(self, array):
        words = array.reshape(-1).view({2: cupy.uint16, 4: cupy.uint32}.get(array.itemsize, cupy.uint64))
        total = 0
        for start in range(0, words.size, ON_DEVICE):
            part = words[start : start + ON_DEVICE].astype(cupy.uint64)
            weights = cupy.arange(2 * start + 1, 2 * (start + part.size) + 1, 2, dtype=cupy.uint64)
            total += int(((part + cupy.uint64(1)) * weights).sum(dtype=cupy.uint64))
        return total & MASK

    def erase_result(self, part):
        if part.dtype.kind in "fc":
            self.erase(part)

    def memory(self, array):
        return []


class Rig:
    """CuPy's current stream, for `device_clock`."""

    def __init__(self):
        self.kernel = cupy.RawKernel(SPIN, "spin")
        self.device = cupy.cuda.Device()

    def synchronize(self):
        self.device.synchronize()

    def spin(self, cycles):
        self.kernel((1,), (1,), (np.int64(cycles),))

    @staticmethod
    def event():
        return cupy.cuda.Event()

    @staticmethod
    def is_done(event):
        return event.done

    @staticmethod
    def elapsed_s(start, end):
        return cupy.cuda.get_elapsed_time(start, end) / 1e3


class CupyBackend(EventBackend):
    """CuPy on an NVIDIA GPU."""

    def __init__(self, name, options):
        super().__init__(name, options)
        check_device(self.adapter, self.device)
        cupy.cuda.Device(self.device).use()
        self.storage = CupyStorage()
        # CuPy's default, or what CUPY_ACCELERATORS says.
        self.accelerators = cupy._core.get_reduction_accelerators(), cupy._core.get_routine_accelerators()
        try:
            self.zeros = cupy.zeros(self.flush_bytes() // 4, cupy.float32)
            self.start_clock(Rig(), device_name(self.device), cuda_version())
        except (ImportError, OSError, RuntimeError, cupy.cuda.compiler.CompileException) as error:
            # CuPy's wheels compile kernels with CUDA's headers, which are a package of their own.
            reason = "CuPy cannot compile kernels: %s" % " ".join(str(error).split())
            raise Unavailable(reason[:300], self.adapter.install) from error

    def set_defaults(self):
        cupy._core.set_compute_type(np.float32, _DEFAULT)
        self.use_accelerators(*self.accelerators)

    @staticmethod
    def use_accelerators(reduction, routine):
        """Sets the accelerators of reductions and of other routines."""
        cupy._core.set_reduction_accelerators(reduction)
        cupy._core.set_routine_accelerators(routine)

    def flush(self):
        self.zeros.sum()

    def l2_bytes(self):
        return cupy.cuda.Device().attributes.get("L2CacheSize")

    def versions(self):
        return {"cupy": cupy.__version__}

    def findings(self):
        return [finding("CuPy", cupy)]

    def release_memory(self):
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()
        # Plans hold work areas.
        cupy.fft.config.get_plan_cache().clear()


def _product_in_tf32(backend, case, operands):
    if case.has_batch:
        # They would be float32 products under the name tf32.
        raise Unavailable("CuPy's products of a batch ignore the compute type")
    job = product(backend, case, operands)
    job.activate = lambda: cupy._core.set_compute_type(np.float32, _TF32)
    return job


def _elementwise(a, b):
    return a * b + cupy.sin(a) + cupy.cos(b)


def _reduction(accelerators):
    """Returns the preparation of the reduction with these accelerators."""

    def prepare(backend, case, operands):
        job = _default_reduction(backend, case, operands)
        job.activate = lambda: backend.use_accelerators(accelerators, accelerators)
        return job

    return prepare


def _posv(backend, case, operands):
    from cupyx import lapack

    if case.has_batch and case.extent("rhs") > 1:
        raise Unavailable("cupyx.lapack.posv takes a batch with one right-hand side only", "choose the variant solve")
    return Job(backend.storage, operands, lapack.posv, finish=answers.columns)


def _moments(a, **along):
    return cupy.sum(a, **along), cupy.mean(a, **along), cupy.std(a, **along)


def _moments_of_half(a, **along):
    # The sums, also that of squares for the deviation, may exceed float16.
    return tuple(function(a, dtype=cupy.float32, **along) for function in (cupy.sum, cupy.mean, cupy.std))


_default_reduction = moments_of(_moments, _moments_of_half)
_DEFAULT, _TF32 = cupy._core._routines_linalg.COMPUTE_TYPE_DEFAULT, cupy._core._routines_linalg.COMPUTE_TYPE_TF32

CupyBackend.JOBS = {
    ("matmul", "matmul"): product,
    ("matmul", "out"): product_into(cupy.matmul),
    ("matmul", "tf32"): _product_in_tf32,
    ("elementwise", "eager"): call_of(_elementwise),
    ("elementwise", "fuse"): call_of(cupy.fuse()(_elementwise)),
    ("sin", "eager"): call_of(cupy.sin),
    ("sin", "out"): into(cupy.sin),
    ("reduction", "eager"): _default_reduction,
    ("reduction", "cub"): _reduction(["cub"]),
    ("reduction", "none"): _reduction([]),
    ("fft", "fft2"): spectrum(cupy.fft),
    ("fft", "rfft2"): call_of(cupy.fft.rfft2, finish=answers.whole_spectrum),
    ("solve", "solve"): call_of(cupy.linalg.solve, finish=answers.columns),
    ("solve", "posv"): _posv,
    ("spgemm", "csr"): lambda backend, case, operands: Job(
        backend.storage, operands, lambda a, b: a @ b, backend.storage.csr_parts, answers.csr
    ),
    ("spmv", "csr"): call_of(lambda a, x: a @ x, finish=answers.columns),
    ("svd", "svd"): call_of(partial(cupy.linalg.svd, full_matrices=False), list, answers.factors),
}


def start(name, options):
    """Starts the backend."""
    return CupyBackend(name, options)
