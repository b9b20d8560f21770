"""The example adapter with faults: `faulty.py FAULT,FAULT,...`. Of those about cells, the first occurs at N = 3 only, the
second at N = 4, and so on."""
import array
import json
import math
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/examples"))
import adapter  # noqa: E402

adapter.FLUSHED, adapter.LINES = bytearray(1 << 16), bytes((1 << 16) // 64)
ESCAPES = "\x1b[31mred\x07\u202e"
# Each fault's request and function. The function gets the request and the honest way to answer it, and returns the reply, as
# an object or as bytes.
FAULTS = {}


def fault(kind):
    def register(function):
        FAULTS[function.__name__.replace("_", "-")] = (kind, function)
        return function

    return register


def line(reply):
    return json.dumps(reply).encode() + b"\n"


def job(request):
    return adapter.JOBS[request["job"]]


# The conversation.


@fault("describe")
def print_first(request, honest):
    return b"Using the fast backend\n" + line(honest(request))


@fault("describe")
def describe_twice(request, honest):
    return {**honest(request), "variants": [adapter.VARIANT, adapter.VARIANT]}


@fault("describe")
def describe_bad_name(request, honest):
    return {**honest(request), "variants": [{**adapter.VARIANT, "name": "../" + ESCAPES}]}


@fault("describe")
def describe_escapes(request, honest):
    return {**honest(request), "summary": ESCAPES}


@fault("describe")
def describe_nothing(request, honest):
    return {**honest(request), "variants": []}


@fault("hello")
def print_at_start(request, honest):
    return b"Using the fast backend\n" + line(honest(request))


@fault("hello")
def die_at_start(request, honest):
    sys.exit("cannot open the device" + ESCAPES)


@fault("hello")
def unavailable(request, honest):
    return {"type": "unavailable", "reason": "no device " + ESCAPES, "fix": "buy one " + ESCAPES}


@fault("hello")
def escapes_in_description(request, honest):
    return {"type": "ready", "description": {"name": ESCAPES, "versions": {ESCAPES: ESCAPES}}}


@fault("prepare")
def print_between(request, honest):
    return b"Warning: slow path\n" + line(honest(request))


@fault("measure")
def warn_on_stderr(request, honest):
    print("Warning: slow path " + ESCAPES, file=sys.stderr, flush=True)
    return honest(request)


@fault("prepare")
def crash_in_prepare(request, honest):
    os.kill(os.getpid(), signal.SIGSEGV)


@fault("measure")
def crash_in_measure(request, honest):
    os.kill(os.getpid(), signal.SIGSEGV)


@fault("prepare")
def hang_in_prepare(request, honest):
    time.sleep(1000)


@fault("measure")
def hang_in_measure(request, honest):
    time.sleep(1000)


@fault("measure")
def slow(request, honest):
    time.sleep(1)
    return honest(request)


@fault("prepare")
def endless_phases(request, honest):
    while True:
        adapter.output.write(line({"type": "phase", "phase": ESCAPES}))


@fault("measure")
def exit_early(request, honest):
    print("out of memory " + ESCAPES, file=sys.stderr, flush=True)
    os._exit(3)


@fault("measure")
def endless_stderr(request, honest):
    for _ in range(10000):
        os.write(2, b"x" * 10000)
    os._exit(5)


@fault("measure")
def leave_a_child(request, honest):
    # A process of another group keeps standard output open.
    child = subprocess.Popen(["sleep", "15"], stdout=adapter.output, start_new_session=True)
    print(f"child {child.pid}", file=sys.stderr, flush=True)
    os._exit(4)


@fault("prepare")
def long_reply(request, honest):
    return b'{"type":"answered","inputs":"' + b"f" * (100 << 20) + b'"}\n'


@fault("prepare")
def deep_json(request, honest):
    return b"[" * 100000 + b"\n"


@fault("prepare")
def no_utf8(request, honest):
    return b'{"type":"failed","reason":"\xff\xfe","device_lost":false}\n'


@fault("measure")
def unknown_type(request, honest):
    return {"type": "sung", "reason": ESCAPES}


@fault("measure")
def wrong_type(request, honest):
    return {"type": "released"}


@fault("measure")
def two_replies(request, honest):
    return 2 * line(honest(request))


@fault("prepare")
def escapes_in_reason(request, honest):
    return {"type": "failed", "reason": "no luck " + ESCAPES, "device_lost": False}


@fault("prepare")
def always_crowded(request, honest):
    return {"type": "skipped", "reason": "memory is short", "crowded": True}


@fault("measure")
def crowded_in_measure(request, honest):
    return {"type": "skipped", "reason": "memory is short", "crowded": True}


@fault("prepare")
def device_lost(request, honest):
    return {"type": "failed", "reason": "the device fell off the bus", "device_lost": True}


# Answers.


@fault("prepare")
def nan_answer(request, honest):
    reply = honest(request)
    job(request).answer[4] = math.nan
    return {**reply, **job(request).answered(request["answer"])}


@fault("prepare")
def wrong_shape(request, honest):
    return {**honest(request), "arrays": [{"dtype": "f32", "shape": [job(request).n ** 2]}]}


@fault("prepare")
def wrong_dtype(request, honest):
    reply = honest(request)
    pathlib.Path(request["answer"]).write_bytes(array.array("d", job(request).answer).tobytes())
    return {**reply, "arrays": [{"dtype": "f64", "shape": 2 * [job(request).n]}]}


@fault("prepare")
def huge_shape(request, honest):
    return {**honest(request), "arrays": [{"dtype": "c128", "shape": [1 << 63, 1 << 63]}]}


@fault("prepare")
def short_file(request, honest):
    reply = honest(request)
    os.truncate(request["answer"], 20)
    return reply


@fault("prepare")
def no_file(request, honest):
    reply = honest(request)
    os.unlink(request["answer"])
    return reply


@fault("prepare")
def link_for_file(request, honest):
    reply = honest(request)
    os.rename(request["answer"], request["answer"] + "-elsewhere")
    os.symlink(request["answer"] + "-elsewhere", request["answer"])
    return reply


@fault("prepare")
def pipe_for_file(request, honest):
    reply = honest(request)
    os.unlink(request["answer"])
    os.mkfifo(request["answer"])
    return reply


@fault("verify")
def kept_answer(request, honest):
    return honest({**request, "alter": None})


@fault("verify")
def altered_stays(request, honest):
    reply = honest(request)
    if request.get("alter"):
        job(request).operands[0][0] = request["alter"]["value"]
        reply["inputs"] = job(request).fingerprint()
    return reply


@fault("measure")
def late_error(request, honest):
    reply = honest(request)
    job(request).answer[8] += 1
    return reply


@fault("verify")
def incomplete_answer(request, honest):
    reply = honest(request)
    if request["execute"]:
        job(request).answer[8] = math.nan
        reply = job(request).answered(request["answer"])
    return reply


@fault("prepare")
def other_case(request, honest):
    reply = honest(request)
    other = adapter.Job({"case": {**request["cell"]["case"], "seed": 1}, "cache": "hot"})
    other.execute()
    other.answered(request["answer"])
    return reply


@fault("measure")
def changed_operands(request, honest):
    reply = honest(request)
    job(request).operands[1][2] *= 2
    return reply


@fault("prepare")
def wrong_inputs(request, honest):
    return {**honest(request), "inputs": "0123456789abcdef"}


@fault("prepare")
def judge_itself(request, honest):
    reply = honest(request)
    return {"type": "prepared", "error": {"value": 0.0, "bound": 1.0}, "inputs": reply["inputs"], "phases": reply["phases"], "libraries": []}


# Figures.


def with_samples(request, honest, change):
    reply = honest(request)
    change(reply["result"]["samples"])
    return reply


@fault("measure")
def no_samples(request, honest):
    return with_samples(request, honest, lambda samples: samples.clear())


@fault("measure")
def zero_time(request, honest):
    return with_samples(request, honest, lambda samples: samples[1].update(host_s=0.0))


@fault("measure")
def nan_time(request, honest):
    return with_samples(request, honest, lambda samples: samples[1].update(host_s=math.nan))


@fault("measure")
def infinite_time(request, honest):
    return line(honest(request)).replace(b'"host_s": ', b'"host_s": 1e400, "was_s": ', 1)


@fault("prepare")
def long_phase(request, honest):
    reply = honest(request)
    reply["phases"]["prepare_s"] = 1000.0
    return reply


@fault("prepare")
def picked_path(request, honest):
    return {**honest(request), "picked": "../../etc/passwd"}


@fault("prepare")
def escapes_in_libraries(request, honest):
    library = {"name": ESCAPES, "path": ESCAPES, "version": ESCAPES, "serves": [ESCAPES], "problem": None, "fix": ESCAPES}
    return {**honest(request), "libraries": [library]}


@fault("prepare")
def columns_out_of_range(request, honest):
    # A sparse answer, of an op that the example does not have.
    columns = array.array("i", [0, 1, 1, 1, 7])
    pathlib.Path(request["answer"]).write_bytes(columns.tobytes() + array.array("f", [1.0]).tobytes())
    arrays = [{"dtype": "i32", "shape": [4]}, {"dtype": "i32", "shape": [1]}, {"dtype": "f32", "shape": [1]}]
    return {"type": "answered", "inputs": "", "phases": None, "arrays": arrays}


def concerns(request, size):
    """Returns whether a request is about the cell at that N, or about none."""
    if "cell" in request:
        return request["cell"]["case"]["n"] == size
    return "job" not in request or adapter.JOBS[request["job"]].n == size


def faulty(kind, function, size):
    honest = adapter.REPLIES.get(kind)
    return lambda request: (function if concerns(request, size) else answer)(request, honest)


def answer(request, honest):
    return honest(request)


def read(lines):
    for text in sys.stdin:
        lines.put(text)
    os._exit(0)


def serve():
    lines = queue.SimpleQueue()
    adapter.output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=read, args=[lines], daemon=True).start()
    while text := lines.get():
        try:
            request = json.loads(text)
            reply = adapter.REPLIES[request["type"]](request)
        except Exception as error:
            reply = {"type": "failed", "reason": f"{type(error).__name__}: {error}", "device_lost": False}
        adapter.output.write(reply if isinstance(reply, bytes) else line(reply))
        adapter.output.flush()


def main():
    faults = sys.argv[1].split(",")
    if faults[0] == "columns-out-of-range":
        adapter.VARIANT["op"] = "spgemm"
        adapter.REPLIES["prepare"] = lambda request: {"type": "failed", "reason": "not planned", "device_lost": False}
    for size, (kind, function) in enumerate((FAULTS[name] for name in faults), 3):
        adapter.REPLIES[kind] = faulty(kind, function, size)
    serve()


if __name__ == "__main__":
    main()
