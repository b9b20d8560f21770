#!/usr/bin/env python3
"""Print a sweep of random shapes that compares `auto` with CuPy, PyTorch and JAX, for `gpubench run --config FILE`.

usage: random_shapes.py SEED [COUNT [OP ...]]       COUNT: shapes per op, 60 without it; OP: only these ops, with the same shapes

Dimensions have uniform logarithms, batches are 1 to 10000. A shape whose float64 operands exceed 1 GiB is drawn again.
"""
import math, random, sys

from random_sizes import settings

# Per op: the largest value of each dimension, and the elements of all operands of one problem.
OPS = {
    "matmul": ({"m": 8192, "n": 8192, "k": 8192}, lambda m, n, k: m * k + k * n + m * n),
    "elementwise": ({"rows": 65536, "cols": 65536}, lambda rows, cols: 2 * rows * cols),
    "reduction": ({"rows": 65536, "cols": 65536}, lambda rows, cols: rows * cols),
    "fft": ({"nx": 4096, "ny": 1024, "nz": 128}, lambda *extents: 3 * math.prod(extents)),
    "solve": ({"n": 4096, "rhs": 256}, lambda n, rhs: n * n + 2 * n * rhs),
    "svd": ({"m": 4096, "n": 1024}, lambda m, n: 2 * (m + n) * min(m, n)),
    # With one stored entry of 100, which has an index, too.
    "spgemm": ({"m": 8192, "n": 8192, "k": 8192}, lambda m, n, k: 0.015 * (m * k + k * n) + 1.5 * m * n),
    "spmv": ({"m": 65536, "n": 65536}, lambda m, n: 0.015 * m * n + m + n),
}
UNBATCHED = ["elementwise", "reduction", "spgemm", "spmv"]
LAYOUTS = ["nn", "nt", "tn", "tt"]
BYTES = 1 << 30


def dimensions(draw, op):
    """Returns the dimensions of a problem by name, with its batch and layout."""
    largest, elements = OPS[op]
    while True:
        names = list(largest)
        if op == "fft":
            names = names[: draw.randint(1, 3)]
        drawn = {name: round(largest[name] ** draw.random()) for name in names}
        batch = 1 if op in UNBATCHED or draw.random() < 0.4 else round(10000 ** draw.random())
        if 8 * batch * elements(*drawn.values()) > BYTES:
            continue
        if op == "reduction":
            # By a generator of its own, so that the other ops have the same shapes with and without it.
            axis = random.Random(str(drawn)).choice([None, 0, 1])
            drawn |= {} if axis is None else {"axis": axis}
        layout = {"layout": draw.choice(LAYOUTS)} if op == "matmul" else {}
        return drawn | ({"batch": batch} if batch > 1 else {}) | layout


def shape(draw, op):
    """Returns a shape of an op as `--shape` takes it."""
    return ",".join("%s=%s" % pair for pair in dimensions(draw, op).items())


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 60
    draw, ops = random.Random(seed), sys.argv[3:] or list(OPS)
    print(settings("shapes", "random_shapes.py", count), end="")
    for op in OPS:
        shapes = [shape(draw, op) for _ in range(count)]
        if op in ops:
            print('\n[[sweep]]\nops = ["%s"]\nshape = [\n%s]' % (op, "".join('    "%s",\n' % one for one in shapes)))


if __name__ == "__main__":
    main()
