"""Runs texts as programs of their own, with the package of this checkout."""

import os
import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = str(ROOT / "python")
sys.path.insert(0, PACKAGE)
# The program that is tested, unless the environment names another.
os.environ.setdefault("GPUBENCH", str(ROOT / "target/release/gpubench"))


def python(text, folder, **variables):
    """Runs a text as the main module, in a folder. Returns its output; raises `AssertionError` with its errors."""
    environment = {**os.environ, "PYTHONPATH": PACKAGE, **variables}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout.strip()
