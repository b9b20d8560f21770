"""Times of a CUDA variant next to those that a rule of `auto` prefers it to."""
from .kept import report
from .text import duration, factor


def measured_with(environment):
    """Revision, device and date."""
    device = next(backend["description"] for backend in environment["backends"] if backend["name"] == "cuda")
    return f"gpubench {environment['gpubench_revision'][:7]}, {device['name']}, {environment['started'][:10]}, hot caches"


def bluestein():
    """Times of `bluestein`, `r2c` and `c2c` by size, and how much faster the first is than the faster of the others."""
    kept, others = report("h200", "rules", "fft"), ("r2c", "c2c")
    times = {}
    for row in kept["rows"]:
        times.setdefault((row["dtype"], row["n"]), {})[row["variant"]] = row["execute"]["median_s"]
    lines = [f"{measured_with(kept['environment'])}; `auto` had no rule for `bluestein` yet.", "",
             "| type | N | `bluestein` | `r2c` | `c2c` | speed-up over the faster of `r2c` and `c2c` |", "|---|---:|---:|---:|---:|---:|"]
    for (dtype, n), of in times.items():
        cells = " | ".join(duration(of[variant]) for variant in ("bluestein", *others))
        lines.append(f"| {dtype} | {n} | {cells} | {factor(min(of[other] for other in others) / of['bluestein'])} |")
    return "\n".join(lines)


def ozaki2():
    """Times and errors of `cublas` and `ozaki2-int8` by size."""
    kept, rows = report("h200", "rules", "ozaki2"), {}
    for row in kept["rows"]:
        rows.setdefault(row["n"], {})[row["variant"]] = row
    is_throttled = lambda row: any(warning["kind"] == "throttled" for warning in row["execute"]["warnings"])
    throttled = sum(map(is_throttled, kept["rows"]))
    lines = [f"{measured_with(kept['environment'])}. The driver throttled the clocks in {throttled} of {len(kept['rows'])} cells.", "",
             "| N | `cublas` | `ozaki2-int8` | speed-up (95 % interval) | error of `cublas` | error of `ozaki2-int8` |", "|---:|---:|---:|---:|---:|---:|"]
    for n, of in rows.items():
        library, own = (of[variant] for variant in ("cublas", "ozaki2-int8"))
        (low, high), (own_low, own_high) = (row["execute"]["ci95_s"] for row in (library, own))
        times = " | ".join(duration(row["execute"]["median_s"]) for row in (library, own))
        errors = " | ".join(f"{row['error']['value']:.1e}" for row in (library, own))
        speed_up = library["execute"]["median_s"] / own["execute"]["median_s"]
        lines.append(f"| {n} | {times} | {factor(speed_up)} ({factor(low / own_high)} to {factor(high / own_low)}) | {errors} |")
    return "\n".join(lines)
