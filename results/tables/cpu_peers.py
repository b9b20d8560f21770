"""NumPy, SciPy and PyTorch next to gpubench on the CPU."""
import glob, json, os, re

from .kept import RESULTS, script

cpu = script("cpu", "peers", "ratios.py")


def cpu_peers():
    """A row per file, peer and element type, then a row per file with its machine."""
    figures, machines = [], []
    for path in sorted(glob.glob(os.path.join(RESULTS, "cpu", "peers", "*.json"))):
        name, measured = os.path.basename(path)[:-len(".json")], json.load(open(path))
        link = f"[{name}](../results/cpu/peers/{name}.md)"
        for peer, libraries in cpu.PEERS.items():
            for dtype in ("float32", "float64"):
                cells = list(cpu.pairs(measured, libraries, dtype))
                if cells:
                    figures.append(f"| {link} | {peer} | {dtype} | {cpu_figures(cells)} |")
        machines.append(f"| {name} | {cpu_machine(measured)} |")
    lines = ["| file | peer | type | cells | rounds | " + " | ".join(cpu.OPS) + " | all | least | least of a round |",
             "|---|---|---|---:|---:|" + "---:|" * len(cpu.OPS) + "---:|---:|---:|", *figures, "",
             "| file | processor | threads | date | gpubench, its libraries | peers |", "|---|---|---:|---|---|---|", *machines]
    return "\n".join(lines)


def cpu_figures(cells):
    """Cells, rounds, the geometric mean of each op and of all, the least median ratio and the least of a single round."""
    counts = [ratio.rounds for _, _, ratio in cells]
    rounds = f"{min(counts)}–{max(counts)}" if min(counts) < max(counts) else f"{counts[0]}"
    means = []
    for op in cpu.OPS:
        values = [ratio.value for its, _, ratio in cells if its == op]
        means.append(f"{cpu.mean(values):.2f} ({len(values)})" if values else "–")
    op, n, least = min(cells, key=lambda cell: cell[2].value)
    worst = min(cells, key=lambda cell: cell[2].least)
    return " | ".join([str(len(cells)), rounds, *means, f"**{cpu.mean([ratio.value for _, _, ratio in cells]):.2f}**",
                       f"{least.value:.2f} ({op} {n})", f"{worst[2].least:.2f} ({worst[0]} {worst[1]})"])


def cpu_machine(measured):
    """Processor, threads, date, and the versions of both sides."""
    gpubench = measured["gpubench"]
    ours = sorted({f"{lib['name'].split(' ')[0]} {re.search(r'[0-9]+([.][0-9]+)+', lib['version'])[0]}" for lib in gpubench["libraries"]})
    theirs = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    return (f"{measured['processor']}, {gpubench['description']['simd']}, {measured['processors']} hardware threads | {measured['threads']} | "
            f"{measured['date']} | {gpubench['revision'][:7]}; {', '.join(ours)} | {theirs}")
