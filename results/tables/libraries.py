"""gpubench's own variants next to NumPy, SciPy, CuPy, PyTorch and JAX, from reports that have all of them."""
import csv, functools, gzip, io, math, os

from .kept import RESULTS, measured_with, origins, report as kept, revision
from .text import duration, factor

# The folder of results/ with such a report of CPU and GPU.
BOTH = "h200/article-python"


def only(*ops):
    """The rows of these ops."""
    return lambda row: row["op"] in ops


def without(op, dtype, *sizes):
    """The rows but those of an op and element type at these sizes, which a later run measured again."""
    return lambda row: (row["op"], row["dtype"]) != (op, dtype) or row["n"] not in sizes


def solved_before(row):
    """The rows of solve but those that a later run measured again; products of sparse matrices were timed otherwise than they are now."""
    return only("solve")(row) and without("solve", "f64", 3228, 3379, 3879)(row)


# The folder with the comparison on the GPU by one protocol: the first of three runs, and the figures of the two others.
PEERS, OTHER_RUNS = "h200/peers", ("second.csv.gz", "third.csv.gz")

# The folders whose rows the table of random sizes joins, and which it takes; None: all.
RANDOM = {"h200/random-matmul": None, "h200/random-largest": only("matmul"), "h200/random-elementwise": None,
          "h200/random-largest-elementwise": None, "h200/random-reduction": None,
          "h200/random-fft": None, "h200/random-solve-spgemm": solved_before,
          "h200/random-solve-large": None}
# Reports of which only the lists of all cells are kept: of the CPU, and of 20 rounds.
CELLS_ALONE = ("xeon-2", "h200/rounds")
KEPT = (BOTH, PEERS, *CELLS_ALONE, *RANDOM)

# gpubench's own backend of each side; every other backend of the side is a peer.
OWN = {"cpu": "cpu", "gpu": "cuda"}
TYPES = ("f32", "f64")

# Which of gpubench's variants a table is about: those that anyone can call or write, and gpubench's tuned kernels.
ORIGINS = {"library or plain": lambda row: row.get("origin") != "tuned", "tuned": lambda row: row.get("origin") == "tuned"}


def on_both():
    """The report with all libraries on CPU and GPU."""
    return kept(BOTH)


def case_of(row):
    return row["op"], row["dtype"], row["n"]


# Seconds that no kernel takes less than: the device had nothing to do, as in a product of sparse matrices without entries.
LEAST = 1e-7


def timed(row, clock):
    """Median and 95 % interval of a row in seconds by a clock; None where the row has no time by it."""
    execute = row.get("execute")
    if not execute or row["accuracy"] != "ieee":
        return None
    if clock == "host":
        return execute["host_median_s"], *execute["host_ci95_s"]
    by_device = execute["clock"] == "device-events" and execute["median_s"] >= LEAST
    return (execute["median_s"], *execute["ci95_s"]) if by_device else None


def mark(*rows):
    """The mark of figures from these rows: an exclamation mark where one of their times has grade D."""
    return "!" if any(row["execute"]["grade"] == "D" for row in rows) else ""


def name(row):
    return f"{row['backend']} {row['variant']}" + (f" ({row['picked']})" if row.get("picked") else "")


def is_clock_limited(row):
    """Whether a device time is below a microsecond, or below the constant of the events that was subtracted from it."""
    execute = row["execute"]
    return execute["clock"] == "device-events" and (execute["median_s"] < 1e-6 or execute["median_s"] < (execute.get("event_constant_s") or 0))


class Cell:
    """A case by one clock: gpubench's fastest row, the fastest row of the other backends, and the second over the first.

    The interval of the ratio combines those of both times, as logarithms, in squares (docs/answer.md)."""

    def __init__(self, key, clock, ours, theirs):
        self.key, self.clock, self.ours, self.theirs = key, clock, ours, theirs
        (value, low, high), (other, other_low, other_high) = timed(ours, clock), timed(theirs, clock)
        self.seconds, self.peer_seconds = value, other
        self.ratio = other / value
        self.low = self.ratio * math.exp(-math.hypot(math.log(other / other_low), math.log(high / value)))
        self.high = self.ratio * math.exp(math.hypot(math.log(other_high / other), math.log(value / low)))
        self.is_limited = clock == "device" and (is_clock_limited(ours) or is_clock_limited(theirs))
        self.mark = mark(ours, theirs) + ("*" if self.is_limited else "")


def cells(report, side, clock, takes=None):
    """The cells of a side that both gpubench and a peer measured, in the order of the report; `takes` chooses among gpubench's rows."""
    found = {}
    for row in report["rows"]:
        if row["side"] == side and timed(row, clock):
            found.setdefault(case_of(row), []).append(row)
    for key, rows in found.items():
        fastest = lambda of: min(of, key=lambda row: timed(row, clock)[0], default=None)
        own = fastest([row for row in rows if row["backend"] == OWN[side] and (takes is None or takes(row))])
        peer = fastest([row for row in rows if row["backend"] != OWN[side]])
        if own and peer:
            yield Cell(key, clock, own, peer)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def clocks(side):
    return ("host", "device") if side == "gpu" else ("host",)


def means(report, side, totals=True):
    """A row per element type and op, and with `totals` one for all ops and one for the cases in which no peer's answer is incorrect: the cells with a time of
    grade D, and by each clock the geometric mean and the smallest ratio."""
    by_clock = {clock: list(cells(report, side, clock)) for clock in clocks(side)}
    disputed = {case_of(row) for row in of_peers(report, "incorrect") if row["side"] == side}
    heads = "".join(f" {clock} clock | smallest, at N |" for clock in by_clock)
    lines = [f"| type | op | cells | with ! |{heads}", "|---|---|---:|---:|" + "---:|" * (2 * len(by_clock))]
    ops = list(dict.fromkeys(cell.key[0] for cell in by_clock["host"]))
    for dtype in TYPES:
        groups = {op: lambda key, op=op: key[0] == op for op in ops}
        if totals:
            groups["all"] = lambda key: True
        if totals and any(key[1] == dtype for key in disputed):
            groups["all, where no peer is incorrect"] = lambda key: key not in disputed
        for op, holds in groups.items():
            of = {clock: [cell for cell in found if cell.key[1] == dtype and holds(cell.key)] for clock, found in by_clock.items()}
            if not of["host"]:
                continue
            marked = {cell.key for found in of.values() for cell in found if "!" in cell.mark}
            line = f"| {dtype} | {op} | {len(of['host'])} | {len(marked)} |"
            for found in ([cell for cell in of_clock if not cell.is_limited] for of_clock in of.values()):
                if not found:
                    line += " | |"
                    continue
                least = min(found, key=lambda cell: cell.ratio)
                where = f"{least.key[2]}" if op in ops else f"{least.key[0]} {least.key[2]}"
                line += f" {mean([cell.ratio for cell in found]):.2f} | {least.ratio:.2f}{least.mark} ({where}) |"
            lines.append(line)
    return "\n".join(lines)


def lost(report, side, takes=None):
    """The cells in which a peer is faster, beyond the interval of the ratio, the worst first."""
    found = [cell for clock in clocks(side) for cell in cells(report, side, clock, takes) if cell.high < 1 and not cell.is_limited]
    return sorted(found, key=lambda cell: cell.ratio)


# Losses that a sentence names, the worst.
MOST_LOSSES = 8


def losses(report, side, takes=None):
    """A sentence with the cells in which a peer is faster, beyond the interval of the ratio, the worst first."""
    clock = lambda cell: f"{cell.clock} clock " if side == "gpu" else ""
    texts = [f"{cell.key[0]} {cell.key[1]} N = {cell.key[2]} ({clock(cell)}{cell.ratio:.2f}{cell.mark}, {name(cell.theirs)})" for cell in lost(report, side, takes)]
    if texts:
        rest = f"; the other {len(texts) - MOST_LOSSES} are in the table of cells" if len(texts) > MOST_LOSSES else ""
        return f"Another library is faster, beyond the interval of the ratio, in {len(texts)} cell{'s' if len(texts) > 1 else ''}: {'; '.join(texts[:MOST_LOSSES])}{rest}."
    closest = min(cell.ratio for clock in clocks(side) for cell in cells(report, side, clock, takes))
    return "No other library is faster." if closest >= 1 else f"In no cell is another library faster beyond the interval of the ratio; the smallest ratio is {closest:.3f}."


def parts(report, side):
    """The tables of cells of a side, each with what its title adds: one per origin where all of gpubench's variants were measured."""
    rows = [row for row in report["rows"] if row["side"] == side and row["backend"] == OWN[side]]
    has_both = side == "gpu" and all(any(map(takes, rows)) for takes in ORIGINS.values())
    return [(f", {origin}", takes) for origin, takes in ORIGINS.items()] if has_both else [("", None)]


def all_cells(report):
    """Every cell of both sides, for a file of its own."""
    lines = [provenance(report), "", "A ratio is the peer's time over gpubench's: above 1, gpubench is faster. Ranges are 95 % intervals. "
             "!: a time of grade D, which is not reliable. *: a device time that its clock limits, below a microsecond or the events' constant.", ""]
    for side, clock, (origin, takes) in ((side, clock, of) for side in OWN for clock in clocks(side) for of in parts(report, side)):
        found = list(cells(report, side, clock, takes))
        if not found:
            continue
        lines += [f"## {side.upper()}, {clock} clock{origin}", "",
                  "| op | type | N | gpubench | time | fastest peer | its time | ratio | error / bound | peer's |",
                  "|---|---|---:|---|---:|---|---:|---:|---:|---:|"]
        for cell in found:
            op, dtype, n = cell.key
            errors = [f"{row['error']['value']:.1e} / {row['error']['bound']:.1e}" for row in (cell.ours, cell.theirs)]
            lines.append(f"| {op} | {dtype} | {n} | {name(cell.ours)} | {duration(cell.seconds)}{mark(cell.ours)} | {name(cell.theirs)} | "
                         f"{duration(cell.peer_seconds)}{mark(cell.theirs)} | {cell.ratio:.2f}{cell.mark} ({cell.low:.2f} to {cell.high:.2f}) | {errors[0]} | {errors[1]} |")
        lines.append("")
    return "\n".join(lines)


# Sizes that a sentence names; of more it has the number.
MOST_NAMED = 5


def multiples(value):
    return factor(value) if value < 1000 else f"{value:.0e}"


def of_peers(report, outcome):
    """The rows of peers with an outcome."""
    return [row for row in report["rows"] if row["outcome"] == outcome and row["backend"] not in OWN.values()]


def wrong(report):
    """The peers' calls whose answers were judged incorrect, with their sizes, or how many, and errors in multiples of the bound."""
    found = {}
    for row in of_peers(report, "incorrect"):
        found.setdefault((row["op"], row["dtype"], name(row)), []).append((row["n"], row["error"]["value"] / row["error"]["bound"]))
    texts = []
    for (op, dtype, call), of in found.items():
        sizes = f"N = {', '.join(str(n) for n, _ in of)}" if len(of) <= MOST_NAMED else f"{len(of)} sizes"
        least, most = (multiples(pick(multiple for _, multiple in of)) for pick in (min, max))
        span = least if least == most else f"{least} to {most}"
        texts.append(f"{op} {dtype} by {call}, {sizes} ({span} times the bound)")
    return "; ".join(texts) if texts else "none"


def failed(report):
    """The peers' calls that failed, with the time of the first call and whether its answer was correct."""
    def text(row):
        answer = "correct" if row["error"]["value"] <= row["error"]["bound"] else "incorrect"
        first = duration(row["phases"]["first_device_s"])
        return f"{row['op']} {row['dtype']} by {name(row)}, N = {row['n']} (its first call took {first}; that answer was {answer})"
    return [text(row) for row in of_peers(report, "failed")]


def provenance(report, rows=None):
    """Revision, machine, date, threads and libraries; says whether rows are missing, or whether one of these was cut short if they are given."""
    return " ".join(text for text in provenance_parts(report, rows) if text)


def provenance_parts(report, rows=None):
    """The parts of `provenance`: revision and date, machine and libraries, and what is missing."""
    environment = report["environment"]
    available = {backend["name"]: backend["description"] for backend in environment["backends"] if backend["available"]}
    machine = [environment["host"]["cpu"] + f", {environment['host']['threads']} threads"]
    if "cuda" in available:
        machine.insert(0, f"{available['cuda']['name']}, driver {available['cuda']['driver_version']}")
    versions = {}
    for backend, description in available.items():
        found = dict(description.get("versions", {}))
        if "blas" in found:
            found[f"BLAS of {backend}"] = found.pop("blas")
        versions.update(found)
    libraries = ", ".join(f"{library} {version.split(',')[0]}" for library, version in sorted(versions.items()))
    planned, measured = environment["planned_rows"], len(report["rows"])
    cut = sorted({row["op"] for row in rows or report["rows"] if (row.get("execute") or {}).get("stopped") == "cut-short"})
    partial = f"The run ended within {', '.join(cut)}: {planned - measured} of its {planned} rows are missing." if measured < planned and (cut or not rows) else ""
    return (f"gpubench {revision(environment)}, {environment['started'][:10]}.", f"{'; '.join(machine)}; {libraries}. Hot caches, operands resident.", partial)


def compared(rows):
    """The rows of cases that have one of gpubench. A run that ended early has cases with rows of libraries alone."""
    own = {case_of(row) for row in rows if row["backend"] in OWN.values()}
    return [row for row in rows if case_of(row) in own]


def joined():
    """The rows of the table of random sizes, as `rows` of a dictionary, the ops by source, and the machine of all."""
    parts, sources, machines = [], {}, {}
    for folder, takes in RANDOM.items():
        report = kept(folder)
        chosen = compared(list(filter(takes, report["rows"])))
        parts.append(chosen)
        when, where, partial = provenance_parts(report, chosen if takes else None)
        machines[where] = None
        ops = sources.setdefault(f"{when} {partial}".strip(), {})
        ops.update(dict.fromkeys(row["op"] for row in chosen))
    # Rows of one case from two runs would make one cell.
    of_cases = [{case_of(row) for row in chosen} for chosen in parts]
    assert sum(map(len, of_cases)) == len(set().union(*of_cases)), "two folders have a case in common"
    assert len(machines) == 1, "the runs have different machines"
    return {"rows": [row for chosen in parts for row in chosen]}, sources, next(iter(machines))


def without_time(report):
    """The calls of libraries that have no time."""
    calls = failed(report)
    return [f"Answers that were judged incorrect, and have no time: {wrong(report)}.",
            *(["", f"Calls that failed, and have no time: {'; '.join(calls)}."] if calls else [])]


def random_sizes():
    """The means at random sizes on the GPU, and the cells where a library is faster."""
    report, sources, machine = joined()
    return "\n".join([machine, "", origins(sources), "", means(report, "gpu", totals=False), "", losses(report, "gpu"), "", *without_time(report)])


@functools.cache
def from_csv(name):
    """A run of which only report.csv is kept, as a report of the fields that times need."""
    number = lambda text: float(text) if text else None
    with gzip.open(os.path.join(RESULTS, PEERS, name)) as file:
        rows = list(csv.DictReader(io.TextIOWrapper(file)))
    for row in rows:
        row["n"] = int(row["n"])
        row["execute"] = {"clock": row["clock"], "grade": row["grade"], **{name: number(row[name]) for name in ("median_s", "host_median_s")}, **{
            name: (number(row[f"{stem}_low_s"]), number(row[f"{stem}_high_s"])) for name, stem in (("ci95_s", "ci95"), ("host_ci95_s", "host_ci95"))
        }} if row["outcome"] == "measured" else None
    return {"rows": rows}


def runs():
    """The three runs of the comparison, the published one first."""
    return [kept(PEERS), *map(from_csv, OTHER_RUNS)]


class Mean:
    """The geometric mean of the ratios of an op and element type by a clock: in the published run, and its range over all of them.

    Cells whose device time its clock limits are left out, in every run those of the first."""

    def __init__(self, of_runs, op, dtype):
        first = [cell for cell in of_runs[0] if cell.key[:2] == (op, dtype) and not cell.is_limited]
        keys = {cell.key for cell in first}
        self.cells, self.least = len(first), min(first, key=lambda cell: cell.ratio, default=None)
        means = [mean([cell.ratio for cell in found if cell.key in keys]) for found in of_runs] if first else []
        self.value, self.low, self.high = (means[0], min(means), max(means)) if means else (None, None, None)

    def __str__(self):
        return f"{self.value:.2f} ({self.least.ratio:.2f}{self.least.mark} at {self.least.key[2]})" if self.cells else "–"

    @property
    def range(self):
        return f"{self.low:.2f} to {self.high:.2f}" if self.cells else "–"


def by_op(takes):
    """The means of each element type and op by clock, of gpubench's rows that `takes` chooses."""
    found = {clock: [list(cells(report, "gpu", clock, takes)) for report in runs()] for clock in clocks("gpu")}
    ops = list(dict.fromkeys(cell.key[0] for cell in found["host"][0]))
    return {(op, dtype): {clock: Mean(of_runs, op, dtype) for clock, of_runs in found.items()} for op in ops for dtype in TYPES}


# Headings of origins in the words of the screen.
HEADS = {"library or plain": "library or plain", "tuned": "own code"}


def summary():
    """A row per op in float32: the means of both origins by both clocks; and of both element types the number of cells in which a library is faster."""
    of_origins = {origin: by_op(takes) for origin, takes in ORIGINS.items()}
    heads = [f"{HEADS[origin]}: {clock} clock" for origin in of_origins for clock in clocks("gpu")]
    lines = [f"| op | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for op in dict.fromkeys(op for op, _ in next(iter(of_origins.values()))):
        lines.append(f"| {op} | {' | '.join(str(of[op, 'f32'][clock]) for of in of_origins.values() for clock in clocks('gpu'))} |")
    counts = []
    for origin, takes in ORIGINS.items():
        of_all, worse = (sum(1 for clock in clocks("gpu") for _ in cells(kept(PEERS), "gpu", clock, takes)), lost(kept(PEERS), "gpu", takes))
        counts.append(f"{len(worse) or 'none'} of {of_all} ratios of {HEADS[origin]}")
    apart = sorted((one.high / one.low - 1, op, dtype, one.cells) for of in of_origins.values() for (op, dtype), by_clock in of.items()
                   for one in by_clock.values() if one.cells)
    most, op, dtype, count = apart[-1]
    return "\n".join([*lines, "", f"One of the three is faster, beyond the interval of the ratio, in {' and in '.join(counts)}, counting both element types and "
                      f"clocks. Two further runs gave means that differ by {100 * apart[len(apart) // 2][0]:.1f} % (median) and at most {100 * most:.0f} % "
                      f"({op} {dtype}, the mean of {count} size{'s' if count > 1 else ''}). "
                      f"({measured_with(kept(PEERS)['environment'])}; [versions, all ratios, float64, random sizes and the CPU](docs/peers.md).)"])


def by_origin():
    """The means of both origins with their ranges over three runs, the cells where a library is faster, and the answers that were incorrect."""
    report = kept(PEERS)
    lines = [provenance(report)]
    for origin, takes in ORIGINS.items():
        heads = "".join(f" {clock} clock (smallest, at N) | three runs |" for clock in clocks("gpu"))
        lines += ["", f"gpubench's fastest variant of origin **{origin}** against the fastest call of CuPy, PyTorch and JAX:", "",
                  f"| op | type | cells |{heads}", "|---|---|---:|" + "---:|" * (2 * len(clocks("gpu")))]
        for (op, dtype), by_clock in by_op(takes).items():
            if any(one.cells for one in by_clock.values()):
                texts = " | ".join(f"{one} | {one.range}" for one in by_clock.values())
                lines.append(f"| {op} | {dtype} | {by_clock['host'].cells} | {texts} |")
        lines += ["", losses(report, "gpu", takes)]
    return "\n".join([*lines, "", *without_time(report)])


def of_larger_cpu():
    """The means on the CPU of the machine with the GPU, and the cells where a library is faster."""
    report = on_both()
    return "\n".join([provenance(report), "", means(report, "cpu"), "", losses(report, "cpu")])
