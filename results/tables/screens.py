"""What the program prints for a kept report."""
import os, subprocess

from . import article, program
from .kept import ROOT

ARTICLE = os.path.join("results", "h200", "article")


def shown(folder, columns, *options):
    """What `gpubench show` prints of a kept report."""
    command = [program.path(), "show", folder, *options]
    environment = os.environ | {"COLUMNS": str(columns)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout.rstrip("\n")


def block(folder, columns=80):
    return f"```text\n$ gpubench show {folder}\n{shown(folder, columns)}\n```"


def screen():
    return f"{block(ARTICLE)}\n\n{article.usual_svd()}"


def shapes():
    return "\n\n".join(block(os.path.join("results", "h200", name), 100) for name in ("shapes", "batched"))
