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


def reading():
    # A process that ends within 2 ms may not have been looked at.
    peak = lambda read: mib(read["peak_bytes"]) if read["peak_bytes"] > 2**20 else "not seen"
    rows = (f"| `{read['read']}` | {read['seconds']:.1f} s | {peak(read)} |" for read in figures("read"))
    return "\n".join(["| command | time | peak memory |", "|---|---|---|", *rows])


def stops():
    rows = (f"| {number} | SIG{stop['stop'][1:]} | {stop['finished']} |" for number, stop in enumerate(figures("stop"), 1))
    return "\n".join(["| stop | signal | cells that are finished |", "|---|---|---|", *rows])


def memory():
    rows = (f"| `{one['memory']}` | {one['peak_bytes'] / 1e6:.0f} MB | {one['bound_bytes'] / 1e6:.0f} MB |" for one in figures("memory"))
    return "\n".join(["| options of `gpubench run --backends cpu` | peak | bound |", "|---|---|---|", *rows])


def device():
    rows = []
    for one in figures("jobs"):
        free, files = (f"{before} | {after}" for before, after in (map(mib, one["free_bytes"]), one["open_files"]))
        rows.append(f"| {one['device']} | {one['revision'][:7]} | {one['seconds']:.0f} s | {one['jobs']} | {free} | {files} |")
    head = ["| device | gpubench | time | jobs | free memory before | after | open files before | after |", "|---|---|---:|---:|---:|---:|---:|---:|"]
    return "\n".join([*head, *rows])
