#!/usr/bin/env python3
"""Time sparse products beyond the article's sizes with CuPy and PyTorch, as peers.py times the others.

usage: sparse.py OUT.json

Rows are peers.py's, and have the density as well.
"""
import json, os, statistics, sys, time

import cupy
import cupyx.scipy.sparse
import numpy
import scipy.sparse
import torch

BUDGET = float(os.environ.get("PEER_BUDGET_S", "0.25"))
SPGEMM = [(8192, 0.01), (16384, 0.002), (32768, 0.001)]
SPMV = [(32768, 0.01)]
rows = []


def uniform(n, density, rng):
    """An n x n matrix in CSR form with entries at random places, about density n^2 of them."""
    counts = rng.binomial(n, density, n)
    columns = rng.integers(0, n, counts.sum(), dtype=numpy.int32)
    matrix = scipy.sparse.csr_matrix((rng.random(len(columns)), columns, numpy.concatenate([[0], counts.cumsum()])), (n, n))
    matrix.sum_duplicates()
    return matrix


def on_torch(matrix):
    parts = (torch.from_numpy(part).cuda() for part in (matrix.indptr, matrix.indices, matrix.data))
    return torch.sparse_csr_tensor(*parts, size=matrix.shape)


def measure(lib, op, dtype, n, density, event, elapsed, run):
    for _ in range(3):
        run()
    times, end = [], time.perf_counter() + BUDGET
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 200):
        start, stop = event(), event()
        start.record()
        result = run()
        stop.record()
        stop.synchronize()
        times.append(elapsed(start, stop))
        del result
    rows.append(dict(lib=lib, op=op, variant="csr", dtype=dtype, n=n, density=density,
                     median_ms=statistics.median(times), min_ms=min(times), runs=len(times), note=""))
    print(rows[-1], flush=True)


def both(op, dtype, n, density, a, b):
    """The same product by each library; b is a matrix or a vector."""
    sparse = scipy.sparse.issparse(b)
    x, y = cupyx.scipy.sparse.csr_matrix(a), (cupyx.scipy.sparse.csr_matrix if sparse else cupy.asarray)(b)
    measure("cupy", op, dtype, n, density, cupy.cuda.Event, cupy.cuda.get_elapsed_time, lambda: x @ y)
    del x, y
    cupy.get_default_memory_pool().free_all_blocks()
    u, v = on_torch(a), on_torch(b) if sparse else torch.from_numpy(b).cuda()
    event = lambda: torch.cuda.Event(enable_timing=True)
    measure("torch", op, dtype, n, density, event, lambda s, e: s.elapsed_time(e), lambda: u @ v)


def main():
    rng = numpy.random.default_rng(0)
    for n, density in SPGEMM:
        a, b = uniform(n, density, rng), uniform(n, density, rng)
        for dtype in ("float32", "float64"):
            both("spgemm", dtype, n, density, a.astype(dtype), b.astype(dtype))
    for n, density in SPMV:
        a, x = uniform(n, density, rng), rng.random(n)
        for dtype in ("float32", "float64"):
            both("spmv", dtype, n, density, a.astype(dtype), x.astype(dtype))
    json.dump(rows, open(sys.argv[1], "w"), indent=0)


main()
