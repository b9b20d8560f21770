"""Operations of a user's own: the examples of docs/own-operation.md, and gpubench's ops written as such."""
import statistics

from .kept import report, revision
from .text import duration, with_interval

EXAMPLES = ("article", "blur", "eigh", "fft_batch", "pagerank", "pca", "raw_kernel")
# The variant of each op that a function of builtin_ops.py does the same as, by library.
SAME = {
    "matmul": {"cupy": "matmul", "torch": "matmul"},
    "elementwise": {"cupy": "eager", "torch": "eager"},
    "reduction": {"cupy": "eager", "torch": "eager"},
    "fft": {"cupy": "fft2", "torch": "fft2"},
    "solve": {"cupy": "solve", "torch": "solve"},
    "spgemm": {"cupy": "csr", "torch": "csr"},
    "svd": {"cupy": "svd", "torch": "svd"},
}


def examples():
    """A row per example: its largest size."""
    lines = ["| file | op | largest N | best CPU | best GPU: device clock | data stays: host clock | copied each call: pageable |",
             "|---|---|---:|---:|---:|---:|---:|"]
    for name in EXAMPLES:
        of_report = report("h200", "own", name)
        grades = {(row["n"], row["backend"], row["variant"]): row["execute"]["grade"] for row in of_report["rows"] if row.get("execute")}
        for section in of_report["answer"]["sections"]:
            size = section["sizes"][-1]
            of, n = size["speed_ups"], size["n"]
            kernel = of.get("kernel") or of["resident"]
            has_d = any(grades.get((n, kernel[f"{side}_backend"], kernel[side])) == "D" for side in ("cpu", "gpu"))
            best = [f"{duration(kernel[side + '_s']['value'])} {kernel[side]}" for side in ("cpu", "gpu")]
            cells = [with_interval(of[kind]["ratio"], has_d) for kind in ("resident", "end_to_end")]
            lines.append(f"| {name}.py | {section['op']} | {n} | {' | '.join(best + cells)} |")
    environment = of_report["environment"]
    of = {backend["name"]: backend["description"] for backend in environment["backends"] if backend.get("description")}
    return "\n".join([*lines, "", f"gpubench {revision(environment)}, {environment['started'][:10]}: {of['cupy']['name']} against "
                      f"{environment['host']['cpu']}, NumPy and SciPy on up to {of['numpy']['threads']} threads, most functions on one; cold caches; `results/h200/own`."])


def agreement():
    """The times of gpubench's ops as own operations over those of the built-in ones, by op."""
    rows = {(row["op"], row["n"], row["backend"], row["variant"]): row["execute"] for row in report("h200", "own", "builtin")["rows"] if row.get("execute")}
    ratios, overlapping = {}, 0
    for op, variants in SAME.items():
        for backend, variant in variants.items():
            for n in (512, 2048):
                pair = rows.get((op, n, backend, variant)), rows.get((f"own-{op}", n, backend, op))
                if None not in pair:
                    (low, high), (own_low, own_high) = (one["ci95_s"] for one in pair)
                    overlapping += own_low <= high and low <= own_high
                    ratios.setdefault(op, []).append(pair[1]["median_s"] / pair[0]["median_s"])
    found = [ratio for of in ratios.values() for ratio in of]
    spans = ", ".join(f"{op} {min(of):.3f} to {max(of):.3f}" for op, of in ratios.items())
    return (f"On an H200, gpubench's seven ops with CuPy and PyTorch as operations of one's own take {statistics.median(found):.3f} times as long as the "
            f"built-in ones in the median of {len(found)} pairs ({spans}); in {overlapping} pairs the 95 % intervals overlap. Operands have other values, "
            "and the calls of spgemm and svd wait for the device, so the host has a part in their times.")
