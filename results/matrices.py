#!/usr/bin/env python3
"""Write four Matrix Market files for `gpubench run --matrix hub.mtx,grid.mtx,small.mtx,one.mtx`.

usage: matrices.py DIR

hub: a graph of 20 000 nodes with 8 random neighbours each, of which node 1 has edges to all others; grid: the Laplacian of a grid of
45 x 45, plus 1; small: 301 x 301 with 6 random entries a row; one: 1 x 1.
"""
import os, random, sys


def write(name, kind, n, entries):
    with open(os.path.join(sys.argv[1], name + ".mtx"), "w") as file:
        file.write("%%%%MatrixMarket matrix coordinate %s\n%d %d %d\n" % (kind, n, n, len(entries)))
        file.writelines("%d %d%s\n" % entry for entry in entries)


def neighbours(draw, n, count):
    return {(row, draw.randint(1, n)) for row in range(1, n + 1) for _ in range(count)}


def laplacian(side):
    """The lower triangle, row by row."""
    for y in range(side):
        for x in range(side):
            at = y * side + x + 1
            if y > 0:
                yield (at, at - side, " -1")
            if x > 0:
                yield (at, at - 1, " -1")
            yield (at, at, " 5")


draw = random.Random(1)
os.makedirs(sys.argv[1], exist_ok=True)
hub = neighbours(draw, 20000, 8) | {(1, column) for column in range(2, 20001)}
write("hub", "pattern general", 20000, [(*entry, "") for entry in sorted(hub)])
write("grid", "real symmetric", 45 * 45, list(laplacian(45)))
small = neighbours(draw, 301, 6)
write("small", "real general", 301, [(*entry, " %.3f" % draw.random()) for entry in sorted(small)])
write("one", "real general", 1, [(1, 1, " 2.5")])
