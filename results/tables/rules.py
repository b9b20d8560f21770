"""Times of a CUDA variant next to those that a rule of `auto` prefers it to."""
from .kept import measured_with, measured_with_all, report
from .libraries import mean
from .text import duration, factor


def by_case(kept):
    """The rows with a time, by element type and size, then by variant."""
    cases = {}
    for row in kept["rows"]:
        if row.get("execute"):
            cases.setdefault((row["dtype"], row["n"]), {})[row["variant"]] = row
    return cases


def seconds(row):
    return row["execute"]["median_s"]


def group(value, groups):
    return next((low, high) for low, high in groups if low <= value <= high)


def span(low, high):
    return str(low) if low == high else f"{low} to {high}"


def over_cublas(reports, heading, kind_of, groups, variants):
    """Time of variants of matmul over that of `cublas`, by kind of N and its size (`groups`, both ends included): geometric mean and extremes over the sizes."""
    found = {}
    for kept in reports:
        for (_, n), of in by_case(kept).items():
            found.setdefault((kind_of(n), group(n, groups)), {})[n] = of
    lines = [f"{measured_with_all(reports)}. Time over that of `cublas`, geometric mean (smallest to largest): below 1, the variant is faster.", "",
             f"| N | {heading} | sizes | " + " | ".join(f"`{variant}`" for variant in variants) + " |", "|---|---|---:|" + "---:|" * len(variants)]
    for (kind, _), cases in sorted(found.items()):
        ratios = [[seconds(of[variant]) / seconds(of["cublas"]) for of in cases.values()] for variant in variants]
        cells = (f"{mean(of):.2f}" + (f" ({min(of):.2f} to {max(of):.2f})" if len(of) > 1 else "") for of in ratios)
        lines.append(f"| {span(min(cases), max(cases))} | {kind} | {len(cases)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def matmul_f32(*folders):
    """Times of matmul in float32 over that of `cublas`, by size and whether N is a multiple of 4, in the reports of folders."""
    sizes = ((1025, 1251), (1252, 1408), (1409, 2048), (2049, 4096))
    return over_cublas([report(folder) for folder in folders], "multiple of 4", lambda n: "no" if n % 4 else "yes", sizes, ("f64-accumulate", "dmma"))


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
