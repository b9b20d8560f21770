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


def fft_table(kept, heading, ratio_of, kinds_of, columns, sizes, low_only=False):
    """Ratios of a report of fft by element type, kinds of N and groups of sizes (both ends included). `ratio_of` takes N and the rows of a case, and returns None for one that the table leaves out. `kinds_of` takes N, and returns a value to sort by and a text for each of `columns`."""
    found = {}
    for (dtype, n), of in by_case(kept).items():
        ratio = ratio_of(n, of)
        if ratio is not None:
            found.setdefault((dtype, *kinds_of(n)), {}).setdefault(group(n, sizes), {})[n] = ratio
    lines = [f"{measured_with(kept['environment'])}. {heading}.", "",
             f"| type | {' | '.join((*columns, *(f'N = {span(*of)}' for of in sizes)))} |", "|---|" + "---|" * len(columns) + "---:|" * len(sizes)]
    for (dtype, *kinds), ratios in sorted(found.items()):
        texts = [text for _, text in kinds] + [extremes(ratios.get(of), low_only) for of in sizes]
        lines.append(f"| {dtype} | {' | '.join(texts)} |")
    return "\n".join(lines)


def prime_group(n, groups):
    """The group of N's largest prime factor, and its text."""
    found = group(largest_prime(n), groups)
    return found, span(*found)


# Groups of largest prime factors and of sizes in `fft_factors`, both ends included.
PRIMES = ((47, 61), (67, 127))
SIZES = ((721, 1199), (1200, 1899), (1900, 3599), (3600, 4096))


def fft_factors():
    """Time of the faster of `r2c` and `c2c` over that of `bluestein`, by largest prime factor, divisibility and size."""
    is_in_table = lambda n: PRIMES[0][0] <= largest_prime(n) <= PRIMES[-1][1] and n >= SIZES[0][0]
    kind = lambda n: "odd" if n % 2 else "even" if n % 32 else "a multiple of 32"
    return fft_table(fft(), "Time of the faster of `r2c` and `c2c` over the time of `bluestein`, geometric mean (smallest and largest): below 1, cuFFT is faster",
                     lambda n, of: fastest_over(("r2c", "c2c"), "bluestein", of) if is_in_table(n) else None,
                     lambda n: (prime_group(n, PRIMES), (kind(n), kind(n))), ("largest prime factor", "N is"), SIZES)


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
    return fft_table(fft(), "Time of the fastest of `bluestein`, `r2c` and `c2c` over that of `hermitian`, geometric mean (smallest, at N): above 1, `hermitian` is faster",
                     lambda n, of: fastest_over(("bluestein", "r2c", "c2c"), "hermitian", of) if "hermitian" in of else None,
                     lambda n: (prime_group(n, LARGER_PRIMES),), ("largest prime factor",), LARGER_SIZES, low_only=True)


# Groups of largest prime factors and of sizes in `fft_large`, both ends included.
LARGE_PRIMES = ((2, 11), (13, 43), (47, 127), (131, 8192))
LARGE_SIZES = ((4097, 5500), (5501, 6561), (6562, 7245), (7246, 8192))


def fft_large():
    """Time of `r2c` over that of the faster own variant beyond N = 4096, by largest prime factor and size."""
    def ratio(n, of):
        own = [variant for variant in ("hermitian", "bluestein") if variant in of]
        return max((fastest_over(("r2c",), variant, of) for variant in own), default=None)

    def kinds(n):
        found, text = prime_group(n, LARGE_PRIMES)
        parity = "odd" if n % 2 else "even"
        return (((found, parity), f"above {LARGE_PRIMES[-2][1]}, N {parity}") if found == LARGE_PRIMES[-1] else ((found, ""), text),)

    return fft_table(report("h200", "rules", "fft-large"),
                     "Time of `r2c` over that of the faster one of `hermitian` and `bluestein`, geometric mean (smallest and largest): below 1, cuFFT is faster",
                     ratio, kinds, ("largest prime factor",), LARGE_SIZES)


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
    # Folders with the smallest and largest N of ops that several have.
    return slowdowns("h100", {"2026-11-26-matmul": {"matmul": (100, 3001)}, "2026-11-27-matmul-f32": {"matmul": (1201, 3001)},
                              "2026-11-28-picks": {"matmul": (1001, 3046)}, "2026-11-26-solve": {}, "2026-11-26-svd": {}})


def trials():
    """The same, where trials chose the variants."""
    return slowdowns("h100", {"2026-11-28-trials": {"matmul": (1001, 3046)}})


def h200():
    """What it finds around the sizes at which rules change, in the reports of an H200."""
    # The first report has larger sizes of fft, but is older than the rules for them.
    return slowdowns("h200", {"borders": {"fft": (1880, 4096)}, "fft-large": {"fft": (4097, 8192)}, "svd-small": {}})


def fft_beyond():
    """Time of `c2c` over that of `r2c` beyond N = 4096."""
    cases = {case: of for case, of in by_case(report("h200", "rules", "borders")).items() if "c2c" in of}
    ratios = [fastest_over(("c2c",), "r2c", of) for of in cases.values()]
    sizes = sorted({n for _, n in cases})
    return (f"`c2c` takes {factor(min(ratios))} to {factor(max(ratios))} times as long as `r2c` there, in another run "
            f"({len(ratios)} cases, N = {', '.join(map(str, sizes))}).")


def slowdowns(machine, folders):
    """A row per op of the reports in these folders of a machine. Where a folder maps an op to a range of N, other sizes do not count."""
    lines = ["| op | cases | pick / fastest, geometric mean | over 1.05 | largest, at N |", "|---|---:|---:|---:|---:|"]
    sources = {}
    for name, sizes in folders.items():
        kept = report(machine, "rules", name)
        counted = [row for row in kept["rows"] if row["op"] not in sizes or sizes[row["op"]][0] <= row["n"] <= sizes[row["op"]][1]]
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
            row = of_op["op"]
            if row in sizes:
                only_f32 = all(of_row["dtype"] == "f32" for of_row in counted if of_row["op"] == row)
                row += f" ({'float32, ' if only_f32 else ''}N = {span(*sizes[row])})"
            sources.setdefault(measured_with(kept["environment"]), []).append(row)
            lines.append(f"| {row} | {of_op['cases']} | {of_op['slowdown']:.3f} | {len(lost)} | {largest} |")
    return "\n".join([origins(sources), "", *lines])
