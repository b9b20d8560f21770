#!/usr/bin/env python3
"""Print a sweep of random sizes that compares `auto` with CuPy, PyTorch and JAX, for `gpubench run --config FILE`.

usage: random_sizes.py SEED [COUNT [OP ...]]        COUNT: sizes per op, 30 without it; OP: only these ops, with the same sizes

The article's sizes are those at which gpubench was tuned; another seed gives other sizes. They have uniform logarithms, so there
are as many small ones as large ones.
"""
import random, sys

LARGEST = {"matmul": 16384, "elementwise": 16384, "reduction": 16384, "fft": 4096, "solve": 4096, "spgemm": 4096, "svd": 4096}
# What every such sweep has in common, after the line that says how it was made.
SETTINGS = """\
# {made}.

dtypes = ["f32", "f64"]
cache = "hot"
backends = ["cuda", "cupy", "torch", "jax"]
max-time = "100ms"
rounds = 3
refine = false
versus = "cupy:cuda"
# The comparison is of data on the device. Copies of ordinary memory would take a quarter of the run.
transfer = "pinned"
"""
SWEEP = """
[[sweep]]
ops = ["{op}"]
sizes = {sizes}
"""


def settings(what, script, count):
    """Returns the beginning of a sweep file."""
    return SETTINGS.format(made="%d random %s per op, by results/%s %s" % (count, what, script, " ".join(sys.argv[1:])))


def sizes(draw, largest, count):
    """Returns different sizes from 1 to `largest`, in ascending order."""
    found = set()
    while len(found) < count:
        found.add(round(largest ** draw.random()))
    return sorted(found)


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 30
    draw, ops = random.Random(seed), sys.argv[3:] or list(LARGEST)
    print(settings("sizes", "random_sizes.py", count), end="")
    for op, largest in LARGEST.items():
        drawn = sizes(draw, largest, count)
        if op in ops:
            print(SWEEP.format(op=op, sizes=drawn), end="")


if __name__ == "__main__":
    main()
