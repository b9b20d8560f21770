"""Times functions on the CPU and the GPU: `compare` several libraries, `time` one call, `run` any benchmark of the program gpubench.

    import cupy as cp, gpubench, numpy as np

    report = gpubench.compare(
        {"NumPy": lambda a: np.linalg.eigvalsh(a), "CuPy": lambda a: cp.linalg.eigvalsh(a)},
        inputs=lambda n, rng: rng.random((n, n), dtype="float32"),
        sizes=[128, 512, 2048],
    )
    report                      # in a notebook: the table and the chart; print(report) elsewhere
    report.crossovers           # the sizes from which the GPU is faster
    report.to_pandas()          # every figure

A file with operations of your own imports `Op` and `read_mtx` from this module (`gpubench run --ops FILE.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._advice import Advice, advise
from ._compare import Timing, compare, time
from ._program import RunError
from ._report import Chart, Report, load, run

if TYPE_CHECKING:
    from ._adapter.own_op import Op
    from ._adapter.own_mtx import read_mtx

__all__ = ["Advice", "Chart", "Op", "Report", "RunError", "Timing", "advise", "compare", "load", "read_mtx", "run", "time"]


def __getattr__(name: str) -> Any:
    # These need NumPy, which the program, `run` and `load` do not.
    if name in ("Op", "read_mtx"):
        from ._compare import own_op

        return getattr(own_op(), name)
    raise AttributeError("module 'gpubench' has no attribute %r" % name)
