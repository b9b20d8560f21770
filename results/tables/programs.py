"""Programs on the CPU, with calls moved to a GPU by hand, and what `gpubench advise` says of them."""
import json, os

from . import program
from .kept import RESULTS

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
