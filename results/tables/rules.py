"""Times of a CUDA variant next to those that a rule of `auto` prefers it to."""
import json, os, subprocess, tempfile

from . import program
from .kept import ROOT, measured_with, measured_with_all, origins, report
from .libraries import mark, mean
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


def fastest_over(others, variant, of):
    """Time of the fastest of `others` over that of `variant`, in the rows of a case."""
    return min(seconds(of[other]) for other in others) / seconds(of[variant])


def fft():
    """The report of the rules of fft."""
    return report("h100", "rules", "2026-11-28-fft")


def bluestein():
    """Times of `bluestein`, `r2c` and `c2c` at primes, and how much faster the first is than the faster of the others."""
    kept, others = fft(), ("r2c", "c2c")
    lines = [f"{measured_with(kept['environment'])}.", "",
             "| type | N | `bluestein` | `r2c` | `c2c` | speed-up over the faster of `r2c` and `c2c` |", "|---|---:|---:|---:|---:|---:|"]
    for (dtype, n), of in sorted(by_case(kept).items()):
        if n > 100 and largest_prime(n) == n:
            cells = " | ".join(duration(seconds(of[variant])) for variant in ("bluestein", *others))
            lines.append(f"| {dtype} | {n} | {cells} | {factor(fastest_over(others, 'bluestein', of))} |")
    return "\n".join(lines)


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


def span(low, high):
    return str(low) if low == high else f"{low} to {high}"


def extremes(ratios, low_only=False):
    """Geometric mean of ratios by size, with the smallest, and unless `low_only` the largest, and their sizes."""
    if not ratios:
        return ""
    ends = [min, max][:1 if low_only or len(ratios) == 1 else 2]
    return f"{mean(ratios.values()):.2f} ({', '.join(f'{end(ratios.values()):.2f} at {end(ratios, key=ratios.get)}' for end in ends)})"


# Groups of largest prime factors and of sizes in `fft_factors`, both ends included.
PRIMES = ((47, 61), (67, 127))
SIZES = ((721, 1199), (1200, 1899), (1900, 3599), (3600, 4096))


def fft_factors():
    """Time of the faster of `r2c` and `c2c` over that of `bluestein`, by largest prime factor, divisibility and size."""
    found, kept = {}, fft()
    for (dtype, n), of in by_case(kept).items():
        if PRIMES[0][0] <= largest_prime(n) <= PRIMES[-1][1] and n >= SIZES[0][0]:
            kind = "odd" if n % 2 else "even" if n % 32 else "a multiple of 32"
            key = dtype, group(largest_prime(n), PRIMES), kind, group(n, SIZES)
            found.setdefault(key, {})[n] = fastest_over(("r2c", "c2c"), "bluestein", of)
    lines = [f"{measured_with(kept['environment'])}. Time of the faster of `r2c` and `c2c` over the time of "
             "`bluestein`, geometric mean (smallest and largest): below 1, cuFFT is faster.", "",
             "| type | largest prime factor | N is | " + " | ".join(f"N = {span(*sizes)}" for sizes in SIZES) + " |",
             "|---|---|---|" + "---:|" * len(SIZES)]
    for dtype, primes, kind in sorted({key[:3] for key in found}):
        texts = [extremes(found.get((dtype, primes, kind, sizes))) for sizes in SIZES]
        lines.append(f"| {dtype} | {span(*primes)} | {kind} | {' | '.join(texts)} |")
    return "\n".join(lines)


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


def matmul_padded(folder):
    """Times of `cublas-padded` over that of `cublas` in float64, by size and divisibility, in the report of a folder."""
    sizes = ((1, 512), (513, 896), (897, 1024), (1025, 2048), (2049, 4096))
    kind = lambda n: "odd" if n % 2 else "even, not by 4" if n % 4 else "by 4, not by 8" if n % 8 else "by 8"
    return over_cublas([report(folder)], "divisibility", kind, sizes, ("cublas-padded",))


# Groups of largest prime factors and of sizes in `fft_hermitian`, both ends included.
LARGER_PRIMES = ((11, 23), (29, 29), (31, 31), (37, 37), (41, 41), (43, 43))
LARGER_SIZES = ((11, 62), (63, 124), (125, 248), (249, 350), (351, 492), (493, 1199), (1200, 4096))


def fft_hermitian():
    """Time of the fastest of the other variants over that of `hermitian`, by largest prime factor and size."""
    found, kept = {}, fft()
    for (dtype, n), of in by_case(kept).items():
        if "hermitian" in of:
            key = dtype, group(largest_prime(n), LARGER_PRIMES), group(n, LARGER_SIZES)
            found.setdefault(key, {})[n] = fastest_over(("bluestein", "r2c", "c2c"), "hermitian", of)
    lines = [f"{measured_with(kept['environment'])}. Time of the fastest of `bluestein`, `r2c` and `c2c` over that of "
             "`hermitian`, geometric mean (smallest, at N): above 1, `hermitian` is faster.", "",
             "| type | largest prime factor | " + " | ".join(f"N = {span(*sizes)}" for sizes in LARGER_SIZES) + " |", "|---|---|" + "---:|" * len(LARGER_SIZES)]
    for dtype, primes in sorted({key[:2] for key in found}):
        texts = [extremes(found.get((dtype, primes, sizes)), low_only=True) for sizes in LARGER_SIZES]
        lines.append(f"| {dtype} | {span(*primes)} | {' | '.join(texts)} |")
    return "\n".join(lines)


# Groups of largest prime factors and of sizes in `fft_large`, both ends included.
LARGE_PRIMES = ((2, 11), (13, 43), (47, 127), (131, 8192))
LARGE_SIZES = ((4097, 5500), (5501, 6561), (6562, 7245), (7246, 8192))


def fft_large():
    """Time of `r2c` over that of the faster own variant beyond N = 4096, by largest prime factor and size."""
    found, kept = {}, report("h200", "rules", "fft-large")
    for (dtype, n), of in by_case(kept).items():
        own = [variant for variant in ("hermitian", "bluestein") if variant in of]
        if own:
            primes = group(largest_prime(n), LARGE_PRIMES)
            parity = ("odd" if n % 2 else "even") if primes == LARGE_PRIMES[-1] else ""
            found.setdefault((dtype, primes, parity, group(n, LARGE_SIZES)), {})[n] = max(fastest_over(("r2c",), variant, of) for variant in own)
    lines = [f"{measured_with(kept['environment'])}. Time of `r2c` over that of the faster one of `hermitian` and `bluestein`, geometric mean (smallest and "
             "largest): below 1, cuFFT is faster.", "",
             "| type | largest prime factor | " + " | ".join(f"N = {span(*sizes)}" for sizes in LARGE_SIZES) + " |", "|---|---|" + "---:|" * len(LARGE_SIZES)]
    for dtype, primes, parity in sorted({key[:3] for key in found}):
        named = f"above {LARGE_PRIMES[-2][1]}, N {parity}" if parity else span(*primes)
        lines.append(f"| {dtype} | {named} | {' | '.join(extremes(found.get((dtype, primes, parity, sizes))) for sizes in LARGE_SIZES)} |")
    return "\n".join(lines)


def svd_by_size(folder, variants, largest=None):
    """Times of svd variants by size up to `largest`, in one report."""
    kept = report("h200", "rules", folder)
    time = lambda row: duration(seconds(row)) + mark(row) if row else "–"
    lines = [f"{measured_with(kept['environment'])}. !: a time of grade D, which is not reliable.", "",
             "| type | N | " + " | ".join(f"`{variant}`" for variant in variants) + " |", "|---|---:|" + "---:|" * len(variants)]
    for (dtype, n), of in sorted(by_case(kept).items()):
        if largest is None or n <= largest:
            lines.append(f"| {dtype} | {n} | {' | '.join(time(of.get(variant)) for variant in variants)} |")
    return "\n".join(lines)


def svd_small():
    return svd_by_size("svd-small", ("jacobi", "gram", "gesvdj", "gesvd"), 32)


def svd_odd():
    """Times of `gram` at odd sizes and at the even ones that follow."""
    kept = report("h200", "rules", "svd-small")
    cases = by_case(kept)
    sizes = sorted({n for _, n in cases if n > 32 and n % 2})
    lines = [f"{measured_with(kept['environment'])}.", "", "| type | " + " | ".join(f"N = {n}, {n + 1}" for n in sizes) + " |", "|---|" + "---:|" * len(sizes)]
    for dtype in ("f32", "f64"):
        pairs = (", ".join(duration(seconds(cases[dtype, side]["gram"])) for side in (n, n + 1)) for n in sizes)
        lines.append(f"| {dtype} | {' | '.join(pairs)} |")
    return "\n".join(lines)


def svd_large():
    return svd_by_size("svd-large", ("gram", "gesvdp"))


def mixed_precision():
    """What a factorisation in float32 with two steps of refinement would gain over the variants in float64, by size."""
    kept = report("h100", "rules", "2026-11-26-solve")
    cases = by_case(kept)
    lines = [f"{measured_with(kept['environment'])}. The speed-up is that of `cholesky` in float32 and two steps over the faster one in float64.", "",
             "| N | `cholesky`, float64 | `potrf`, float64 | `cholesky`, float32 | a step, float32 | speed-up |", "|---:|---:|---:|---:|---:|---:|"]
    for n in sorted(n for dtype, n in cases if dtype == "f32" and n >= 1000):
        doubles = [seconds(cases["f64", n][variant]) for variant in ("cholesky", "potrf")]
        single, refined = (seconds(cases["f32", n][variant]) for variant in ("cholesky", "cholesky-refined"))
        step = refined - single
        times = " | ".join(map(duration, (*doubles, single, step)))
        lines.append(f"| {n} | {times} | {factor(min(doubles) / (single + 2 * step))} |")
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


def h100():
    """What `gpubench doctor --rules` finds in the reports of an H100, by op."""
    # Folders with the sizes of ops that several have.
    return slowdowns("h100", {"2026-11-26-matmul": {"matmul": "N = 100 to 3001"}, "2026-11-27-matmul-f32": {"matmul": "float32, N = 1201 to 3001"},
                              "2026-11-28-picks": {"matmul": "N = 1001 to 3046"}, "2026-11-26-solve": {}, "2026-11-26-svd": {}})


def trials():
    """The same, where trials chose the variants."""
    return slowdowns("h100", {"2026-11-28-trials": {"matmul": "N = 1001 to 3046"}})


def h200():
    """What it finds around the sizes at which rules change, in the reports of an H200."""
    # The first report is older than the rules of fft beyond N = 4096.
    is_counted = lambda folder, row: folder != "borders" or row["op"] != "fft" or row["n"] <= 4096
    return slowdowns("h200", {"borders": {"fft": "N = 1880 to 4096"}, "fft-large": {"fft": "N = 4097 to 8192"}, "svd-small": {}}, is_counted)


def fft_beyond():
    """Time of `c2c` over that of `r2c` beyond N = 4096."""
    cases = {case: of for case, of in by_case(report("h200", "rules", "borders")).items() if "c2c" in of}
    ratios = [fastest_over(("c2c",), "r2c", of) for of in cases.values()]
    sizes = sorted({n for _, n in cases})
    return (f"`c2c` takes {factor(min(ratios))} to {factor(max(ratios))} times as long as `r2c` there, in another run "
            f"({len(ratios)} cases, N = {', '.join(map(str, sizes))}).")


def slowdowns(machine, folders, is_counted=lambda folder, row: True):
    """A table with a row per op of the reports in these folders of a machine, which map to the sizes of some ops. It counts the rows of a folder for which `is_counted` holds."""
    lines = ["| op | cases | pick / fastest, geometric mean | over 1.05 | largest, at N |", "|---|---:|---:|---:|---:|"]
    sources = {}
    for name, sizes in folders.items():
        kept = report(machine, "rules", name)
        counted = [row for row in kept["rows"] if is_counted(name, row)]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "report.json"), "w") as file:
                json.dump({**kept, "rows": counted}, file)
            # Its exit code is 1 where a pick is not the fastest.
            command = [program.path(), "doctor", "--json", "--rules", folder]
            found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout)
        for of_op in found["ops"]:
            lost = [case for case in found["lost"] if case["op"] == of_op["op"]]
            worst = max(lost, key=lambda case: case["ratio"], default=None)
            largest = f"{worst['ratio']:.2f} ({worst['dtype']} {worst['n']})" if worst else "–"
            row = of_op["op"] + (f" ({sizes[of_op['op']]})" if of_op["op"] in sizes else "")
            sources.setdefault(measured_with(kept["environment"]), []).append(row)
            lines.append(f"| {row} | {of_op['cases']} | {of_op['slowdown']:.3f} | {len(lost)} | {largest} |")
    return "\n".join([origins(sources), "", *lines])
