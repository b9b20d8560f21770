#!/usr/bin/env python3
"""Time gpubench and the peers alternately, op by op, several rounds, on one machine.

usage: measure.py OUT.json [--gpubench FILE] [--threads N] [--rounds R] [--ops LIST] [--sizes LIST] [--dtypes LIST]
                  [--seconds S] [--peers LIST] [--add] [-- ARGUMENTS]

In each round, for each op, gpubench runs it (`gpubench run --config configs/cpu-peers.toml`, with ARGUMENTS at the end
if any). Then peers.py runs it with each library that python3 can import. All use N threads. So a change of the machine's
speed affects every side. Figures are kept by round; ratios.py compares them. With --add the figures join those that OUT.json
has from an earlier call on the same machine with the same gpubench.

OUT.json: {threads, rounds, date, processor, gpubench: {version, revision, peaks, libraries}, versions,
           ours: [{op, n, dtype, variant, error, bound, flop, bytes, threads, rounds_ms}],
           peers: [{lib, op, n, dtype, variant, rounds_ms}]}
"""
import argparse, json, os, pathlib, re, subprocess, sys, tempfile, tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SWEEP = ROOT / "configs/cpu-peers.toml"
NAMES = {"float32": "f32", "float64": "f64"}


def arguments():
    words = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--gpubench", type=os.path.abspath, default=str(ROOT / "target/release/gpubench"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ops", type=words)
    parser.add_argument("--sizes", type=words)
    parser.add_argument("--dtypes", type=words, default=list(NAMES))
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--peers", type=words)
    parser.add_argument("--add", action="store_true")
    own, rest = sys.argv[1:], []
    if "--" in own:
        own, rest = own[:own.index("--")], own[own.index("--") + 1:]
    asked = parser.parse_args(own)
    asked.rest = rest
    asked.peers = asked.peers or [lib for lib in ("numpy", "torch") if can_import(lib)]
    return asked


def can_import(library):
    return subprocess.run(["python3", "-c", f"import {library}"], capture_output=True).returncode == 0


def sweep(asked):
    """(op, sizes) of the sweep file, as far as they are asked for."""
    tables = tomllib.loads(SWEEP.read_text())["sweep"]
    for table in tables:
        for op in table["ops"]:
            sizes = [str(n) for n in table["sizes"] if not asked.sizes or str(n) in asked.sizes]
            if sizes and (not asked.ops or op in asked.ops):
                yield op, sizes


class Figures:
    """Times by round of every cell of one side."""

    def __init__(self, identity, earlier):
        """`identity` are the keys that identify a cell; `earlier` are rows of an earlier call."""
        self.cells = {tuple(row[key] for key in identity): row for row in earlier}

    def add(self, key, facts, milliseconds):
        self.cells.setdefault(key, {**facts, "rounds_ms": []})["rounds_ms"].append(milliseconds)

    def rows(self):
        return list(self.cells.values())


def run(command, folder):
    """Runs a command; its output is shown only when it fails. A wrong or failed cell of gpubench (1) is a result."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def ours(asked, op, sizes, folder, figures):
    """One run of gpubench; the report's environment."""
    out = folder / "report"
    run([asked.gpubench, "run", "--config", str(SWEEP), "--ops", op, "--sizes", ",".join(sizes), "--dtypes",
         ",".join(NAMES[dtype] for dtype in asked.dtypes), "--threads", str(asked.threads), "--out", str(out), "--force",
         "--format", "json", *asked.rest], folder)
    report = json.loads((out / "report.json").read_text())
    for row in report["rows"]:
        if row["outcome"] != "measured" or row["accuracy"] != "ieee":
            continue
        dtype = next(long for long, short in NAMES.items() if short == row["dtype"])
        facts = dict(op=op, n=row["n"], dtype=dtype, variant=row["variant"], error=row["error"]["value"],
                     bound=row["error"]["bound"], flop=row["work"]["flop"], bytes=row["work"]["bytes"],
                     threads=row.get("threads"))
        figures.add((op, row["n"], dtype, row["variant"]), facts, row["execute"]["median_s"] * 1e3)
    return report["environment"]


def theirs(asked, library, op, sizes, folder, figures):
    """One run of peers.py; the versions it found."""
    out = folder / "peers.json"
    done = run(["python3", str(HERE / "peers.py"), library, str(out), "--threads", str(asked.threads), "--ops", op,
                "--sizes", ",".join(sizes), "--dtypes", ",".join(asked.dtypes), "--seconds", str(asked.seconds)], folder)
    if done.returncode:
        sys.exit(f"peers.py {library} failed:\n{done.stderr}")
    found = json.loads(out.read_text())
    for row in found["rows"]:
        facts = {key: row[key] for key in ("lib", "op", "n", "dtype", "variant")}
        figures.add(tuple(facts.values()), facts, row["median_ms"])
    return found["versions"]


def about(environment):
    """What a reader needs to know of gpubench's side: no names or folders of the machine."""
    cpu = next(backend for backend in environment["backends"] if backend["name"] == "cpu")
    # The number of threads at the end of a BLAS's version is that of the last job.
    libraries = [{"name": found["name"], "version": re.sub(", [0-9]+ threads$", "", found.get("version") or ""), "file": os.path.basename(found.get("path") or "")}
                 for found in cpu["libraries"]]
    return dict(version=environment["gpubench_version"], revision=environment.get("gpubench_revision"),
                peaks=cpu.get("peaks"), description=cpu["description"], libraries=libraries)


def earlier_result(asked):
    """The content of OUT.json to which figures are added; without --add an empty one."""
    if not asked.add:
        return dict(threads=asked.threads, rounds=0, gpubench=dict(libraries=[]), versions={}, ours=[], peers=[])
    earlier = json.loads(pathlib.Path(asked.out).read_text())
    if earlier["threads"] != asked.threads:
        sys.exit(f"{asked.out} was measured with {earlier['threads']} threads: use --threads {earlier['threads']}")
    return earlier


def main():
    asked = arguments()
    earlier = earlier_result(asked)
    mine = Figures(("op", "n", "dtype", "variant"), earlier["ours"])
    others = Figures(("lib", "op", "n", "dtype", "variant"), earlier["peers"])
    versions = earlier["versions"]
    libraries = {library["file"]: library for library in earlier["gpubench"]["libraries"]}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for turn in range(asked.rounds):
            for op, sizes in sweep(asked):
                print(f"round {turn + 1} of {asked.rounds}: {op}", flush=True)
                environment = ours(asked, op, sizes, folder, mine)
                host = environment["host"]
                gpubench = about(environment)
                if gpubench["revision"] != earlier["gpubench"].get("revision", gpubench["revision"]):
                    sys.exit(f"{asked.out} was measured by another gpubench: write a new file")
                libraries.update((library["file"], library) for library in gpubench["libraries"])
                for library in asked.peers:
                    versions.update(theirs(asked, library, op, sizes, folder, others))
                gpubench["libraries"] = list(libraries.values())
                result = dict(threads=asked.threads, rounds=max(earlier["rounds"], turn + 1),
                              date=environment["started"][:10], processor=host["cpu"], system=host["os"],
                              processors=host["threads"], gpubench=gpubench, versions=versions, ours=mine.rows(),
                              peers=others.rows())
                pathlib.Path(asked.out).write_text(json.dumps(result, indent=0) + "\n")


main()
