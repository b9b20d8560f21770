"""CuPy, PyTorch and JAX next to gpubench on the GPU."""
import os

from .kept import RESULTS, script
from .text import factor

ratios = script("h200", "peers", "ratios.py")


def peers():
    file = lambda name: os.path.join(RESULTS, "h200", "peers", f"{name}.json")
    return ratios.load(file("report"), [file(name) for name in ("cupy", "torch", "jax")])


def peer_means():
    report, files, found = peers()
    lines = [f"{ratios.provenance(report, files)}. Hot caches, operands resident; the peers' answers were not checked.", "",
             "| type | op | cells | host clock | smallest, at N | device clock | smallest, at N |", "|---|---|---:|---:|---:|---:|---:|"]
    for dtype, op, count, device, least, where, host, host_least, host_where in ratios.means(found):
        lines.append(f"| {dtype} | {op} | {count} | {host:.2f} | {host_least:.2f} ({host_where}) | {device:.2f} | {least:.2f} ({where}) |")
    lines += ["", f"Another library is faster in: {losses(found)}."]
    return "\n".join(lines)


def peer_summary():
    """A row per op, host clock first: geometric mean and smallest ratio of both element types."""
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
