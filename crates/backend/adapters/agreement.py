#!/usr/bin/env python3
"""Compares an adapter's times with those of the tool that the library's users have, for the same calls.

usage: agreement.py NAME [--threads N] [--seconds S] [--ops FILE.py ...]

NAME is an adapter. Its cells are those of the built-in ops, or of the operations in files. Both measure the same call on the same operands in this process, alternating, for S seconds per cell, with
hot caches. The tools: `timeit` for NumPy and JAX, `torch.utils.benchmark` for PyTorch, and the GPU times of
`cupyx.profiler.benchmark` for CuPy, which are those of a stream that nothing blocks. Each figure is the 10th percentile,
because other work only makes a time longer.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import timeit
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpubench_adapter.worker import THREAD_VARIABLES, Worker  # noqa: E402, from this folder

# Sizes of each op whose times on a CPU, and on a GPU, are above 50 us.
SIZES = {
    "matmul": ((200, 500, 1000), (1000, 3000)),
    "elementwise": ((200, 500, 2000), (2000, 5000)),
    "reduction": ((500, 2000), (2000, 5000)),
    "fft": ((200, 512), (2048, 4096)),
    "solve": ((500,), (500, 2000)),
    "spgemm": ((512,), (512, 2048)),
    "svd": ((200,), (200, 500)),
}
WARM_UP_CALLS = 20
# Seconds of a group of calls before the other side has its turn.
GROUP_S = 1e-3


def low(times):
    """Returns the 10th percentile."""
    return sorted(times)[len(times) // 10]


class Tool:
    """The tool of a library: `readings(calls)` has its times per call, of that many calls."""

    def __init__(self, name, job):
        self.name, self.job = name, job
        if name == "cupy":
            import cupyx.profiler

            self.title, self.benchmark = "cupyx.profiler", cupyx.profiler.benchmark
            return
        operands = {"x%d" % k: operand for k, operand in enumerate(job.operands)}
        # The assignment keeps the result until the clock has stopped, as the adapter does.
        statement = "result = call(%s)" % ", ".join(operands)
        call = job.call
        if name == "jax":
            import jax

            def call(*inputs):
                return jax.block_until_ready(job.call(*inputs))

        names = dict(operands, call=call)
        if name.startswith("torch"):
            import torch.utils.benchmark

            timer = torch.utils.benchmark.Timer(statement, globals=names, num_threads=torch.get_num_threads())
            self.title, self.timer = "torch.utils.benchmark", timer._timer
        else:
            self.title, self.timer = "timeit", timeit.Timer(statement, globals=names)

    def readings(self, calls):
        if self.name == "cupy":
            found = self.benchmark(self.job.call, tuple(self.job.operands), n_repeat=calls, n_warmup=1)
            return found.gpu_times[0].tolist()
        if self.name in ("torch", "jax"):
            # Several calls of PyTorch would overlap: the second is queued while the first one runs.
            return [self.timer.timeit(1) for _ in range(calls)]
        return [self.timer.timeit(calls) / calls]


def compare(name, backend, job, seconds):
    """Returns the adapter's and the tool's seconds per call."""
    tool = Tool(name, job)

    def once():
        return backend.timer.both(job, "hot")["events_s"] if name == "cupy" else backend.time(job, "hot")["host_s"]

    for _ in range(WARM_UP_CALLS):
        once()
    tool.readings(WARM_UP_CALLS)
    calls = max(1, int(GROUP_S / once()))
    ours, theirs, end = [], [], time.monotonic() + seconds
    while time.monotonic() < end or len(ours) < 5:
        ours += [once() for _ in range(calls)]
        job.reset()
        theirs += tool.readings(calls)
    return low(ours), low(theirs), tool.title


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--ops", action="append", default=[])
    asked = parser.parse_args()
    os.environ.update({variable: str(asked.threads) for variable in THREAD_VARIABLES})
    options = {"threads": asked.threads, "files": asked.ops}
    worker = Worker(asked.name, None)
    ready = worker.answer(json.dumps({"type": "hello", "protocol": 5, "options": options}).encode())
    if ready["type"] != "ready":
        sys.exit("%s: %s" % (asked.name, ready["reason"]))
    backend = worker.session.backend
    backend.folder = tempfile.gettempdir()
    for label, job in jobs_of_files(worker.session) if asked.ops else built_in_jobs(backend):
        job.settle()
        ours, theirs, title = compare(asked.name, backend, job, asked.seconds)
        figures = (asked.name, label, 1e6 * ours, title, 1e6 * theirs, ours / theirs)
        print("%-10s %-32s adapter %10.1f us  %s %10.1f us  ratio %.3f" % figures, flush=True)


def built_in_jobs(backend):
    """Yields the first variant of each op at its sizes."""
    from gpubench_adapter.operands import OPERANDS, Case

    for op, of_sides in SIZES.items():
        sizes = of_sides[backend.adapter.side == "gpu"]
        variants = [variant["name"] for variant in backend.adapter.variants if variant["op"] == op and variant["default"]]
        for n in sizes if variants else ():
            case = Case({"op": op, "n": n, "dtype": "f64", "seed": 42, "density": 0.01})
            yield "%s %s %d" % (op, variants[0], n), backend.prepare(variants[0], case, [make(case) for make in OPERANDS[op]])


def jobs_of_files(session):
    """Yields the variants of this backend of the user's own operations."""
    from gpubench_adapter.operands import Case, Operands

    for op in session.ops:
        for variant in [variant for variant in op.variants if variant.backend == session.backend.name]:
            for n in op.sizes:
                case = Case({"op": op.name, "n": n, "dtype": "f64", "seed": 42}, op)
                yield "%s %s %d" % (op.name, variant.name, n), session.backend.prepare(variant, case, Operands().of(case))


if __name__ == "__main__":
    main()
