"""The article's sweep: speed-ups, and the article's own figures next to ours."""
import json, os, re

from .kept import ROOT, report, row_of
from .text import duration, factor, side, with_interval

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

# The routine of NVIDIA's libraries for each op that has one.
# cuSOLVER's usual routine for svd; the fastest right one is for approximations of low rank.
USUAL_SVD = "gesvd"


def article():
    return report("h200", "article")


def sizes():
    """Op, size, and what the report's answer says of it; planned sizes only."""
    for section in article()["answer"]["sections"]:
        for size in section["sizes"]:
            if size["n"] in PUBLISHED[section["op"]]:
                yield section["op"], size["n"], size


def doer(*cell):
    row = row_of(article(), *cell)
    return row.get("picked") or row["variant"]


def provenance():
    environment = article()["environment"]
    cpu, cuda = (next(b for b in environment["backends"] if b["name"] == name) for name in ("cpu", "cuda"))
    names = sorted({f"{lib['name'].split(' ')[0]} {re.search(r'[0-9]+([.][0-9]+)+', lib['version'])[0]}"
                    for lib in cpu["libraries"] if lib["version"]})
    gpu = cuda["description"]
    return (f"gpubench {environment['gpubench_revision']}, {environment['started'][:10]}: {gpu['name']} (driver "
            f"{gpu['driver_version']}, CUDA {gpu['cuda_version']}) against {environment['host']['cpu']}, "
            f"{cpu['description']['threads']} threads ({', '.join(names)}). Float32, cold caches, medians. Best GPU: by the "
            f"device's clock; best CPU: by the host's.{warnings(environment)}")


def warnings(environment):
    """The warnings of the run, which limit what its figures mean."""
    return "".join(f" The run warned: {warning['text'].rstrip('.')}." for warning in environment.get("warnings", []))


def clock_checks():
    """The device clock's readings of spins of known duration, and the overhead that the run measured."""
    overhead = next(b for b in article()["environment"]["backends"] if b["name"] == "cuda")["timer_overhead"]
    micro = lambda seconds: f"{seconds * 1e6:.3f} µs"
    lines = ["| real duration | events read | reported, cold |", "|---:|---:|---:|"]
    lines += [f"| {micro(check['spun_s'])} | {micro(check['events_s'])} | {micro(check['device_s'])} |" for check in overhead["checks"]]
    return "\n".join([*lines, "", f"The constant is {overhead['event_constant_s'] * 1e6:.2f} µs there. Two events alone read "
                      f"{overhead['clock_s'] * 1e6:.2f} µs and an empty kernel {overhead['empty_kernel_s'] * 1e6:.2f} µs. Launching an "
                      f"empty kernel and `cuStreamSynchronize` take {overhead['launch_sync_s'] * 1e6:.2f} µs by the host's clock."])


def machine_quality():
    """The grades of the CPU times, how unequal the cores were, and the rates of copies."""
    environment = article()["environment"]
    of = {backend["name"]: backend for backend in environment["backends"]}
    grades = [row["execute"]["grade"] for row in article()["rows"] if row["side"] == "cpu" and row.get("execute")]
    speeds = of["cpu"]["timer_overhead"]["thread_speeds"]
    copies = {memory: [of["cuda"]["peaks"][way][memory] / 1e9 for way in ("upload", "download")] for memory in ("pageable", "pinned")}
    return (f"In the article sweep, {sum(grade in 'CD' for grade in grades)} of {len(grades)} CPU times have grade C or D. One core was "
            f"{factor(speeds['slowest_s'] / speeds['fastest_s'])} times as slow as another when the run started, and copies reached "
            f"{min(copies['pageable']):.0f} to {max(copies['pageable']):.0f} GB/s with pageable and {min(copies['pinned']):.0f} with pinned memory.")


def largest():
    """A row per op: the speed-ups at its largest size."""
    lines = ["| op | N | best CPU | best GPU | data stays: device clock | data stays: host clock | copied each call: pageable | copied each call: pinned |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    last = {op: (n, size["speed_ups"]) for op, n, size in sizes()}
    for op, (n, of) in last.items():
        kernel, cells, grades = of["kernel"], [], []
        for key, backend in (("cpu", "cpu"), ("gpu", "cuda")):
            row = row_of(article(), op, n, backend, kernel[key])
            grades.append(row["execute"]["grade"])
            cells.append(f"{duration(kernel[f'{key}_s']['value'])} {row.get('picked') or row['variant']}, {grades[-1]}")
        cells += [with_interval(of[kind]["ratio"], "D" in grades) for kind in ("kernel", "resident", "end_to_end", "end_to_end_pinned")]
        lines.append(f"| {op} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def largest_with_provenance():
    return f"{largest()}\n\n{provenance()}"


def usual_svd():
    """The speed-up of svd by cuSOLVER's usual routine."""
    n, of = next((n, size["speed_ups"]["kernel"]) for op, n, size in reversed(list(sizes())) if op == "svd")
    by = lambda variant: of["cpu_s"]["value"] / row_of(article(), "svd", n, "cuda", variant)["execute"]["median_s"]
    usual, default = (side(dict(value=ratio, low=ratio, high=ratio)) for ratio in (by(USUAL_SVD), by("gesvdj")))
    return (f"svd, with all vectors, is by {of['gpu']}, cuSOLVER's routine for approximations, whose answers pass LAPACK's tests here and which PyTorch calls "
            f"with `driver=\"{of['gpu']}\"`. With cuSOLVER's usual {USUAL_SVD}, which CuPy calls, svd is {usual} where "
            f"data stays on the GPU, and with gesvdj, which PyTorch calls by default, {default}.")


def wins():
    """How many of the cases each side wins, by kind of speed-up."""
    parts = []
    for kind, words in (("end_to_end", "With copies in each call"), ("resident", "where data stays, by the host clock,"), ("kernel", "by the device clock")):
        of = [size["speed_ups"][kind]["ratio"] for _, _, size in sizes() if kind in size["speed_ups"]]
        gpu, cpu = sum(r["low"] > 1 for r in of), sum(r["high"] < 1 for r in of)
        even = len(of) - gpu - cpu
        parts.append(f"{words} the GPU is faster in {gpu} of {len(of)} cases and the CPU in {cpu}"
                     + (f" ({even} even)" if even else ""))
    return "; ".join(parts) + "."


def compared():
    lines = ["| op | N | article: CPU | GPU | speed-up | ours: CPU | GPU | copied each call | data stays: host clock | data stays: device clock |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for op, n, size in sizes():
        cpu, gpu = (ms / 1e3 for ms in PUBLISHED[op][n])
        of = size["speed_ups"]
        published = f"GPU {cpu / gpu:.2g}x" if cpu > gpu else f"CPU {gpu / cpu:.2g}x"
        if cpu / gpu >= 100:
            published = f"GPU {cpu / gpu:.0f}x"
        cells = [duration(cpu), duration(gpu), published]
        kernel = of["kernel"]
        cells += [f"{duration(kernel[f'{key}_s']['value'])} ({doer(op, n, backend, kernel[key])})"
                  for key, backend in (("cpu", "cpu"), ("gpu", "cuda"))]
        cells += [side(of[kind]["ratio"]) if kind in of else "–" for kind in ("end_to_end", "resident", "kernel")]
        lines.append(f"| {op} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def matmul_peaks():
    """The peaks of cuBLAS in both element types."""
    peaks = next(b for b in article()["environment"]["backends"] if b["name"] == "cuda")["peaks"]["matmul"]
    return f"In `results/h200/article` cuBLAS reached {peaks['f64'] / 1e12:.0f} TFLOP/s in float64 and {peaks['f32'] / 1e12:.0f} in float32."


def second_run():
    """How far two runs in a row differ, by side."""
    runs = [json.load(open(os.path.join(ROOT, "tests", "fixtures", "quick", run, "report.json"))) for run in ("first", "second")]
    times = [{(row["op"], row["n"], row["backend"], row["variant"]): row for row in run["rows"] if row.get("execute")} for run in runs]
    lines = ["| rows | agree within | rows that do | largest difference |", "|---|---:|---:|---:|"]
    for side, within in (("gpu", 0.01), ("cpu", 0.03)):
        pairs = [[one[key]["execute"]["median_s"] for one in times] for key in times[0] if key in times[1] and times[0][key]["side"] == side]
        apart = [max(pair) / min(pair) - 1 for pair in pairs]
        lines.append(f"| {side.upper()} | {100 * within:.0f} % | {sum(one <= within for one in apart)} of {len(apart)} | {100 * max(apart):.2g} % |")
    return "\n".join(lines)
