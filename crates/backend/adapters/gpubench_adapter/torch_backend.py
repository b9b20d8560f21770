"""Runs PyTorch on the CPU; on a GPU through CUDA, or through ROCm, whose builds have the same functions; and on accelerators
that are timed by the host's clock.
"""

import weakref

import numpy as np
import torch

from . import registry, torch_jobs
from .accelerator import Accelerator, EventBackend
from .backend import Backend, finding
from .errors import Unavailable
from .generator import BF16, MASK, ON_DEVICE
from .storage import Storage

# Elements of the sum that wakes PyTorch's threads: more than it does on one thread.
WAKING_ELEMENTS = 1 << 18


def target():
    """Returns the platform that PyTorch was built for, with its version: "CUDA 13.0". None without CUDA and ROCm."""
    versions = {"CUDA": torch.version.cuda, "ROCm": getattr(torch.version, "hip", None)}
    return next(("%s %s" % (name, version) for name, version in versions.items() if version), None)


def build():
    """Returns PyTorch's version and its platform."""
    return "%s (%s)" % (torch.__version__, target() or "CPU only")


def findings(adapter):
    """Returns what `doctor` reports."""
    found = finding("PyTorch", torch, build())
    device = {"PyTorch": "cuda", "PyTorch (MPS)": "mps", "PyTorch (XPU)": "xpu"}.get(adapter.title)
    if device == "cuda":
        try:
            found["version"] += ", " + device_name(0)
        except Unavailable as error:
            found.update(problem=str(error), fix=error.fix)
    elif device and not is_available(device):
        found.update(problem="this build of PyTorch finds no device %s" % device, fix=adapter.install)
    return [found]


def is_available(device):
    """Returns whether PyTorch finds a device of that kind."""
    module = torch.backends.mps if device == "mps" else getattr(torch, device, None)
    return module is not None and module.is_available()


def device_name(ordinal):
    """Returns the name of a GPU, after PyTorch has found it."""
    if target() is None:
        raise Unavailable("this build of PyTorch has no CUDA and runs on the CPU only (backend torch-cpu)", registry.TORCH_CUDA_PIP)
    if not torch.cuda.is_available():
        raise Unavailable("PyTorch %s finds no GPU" % build(), "install the driver of the GPU")
    if ordinal >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise Unavailable("PyTorch finds %d GPUs, so there is no device %d" % (count, ordinal))
    return torch.cuda.get_device_name(ordinal)


def weigh_on_device(tensor):
    """Returns `generator.weigh` of a tensor, computed where it is."""
    size = tensor.element_size()
    flat = (torch.view_as_real(tensor) if tensor.is_complex() else tensor).reshape(-1)
    words = flat.view({2: torch.int16, 4: torch.int32}.get(size, torch.int64))
    total = 0
    for start in range(0, words.numel(), ON_DEVICE):
        # Arithmetic on int64 wraps around, as that of the fingerprint does.
        part = words[start : start + ON_DEVICE].to(torch.int64)
        if size < 8:
            part &= (1 << 8 * size) - 1
        weights = torch.arange(2 * start + 1, 2 * (start + part.numel()) + 1, 2, device=tensor.device)
        total += int(((part + 1) * weights).sum())
    return total & MASK


def from_numpy(array):
    """Returns a tensor with the memory of an array."""
    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if array.dtype == BF16 else torch.from_numpy(array)


class TorchStorage(Storage):
    """Tensors on a device."""

    def __init__(self, device):
        self.device = torch.device(device)
        self.has_pinned = self.device.type == "cuda"

    def send(self, array):
        # PyTorch's tensors on the CPU would share the generated operand's memory.
        tensor = from_numpy(array)
        return tensor.clone() if self.device.type == "cpu" else tensor.to(self.device)

    def sparse(self, indptr, indices, values, shape):
        return torch.sparse_csr_tensor(indptr, indices, values, size=shape)

    def host(self, array):
        tensor = array.detach().cpu()
        return tensor.view(torch.int16).numpy().view(BF16) if tensor.dtype == torch.bfloat16 else tensor.resolve_conj().numpy()

    def nbytes(self, array):
        return array.numel() * array.element_size()

    def pinned(self, array):
        return from_numpy(array).pin_memory()

    def pinned_like(self, array):
        return torch.empty_like(array, device="cpu", pin_memory=True)

    def send_pinned(self, block):
        return block.to(self.device, non_blocking=True)

    def receive_pinned(self, array, block):
        block.copy_(array, non_blocking=True)

    def weigh(self, array):
        return weigh_on_device(array) if self.device.type == "cuda" else super().weigh(array)

    def is_sparse(self, operand):
        return operand.layout == torch.sparse_csr

    def csr_parts(self, matrix):
        return matrix.crow_indices(), matrix.col_indices(), matrix.values()

    def stored(self, operand):
        return operand.values() if self.is_sparse(operand) else operand.view(-1)

    def erase(self, output):
        output.fill_(float("nan"))

    def erase_result(self, part):
        if part.is_floating_point() or part.is_complex():
            self.erase(part)

    def memory(self, array):
        return super().memory(array) if self.device.type == "cpu" else []


class TorchOps:
    """What PyTorch's backends have in common."""

    JOBS = torch_jobs.JOBS
    has_compiled = False

    def __init__(self, name, options):
        super().__init__(name, options)
        # The jobs of `torch.compile` that are not released.
        self.compiled_jobs = weakref.WeakSet()

    def versions(self):
        return {"torch": build()}

    def findings(self):
        return [finding("PyTorch", torch, build())]

    def set_defaults(self):
        torch_jobs.allow_tf32(False)

    def release_memory(self):
        super().release_memory()
        if self.has_compiled and not self.compiled_jobs:
            # Frees compiled code, and the memory in which CUDA graphs keep operands and results.
            torch._dynamo.reset()

    def compilations(self):
        if not self.has_compiled:
            return 0
        from torch._dynamo.utils import counters

        return counters["stats"]["unique_graphs"]


class TorchCpu(TorchOps, Backend):
    """PyTorch on the CPU."""

    def __init__(self, name, options):
        super().__init__(name, options)
        torch.set_num_threads(self.threads)
        self.storage = TorchStorage("cpu")
        self.ones = torch.ones(WAKING_ELEMENTS)

    def versions(self):
        found = super().versions()
        found["blas"] = "MKL" if torch.backends.mkl.is_available() else "without MKL"
        return found

    def prepare(self, variant, case, operands):
        job = super().prepare(variant, case, operands)
        job = self.give_choice(job, torch.set_num_threads, self.wake, case.side)
        if job.compile_s is not None:
            # Another number of threads takes other code, which takes seconds to compile, so only the extremes are tried;
            # and it must not be compiled while numbers are tried.
            job.thread_choices = sorted({job.thread_choices[0], self.threads})
            for threads in job.thread_choices:
                job.set_threads(threads)
                torch_jobs.call_once(job)
        return job

    def wake(self):
        """Wakes PyTorch's threads."""
        torch.add(self.ones, self.ones)


class TorchAccelerator(TorchOps, Accelerator):
    """PyTorch on an Apple or Intel GPU."""

    def __init__(self, name, options):
        super().__init__(name, options)
        kind = name.split("-")[1]
        if not is_available(kind):
            raise Unavailable("PyTorch %s finds no device %s" % (build(), kind), self.adapter.install)
        self.module = getattr(torch, kind)
        self.storage = TorchStorage(kind)
        self.zeros = torch.zeros(self.flush_bytes() // 4, device=kind)

    def describe(self):
        found = super().describe()
        is_xpu = self.storage.device.type == "xpu"
        found["name"] = torch.xpu.get_device_name() if is_xpu else "Apple GPU with the %s" % found["name"]
        return found

    def synchronize(self):
        self.module.synchronize()

    def flush(self):
        self.zeros.sum()

    def release_memory(self):
        super().release_memory()
        self.module.empty_cache()


class Rig:
    """PyTorch's current stream, for `device_clock`."""

    def __init__(self):
        self.synchronize, self.spin = torch.cuda.synchronize, torch.cuda._sleep

    @staticmethod
    def event():
        return torch.cuda.Event(enable_timing=True)

    @staticmethod
    def is_done(event):
        return event.query()

    @staticmethod
    def elapsed_s(start, end):
        return start.elapsed_time(end) / 1e3


class TorchCuda(TorchOps, EventBackend):
    """PyTorch on a GPU of NVIDIA or AMD."""

    def __init__(self, name, options):
        super().__init__(name, options)
        name = device_name(self.device)
        torch.cuda.set_device(self.device)
        self.storage = TorchStorage("cuda:%d" % self.device)
        self.zeros = torch.zeros(self.flush_bytes() // 4, device=self.storage.device)
        self.start_clock(Rig(), name, torch.version.cuda or getattr(torch.version, "hip", None))

    def flush(self):
        self.zeros.sum()

    def l2_bytes(self):
        return getattr(torch.cuda.get_device_properties(self.device), "L2_cache_size", None)

    def release_memory(self):
        super().release_memory()
        torch.cuda.empty_cache()
        # Pinned memory; the function has no public name.
        getattr(torch._C, "_host_emptyCache", lambda: None)()


def start(name, options):
    """Starts the backend."""
    return {"torch": TorchCuda, "torch-cpu": TorchCpu}.get(name, TorchAccelerator)(name, options)
