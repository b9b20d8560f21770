"""Defines the errors of a cell that cannot be measured."""

import shlex
import sys


class Unavailable(Exception):
    """A package, device or feature is missing. The cell is skipped."""

    def __init__(self, reason, fix=None):
        super().__init__(reason)
        # The pip on PATH may belong to another Python.
        is_pip = fix is not None and fix.startswith("pip install ") and sys.executable
        self.fix = shlex.quote(sys.executable) + " -m " + fix if is_pip else fix


class OutOfMemory(Exception):
    """The operands or the answer do not fit. The cell is skipped, and tried again when other jobs are released."""


class CellFailed(Exception):
    """A call failed. The worker can go on."""


class DeviceLost(Exception):
    """The device or its context is unusable, so the worker must be replaced."""


def one_line(error):
    """Returns the kind and the message of an exception in one line of at most 300 characters."""
    message = " ".join(str(error).split())
    if isinstance(error, (Unavailable, OutOfMemory, CellFailed, DeviceLost)):
        return message[:300]
    return (type(error).__name__ + (": " + message if message else ""))[:300]
