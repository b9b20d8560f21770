"""Answers the requests of the parent: one JSON object per line in, one or more per line out."""

import gc
import importlib
import json
import os
import queue
import sys
import threading
import traceback

from . import registry
from .errors import CellFailed, DeviceLost, OutOfMemory, Unavailable, one_line

PROTOCOL = 5
# Variables that set the number of threads of libraries when they are loaded.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NPROC")


class Replies:
    """The protocol's output. What libraries print goes to standard error."""

    def __init__(self):
        sys.stdout.flush()
        self.descriptor = os.dup(1)
        os.dup2(2, 1)

    def send(self, reply):
        """Writes one line."""
        line = json.dumps(reply, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[os.write(self.descriptor, line) :]

    def phase(self, name):
        """Announces a phase."""
        self.send({"type": "phase", "phase": name})


def read_requests(lines, inbox):
    """Passes lines on. When the input ends, the parent is gone, and the process ends whatever it computes."""
    for line in lines:
        inbox.put(line)
    os._exit(0)


class Worker:
    """The state of the conversation: no session before `hello`."""

    def __init__(self, name, replies):
        self.name, self.replies, self.session, self.judge = name, replies, None, None
        self.adapter = registry.ADAPTERS.get(name)

    def answer(self, line):
        """Returns the final reply to a request, which may be any line; `None` for `exit`."""
        kind = None
        try:
            request = parsed(line)
            kind = request["type"]
            if kind == "exit":
                return None
            if self.adapter is None:
                return self.of_ops(kind, request)
            if kind in ("describe", "hello", "doctor"):
                return getattr(self, kind)(request)
            if kind not in ("prepare", "measure", "verify", "release", "rest", "peaks"):
                raise CellFailed("unknown request %r" % kind)
            if self.session is None:
                raise CellFailed("send hello first")
            return getattr(self.session, kind)(request, self.replies.phase)
        except Exception as error:
            return self.failure(kind, error)

    def failure(self, kind, error):
        """Returns the reply to a request that ended with an exception."""
        is_crowded = self.is_out_of_memory(error)
        is_missing = isinstance(error, (Unavailable, NotImplementedError))
        if not isinstance(error, (Unavailable, OutOfMemory, CellFailed)):
            traceback.print_exception(type(error), error, error.__traceback__)
        reason = one_line(error)
        # The frames of the traceback hold the arrays of the failed request.
        error.__traceback__ = error.__context__ = error.__cause__ = None
        if kind in ("hello", "describe-ops"):
            return {"type": "unavailable", "reason": reason, "fix": getattr(error, "fix", None)}
        if self.session is not None:
            try:
                self.session.recover()
            except Exception as lost:
                reason = "%s (%s)" % (reason, one_line(lost))
                return {"type": "failed", "reason": reason, "device_lost": True}
        if (kind == "prepare" and (is_crowded or is_missing)) or (kind in ("measure", "verify") and is_crowded):
            # The parent frees memory and tries again in a preparation only.
            crowded = is_crowded and kind == "prepare"
            return {"type": "skipped", "reason": reason, "fix": getattr(error, "fix", None), "crowded": crowded}
        return {"type": "failed", "reason": reason, "device_lost": isinstance(error, DeviceLost)}

    def is_out_of_memory(self, error):
        """Returns whether an exception says that memory is short."""
        if isinstance(error, (OutOfMemory, MemoryError)):
            return True
        return self.session is not None and self.session.backend.is_out_of_memory(error)

    def of_ops(self, kind, request):
        """Describes the user's own operations, or judges an answer to one."""
        if kind not in ("describe-ops", "judge"):
            raise CellFailed("unknown request %r" % kind)
        try:
            from .own_judge import Judge
        except ModuleNotFoundError as error:
            raise Unavailable("Python has no package %s" % error.name, "pip install numpy") from None
        self.judge = self.judge or Judge()
        return self.judge.describe_ops(request) if kind == "describe-ops" else self.judge.judge(request)

    def describe(self, _request):
        """Lists the variants."""
        return self.adapter.described()

    def hello(self, request):
        """Starts the backend."""
        if request.get("protocol") != PROTOCOL:
            spoken = (PROTOCOL, request.get("protocol"))
            raise Unavailable("this adapter speaks version %d of the protocol, not %r" % spoken)
        options = request.get("options") or {}
        if options.get("threads"):
            for variable in THREAD_VARIABLES:
                os.environ[variable] = str(options["threads"])
        module = self.module()
        from . import host, own_op
        from .session import Session

        backend = module.start(self.name, options)
        host.use_threads(backend.threads)
        self.session = Session(backend)
        for path in options.get("files") or []:
            self.session.ops += own_op.load(path, self.name)
        self.session.matrices = options.get("matrices") or {}
        reply = self.session.ready()
        # What exists now is never garbage; the collector runs between cells only.
        gc.collect()
        gc.freeze()
        gc.disable()
        return reply

    def doctor(self, _request):
        """Reports what is installed."""
        try:
            found = self.module().findings(self.adapter)
        except Unavailable as error:
            problem = {"name": self.adapter.title, "problem": one_line(error), "fix": error.fix}
            found = [dict(problem, path=None, version=None, serves=[])]
        return {"type": "findings", "findings": found}

    def module(self):
        """Imports the module of the library, with its variables set."""
        for variable, value in self.adapter.environment.items():
            os.environ[variable] = value
        try:
            return importlib.import_module("." + self.adapter.module, __package__)
        except ModuleNotFoundError as error:
            reason = "Python has no package %s" % error.name
            raise Unavailable(reason, self.adapter.install) from None
        except (ImportError, OSError) as error:
            raise Unavailable("%s does not load: %s" % (self.adapter.title, one_line(error)), self.adapter.install) from None


def parsed(line):
    """Returns a request."""
    try:
        request = json.loads(line.decode("utf-8"))
    except ValueError:
        raise CellFailed("not a request: %r" % line[:80]) from None
    if not isinstance(request, dict) or not isinstance(request.get("type"), str):
        raise CellFailed("a request is a JSON object with a type, not %r" % line[:80])
    return request


def main(name, requests=None):
    """Runs the adapter `name` until the parent ends it."""
    if name not in registry.ADAPTERS and name != registry.OPS:
        sys.exit("no adapter named %s; the adapters: %s" % (name, ", ".join(registry.ADAPTERS)))
    replies, inbox = Replies(), queue.Queue()
    lines = requests if requests is not None else sys.stdin.buffer
    threading.Thread(target=read_requests, args=(lines, inbox), daemon=True).start()
    worker = Worker(name, replies)
    while True:
        reply = worker.answer(inbox.get())
        if reply is None:
            sys.stderr.flush()
            os._exit(0)
        try:
            replies.send(reply)
        except ValueError as error:
            replies.send({"type": "failed", "reason": "a reply is no JSON: %s" % error, "device_lost": False})
