"""Times of a CUDA variant next to those that a rule of `auto` prefers it to."""
from .kept import report
from .text import duration, factor


def bluestein():
    """Times of `bluestein`, `r2c` and `c2c` by size, and how much faster the first is than the faster of the others."""
    kept, others = report("h200", "rules", "fft"), ("r2c", "c2c")
    environment = kept["environment"]
    device = next(backend["description"] for backend in environment["backends"] if backend["name"] == "cuda")
    times = {}
    for row in kept["rows"]:
        times.setdefault((row["dtype"], row["n"]), {})[row["variant"]] = row["execute"]["median_s"]
    lines = [f"gpubench {environment['gpubench_revision'][:7]}, {device['name']}, {environment['started'][:10]}, hot caches; `auto` had no rule for `bluestein` yet.", "",
             "| type | N | `bluestein` | `r2c` | `c2c` | speed-up over the faster of `r2c` and `c2c` |", "|---|---:|---:|---:|---:|---:|"]
    for (dtype, n), of in times.items():
        cells = " | ".join(duration(of[variant]) for variant in ("bluestein", *others))
        lines.append(f"| {dtype} | {n} | {cells} | {factor(min(of[other] for other in others) / of['bluestein'])} |")
    return "\n".join(lines)
