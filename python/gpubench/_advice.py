"""Advice about a recorded program: would a GPU pay?"""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Dict, Union

from . import _program

if TYPE_CHECKING:
    import pandas


class Advice:
    """What a GPU would do for the calls of a recorded program. `print` shows the text of `gpubench advise`."""

    def __init__(self, json_text: str, text: str) -> None:
        self._found = json.loads(json_text)
        self._text = text.rstrip()

    @cached_property
    def rows(self) -> list[Dict[str, Any]]:
        """One dictionary per kind of call: `routine`, `dtype`, its dimensions, `count`, the seconds per call `now_s`, `cpu_s`,
        `gpu_s` (data in its memory) and `gpu_copies_s`, `None` where unknown, `verdict` (`gpu`, `gpu-if-data-stays`, `cpu` or
        `unknown`) and `is_sure`."""
        rows = []
        for call in self._found["calls"]:
            recorded, advice = call["recorded"], call["advice"]
            row = {key: value for key, value in recorded.items() if not key.endswith("_s") and key not in ("leading", "library")}
            row.update(total_s=recorded["total_s"], now_s=advice["now_s"]["value"])
            for side in ("cpu", "gpu", "gpu_copies"):
                row[side + "_s"] = advice[side] and advice[side]["seconds"]["value"]
            row.update({key: advice[key] for key in ("kept", "verdict", "is_sure", "batch")})
            rows.append(row)
        return rows

    @property
    def totals(self) -> Dict[str, Any]:
        """The program as a whole, in seconds: `elapsed_s`, `recorded_s`, and the expected times `best_cpu_s`, `with_copies_s`,
        `data_stays_s` and `without_copies_s`, each with `value`, `low` and `high`, or `None`."""
        totals: Dict[str, Any] = self._found["totals"]
        return totals

    def to_pandas(self) -> pandas.DataFrame:
        """Returns `rows` as a DataFrame of pandas."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.rows)

    def __repr__(self) -> str:
        return self._text


def advise(calls: Union[str, os.PathLike[str]] = "calls.json", *arguments: str, quiet: bool = False) -> Advice:
    """Runs `gpubench advise` on a file of `gpubench record`, and returns the advice: `gpubench.advise("calls.json", "--top", "10")`.

    `gpubench advise --help` lists the arguments. The measurements are kept in the folder that it names, so a second call takes
    them from there. Progress is shown on `sys.stderr` unless `quiet`.

    Raises `RunError` with the program's message if it can say nothing.
    """
    words = ["advise", os.fspath(calls), "--format"]
    # What follows -- are options of `gpubench run`, which the kept run has already.
    again = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    found = _program.call([*words, "json", *arguments], quiet)[1]
    return Advice(found, _program.call([*words, "text", *again])[1])
