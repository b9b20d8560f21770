"""Tables of docs/soak.md: figures of the soak tests, one JSON object per line."""
import json, os

from .kept import RESULTS


def figures(key):
    """The figures with that key, in the order of the tests."""
    lines = map(json.loads, open(os.path.join(RESULTS, "soak", "figures.jsonl")))
    return [line for line in lines if key in line]


def mib(count):
    return f"{count / 2**20:.0f} MiB"


def run():
    (run,) = figures("run")
    host, peak = run["host"], run["peak_bytes"]
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(run["outcomes"].items(), key=lambda one: -one[1]))
    rows = (
        ("machine", f"{host['cpu']}, {host['threads']} CPUs"),
        ("date", run["started"][:10]),
        ("cells", run["run"]),
        ("outcomes", outcomes),
        ("time", f"{run['seconds']:.0f} s"),
        ("`report.json`", mib(run["report_bytes"])),
        ("peak memory of gpubench with a quarter of the journal written", mib(peak["quarter"])),
        ("peak memory of gpubench with all of it written", mib(peak["end"])),
        ("peak memory with its workers", mib(peak["with_workers"])),
        ("bytes written to files and to workers", mib(run["written_bytes"])),
    )
    return "\n".join(["| figure | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])
