"""Talks to an adapter in a process of its own, as `gpubench run` does."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent
PACKAGE = FOLDER / "gpubench_adapter"
sys.path.insert(0, str(FOLDER))

from plain import TYPES  # noqa: E402, which imports from this folder

DTYPES = dict(TYPES, i32=np.int32)


class Conversation:
    """A running adapter. Requests go in as objects and replies come out as such."""

    def __init__(self, name, program=(sys.executable,), errors=subprocess.DEVNULL, **environment):
        bootstrap = (PACKAGE / "bootstrap.py").read_text()
        sources = {path.name: path.read_text() for path in PACKAGE.glob("*.py")}
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [*program, "-c", bootstrap, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=self.folder.name,
            env=dict(os.environ, **environment),
        )
        self.send_line(json.dumps(sources))

    def send_line(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def reply(self):
        """Returns the next final reply."""
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError("the adapter ended with %s" % self.process.wait())
            reply = json.loads(line)
            if reply["type"] != "phase":
                return reply

    def ask(self, kind, **fields):
        """Sends a request and returns the final reply."""
        self.send_line(json.dumps(dict(fields, type=kind)))
        return self.reply()

    def hello(self, **options):
        defaults = {"threads": None, "device": 0, "transfer": "both", "sim": None, "ops": [], "dtypes": []}
        return self.ask("hello", protocol=5, options=dict(defaults, **options))

    def prepare(self, op, variant, n, dtype="f64", cache="hot", job=0, seed=42, density=None, threads=None, shape=None):
        case = {"op": op, "n": n, "dtype": dtype, "seed": seed}
        if density is not None:
            case["density"] = density
        if shape is not None:
            case["shape"] = shape
        cell = {"case": case, "backend": "external", "variant": variant, "cache": cache}
        return self.ask("prepare", job=job, cell=cell, threads=threads, answer=self.path())

    def measure(self, samples=3, job=0, warm_up=None, max_s=20.0):
        return self.ask("measure", job=job, batch={"warm_up": warm_up, "samples": samples, "max_s": max_s})

    def verify(self, job=0, execute=False, alter=None):
        return self.ask("verify", job=job, execute=execute, alter=alter, answer=self.path())

    def path(self):
        return os.path.join(self.folder.name, "answer")

    def answer(self, reply):
        """Returns the arrays that the adapter wrote."""
        data, arrays, start = Path(self.path()).read_bytes(), [], 0
        for described in reply["arrays"]:
            dtype, shape = np.dtype(DTYPES[described["dtype"]]), described["shape"]
            size = dtype.itemsize * int(np.prod(shape))
            arrays.append(np.frombuffer(data[start : start + size], dtype).reshape(shape))
            start += size
        assert start == len(data), "%d of %d bytes are described" % (start, len(data))
        return arrays

    def close(self):
        """Ends the adapter and returns its exit code."""
        if self.process.poll() is None:
            self.process.stdin.close()
        code = self.process.wait(20)
        self.process.stdout.close()
        self.folder.cleanup()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
