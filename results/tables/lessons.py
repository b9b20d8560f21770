"""What copies, launches and first uses cost: the table of docs/lessons.md."""
from .kept import report, row_of
from .text import duration


def lessons():
    lines = ["| cost | times by the host's clock |", "|---|---|"]
    for n in (16, 1024, 8192):
        copies = [("transfer", n, "cuda", f"h2d-{memory}") for memory in ("pageable", "pinned")]
        rates = ", ".join(f"{row(*cell)['work']['bytes'] / seconds(*cell) / 1e9:.1f}" for cell in copies)
        lines.append(f"| copy of an N x N matrix to the GPU, N = {n}: pageable; pinned | {times(copies)} ({rates} GB/s) |")
    cuda = [("overhead", 1, "cuda", name) for name in ("launch", "graph", "event-pair", "context", "compile", "compile-cached")]
    lines.append(f"| one launch; one graph; two events, with the wait for each | {times(cuda[:3])} |")
    lines.append(f"| an empty parallel region on all CPU threads | {times([('overhead', 1, 'cpu', 'pool')])} |")
    lines.append(f"| a second context; compiling an empty kernel; loading it from the cache | {times(cuda[3:])} |")
    for n in (100, 1000, 3000):
        loop = [("transfer-loop", n, "cpu", "parallel"), *(("transfer-loop", n, "cuda", f"copy-{name}") for name in ("once", "each", "each-pinned"))]
        lines.append(f"| 100 sines, N = {n}: CPU; copied once; copied in every iteration; the same, pinned | {times(loop)} |")
    for n in (10, 32, 100):
        loop = [("host-loop", n, "cpu", "parallel"), ("host-loop", n, "cuda", "fused"), ("host-loop", n, "cuda", "launch-per-element")]
        lines.append(f"| sin, N = {n}: CPU; one kernel; one launch per element | {times(loop)} |")
    return "\n".join(lines)


def row(*cell):
    return row_of(report("h200", "lessons"), *cell)


def seconds(*cell):
    return row(*cell)["execute"]["host_median_s"]


def times(cells):
    return "; ".join(duration(seconds(*cell)) for cell in cells)
