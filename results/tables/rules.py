"""Times of a CUDA variant next to those that a rule of `auto` prefers it to."""
import math

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


# Groups of largest prime factors and of sizes in `fft_factors`, both ends included.
PRIMES = ((11, 11), (13, 19), (23, 31), (37, 61), (67, 127))
SIZES = ((200, 429), (430, 720), (721, 1199), (1200, 2499), (2500, 3299), (3300, 4096))


def largest_prime(n):
    factor = 2
    while factor * factor <= n:
        if n % factor == 0:
            n //= factor
        else:
            factor += 1
    return n


def group(value, groups):
    return next((low, high) for low, high in groups if low <= value <= high)


def fft_factors():
    """Time of the faster of `r2c` and `c2c` over that of `bluestein`, by largest prime factor, parity and size."""
    found = {}
    reports = [report("h200", "rules", folder) for folder in ("fft-factors", "fft-factors-2")]
    for kept in reports:
        times = {}
        for row in kept["rows"]:
            if row.get("execute"):
                times.setdefault((row["dtype"], row["n"]), {})[row["variant"]] = row["execute"]["median_s"]
        for (dtype, n), of in times.items():
            if "bluestein" in of:
                key = (dtype, group(largest_prime(n), PRIMES), ("even", "odd")[n % 2], group(n, SIZES))
                found.setdefault(key, []).append(min(of["r2c"], of["c2c"]) / of["bluestein"])
    sources = dict.fromkeys(measured_with(kept["environment"]) for kept in reports)
    lines = [f"{' and '.join(sources)}. Time of the faster of `r2c` and `c2c` over the time of "
             "`bluestein`, geometric mean (number of sizes): below 1, cuFFT is faster.", "",
             "| type | largest prime factor | N | " + " | ".join(f"{low} to {high}" for low, high in SIZES) + " |",
             "|---|---|---|" + "---:|" * len(SIZES)]
    for dtype, primes, parity in sorted({key[:3] for key in found}):
        cells = [found.get((dtype, primes, parity, size)) for size in SIZES]
        texts = [f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} ({len(ratios)})" if ratios else "" for ratios in cells]
        low, high = primes
        lines.append(f"| {dtype} | {low if low == high else f'{low} to {high}'} | {parity} | {' | '.join(texts)} |")
    return "\n".join(lines)


def svd_by_size(folder, variants):
    """Times of svd variants by size, in one report."""
    kept, times = report("h200", "rules", folder), {}
    for row in kept["rows"]:
        if row.get("execute"):
            text = duration(row["execute"]["median_s"]) + ("!" if row["execute"]["grade"] == "D" else "")
            times.setdefault((row["dtype"], row["n"]), {})[row["variant"]] = text
    lines = [f"{measured_with(kept['environment'])}. !: a time of grade D, which is not reliable.", "",
             "| type | N | " + " | ".join(f"`{variant}`" for variant in variants) + " |", "|---|---:|" + "---:|" * len(variants)]
    for (dtype, n), of in sorted(times.items()):
        lines.append(f"| {dtype} | {n} | {' | '.join(of.get(variant, '–') for variant in variants)} |")
    return "\n".join(lines)


def svd_small():
    return svd_by_size("svd-small", ("jacobi", "gram", "gesvdj", "gesvd"))


def svd_large():
    return svd_by_size("svd-large", ("gram", "gesvdp"))


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


def h100():
    """Time of the pick of `auto` over that of the fastest variant on an H100, by op."""
    reports, ratios = [report("h100", "rules", f"2026-11-26-{name}") for name in ("matmul", "solve", "fft", "svd")], {}
    for kept in reports:
        cases = {}
        for row in kept["rows"]:
            if row.get("execute") and row["accuracy"] == "ieee":
                cases.setdefault((row["op"], row["dtype"], row["n"]), []).append((row["execute"]["median_s"], row["variant"]))
        for (op, dtype, n), times in cases.items():
            pick = next(time for time, variant in times if variant == "auto")
            ratios.setdefault(op, []).append((pick / min(times)[0], f"{dtype} {n}"))
    lines = [f"{measured_with(reports[0]['environment'])}.", "",
             "| op | cases | pick / fastest, geometric mean | over 1.05 | largest, at N |", "|---|---:|---:|---:|---:|"]
    for op, found in ratios.items():
        mean = math.exp(sum(math.log(ratio) for ratio, _ in found) / len(found))
        largest, where = max(found)
        lines.append(f"| {op} | {len(found)} | {mean:.3f} | {sum(ratio > 1.05 for ratio, _ in found)} | {largest:.2f} ({where}) |")
    return "\n".join(lines)
