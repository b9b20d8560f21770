"""Reports of runs, as Python values and in notebooks."""

from __future__ import annotations

import base64
import contextlib
import csv
import gzip
import html
import io
import itertools
import json
import os
import pathlib
import tempfile
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Dict, Union

from . import _program
from ._program import RunError

if TYPE_CHECKING:
    import pandas
    import polars

Row = Dict[str, Any]
# Columns of text, which may look like numbers.
TEXTS = {
    "op", "dtype", "backend", "variant", "picked", "cache", "side", "accuracy", "origin", "outcome", "reason", "fix", "clock",
    "grade", "warnings", "stopped", "inputs", "bound_by", "member", "host", "gpu", "file", "report",
}  # fmt: skip
# The most bytes that a report's HTML adds to a notebook.
MAX_HTML = 300_000


class Chart:
    """A chart of a report. A notebook shows it; `save` writes it to a file."""

    def __init__(self, png: bytes) -> None:
        self.png = png

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the chart to a PNG file."""
        pathlib.Path(path).write_bytes(self.png)

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return "<chart, %d bytes of PNG; save(PATH) writes it>" % len(self.png)


class Report:
    """The report of a run. `print` shows the first screen of `gpubench run`; a notebook shows it with the overview chart.

    `path` is the folder of the run, or the file that was loaded.
    """

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self.path = pathlib.Path(path)
        # A temporary folder that lives as long as the report.
        self._folder: Any = None
        # The file itself, or that in the folder.
        names = [self.path] if self.path.is_file() else [self.path / name for name in ("report.json", "report.json.gz")]
        found = [name for name in names if name.is_file()]
        if not found:
            raise FileNotFoundError("there is no report.json and no report.json.gz in '%s'" % self.path)
        self._file = found[0]

    def _shown(self, *arguments: str) -> str:
        return _program.call(["show", str(self.path), "--no-color", *arguments])[1]

    @cached_property
    def rows(self) -> list[Row]:
        """One dictionary per cell, with the columns of `report.csv` as keys: `op`, `n`, `dtype`, `backend`, `variant`,
        `outcome`, `median_s`, `ci95_low_s`, `host_median_s`, ... Names that end in `_s` are seconds; `None` is an empty cell."""
        return [
            {name: _value(name, text) for name, text in row.items()}
            for row in csv.DictReader(io.StringIO(self._shown("--format", "csv")))
        ]

    @property
    def failed(self) -> list[Row]:
        """The rows of cells that failed or are incorrect; `reason` says why."""
        return [row for row in self.rows if row["outcome"] in ("failed", "incorrect")]

    @cached_property
    def crossovers(self) -> list[Row]:
        """One dictionary per op, element type, cache state and kind of time: `kind` (`resident`: the data stays on the GPU;
        `end_to_end`: copies in each call), `b_faster_from` (the size from which the GPU is faster, or `None`), its
        `interval`, and `words`, a sentence. Empty if only one side was measured."""
        opened = gzip.open if self._file.suffix == ".gz" else open
        with opened(self._file, "rt", encoding="utf-8") as file:
            sections = (json.load(file).get("answer") or {}).get("sections", [])
        return [
            {**{key: section[key] for key in ("op", "dtype", "cache") if key in section}, **crossover}
            for section in sections
            for crossover in section["crossovers"]
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """Returns `rows` as a DataFrame of pandas."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.rows)

    def to_polars(self) -> polars.DataFrame:
        """Returns `rows` as a DataFrame of Polars."""
        try:
            import polars
        except ModuleNotFoundError:
            raise ImportError("to_polars needs Polars: pip install polars") from None
        return polars.DataFrame(self.rows, infer_schema_length=None)

    def plot(self) -> Chart:
        """Returns the overview chart, which a notebook shows: the speed-up of the GPU against size. A report of one side has
        the chart of time against size instead.

        Raises `RunError` if nothing can be drawn, as of a single size.
        """
        return Chart(self._drawn("png"))

    def _drawn(self, format: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="gpubench-") as folder:
            _program.call(["plot", str(self._file), "--charts", "overview,time", "--format", format, "--out", folder])
            charts = sorted(pathlib.Path(folder).iterdir(), key=lambda path: (not path.stem == "overview", path.name))
            return charts[0].read_bytes()

    @cached_property
    def _screen(self) -> str:
        return self._shown().rstrip()

    def __repr__(self) -> str:
        return self._screen

    def _repr_html_(self) -> str:
        text = "<pre>%s</pre>" % html.escape(self._screen)
        try:
            chart = base64.b64encode(self._drawn("svg")).decode()
        except RunError:
            return text
        image = '<img alt="Overview chart" style="max-width: 800px" src="data:image/svg+xml;base64,%s">' % chart
        return text + image if len(text) + len(image) < MAX_HTML else text


def _value(name: str, text: str) -> Any:
    if text == "":
        return None
    if text in ("true", "false"):
        return text == "true"
    if name not in TEXTS:
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                pass
    return text


def load(path: Union[str, os.PathLike[str]]) -> Report:
    """Returns the report of a folder of results, or of a file `report.json` or `report.json.gz`.

    Raises `FileNotFoundError` if there is none.
    """
    return Report(path)


def run(*arguments: Union[str, int, float, os.PathLike[str]], quiet: bool = False) -> Report:
    """Runs `gpubench run` with these arguments, and returns its report: `gpubench.run("--ops", "matmul,fft", "--sizes", 100)`.

    `gpubench run --help --all` lists the arguments. Without `--out` or `--resume`, the results are in a new folder in
    `results`, below the current folder. Without `--python`, Python libraries are those of this interpreter. Progress is
    shown on `sys.stderr` unless `quiet`.

    Raises `RunError` with the program's message if it measures nothing, as for an unknown option. Cells that fail or are
    incorrect raise nothing: `Report.failed` has them.
    """
    words = [argument if isinstance(argument, str) else os.fspath(argument) if isinstance(argument, os.PathLike) else str(argument) for argument in arguments]
    folder = _option(words, "--out", "-o") or _option(words, "--resume")
    made = None
    if folder is None:
        made = folder = _new_folder()
        words += ["--out", folder]
    try:
        _program.call(["run", *words], quiet)
        return Report(folder)
    except FileNotFoundError:
        message = "gpubench run left no report.json in '%s' (--dry-run, --out - and several devices have none there)"
        raise RunError(message % folder) from None
    finally:
        # Nothing was measured if it is empty.
        if made:
            with contextlib.suppress(OSError):
                os.rmdir(made)


def _option(words: list[str], *names: str) -> Union[str, None]:
    """Returns the value of an option; `None` if it is not among the words."""
    for index, word in enumerate(words):
        if word in names:
            return words[index + 1] if index + 1 < len(words) else ""
        for name in names:
            if word.startswith(name + "=" if name.startswith("--") else name):
                return word[len(name) :].lstrip("=")
    return None


def _new_folder() -> str:
    """Makes a folder in `results`, with the name that the program would give it."""
    stamp = os.path.join("results", time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime()))
    for count in itertools.count(1):
        folder = stamp if count == 1 else "%s-%d" % (stamp, count)
        try:
            os.makedirs(folder)
            return folder
        except FileExistsError:
            pass
        except OSError as error:
            message = "cannot make the folder '%s' for the results: %s (name another with '--out')"
            raise RunError(message % (folder, error.strerror)) from None
    raise AssertionError
