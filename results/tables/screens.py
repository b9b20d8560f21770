"""What the program prints for a kept report."""
import os, subprocess

from . import article, program
from .kept import ROOT

ARTICLE = os.path.join("results", "h200", "article")


def shown(*options):
    """What `gpubench show` prints of the article's sweep."""
    command = [program.path(), "show", ARTICLE, *options]
    environment = os.environ | {"COLUMNS": "80"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout.rstrip("\n")


def screen():
    return f"```text\n$ gpubench show {ARTICLE}\n{shown()}\n```\n\n{article.usual_svd()}"
