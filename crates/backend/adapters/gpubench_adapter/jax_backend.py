"""Runs JAX on the CPU or on its default accelerator."""

import pkgutil
import re
from functools import partial

import jax
import jax.numpy as jnp

from . import answers, host
from .accelerator import Accelerator
from .backend import Backend, finding, timed
from .errors import Unavailable
from .generator import BF16
from .job import Job, of_factors, transform_of
from .storage import Storage

# Bytes of arrays that are copied to the host to weigh them. `weighed` is compiled for every shape, which takes longer.
WEIGHED_ON_HOST = 32 << 20


def findings(adapter):
    """Returns what `doctor` reports."""
    found = finding("JAX", jax, version())
    if adapter.side == "gpu":
        try:
            default_accelerator(adapter, 0)
        except Unavailable as error:
            found.update(problem=str(error), fix=error.fix)
    return [found]


def version():
    """Returns the versions of JAX and of its compiler."""
    import jaxlib

    return "%s, jaxlib %s" % (jax.__version__, jaxlib.__version__)


def has_plugin():
    """Returns whether a package that runs JAX on an accelerator is installed, such as jax_cuda13_plugin."""
    return any(re.match("jax_.+_plugin$|libtpu$", module.name) for module in pkgutil.iter_modules())


def default_accelerator(adapter, ordinal):
    """Returns a device of JAX's default platform."""
    try:
        devices = jax.devices()
    except RuntimeError as error:
        raise Unavailable("JAX finds no device: %s" % " ".join(str(error).split()), adapter.install) from None
    if devices[0].platform == "cpu":
        if not has_plugin():
            raise Unavailable("this JAX has no plugin for CUDA and runs on the CPU only (backend jax-cpu)", adapter.install)
        raise Unavailable("JAX %s finds no accelerator" % jax.__version__, "install the driver of the GPU")
    if ordinal >= len(devices):
        raise Unavailable("JAX finds %d devices, so there is no device %d" % (len(devices), ordinal))
    return devices[ordinal]


@jax.jit
def exchanged(array, element, value):
    """Returns an array with another value at a place of its flat view, and the old value."""
    flat = array.reshape(-1)
    return flat.at[element].set(value).reshape(array.shape), flat[element]


@jax.jit
def weighed(array):
    """Returns `generator.weigh` of an array, computed where it is."""
    kind = {2: jnp.uint16, 4: jnp.uint32}.get(array.dtype.itemsize, jnp.uint64)
    # Two parts of 32 bits become one word.
    parts = jnp.stack([array.real, array.imag], -1) if jnp.iscomplexobj(array) else array
    words = jax.lax.bitcast_convert_type(parts, kind).reshape(-1).astype(jnp.uint64)
    return jnp.sum((words + 1) * (2 * jnp.arange(words.size, dtype=jnp.uint64) + 1))


class JaxStorage(Storage):
    """Arrays of JAX, which never change."""

    def __init__(self, device):
        self.device = device

    def send(self, array):
        return jax.device_put(array.view(jnp.bfloat16) if array.dtype == BF16 else array, self.device, may_alias=False)

    def host(self, array):
        found = super().host(array)
        return found.view(BF16) if found.dtype == jnp.bfloat16 else found

    def sparse(self, indptr, indices, values, shape):
        from jax.experimental import sparse

        return sparse.BCSR((values, indices, indptr), shape=shape)

    def csr_parts(self, matrix):
        return matrix.indptr, matrix.indices, matrix.data

    def for_download(self, array):
        # JAX keeps the first copy to the host, so only a new array is copied again.
        return array.copy()

    def erase_result(self, part):
        # Arrays of JAX cannot be overwritten.
        pass

    def exchange(self, operand, element, value):
        if not self.is_sparse(operand):
            array, old = exchanged(operand, element, value)
            return array, old.item()
        values, old = exchanged(operand.data, element, value)
        return self.sparse(operand.indptr, operand.indices, values, operand.shape), old.item()

    def weigh(self, array):
        on_device = self.device.platform != "cpu" and array.nbytes > WEIGHED_ON_HOST
        return int(weighed(array)) if on_device else super().weigh(array)

    def memory(self, array):
        # On the CPU these are views.
        return super().memory(array) if self.device.platform == "cpu" else []


class JaxOps:
    """What JAX's backends have in common."""

    def set_up(self, device):
        """Uses a device from now on."""
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_device", device)
        self.storage = JaxStorage(device)

    def versions(self):
        return {"jax": version()}

    def findings(self):
        return [finding("JAX", jax, version())]

    def is_out_of_memory(self, error):
        return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)

    def built_in_job(self, variant, case, operands):
        function, *forms = self.JOBS[case.op, variant]
        function = transform_of(jnp.fft, case) if function is jnp.fft.fft2 else of_factors(function, case)
        if case.axis is not None:
            function = partial(function, axis=case.axis)
        job = Job(self.storage, operands, None, *forms)
        # A function of its own per job, because JAX keeps what it has compiled for a function.
        own = jax.jit(lambda *inputs: function(*inputs))
        job.call, job.compile_s = timed(lambda: own.lower(*job.operands).compile())
        return job


class JaxCpu(JaxOps, Backend):
    """JAX on the CPU, whose calls return before the work is done."""

    def __init__(self, name, options):
        super().__init__(name, options)
        self.set_up(jax.devices("cpu")[0])

    def prepare(self, variant, case, operands):
        job = super().prepare(variant, case, operands)
        compiled = job.call

        def call(*inputs):
            return jax.block_until_ready(compiled(*inputs))

        job.call, job.threads = call, self.threads
        return job


class JaxAccelerator(JaxOps, Accelerator):
    """JAX on a GPU or TPU. Its stream is out of reach, so there is the host's clock alone."""

    def __init__(self, name, options):
        super().__init__(name, options)
        self.set_up(default_accelerator(self.adapter, self.device))
        self.zeros = jnp.zeros(self.flush_bytes() // 4, jnp.float32)
        self.sum = jax.jit(jnp.sum)
        self.flushed = None

    def describe(self):
        found = super().describe()
        found.update(name=self.storage.device.device_kind, device=self.device)
        found["cuda_version"] = " ".join(self.storage.device.client.platform_version.split())
        found["driver_version"] = host.nvidia_driver()
        return found

    def synchronize(self):
        if self.flushed is not None:
            self.flushed.block_until_ready()

    def flush(self):
        self.flushed = self.sum(self.zeros)

    def wait(self, arrays):
        jax.block_until_ready(arrays)

    def check_device(self):
        self.flush()
        self.synchronize()


def _svd(algorithm):
    def function(a):
        names = getattr(jax.lax.linalg, "SvdAlgorithm", None)
        if names is None:
            raise Unavailable("JAX %s has no choice of svd algorithms" % jax.__version__, "pip install --upgrade jax")
        return jax.lax.linalg.svd(a, full_matrices=False, algorithm=getattr(names, algorithm))

    return (function, list, answers.factors)


def _matmul(precision):
    return (lambda a, b: jnp.matmul(a, b, precision=precision),)


def _reduction(a, axis=None):
    # The sum of elements of 16 bits may exceed their range.
    of = jnp.float32 if a.dtype.itemsize == 2 else None
    return jnp.sum(a, axis, dtype=of), jnp.mean(a, axis, dtype=of), jnp.std(a, axis)


def _solve_by_cholesky(a, b):
    return jax.scipy.linalg.solve(a, b, assume_a="pos")


# The function, the parts of its result, and what makes them the answer.
JaxOps.JOBS = {
    ("matmul", "jit"): _matmul("highest"),
    ("matmul", "tf32"): _matmul("tensorfloat32"),
    ("elementwise", "jit"): (lambda a, b: a * b + jnp.sin(a) + jnp.cos(b),),
    ("sin", "jit"): (jnp.sin,),
    ("reduction", "jit"): (_reduction, list, answers.moments),
    ("fft", "fft2"): (jnp.fft.fft2,),
    ("fft", "rfft2"): (jnp.fft.rfft2, None, answers.whole_spectrum),
    ("solve", "solve"): (jnp.linalg.solve, None, answers.columns),
    ("solve", "cholesky"): (_solve_by_cholesky, None, answers.columns),
    ("spmv", "bcsr"): (lambda a, x: a @ x, None, answers.columns),
    ("svd", "svd"): (lambda a: jnp.linalg.svd(a, full_matrices=False), list, answers.factors),
    ("svd", "qr"): _svd("QR"),
    ("svd", "jacobi"): _svd("JACOBI"),
    ("svd", "polar"): _svd("POLAR"),
}


def start(name, options):
    """Starts the backend."""
    return JaxCpu(name, options) if name == "jax-cpu" else JaxAccelerator(name, options)
