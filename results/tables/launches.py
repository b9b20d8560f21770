"""Kernels launched one by one and as a graph."""
from .kept import report, row_of
from .text import duration

# Ops whose kernels `auto` launches as a graph at N = 100, with the number of these kernels.
OPS = {"elementwise": 1, "reduction": 1, "matmul": 1, "spmv": 1, "spgemm": 1, "fft": 2, "solve": 1}


def launches():
    """Host times of empty kernels, and host and device times of ops whose kernels are launched as a graph."""
    run = report("h200", "launches")
    environment = run["environment"]
    cuda = next(backend for backend in environment["backends"] if backend["name"] == "cuda")["description"]
    empty = lambda n, variant: duration(row_of(run, "overhead", n, "cuda", variant)["execute"]["median_s"])
    auto = lambda op: row_of(run, op, 100, "cuda", "auto")["execute"]
    return "\n".join([
        f"gpubench {environment['gpubench_revision']}, {cuda['name']}, driver {cuda['driver_version']}; {environment['host']['cpu']}, "
        f"{environment['started'][:10]}. Float32, hot caches.", "",
        "| empty kernels | launched one by one, host | one graph, host |", "|---:|---:|---:|",
        *[f"| {n} | {empty(n, 'launch')} | {empty(n, 'graph')} |" for n in (1, 2, 4)], "",
        "| op, N = 100 | kernels | until the call returns | host | device |", "|---|---:|---:|---:|---:|",
        *[f"| {op} | {kernels} | " + " | ".join(duration(auto(op)[key]) for key in ("enqueue_median_s", "host_median_s", "median_s")) + " |"
          for op, kernels in OPS.items()]])
