#!/usr/bin/env python3
"""Write every table of README.md and docs/ and every derived file of results/ from the kept reports.

usage: figures.py GPUBENCH [--check]        GPUBENCH: the program, which prints the screens and draws the charts

A block of a page begins with `<!-- figures: NAME -->` and ends with `<!-- end of figures -->`; this script replaces the text
between. With --check it writes nothing, and exits with an error if a file would change: pages and kept reports disagree.
"""
import os, re, subprocess, sys, tempfile

from tables import article, lessons, libraries, own, program, programs, rules, screens, soak
from tables.kept import ROOT, report

PAGES = ("README.md", "docs/advise.md", "docs/article.md", "docs/kernels/cholesky.md", "docs/kernels/ozaki2-int8.md", "docs/kernels/svd_jacobi.md", "docs/lessons.md",
         "docs/limits-of-the-method.md", "docs/measurement.md", "docs/own-operation.md", "docs/peaks.md", "docs/peers.md", "docs/shapes.md", "docs/soak.md", "docs/variants.md")
BLOCKS = {
    "provenance": article.provenance, "largest": article.largest_with_provenance, "wins": article.wins, "compared": article.compared,
    "clock_checks": article.clock_checks,
    "machine_quality": article.machine_quality, "matmul_peaks": article.matmul_peaks, "second_run": article.second_run, "screen": screens.screen, "shapes": screens.shapes, "predictions": screens.predictions, "programs": programs.programs, "repeated": programs.repeated, "advised": screens.advised, "lessons": lessons.lessons,
    "peers_short": libraries.summary, "cpu_libraries_larger": libraries.of_larger_cpu,
    "small_solves": lambda: rules.small_batches("solve"), "small_svds": lambda: rules.small_batches("svd"),
    "single_solves": lambda: rules.small_sizes("solve", (8, 32, 64), "cholesky", "potrf"), "single_svds": lambda: rules.small_sizes("svd", (8, 16, 21, 22, 26, 28, 64), "jacobi", "gram"),
    "ozaki2": rules.ozaki2, "irregular": rules.irregular,
    "peers": libraries.by_origin, "peers_random": libraries.random_sizes,
    "soak_run": soak.run, "own_examples": own.examples, "own_agreement": own.agreement,
}
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
# The charts that pages show, by folder.
CHARTS = {
    "h200/article": ("overview.png", "roofline-cuda-f32.png", "speedup-fft-f32.png", "throughput-matmul-f32.png"),
    "h200/article-python": ("overview.png",),
}


def pages():
    for page in PAGES:
        text = open(os.path.join(ROOT, page)).read()
        yield page, BLOCK.sub(lambda found: f"{found[1]}{BLOCKS[found[2]]()}\n{found[3]}", text).encode()


def cells():
    """Every cell of each comparison with other libraries."""
    for folder in libraries.KEPT:
        yield os.path.join("results", folder, "cells.md"), libraries.all_cells(report(folder)).encode()


def charts():
    for name, shown in CHARTS.items():
        report = os.path.join("results", name)
        with tempfile.TemporaryDirectory() as folder:
            kinds = ",".join(sorted({re.match("[a-z]+", chart)[0] for chart in shown}))
            subprocess.run([program.path(), "plot", report, "--out", folder, "--format", "png", "--charts", kinds], cwd=ROOT, check=True, capture_output=True)
            for chart in shown:
                yield os.path.join(report, chart), open(os.path.join(folder, chart), "rb").read()


def main():
    check = "--check" in sys.argv
    changed = []
    for file, made in (*pages(), *cells(), *charts()):
        path = os.path.join(ROOT, file)
        if not os.path.exists(path) or open(path, "rb").read() != made:
            changed.append(file)
            if not check:
                open(path, "wb").write(made)
    if check and changed:
        sys.exit(f"{', '.join(changed)}: differ from the reports in results/; run results/figures.py {sys.argv[1]}")


main()
