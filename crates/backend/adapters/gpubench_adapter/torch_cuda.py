"""Runs PyTorch on a GPU through CUDA, or through ROCm, whose builds have the same functions."""

import torch

from . import registry
from .backend import finding
from .errors import Unavailable
from .event_backend import EventBackend
from .torch_backend import TorchOps, TorchStorage, build, target


def findings(_adapter):
    """Returns what `doctor` reports."""
    found = finding("PyTorch", torch, build())
    try:
        found["version"] += ", " + device_name(0)
    except Unavailable as error:
        found.update(problem=str(error), fix=error.fix)
    return [found]


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


class Rig:
    """PyTorch's current stream, for `device_clock`."""

    synchronize = staticmethod(torch.cuda.synchronize)
    spin = staticmethod(torch.cuda._sleep)

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
        self.name_of_device = device_name(self.device)
        torch.cuda.set_device(self.device)
        self.storage = TorchStorage("cuda:%d" % self.device)
        self.zeros = torch.zeros(self.flush_bytes() // 4, device=self.storage.device)
        self.start_clock(Rig())

    def flush(self):
        self.zeros.sum()

    def l2_bytes(self):
        return getattr(torch.cuda.get_device_properties(self.device), "L2_cache_size", None)

    def device_name(self):
        return self.name_of_device

    def cuda_version(self):
        return torch.version.cuda or getattr(torch.version, "hip", None)

    def release_memory(self):
        super().release_memory()
        torch.cuda.empty_cache()
        # Pinned memory; the function has no public name.
        getattr(torch._C, "_host_emptyCache", lambda: None)()


def start(name, options):
    """Starts the backend."""
    return TorchCuda(name, options)
