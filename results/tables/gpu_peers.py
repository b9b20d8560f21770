"""CuPy, PyTorch and JAX next to gpubench on the GPU: from one run with all of them if it is kept, otherwise from peers.py."""
import os

from . import libraries
from .kept import RESULTS, report as kept, script
from .text import factor

ratios = script("h200", "peers", "ratios.py")


def peers():
    file = lambda name: os.path.join(RESULTS, "h200", "peers", f"{name}.json")
    return ratios.load(file("report"), [file(name) for name in ("cupy", "torch", "jax")])


def one_run():
    """The report of the run with all libraries; None while there is none."""
    return kept(*libraries.GPU.split("/")) if libraries.GPU in libraries.KEPT else None


def peer_means():
    if one_run():
        return libraries.of_gpu(one_run())
    report, files, found = peers()
    lines = [f"{ratios.provenance(report, files)}. Hot caches, operands resident; the peers' answers were not checked.", "",
             "| type | op | cells | host clock | smallest, at N | device clock | smallest, at N |", "|---|---|---:|---:|---:|---:|---:|"]
    for dtype, op, count, device, least, where, host, host_least, host_where in ratios.means(found):
        lines.append(f"| {dtype} | {op} | {count} | {host:.2f} | {host_least:.2f} ({host_where}) | {device:.2f} | {least:.2f} ({where}) |")
    lines += ["", f"Another library is faster in: {losses(found)}."]
    return "\n".join(lines)


def peer_summary():
    """A row per op, host clock first: geometric mean and smallest ratio of both element types."""
    if one_run():
        return libraries.summary(one_run())
    report, files, found = peers()
    lines = ["| op | float32, host clock | float32, device clock | float64, host clock | float64, device clock |", "|---|---:|---:|---:|---:|"]
    by_op = {}
    for dtype, op, _, device, least, where, host, host_least, host_where in ratios.means(found):
        by_op.setdefault(op, {})[dtype] = (f"{factor(host)} ({factor(host_least)} at {host_where})", f"{factor(device)} ({factor(least)} at {where})")
    by_op.pop("all")
    for op, of in by_op.items():
        lines.append(f"| {op} | {' | '.join(cell for dtype in ('f32', 'f64') for cell in of[dtype])} |")
    return "\n".join([*lines, "", f"Another library is faster in: {losses(found)}. ({ratios.provenance(report, files)}.)"])


def losses(found):
    lost = [f"{op} {dtype} N = {n} ({clock} clock {ratio:.2f}, {name})" for ratio, clock, op, dtype, n, name in ratios.losses(found)]
    return "; ".join(lost) if lost else "no cell"
