"""Programs on the CPU, with calls moved to a GPU by hand, and what `gpubench advise` says of them."""
import csv, gzip, json, math, os, statistics

from . import program
from .kept import RESULTS, report

FOLDER = os.path.join("results", "h200", "programs")
WHAT = {
    "pca": "scikit-learn, 8 principal component analyses of 10 000 x 400",
    "ridge": "scikit-learn, 12 ridge regressions of 10 000 x 2000",
    "ols": "statsmodels, 12 least squares fits of 100 000 x 60",
    "deblur": "scikit-image, 15 steps of Richardson-Lucy on 1500 x 1500",
}


def totals(name):
    folder = os.path.join(FOLDER, name)
    return json.loads(program.printed(["advise", os.path.join(folder, "calls.json"), "--report", folder, "--format", "json"]))["totals"]


def programs():
    """Per program: the time of its recorded run, what is predicted to be saved from it, and the mean of two runs on the GPU."""
    lines = ["| program | recorded calls | CPU | predicted: best CPU library | predicted: GPU, calls copy | by hand on the GPU | predicted / measured |",
             "|---|---:|---:|---:|---:|---:|---:|"]
    differences = []
    for line in open(os.path.join(RESULTS, "h200", "programs", "times.jsonl")):
        measured = json.loads(line)
        differences.append(max(measured["cpu_s"]) / min(measured["cpu_s"]) - 1)
        name, found = measured["program"], totals(measured["program"])
        alone = measured["cpu_s"][-1]
        moved = lambda kind: alone - found["elapsed_s"] + found[kind]["value"]
        on_gpu = sum(measured["gpu_s"]) / len(measured["gpu_s"])
        lines.append(f"| `{name}`: {WHAT[name]} | {100 * found['recorded_s'] / found['elapsed_s']:.0f} % | {alone:.2f} s | {moved('best_cpu_s'):.2f} s | "
                     f"{moved('with_copies_s'):.2f} s | {on_gpu:.2f} s | {moved('with_copies_s') / on_gpu:.2f} |")
    return "\n".join([*lines, "", f"Two runs of one program on the CPU differ by up to {100 * max(differences):.0f} %."])


def shape_text(row):
    """A shape as `report.csv` has it: `4096x512x64 batch 10 nt`."""
    words = [("x", []), (" ", [])]
    for name, value in row["shape"].items():
        words[name in ("rhs", "batch", "layout")][1].append(str(value) if name not in ("rhs", "batch") else f"{name} {value}")
    return " ".join(filter(None, (joint.join(parts) for joint, parts in words)))


def repeated():
    """How far a second measurement of some problems is from the first, by the variants that both have."""
    first, second = {}, {}
    for row in report("h200", "problems")["rows"]:
        if row.get("execute") and row.get("shape"):
            first.setdefault((row["op"], row["dtype"], shape_text(row)), {})[row["backend"], row["variant"]] = row["execute"]["median_s"]
    with gzip.open(os.path.join(RESULTS, "h200", "problems", "second.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            second.setdefault((row["op"], row["dtype"], row["shape"]), {})[row["backend"], row["variant"]] = float(row["median_s"])
    changes, costs, both = {"cpu": [], "cuda": []}, [], 0
    for problem in first.keys() & second.keys():
        variants = first[problem].keys() & second[problem].keys()
        fastest = lambda run, side: min((run[problem][variant] for variant in variants if variant[0] == side), default=None)
        times = {side: (fastest(first, side), fastest(second, side)) for side in changes}
        for side, pair in times.items():
            if pair[0]:
                changes[side].append(abs(math.log(pair[1] / pair[0])))
        if times["cpu"][0] and times["cuda"][0]:
            both += 1
            (cpu, cpu_again), (gpu, gpu_again) = times["cpu"], times["cuda"]
            if (cpu < gpu) != (cpu_again < gpu_again):
                costs.append(max(cpu_again, gpu_again) / min(cpu_again, gpu_again))
    percent = lambda change: f"{100 * math.expm1(change):.2g}%"
    half = {side: percent(statistics.median(all_of)) for side, all_of in changes.items()}
    most = {side: percent(sorted(all_of)[int(0.9 * len(all_of))]) for side, all_of in changes.items()}
    return (f"Of these problems, {both} products and transforms were measured a second time, on another machine of the same kind. The fastest call's time "
            f"differs from the first by a median of {half['cpu']} on the CPU and {half['cuda']} on the GPU (one in ten by more than {most['cpu']} and {most['cuda']}), "
            f"and the faster side was the other one in {len(costs)}, {sum(cost >= 1.5 for cost in costs)} of them at a cost of 1.5 times or more. A prediction cannot be held to less than that.")
