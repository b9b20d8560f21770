#!/usr/bin/env python3
"""Compares what two builds of gpubench print and write: for changes that must change no behaviour.

    python3 .ci/same_output.py OLD NEW

OLD and NEW are the binaries. Each runs seeded sweeps on the simulated device, and each prints the reports that OLD wrote and
those kept in results/ in every format. What differs by nature (dates, seconds of the host, loads) is masked. Prints the
differences and ends with 1 if there are any.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HELP = ["run", "list", "doctor", "compare", "baseline", "baseline save", "baseline list", "baseline show", "show", "merge",
        "plot", "report", "trend", "schema", "completions", "worker"]
TWO_SIDES = """seed = {seed}
[[variant]]
name = 'host'
side = 'cpu'
[[variant]]
name = 'device'
[[variant]]
name = 'device-slow'
[[rule]]
noise = 0.02
[[rule]]
variant = 'host'
time = {{ base = '2us', per_element = '300ns' }}
[[rule]]
variant = 'device'
time = {{ base = '15us', per_element = '40ns' }}
[[rule]]
variant = 'device-slow'
time = {{ base = '18us', per_element = '45ns' }}
"""
PEAKS = "[peaks]\nread = 1e12\ncopy = 1e12\ntriad = 1e12\nmatmul = { f32 = 1e13, f64 = 5e12 }\n"
# Name, script of the simulated device, and the rest of the command line.
SWEEPS = [
    ("fair", "[[variant]]\nname = 'a'\n", "--ops matmul --sizes 16,64"),
    ("sides", TWO_SIDES.format(seed=1), "--ops matmul,sin --sizes 16,64,256 --dtypes f32,f64 --refine"),
    ("again", TWO_SIDES.format(seed=2), "--ops matmul,sin --sizes 16,64,256 --dtypes f32,f64"),
    ("slower", TWO_SIDES.format(seed=3).replace("40ns", "60ns"), "--ops matmul,sin --sizes 16,64,256 --dtypes f32,f64"),
    ("peaks", TWO_SIDES.format(seed=4) + PEAKS, "--ops matmul,fft,solve,reduction --sizes 32,128,512 --cache hot --tables"),
    ("faults", TWO_SIDES.format(seed=5) + "[[rule]]\nvariant = 'device-slow'\nn = 64\nanswer = 'wrong'\n"
     "[[rule]]\nvariant = 'device'\nop = 'sin'\noutcome = 'fail'\n", "--ops matmul,sin,svd --sizes 16,64 --all-variants --tables"),
    ("sparse", TWO_SIDES.format(seed=6), "--ops spgemm,spmv,elementwise --sizes 32,64 --density 0.1 --samples 15"),
    ("drift", TWO_SIDES.format(seed=7) + "[[rule]]\nvariant = 'host'\ndrift = 0.05\n", "--ops matmul --sizes 32,64,128"),
]
KEPT = ["results/h200/article", "results/h200/article-python"]
VOLATILE = [
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?", "DATE"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r'"(elapsed_s|\w*load\w*|startup_s|inputs_s|prepare_s|plan_s|download_s|check_s|verify_s|clock_s|fastest_s|slowest_s)": '
     r"?[-\d.e+]+", r'"\1": 0'),
    (r'"program_hash": "\w+"', '"program_hash": ""'),
    (r'"time_spent": \{[^}]*\}', '"time_spent": {}'),
    # Whether the machine is busy at the start.
    (r'"warnings": \[\{\s*"text": "the machine was busy[^]]*\],?\s*', ""),
]


def masked(text: str, places: list[tuple[str, str]]) -> str:
    """The text without what differs from run to run or from place to place."""
    for place, word in places:
        text = text.replace(place, word)
    for pattern, word in VOLATILE:
        text = re.sub(pattern, word, text)
    return text


class Build:
    """A binary with a folder of its own."""

    def __init__(self, name: str, binary: str, folder: Path):
        self.folder, self.found = folder / name, {}
        (self.folder / "bin").mkdir(parents=True)
        self.binary = str(shutil.copy(binary, self.folder / "bin" / "gpubench"))
        self.places = [(str(self.folder), "FOLDER"), (str(ROOT), "ROOT")]

    def call(self, line: str) -> None:
        """Runs a command line and keeps what it prints, and what it writes into the folder `made`."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPUBENCH_")}
        environment |= {"COLUMNS": "100", "XDG_CACHE_HOME": str(self.folder / "cache")}
        ended = subprocess.run([self.binary, *line.split()], cwd=self.folder, env=environment, capture_output=True)
        text = f"exit code {ended.returncode}\n{ended.stdout.decode()}\n--- stderr\n{ended.stderr.decode()}"
        self.found[masked(line, self.places)] = masked(text, self.places)

    def keep(self, folder: str) -> None:
        """Keeps the text files of a folder that was written."""
        for path in sorted((self.folder / folder).rglob("*")):
            if path.is_file() and path.suffix != ".png":
                self.found[str(path.relative_to(self.folder))] = masked(path.read_text(), self.places)
            elif path.is_file():
                self.found[str(path.relative_to(self.folder))] = "an image"

    def sweeps(self) -> None:
        for name, script, line in SWEEPS:
            (self.folder / f"{name}.toml").write_text(script)
            run = f"run --backends sim --sim {name}.toml {line} --quiet --seed 7"
            self.call(f"{run} --dry-run")
            # The other formats depend on nothing but the report, and are compared by `readers`.
            self.call(f"{run} --out {name} --format json")
            self.keep(name)

    def readers(self, sweeps: Path) -> None:
        """Everything that reads reports, on the reports of one build."""
        self.places.append((str(sweeps), "REPORTS"))
        for command in ["", *HELP]:
            self.call(f"{command} --help")
        for line in ["--version", "list", "list --json", "schema", "schema report", "schema compare", "schema fleet",
                     "completions bash", "completions zsh", "completions fish", "run --ops matmull", "run --sizes 0", "show nowhere",
                     "compare", "frobnicate"]:
            self.call(line)
        reports = [str(sweeps / name) for name, _, _ in SWEEPS] + [str(ROOT / kept) for kept in KEPT]
        for report in reports:
            for form in ["table", "json", "csv", "md", "html"]:
                self.call(f"show {report} --format {form}")
            self.call(f"show {report} --tables")
            self.call(f"show {report} --tables --all-variants")
            name = Path(report).name
            for theme in ["light", "dark"]:
                self.call(f"plot {report} --out plots-{theme}-{name} --format svg --theme {theme}")
                self.keep(f"plots-{theme}-{name}")
        sides, again, slower = (sweeps / name for name in ["sides", "again", "slower"])
        article, peers = (ROOT / kept for kept in KEPT)
        for pair in [f"{sides} {again}", f"{again} {slower}", f"{article} {article}", f"{article} {peers}",
                     f"--old {sides} {again} --new {slower}", f"{again} {slower} --history {sides}"]:
            for form in ["table", "json", "md", "junit", "github", "bmf", "github-action-benchmark", "csv"]:
                self.call(f"compare {pair} --format {form}")
            self.call(f"compare {pair} --all-cells")
        self.call(f"compare --plan {sides} {again}")
        for form in ["table", "json", "csv", "md"]:
            self.call(f"trend {sweeps} --format {form} --out -")
        self.call(f"trend {sweeps} --format svg,md --out trends")
        self.keep("trends")
        self.call(f"merge {sides} {slower} {article} --names one,two,three --out merged.json")
        self.keep("merged.json")
        for form in ["table", "json", "csv", "md", "html"]:
            self.call(f"show merged.json --format {form}")
        self.call("plot merged.json --out plots-merged --format svg")
        self.keep("plots-merged")
        self.call(f"report {sides} {again} merged.json --out page.html")
        self.call("report merged.json --out -")
        self.call(f"baseline save main --from {sides} {again} {slower} --accept-noisy")
        self.call("baseline list")
        self.call("baseline show main")


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        builds = [Build(name, binary, Path(folder)) for name, binary in zip(["old", "new"], sys.argv[1:])]
        programs = [(build.binary, "PROGRAM") for build in builds]
        for build in builds:
            build.places = programs + build.places
            build.sweeps()
        sweeps = Path(folder) / "reports"
        for name, _, _ in SWEEPS:
            shutil.copytree(builds[0].folder / name, sweeps / name)
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda build: build.readers(sweeps), builds))
        old, new = (build.found for build in builds)
        different = [title for title in old | new if old.get(title) != new.get(title)]
        for title in different:
            lines = [found.get(title, "").splitlines() for found in (old, new)]
            print(f"== {title}")
            print("\n".join(line[:200] for line in list(difflib.unified_diff(*lines, "old", "new", lineterm="", n=1))[:30]))
        print(f"{len(old | new)} outputs, {len(different)} differ")
        return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
