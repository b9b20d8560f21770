"""Prepares PyTorch's variants on any device."""

import os
import types
from functools import partial

import torch

from . import answers
from .backend import timed
from .errors import CellFailed, Unavailable
from .job import Job, call_of, into, moments_of, product, product_into, spectrum

# Executions that prepare a compiled function: the first one compiles it, and with CUDA graphs the second one records them.
PREPARING_CALLS = {None: 1, "reduce-overhead": 2}
# Parts of the messages about a missing tool of `torch.compile`, with the steps that supply it.
MISSING_TOOLS = (
    ("InvalidCxxCompiler", "install g++"),
    ("Failed to find C compiler", "install gcc"),
    ("working triton installation", "pip install triton"),
)


def _elementwise(a, b):
    return a * b + torch.sin(a) + torch.cos(b)


def _reduction(a, **along):
    return a.sum(**along), a.mean(**along), a.std(correction=0, **along)


def _reduction_of_half(a, **along):
    # The sum may exceed float16.
    return a.sum(dtype=torch.float32, **along), a.mean(dtype=torch.float32, **along), a.std(correction=0, **along)


def _std_mean(a, **along):
    total = a.sum(**along)
    std, mean = torch.std_mean(a, correction=0, **along)
    return total, mean, std


def _std_mean_of_half(a, **along):
    total = a.sum(dtype=torch.float32, **along)
    std, mean = torch.std_mean(a, correction=0, **along)
    return total, mean, std


def _compiled(function, mode=None, parts=None, finish=None, of_half=None):
    """Returns the preparation of a function compiled by `torch.compile`; `of_half` replaces it for elements of 16 bits."""

    def prepare(backend, case, operands):
        import torch._dynamo

        # Beyond the limit, 8 shapes per function, PyTorch would run the function without compiling it, and say nothing.
        torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1 << 20
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(backend.folder, "torchinductor")
        # Code of its own per job: every cell compiles, and no guard of another shape is checked in its calls.
        source = of_half if of_half and case.is_half else function
        own = types.FunctionType(source.__code__.replace(), source.__globals__, source.__name__)
        if mode == "reduce-overhead":
            _require_graphs()
        compiled = torch.compile(own, fullgraph=True, dynamic=False, mode=mode)
        call = compiled if case.axis is None else partial(compiled, dim=case.axis)
        job = Job(backend.storage, operands, call, parts, finish)
        try:
            if not backend.has_compiled:
                _start_compiler(backend.storage.device)
                backend.has_compiled = True
            before = backend.compilations(), _skipped_graphs()
            job.compile_s = sum(timed(lambda: call_once(job))[1] for _ in range(PREPARING_CALLS[mode]))
        except Exception as error:
            for text, fix in MISSING_TOOLS:
                if text in str(error):
                    raise Unavailable("torch.compile: %s" % str(error).splitlines()[0], fix) from None
            raise
        if backend.compilations() == before[0]:
            raise CellFailed("torch.compile ran the function without compiling it")
        call_once(job)
        if mode == "reduce-overhead":
            if _skipped_graphs() > before[1]:
                raise CellFailed("torch.compile used no CUDA graph, so this variant would be that without one")
            # All graphs of a process share memory: another job's graph may overwrite this result before it is verified.
            job.copy_result = _copy
        backend.compiled_jobs.add(job)
        return job

    return prepare


def _require_graphs():
    """Makes PyTorch report the reason instead of running without CUDA graphs, in the versions that can."""
    import torch._inductor.config

    if hasattr(torch._inductor.config.triton, "cudagraph_or_error"):
        torch._inductor.config.triton.cudagraph_or_error = True


def _skipped_graphs():
    """Returns how often `torch.compile` used no CUDA graph where it was asked to."""
    from torch._dynamo.utils import counters

    return counters["inductor"]["cudagraph_skips"]


def _copy(result):
    return result.clone() if isinstance(result, torch.Tensor) else type(result)(part.clone() for part in result)


def _start_compiler(device):
    """Compiles something small: loading the compiler takes many seconds once, which are no cost of one cell."""
    torch.compile(lambda x: x + 1, fullgraph=True, dynamic=False)(torch.ones(8, device=device))


def call_once(job):
    """Executes a job outside timed regions, until its work is done."""
    job.reset()
    job.execute()
    device = job.storage.device.type
    if device != "cpu":
        getattr(torch, device).synchronize()


def allow_tf32(is_allowed):
    """Sets the precision of float32 products on a GPU, which PyTorch keeps for the whole process."""
    torch.backends.cuda.matmul.allow_tf32 = is_allowed


def _product_in_tf32(backend, case, operands):
    job = product(backend, case, operands)
    job.activate = lambda: allow_tf32(True)
    return job


def _solve_by_cholesky(a, b):
    factor, _ = torch.linalg.cholesky_ex(a)
    return torch.cholesky_solve(b.unsqueeze(1) if b.ndim == 1 else b, factor)


def _sparse_product(backend, case, operands):
    return Job(backend.storage, operands, lambda a, b: a @ b, backend.storage.csr_parts, answers.csr)


def _svd(driver=None):
    return call_of(lambda a: torch.linalg.svd(a, full_matrices=False, driver=driver), list, answers.factors)


JOBS = {
    ("matmul", "matmul"): product,
    ("matmul", "out"): product_into(torch.matmul),
    ("matmul", "tf32"): _product_in_tf32,
    ("elementwise", "eager"): call_of(_elementwise),
    ("elementwise", "compile"): _compiled(_elementwise),
    ("elementwise", "compile-reduce-overhead"): _compiled(_elementwise, "reduce-overhead"),
    ("sin", "eager"): call_of(torch.sin),
    ("sin", "out"): into(torch.sin),
    ("reduction", "eager"): moments_of(_reduction, _reduction_of_half, "dim"),
    ("reduction", "std-mean"): moments_of(_std_mean, _std_mean_of_half, "dim"),
    ("reduction", "compile"): _compiled(_reduction, None, list, answers.moments, _reduction_of_half),
    ("reduction", "compile-reduce-overhead"): _compiled(_reduction, "reduce-overhead", list, answers.moments, _reduction_of_half),
    ("fft", "fft2"): spectrum(torch.fft, "dim"),
    ("fft", "rfft2"): call_of(torch.fft.rfft2, finish=answers.whole_spectrum),
    ("solve", "solve"): call_of(torch.linalg.solve, finish=answers.columns),
    ("solve", "cholesky"): call_of(_solve_by_cholesky, finish=answers.columns),
    ("spgemm", "csr"): _sparse_product,
    ("spmv", "csr"): call_of(lambda a, x: a @ x, finish=answers.columns),
    ("svd", "svd"): _svd(),
    ("svd", "gesvd"): _svd("gesvd"),
    ("svd", "gesvdj"): _svd("gesvdj"),
    ("svd", "gesvda"): _svd("gesvda"),
}
