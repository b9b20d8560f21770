"""Finds the program gpubench and runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from typing import Sequence

# The exit code for wrong usage, unreadable files, and runs that measured nothing; and that of an interrupted run.
UNUSABLE, INTERRUPTED = 2, 130


class RunError(RuntimeError):
    """gpubench could not run, or measured nothing. The message says why."""


def find() -> str:
    """Returns the path of the program: that of this environment, else of the variable GPUBENCH, else the first on PATH.

    Raises `RunError` if there is none.
    """
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", os.name + "_user"), os.path.join(here, "bin")]
    named = os.environ.get("GPUBENCH")
    for path in [os.path.join(folder, "gpubench") for folder in folders] + [named or ""]:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    if named:
        raise RunError("the variable GPUBENCH names '%s', which is not a program: correct or unset it" % named)
    on_path = shutil.which("gpubench")
    if not on_path:
        message = "there is no program gpubench in %s and on PATH: install the wheel gpubench-cli, or set GPUBENCH to the path of the program"
        raise RunError(message % folders[0])
    return on_path


def call(arguments: Sequence[str], quiet: bool = True) -> tuple[int, str]:
    """Runs the program, without a shell. Returns its exit code and its output.

    Shows its progress on `sys.stderr` unless `quiet`. Raises `RunError` with its message if it ends by a signal, or with a code
    that says that there is no result, and `KeyboardInterrupt` if it was interrupted.
    """
    with tempfile.TemporaryFile() as output:
        # In a notebook, the program's own standard error would be that of the server.
        process = subprocess.Popen(
            [find(), *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, env=_environment()
        )
        messages: list[str] = []
        with process:
            assert process.stderr is not None
            try:
                for line in process.stderr:
                    text = line.decode("utf-8", "replace")
                    # A message begins with the program's name; the lines after it belong to it.
                    messages = [text[len("gpubench: ") :]] if text.startswith("gpubench: ") else [*messages, text]
                    if not quiet:
                        print(text, end="", file=sys.stderr, flush=True)
            except BaseException:
                # The terminal or the kernel interrupts both: the program then saves what it has measured.
                try:
                    process.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    process.kill()
                raise
        code = process.returncode
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code < 0 or code >= UNUSABLE:
        raise RunError(" ".join("".join(messages).split()) or "gpubench ended with code %d" % code)
    return code, text


def _environment() -> dict[str, str]:
    """Returns variables that make this interpreter the program's default."""
    variables = dict(os.environ, PATH=os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]))
    if sys.prefix != sys.base_prefix:
        variables["VIRTUAL_ENV"] = sys.prefix
    else:
        variables.pop("VIRTUAL_ENV", None)
    return variables
