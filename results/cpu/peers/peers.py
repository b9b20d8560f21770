#!/usr/bin/env python3
"""Time the article's operations on the CPU with the libraries its readers would use.

usage: peers.py LIB OUT.json [--threads N] [--ops LIST] [--sizes LIST] [--dtypes LIST] [--seconds S] [--compile]

LIB is numpy (NumPy and SciPy) or torch (PyTorch's CPU build). N threads are set before the libraries are imported, for
OpenMP, OpenBLAS and MKL alike, and given to SciPy's FFT as workers; the default is every processor that the process may
use. Each call is warmed up and then repeated for S seconds, 5 times at least; caches stay hot. What allocates its result
in every call allocates it here, too; calls into a given result are timed too.

OUT.json: {library, versions, threads, rows: [{lib, op, variant, dtype, n, median_ms, min_ms, runs}]}
"""
import argparse, json, os, statistics, sys, time

BIG, SMALL = (100, 500, 1000, 5000, 10000), (100, 500, 512, 1024, 2048)
SIZES = {"matmul": BIG, "elementwise": BIG, "reduction": BIG, "fft": SMALL, "solve": SMALL, "spgemm": SMALL, "svd": SMALL}
FEWEST, MOST = 5, 2000


def arguments():
    words = lambda text: text.split(",")
    numbers = lambda text: [int(n) for n in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=("numpy", "torch"))
    parser.add_argument("out")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--ops", type=words, default=list(SIZES))
    parser.add_argument("--sizes", type=numbers)
    parser.add_argument("--dtypes", type=words, default=["float32", "float64"])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--compile", action="store_true", help="torch.compile for elementwise and reduction, too")
    return parser.parse_args()


ASKED = arguments()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(ASKED.threads)

import numpy as np  # noqa: E402, after the number of threads

ROWS = []


def measure(lib, op, variant, dtype, n, call):
    """Repeats `call` and keeps the median; a call that fails is reported and left out."""
    try:
        began = time.perf_counter()
        while time.perf_counter() - began < ASKED.seconds / 5:
            call()
        times, end = [], time.perf_counter() + ASKED.seconds
        while len(times) < FEWEST or (time.perf_counter() < end and len(times) < MOST):
            start = time.perf_counter()
            result = call()
            times.append((time.perf_counter() - start) * 1e3)
            del result
    except Exception as error:
        print(f"{lib} {op} {variant} {dtype} {n} failed: {error!r:.200}", file=sys.stderr)
        return
    row = dict(lib=lib, op=op, variant=variant, dtype=dtype, n=n, median_ms=statistics.median(times),
               min_ms=min(times), runs=len(times))
    ROWS.append(row)
    print(f"{lib:6} {op:11} {variant:12} {dtype} {n:6} {row['median_ms']:12.4f} ms  least {row['min_ms']:10.4f} "
          f"({row['runs']})", flush=True)


class Operands:
    """Operands of the shapes and distributions that gpubench's ops have."""

    def __init__(self, n, dtype):
        self.n, self.dtype, self.random = n, dtype, np.random.default_rng(n)

    def dense(self):
        return self.random.random((self.n, self.n)).astype(self.dtype)

    def positive_definite(self):
        x = self.dense()
        return x.T @ x + np.eye(self.n, dtype=self.dtype), self.random.random(self.n).astype(self.dtype)

    def sparse(self):
        import scipy.sparse
        random = np.random.RandomState(self.random.integers(1 << 31))
        return scipy.sparse.random(self.n, self.n, density=0.01, format="csr", dtype=self.dtype, random_state=random)


def numpy_calls(op, operands):
    """(library, variant, call) of NumPy and SciPy."""
    import scipy.fft, scipy.linalg
    if op == "matmul":
        a, b = operands.dense(), operands.dense()
        c = np.empty_like(a)
        yield "numpy", "dot", lambda: np.dot(a, b)
        yield "numpy", "dot-out", lambda: np.dot(a, b, out=c)
    elif op == "elementwise":
        a, b = operands.dense(), operands.dense()
        c, t = np.empty_like(a), np.empty_like(a)

        def into():
            np.multiply(a, b, out=c)
            np.add(c, np.sin(a, out=t), out=c)
            return np.add(c, np.cos(b, out=t), out=c)

        yield "numpy", "expression", lambda: a * b + np.sin(a) + np.cos(b)
        yield "numpy", "out", into
    elif op == "reduction":
        a = operands.dense()
        yield "numpy", "sum,mean,std", lambda: (np.sum(a), np.mean(a), np.std(a))
    elif op == "fft":
        a = operands.dense()
        yield "scipy", "fft2", lambda: scipy.fft.fft2(a, workers=ASKED.threads)
        yield "scipy", "fft2-serial", lambda: scipy.fft.fft2(a)
    elif op == "solve":
        a, b = operands.positive_definite()
        posv = scipy.linalg.get_lapack_funcs("posv", (a, b))
        by_columns = np.asfortranarray(a)
        yield "scipy", "solve-pos", lambda: scipy.linalg.solve(a, b, assume_a="pos")
        yield "scipy", "posv", lambda: posv(by_columns, b)
        yield "numpy", "solve", lambda: np.linalg.solve(a, b)
    elif op == "spgemm":
        a, b = operands.sparse(), operands.sparse()
        yield "scipy", "csr", lambda: a @ b
    elif op == "svd":
        a = operands.dense()
        yield "scipy", "svd", lambda: scipy.linalg.svd(a, full_matrices=False)
        yield "numpy", "svd", lambda: np.linalg.svd(a, full_matrices=False)


def torch_calls(op, operands):
    """(library, variant, call) of PyTorch."""
    import torch
    tensor = torch.from_numpy

    def compiled(variant, function, *inputs):
        if ASKED.compile:
            fast = torch.compile(function, dynamic=False)
            yield "torch", variant, lambda: fast(*inputs)

    if op == "matmul":
        a, b = tensor(operands.dense()), tensor(operands.dense())
        c = torch.empty_like(a)
        yield "torch", "matmul", lambda: a @ b
        yield "torch", "mm-out", lambda: torch.mm(a, b, out=c)
    elif op == "elementwise":
        a, b = tensor(operands.dense()), tensor(operands.dense())
        function = lambda a, b: a * b + torch.sin(a) + torch.cos(b)
        yield "torch", "eager", lambda: function(a, b)
        yield from compiled("compile", function, a, b)
    elif op == "reduction":
        a = tensor(operands.dense())
        function = lambda a: (a.sum(), a.mean(), a.std(correction=0))
        yield "torch", "sum,mean,std", lambda: function(a)
        yield from compiled("compile", function, a)
    elif op == "fft":
        a = tensor(operands.dense())
        yield "torch", "fft2", lambda: torch.fft.fft2(a)
    elif op == "solve":
        a, b = operands.positive_definite()
        a, b = tensor(a), tensor(b)[:, None]
        yield "torch", "cholesky", lambda: torch.cholesky_solve(b, torch.linalg.cholesky_ex(a)[0])
        yield "torch", "lu", lambda: torch.linalg.solve(a, b)
    elif op == "spgemm":
        csr = lambda m: torch.sparse_csr_tensor(tensor(m.indptr), tensor(m.indices), tensor(m.data), size=m.shape)
        a, b = csr(operands.sparse()), csr(operands.sparse())
        yield "torch", "csr", lambda: a @ b
    elif op == "svd":
        a = tensor(operands.dense())
        yield "torch", "svd", lambda: torch.linalg.svd(a, full_matrices=False)


def versions():
    """Versions of the libraries, and of the BLAS they bring."""
    if ASKED.library == "torch":
        import torch
        torch.set_num_threads(ASKED.threads)
        mkl = "with MKL" if torch.backends.mkl.is_available() else "without MKL"
        return {"torch": f"{torch.__version__}, {mkl}, {torch.get_num_threads()} threads"}
    import scipy
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {"numpy": f"{np.__version__}, {blas['name']} {blas['version']}", "scipy": scipy.__version__}


def main():
    import warnings
    warnings.filterwarnings("ignore")
    found = versions()
    calls = numpy_calls if ASKED.library == "numpy" else torch_calls
    for op in ASKED.ops:
        for dtype in ASKED.dtypes:
            for n in ASKED.sizes or SIZES[op]:
                for lib, variant, call in calls(op, Operands(n, dtype)):
                    measure(lib, op, variant, dtype, n, call)
    with open(ASKED.out, "w") as out:
        json.dump(dict(library=ASKED.library, versions=found, threads=ASKED.threads, rows=ROWS), out, indent=0)


main()
