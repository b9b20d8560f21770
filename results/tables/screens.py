"""What the program prints for a kept report."""
import os

from . import article, program

ARTICLE = os.path.join("results", "h200", "article")


def block(words, columns=80):
    """A command and what it prints about kept reports."""
    printed = program.printed(words, columns).rstrip("\n")
    return f"```text\n$ gpubench {' '.join(words)}\n{printed}\n```"


def screen():
    return f"{block(('show', ARTICLE))}\n\n{article.usual_svd()}"


def shapes():
    return "\n\n".join(block(("show", os.path.join("results", "h200", name)), 100) for name in ("shapes", "batched", "precision"))


def predictions():
    reports = ",".join(os.path.join("results", "h200", name) for name in ("problems", "problems-svd"))
    return block(("advise", "--report", reports, "--verify", "1000"), 100)


def advised():
    folder = os.path.join("results", "h200", "programs", "ridge")
    return block(("advise", os.path.join(folder, "calls.json"), "--report", folder), 100)
