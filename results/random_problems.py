#!/usr/bin/env python3
"""Print random problems of both element types for `gpubench run --problems FILE`: those by which predictions of `advise` are verified.

usage: random_problems.py SEED COUNT > problems.jsonl       COUNT: problems of all ops together

Shapes are drawn as by random_shapes.py, and again where a CPU would take too long: so that hundreds are measured in minutes.
"""
import json, math, random, sys

from random_shapes import dimensions

# Per op: the most operations of one problem of a batch, times the problems.
MOST = {
    "matmul": (2e10, lambda m, n, k: 2 * m * n * k),
    "elementwise": (2e7, lambda rows, cols: rows * cols),
    "reduction": (4e7, lambda rows, cols: rows * cols),
    "fft": (8e6, lambda *extents: math.prod(extents)),
    "solve": (5e9, lambda n, rhs: n**3 / 3 + 2 * n * n * rhs),
    "svd": (1e9, lambda m, n: 20 * m * n * min(m, n)),
}


def problem(draw, op):
    """Returns a problem of an op as a line of `--problems`."""
    most, work = MOST[op]
    while True:
        # All elements of a matrix are reduced.
        dims = {name: value for name, value in dimensions(draw, op).items() if name != "axis"}
        sides = [value for name, value in dims.items() if name not in ("layout", "batch")]
        if dims.get("batch", 1) * work(*sides) <= most:
            return json.dumps({"op": op, "dtype": draw.choice(["f32", "f64"]), **dims})


draw = random.Random(int(sys.argv[1]))
for index in range(int(sys.argv[2])):
    print(problem(draw, list(MOST)[index % len(MOST)]))
