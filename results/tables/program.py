"""The program whose output the tables have: the first argument of figures.py."""
import os, shutil, sys


def path():
    """The program's path, from a path or a name on PATH. Ends this process with an error if there is none."""
    if len(sys.argv) < 2:
        sys.exit("usage: figures.py GPUBENCH [--check]")
    found = shutil.which(sys.argv[1])
    if not found:
        sys.exit(f"figures.py: no program {sys.argv[1]}; build it with cargo build --release, and pass target/release/gpubench")
    return os.path.abspath(found)
