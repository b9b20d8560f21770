"""The program whose output the tables have: the first argument of figures.py."""
import os, shutil, subprocess, sys

from .kept import ROOT


def path():
    """The program's path, from a path or a name on PATH. Ends this process with an error if there is none."""
    if len(sys.argv) < 2:
        sys.exit("usage: figures.py GPUBENCH [--check]")
    found = shutil.which(sys.argv[1])
    if not found:
        sys.exit(f"figures.py: no program {sys.argv[1]}; build it with cargo build --release, and pass target/release/gpubench")
    return os.path.abspath(found)


def printed(words, columns=80):
    """What the program prints about kept reports on a screen of this width."""
    environment = os.environ | {"COLUMNS": str(columns)}
    return subprocess.run([path(), *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
