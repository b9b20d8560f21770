#!/usr/bin/env python3
"""Mutation testing: how many small faults in crates/{report,ops,analysis,run} do the tests catch?

usage: mutants.py [--count 200] [--seed 60] [--unit] [--out FILE]

Takes a fixed sample of the mutants that cargo-mutants (cargo install --locked cargo-mutants) lists, applies one at a time in a
clone below target/, and runs the unit tests of its crate, then, if these pass, all tests of the workspace. A mutant that does not
build counts for nothing. `--unit` runs the unit tests alone, which takes a tenth of the time. Prints each mutant that no test
catches, and the share that is caught; `--out` keeps one JSON line per mutant."""
import argparse, json, os, random, resource, subprocess, sys, time
from pathlib import Path

CRATES = ["report", "ops", "analysis", "run"]
ROOT = Path(__file__).resolve().parent.parent
CLONE = ROOT / "target" / "mutants"
# Built often and run briefly: little optimisation, and only what changed.
PROFILE = {"CARGO_INCREMENTAL": "1", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_DEV_OPT_LEVEL": "1"}
# A mutant may loop for ever. The tests of a crate take half a minute, all tests ten, and a build is none of the mutant's.
LIMITS_S = {"--no-run": 1800, "--lib": 180, "--locked": 1800}
# One that allocates in its loop must not take the machine's memory.
MOST_BYTES = 8 << 30


def cargo(*words):
    """Runs cargo in the clone; returns its exit status, None where it takes too long."""
    limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    command = subprocess.Popen(["cargo", *words], cwd=CLONE, env=os.environ | PROFILE, start_new_session=True,
                               preexec_fn=limited, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return command.wait(next(limit for word, limit in LIMITS_S.items() if word in words))
    except subprocess.TimeoutExpired:
        os.killpg(command.pid, 9)
        command.wait()
        return None


def applied(text, mutant):
    """Returns the text with the mutant in it."""
    lines = text.split("\n")
    start, end = mutant["span"]["start"], mutant["span"]["end"]
    before = lines[start["line"] - 1][: start["column"] - 1]
    after = lines[end["line"] - 1][end["column"] - 1:]
    lines[start["line"] - 1: end["line"]] = [before + mutant["replacement"] + after]
    return "\n".join(lines)


def fate(mutant, unit_alone):
    """Returns what happens to the mutant: unbuildable, unit (caught by its crate's tests), all (by the others), missed."""
    file = CLONE / mutant["file"]
    text = file.read_text(encoding="utf-8")
    file.write_text(applied(text, mutant), encoding="utf-8")
    try:
        package = ["--locked", "--package", mutant["package"], "--lib"]
        if cargo("test", *package, "--no-run") != 0:
            return "unbuildable"
        if cargo("test", *package) != 0:
            return "unit"
        return "missed" if unit_alone or cargo("test", "--locked") == 0 else "all"
    finally:
        file.write_text(text, encoding="utf-8")
        # Failures that property tests keep would fail the next mutant's.
        subprocess.run(["git", "clean", "-fdq", "crates"], cwd=CLONE, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=60)
    parser.add_argument("--unit", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if not CLONE.is_dir():
        subprocess.run(["git", "clone", "--quiet", ROOT, CLONE], check=True)
    # The clone of an earlier run keeps what it has built, and gets what is committed now.
    subprocess.run(["git", "fetch", "--quiet", "origin", "HEAD"], cwd=CLONE, check=True)
    subprocess.run(["git", "reset", "--quiet", "--hard", "FETCH_HEAD"], cwd=CLONE, check=True)
    packages = [word for crate in CRATES for word in ("--package", f"gpubench-{crate}")]
    listed = subprocess.run(["cargo", "mutants", "--list", "--json", *packages], cwd=CLONE, check=True, stdout=subprocess.PIPE)
    # Reports and calls that tests build on are not what is tested.
    mutants = [mutant for mutant in json.loads(listed.stdout) if not mutant["file"].endswith("example.rs")]
    unit = ["test", *packages, "--lib", "--locked"]
    if any(cargo(*words) != 0 for words in ([[*unit, "--no-run"], unit] if options.unit else [["test", "--locked"]])):
        sys.exit(f"the tests fail without a mutant: run cargo test in {CLONE}")
    sample = random.Random(options.seed).sample(mutants, min(options.count, len(mutants)))
    # One crate after another, so that little is built again.
    sample.sort(key=lambda mutant: (mutant["package"], mutant["file"], mutant["span"]["start"]["line"]))
    fates = {}
    out = options.out.open("a", encoding="utf-8") if options.out else None
    for mutant in sample:
        began = time.monotonic()
        name = mutant["name"]
        fates[name] = fate(mutant, options.unit)
        if fates[name] == "missed":
            print(name, flush=True)
        if out:
            row = {"mutant": name, "fate": fates[name], "seconds": round(time.monotonic() - began, 1)}
            print(json.dumps(row), file=out, flush=True)
    built = [kind for kind in fates.values() if kind != "unbuildable"]
    caught = sum(kind != "missed" for kind in built)
    print(f"{caught} of {len(built)} caught, {100 * caught / max(len(built), 1):.1f} %")


if __name__ == "__main__":
    main()
