"""A worker for gpubench in plain Python: products of small matrices. docs/external.md explains how to run and check it."""
import array, itertools, json, math, mmap, operator, os, pathlib, platform, queue, statistics, sys, threading, time

MASK, GOLDEN, CODES, WORDS = (1 << 64) - 1, 0x9E3779B97F4A7C15, {"f32": "f", "f64": "d"}, {"f32": "I", "f64": "Q"}
FLUSHED, LINES = mmap.mmap(-1, 256 << 20), bytes((256 << 20) // 64)  # Larger than the caches of most CPUs.
VARIANT = {"op": "matmul", "name": "lists", "summary": "a sum of products per element of the answer",
           "side": "cpu", "accuracy": "ieee", "default": True, "dtypes": ["f32", "f64"]}

def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)

def uniform(seed, operand, count, dtype):
    bits = (mix(mix(seed + GOLDEN * (operand + 1) & MASK) + GOLDEN * (index + 1) & MASK) for index in range(count))
    return array.array(CODES[dtype], ((b >> 40) * 2.0**-24 if dtype == "f32" else (b >> 11) * 2.0**-53 for b in bits))

class Job:
    def __init__(self, cell):
        case, self.is_cold = cell["case"], cell["cache"] == "cold"
        self.n, self.dtype = case["n"], case["dtype"]
        self.operands = [uniform(case["seed"], operand, self.n**2, self.dtype) for operand in (0, 1)]
        self.erase()
    def erase(self):
        self.answer = array.array(CODES[self.dtype], [math.nan]) * self.n**2
    def execute(self):
        if self.is_cold:
            FLUSHED[::64] = LINES  # Writes to every cache line, so that none holds an operand.
        start, (a, b), n = time.perf_counter(), self.operands, self.n
        for i, j in itertools.product(range(n), range(n)):
            self.answer[i * n + j] = sum(map(operator.mul, a[i * n:(i + 1) * n], b[j::n]))
        return time.perf_counter() - start
    def fingerprint(self):
        state = 0
        for operand in self.operands:
            words = memoryview(operand.tobytes()).cast(WORDS[self.dtype])
            elements = sum((word + 1) * (2 * place + 1) for place, word in enumerate(words))
            for part in (self.n, self.n, 0, elements):
                state = ((state << 13 | state >> 51) * GOLDEN + part) & MASK
        return f"{state:016x}"
    def answered(self, path, **more):
        pathlib.Path(path).write_bytes(self.answer)
        return {"type": "answered", "inputs": self.fingerprint(), "threads": 1,
                "arrays": [{"dtype": self.dtype, "shape": [self.n, self.n]}], **more}

def prepare(request):
    start = time.perf_counter()
    job = JOBS[request["job"]] = Job(request["cell"])
    phases = {"inputs_s": time.perf_counter() - start, "prepare_s": 0.0, "first_s": job.execute(), "download_s": 0.0, "check_s": 0.0}
    return job.answered(request["answer"], phases=phases)

def is_steady(times):
    half = len(times) // 2
    return half < 3 or statistics.median(times[half:]) > 0.98 * statistics.median(times[:half])

def measure(request):
    job, batch, times, samples, start = JOBS[request["job"]], request["batch"], [], [], time.perf_counter()
    least = batch.get("warm_up") or {"executions": 0, "min_s": 0.0, "max_s": 0.0}
    while (spent_s := time.perf_counter() - start) < least["max_s"] and (
            len(times) < least["executions"] or spent_s < least["min_s"] or not is_steady(times)):
        times.append(job.execute())
    began = time.perf_counter()
    while len(samples) < batch["samples"] and (not samples or time.perf_counter() - began < batch["max_s"]):
        samples.append({"host_s": job.execute()})
    result = {"samples": samples, "warmups": len(times), "warmup_s": began - start, "spent_s": time.perf_counter() - began,
              "steady": is_steady(times), "setup_while_sampling": {"allocations": 0, "plans": 0, "compilations": 0}}
    return {"type": "measured", "clock": "host", "result": result}

def verify(request):
    job, alter = JOBS[request["job"]], request.get("alter")
    if alter:
        operand, element = job.operands[alter["operand"]], alter["element"]
        before, operand[element] = operand[element], alter["value"]
        job.execute()
        operand[element] = before
    elif request["execute"]:
        job.erase()
        job.execute()
    return job.answered(request["answer"])

JOBS, REPLIES = {}, {"prepare": prepare, "measure": measure, "verify": verify, "exit": lambda _: sys.exit(),
    "describe": lambda _: {"type": "described", "name": "Python", "summary": "plain Python", "variants": [VARIANT]},
    "hello": lambda _: {"type": "ready", "description": {"versions": {"python": platform.python_version()}}},
    "release": lambda request: [JOBS.pop(request["job"], None), {"type": "released"}][1], "rest": lambda _: {"type": "rested"}}

def main():
    output, lines = os.fdopen(os.dup(1), "w", buffering=1), queue.SimpleQueue()
    os.dup2(2, 1)  # Whatever is printed goes to standard error.
    threading.Thread(target=lambda: [*map(lines.put, sys.stdin), os._exit(0)], daemon=True).start()  # Ends with its input.
    while line := lines.get():
        try:
            request = json.loads(line)
            reply = REPLIES[request["type"]](request)
        except Exception as error:
            reply = {"type": "failed", "reason": f"{type(error).__name__}: {error}", "device_lost": False}
        output.write(json.dumps(reply) + "\n")

if __name__ == "__main__":
    main()
