#!/usr/bin/env python3
"""Write the figures of README.md and docs/ from the files in results/, between markers.

usage: figures.py GPUBENCH [--check]        GPUBENCH: the program, which prints the screens

A block of a page begins with `<!-- figures: NAME -->` and ends with `<!-- end of figures -->`; what is between is
replaced. With --check nothing is written, and a page that would change is an error: figures and files disagree.
"""
import glob, importlib.util, json, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
ARTICLE = os.path.join(HERE, "h200", "article")
PEERS = os.path.join(HERE, "h200", "peers")
CPU_PEERS = os.path.join(HERE, "cpu", "peers")
PAGES = ("README.md", "docs/article.md", "docs/peers.md", "docs/reading.md")
sys.path.insert(0, PEERS)
import ratios  # noqa: E402

# The article's own times in ms, CPU and GPU, as published.
PUBLISHED = {
    "matmul": {100: (0.58, 0.06), 500: (20.66, 0.08), 1000: (39.64, 0.09), 5000: (356.95, 3.94), 10000: (1844.69, 30.13)},
    "elementwise": {100: (0.32, 0.06), 500: (1.74, 0.06), 1000: (7.82, 0.06), 5000: (295.74, 1.15), 10000: (1184.07, 5.57)},
    "reduction": {100: (0.31, 0.12), 500: (0.86, 0.26), 1000: (3.67, 0.55), 5000: (150.00, 17.86), 10000: (579.59, 85.83)},
    "fft": {100: (0.24, 0.11), 500: (1.34, 0.09), 512: (1.77, 0.07), 1024: (8.17, 0.09), 2048: (38.33, 0.15)},
    "solve": {100: (0.53, 0.39), 500: (3.61, 0.99), 512: (2.57, 0.96), 1024: (105.51, 2.00), 2048: (171.70, 4.84)},
    "spgemm": {100: (0.81, 2.37), 500: (4.51, 3.55), 512: (4.36, 3.29), 1024: (17.88, 3.97), 2048: (98.44, 4.09)},
    "svd": {100: (124.44, 5.11), 500: (735.54, 30.26), 512: (765.53, 31.54), 1024: (114.06, 84.09), 2048: (591.56, 237.68)},
}


def duration(seconds):
    for unit, scale in (("µs", 1e6), ("ms", 1e3), ("s", 1.0)):
        text = f"{seconds * scale:.3g}"
        if float(text) < 1000:
            return f"{text} {unit}"


def side(ratio):
    """The faster side and its speed-up; no side where the interval includes 1."""
    value, low, high = (ratio[key] for key in ("value", "low", "high"))
    text = f"{'GPU' if value >= 1 else 'CPU'} {factor(max(value, 1 / value))}x"
    return f"even ({text})" if low <= 1 <= high else text


def factor(value):
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def bound(value):
    """An end of an interval; near 1 with the digits that show on which side of 1 it is."""
    return f"{value:.2f}" if value < 2 else factor(value)


def with_interval(ratio, doubtful):
    """As `side`, with the 95 % interval of the speed-up; a question mark where a time cannot be relied on."""
    low, high = ratio["low"], ratio["high"]
    if ratio["value"] < 1:
        low, high = 1 / high, 1 / low
    return f"{side(ratio)}{'?' * doubtful} [{bound(low)}–{bound(high)}]"


def article():
    return json.load(open(os.path.join(ARTICLE, "report.json")))


def sizes(report):
    """Op, size, and what the report's answer says of it; planned sizes only."""
    for section in report["answer"]["sections"]:
        for size in section["sizes"]:
            if size["n"] in PUBLISHED[section["op"]]:
                yield section["op"], size["n"], size


def row_of(report, op, n, backend, variant):
    return next(row for row in report["rows"]
                if (row["op"], row["n"], row["backend"], row["variant"]) == (op, n, backend, variant))


def doer(report, *cell):
    row = row_of(report, *cell)
    return row.get("picked") or row["variant"]


def provenance(report, _):
    environment = report["environment"]
    cpu, cuda = (next(b for b in environment["backends"] if b["name"] == name) for name in ("cpu", "cuda"))
    names = sorted({f"{lib['name'].split(' ')[0]} {re.search(r'[0-9]+([.][0-9]+)+', lib['version'])[0]}"
                    for lib in cpu["libraries"] if lib["version"]})
    gpu = cuda["description"]
    return (f"gpubench {environment['gpubench_revision']}, {environment['started'][:10]}: {gpu['name']} (driver "
            f"{gpu['driver_version']}, CUDA {gpu['cuda_version']}) against {environment['host']['cpu']}, "
            f"{cpu['description']['threads']} threads ({', '.join(names)}). Float32, cold caches, medians. GPU times by the "
            f"device's clock, CPU times by the host's.")


def largest(report, _):
    """A row per op: the speed-ups at its largest size."""
    lines = ["| op | N | best CPU | best GPU | kernel | resident | end to end |", "|---|---:|---:|---:|---:|---:|---:|"]
    last = {op: (n, size["speed_ups"]) for op, n, size in sizes(report)}
    for op, (n, of) in last.items():
        kernel, cells, grades = of["kernel"], [], []
        for key, backend in (("cpu", "cpu"), ("gpu", "cuda")):
            row = row_of(report, op, n, backend, kernel[key])
            grades.append(row["execute"]["grade"])
            cells.append(f"{duration(kernel[f'{key}_s']['value'])} {row.get('picked') or row['variant']}, {grades[-1]}")
        cells += [with_interval(of[kind]["ratio"], "D" in grades) for kind in ("kernel", "resident", "end_to_end")]
        lines.append(f"| {op} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def wins(report, _):
    """How many of the cells each side wins, by kind of speed-up."""
    parts = []
    for kind, words in (("end_to_end", "End to end"), ("resident", "with the data on the device"), ("kernel", "by the kernel alone")):
        of = [size["speed_ups"][kind]["ratio"] for _, _, size in sizes(report) if kind in size["speed_ups"]]
        gpu, cpu = sum(r["low"] > 1 for r in of), sum(r["high"] < 1 for r in of)
        even = len(of) - gpu - cpu
        parts.append(f"{words} the GPU is faster in {gpu} of {len(of)} cells and the CPU in {cpu}"
                     + (f" ({even} even)" if even else ""))
    return "; ".join(parts) + "."


def beside(report, _):
    lines = ["| op | N | article: CPU | GPU | speed-up | ours: CPU | GPU | end to end | resident | kernel |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for op, n, size in sizes(report):
        cpu, gpu = (ms / 1e3 for ms in PUBLISHED[op][n])
        of = size["speed_ups"]
        published = f"GPU {cpu / gpu:.2g}x" if cpu > gpu else f"CPU {gpu / cpu:.2g}x"
        if cpu / gpu >= 100:
            published = f"GPU {cpu / gpu:.0f}x"
        cells = [duration(cpu), duration(gpu), published]
        kernel = of["kernel"]
        cells += [f"{duration(kernel[f'{key}_s']['value'])} ({doer(report, op, n, backend, kernel[key])})"
                  for key, backend in (("cpu", "cpu"), ("gpu", "cuda"))]
        cells += [side(of[kind]["ratio"]) if kind in of else "–" for kind in ("end_to_end", "resident", "kernel")]
        lines.append(f"| {op} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def shares(report, _):
    """The share of the measured peaks that the best variant of each side reaches, with the grade of its time."""
    lines = ["| op | N | CPU | % of peak | grade | GPU | % of peak | grade |", "|---|---:|---|---:|---|---|---:|---|"]
    for op, n, size in sizes(report):
        cells = []
        for key, backend in (("cpu", "cpu"), ("gpu", "cuda")):
            variant, limit = size["speed_ups"]["kernel"][key], size["limits"].get(key)
            percent = 100 * limit["share"] if limit else None
            share = "–" if percent is None else f"{percent:.0f}" if percent >= 9.95 else f"{percent:.2g}"
            grade = row_of(report, op, n, backend, variant)["execute"]["grade"]
            cells += [doer(report, op, n, backend, variant), share, grade]
        lines.append(f"| {op} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def shown(program, *options):
    command = [program, "show", os.path.relpath(ARTICLE, ROOT), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.rstrip("\n")


def screen(report, program):
    return f"```text\n$ {command(report)}\n{shown(program)}\n```"


def command(report):
    """The command line of a run without its output options; of a long list the first two names."""
    words = iter(report["environment"]["argv"][1:])
    kept = ["gpubench"]
    for word in words:
        if word in ("--out", "--format"):
            next(words)
        else:
            names = word.split(",")
            kept.append(word if len(names) < 4 else ",".join([*names[:2], "..."]))
    return " ".join(kept)


def table(_, program):
    text = shown(program, "--tables")
    found = re.search(r"^spgemm f32.*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)
    return f"```text\n{found.group(0)}\n```"


def peers():
    files = [os.path.join(PEERS, f"{name}.json") for name in ("cupy", "torch", "jax")]
    return ratios.load(os.path.join(PEERS, "report.json"), files)


def peer_means(*_):
    report, files, found = peers()
    lines = [f"{ratios.provenance(report, files)}. Hot caches, operands resident; the peers' answers were not checked.", "",
             "| type | op | cells | host clock | smallest, at N | device clock | smallest, at N |", "|---|---|---:|---:|---:|---:|---:|"]
    for dtype, op, count, device, least, where, host, host_least, host_where in ratios.means(found):
        lines.append(f"| {dtype} | {op} | {count} | {host:.2f} | {host_least:.2f} ({host_where}) | {device:.2f} | {least:.2f} ({where}) |")
    lines += ["", f"A peer is faster in: {losses(found)}."]
    return "\n".join(lines)


def peer_summary(*_):
    """A row per op, wall clock first: geometric mean and smallest ratio of both element types."""
    report, files, found = peers()
    lines = ["| op | float32, wall clock | float32, device | float64, wall clock | float64, device |", "|---|---:|---:|---:|---:|"]
    by_op = {}
    for dtype, op, _, device, least, where, host, host_least, host_where in ratios.means(found):
        by_op.setdefault(op, {})[dtype] = (f"{host:.2f} ({host_least:.2f} at {host_where})", f"{device:.2f} ({least:.2f} at {where})")
    for op, of in by_op.items():
        lines.append(f"| {op} | {' | '.join(cell for dtype in ('f32', 'f64') for cell in of[dtype])} |")
    return "\n".join([*lines, "", f"A peer is faster in: {losses(found)}. ({ratios.provenance(report, files)}.)"])


def losses(found):
    lost = [f"{op} {dtype} N = {n} ({clock} clock {ratio:.2f}, {name})" for ratio, clock, op, dtype, n, name in ratios.losses(found)]
    return "; ".join(lost) if lost else "no cell"


def cpu_ratios():
    """results/cpu/peers/ratios.py, which bears the name of the GPU's script."""
    spec = importlib.util.spec_from_file_location("cpu_ratios", os.path.join(CPU_PEERS, "ratios.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cpu_peers(*_):
    """A row per file, peer and element type, then a row per file with its machine; files without a revision are left out."""
    cpu, figures, machines, unknown = cpu_ratios(), [], [], []
    for path in sorted(glob.glob(os.path.join(CPU_PEERS, "*.json"))):
        name, measured = os.path.basename(path)[:-len(".json")], json.load(open(path))
        if not measured["gpubench"]["revision"]:
            unknown.append(f"`{name}`")
            continue
        link = f"[{name}](../results/cpu/peers/{name}.md)"
        for peer, libraries in cpu.PEERS.items():
            for dtype in ("float32", "float64"):
                cells = list(cpu.pairs(measured, libraries, dtype))
                if cells:
                    figures.append(f"| {link} | {peer} | {dtype} | {cpu_figures(cpu, cells)} |")
        machines.append(f"| {name} | {cpu_machine(measured)} |")
    lines = ["| file | peer | type | cells | rounds | " + " | ".join(cpu.OPS) + " | all | least | least of a round |",
             "|---|---|---|---:|---:|" + "---:|" * len(cpu.OPS) + "---:|---:|---:|", *figures, "",
             "| file | processor | threads | date | gpubench, its libraries | peers |", "|---|---|---:|---|---|---|", *machines]
    if unknown:
        lines += ["", f"Left out, because they do not name the revision of gpubench: {', '.join(unknown)}."]
    return "\n".join(lines)


def cpu_figures(cpu, cells):
    """Cells, rounds, the geometric mean of each op and of all, the least median ratio and the least of a single round."""
    counts = [ratio.rounds for _, _, ratio in cells]
    rounds = f"{min(counts)}–{max(counts)}" if min(counts) < max(counts) else f"{counts[0]}"
    means = []
    for op in cpu.OPS:
        values = [ratio.value for its, _, ratio in cells if its == op]
        means.append(f"{cpu.mean(values):.2f} ({len(values)})" if values else "–")
    op, n, least = min(cells, key=lambda cell: cell[2].value)
    worst = min(cells, key=lambda cell: cell[2].least)
    return " | ".join([str(len(cells)), rounds, *means, f"**{cpu.mean([ratio.value for _, _, ratio in cells]):.2f}**",
                       f"{least.value:.2f} ({op} {n})", f"{worst[2].least:.2f} ({worst[0]} {worst[1]})"])


def cpu_machine(measured):
    """Processor, threads, date, and the versions of both sides."""
    gpubench = measured["gpubench"]
    ours = sorted({f"{lib['name'].split(' ')[0]} {re.search(r'[0-9]+([.][0-9]+)+', lib['version'])[0]}" for lib in gpubench["libraries"]})
    theirs = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    return (f"{measured['processor']}, {gpubench['description']['simd']}, {measured['processors']} hardware threads | {measured['threads']} | "
            f"{(gpubench['ceilings'] or {}).get('measured', '–')[:10]} | {gpubench['revision'][:7]}; {', '.join(ours)} | {theirs}")


BLOCKS = {"provenance": provenance, "largest": largest, "wins": wins, "beside": beside, "screen": screen,
          "table": table, "peers": peer_means, "peers_short": peer_summary, "cpu_peers": cpu_peers,
          "shares": shares}
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def main():
    program, check = os.path.abspath(sys.argv[1]), "--check" in sys.argv
    report, changed = article(), []
    for page in PAGES:
        path = os.path.join(ROOT, page)
        before = open(path).read()
        after = BLOCK.sub(lambda found: f"{found[1]}{BLOCKS[found[2]](report, program)}\n{found[3]}", before)
        if after != before:
            changed.append(page)
            if not check:
                open(path, "w").write(after)
    if check and changed:
        sys.exit(f"{', '.join(changed)}: figures differ from the files in results/; run results/figures.py {sys.argv[1]}")


main()
