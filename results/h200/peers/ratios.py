#!/usr/bin/env python3
"""Compare a report of gpubench with what peers.py measured on the same machine, each clock with its like.

usage: ratios.py report.json PEERS.json... > ratios.md

For each op, element type and size of the article: our `auto` row with hot caches against the fastest of the peers' calls in
full precision. The peers' answers are not checked. Device: our time by the device's clock against two events with the stream blocked until the call is queued.
Host: from the call until it is done, on both sides. A ratio above 1 means that gpubench is faster.
"""
import json, math, sys

# Calls that do the same work in full precision. PyTorch's gesvda is an approximate method by cuSOLVER's documentation, and stays
# in the comparison all the same: it is the fastest call of its library.
SAME = {
    "matmul": {"dot", "matmul", "highest"},
    "elementwise": {"eager", "fused", "compile", "jit"},
    "reduction": {"sum,mean,std", "compile", "jit"},
    "fft": {"fft2"},
    "solve": {"lu", "pos"},
    "spgemm": {"csr"},
    "svd": {"thin", "gesvd", "gesvdj", "gesvda"},
}
SMALL, BIG = (100, 500, 512, 1024, 2048), (100, 500, 1000, 5000, 10000)
SIZES = {op: BIG if op in ("matmul", "elementwise", "reduction") else SMALL for op in SAME}
TYPES = {"f32": "float32", "f64": "float64"}
CLOCKS = ("device", "host")


def duration(seconds):
    micro = seconds * 1e6
    return f"{micro:.3g} µs" if micro < 999.5 else f"{micro / 1e3:.3g} ms"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def cells(report, peers):
    """For each op, type and size: by each clock our seconds, the best peer's name and seconds, and the ratio."""
    found = {}
    for row in report["rows"]:
        key = row["op"], row["dtype"], row["n"]
        if row["backend"] != "cuda" or row["variant"] != "auto" or row["outcome"] != "measured" or row["cache"] != "hot":
            continue
        if row["n"] not in SIZES.get(row["op"], ()) or row.get("density", 0.01) != 0.01:
            continue
        ours = {"device": row["execute"]["median_s"], "host": row["execute"]["host_median_s"]}
        cell = {"picked": row.get("picked") or row["variant"], "error": row["error"]}
        for clock in CLOCKS:
            same = [p for p in peers if (p["op"], p["dtype"], p["n"]) == (key[0], TYPES[key[1]], key[2])
                    and p["variant"] in SAME[key[0]] and f"{clock}_ms" in p]
            if same:
                best = min(same, key=lambda p: p[f"{clock}_ms"])
                its = best[f"{clock}_ms"] / 1e3
                cell[clock] = ours[clock], f"{best['lib']} {best['variant']}", its, its / ours[clock]
        if all(clock in cell for clock in CLOCKS):
            found[key] = cell
    return found


def load(report_path, peer_paths):
    report = json.load(open(report_path))
    files = [json.load(open(path)) for path in peer_paths]
    return report, files, cells(report, [row for file in files for row in file["rows"]])


def provenance(report, files):
    """One line: revision, machine, date, clocks and libraries."""
    environment = report["environment"]
    cuda = next(b["description"] for b in environment["backends"] if b["name"] == "cuda")
    libraries = ", ".join(f"{name} {version}" for file in files for name, version in file["made"]["libraries"].items()
                          if not name.isupper())
    return (f"gpubench {environment['gpubench_revision']}, {cuda['name']}, driver {cuda['driver_version']}, CUDA "
            f"{cuda['cuda_version']}, {environment['started'][:10]}; {libraries}")


def means(found):
    """Rows of geometric means: type, op or `all`, by each clock the mean, the smallest ratio and where."""
    rows = []
    for dtype in TYPES:
        for op in [*SAME, "all"]:
            of = {key: cell for key, cell in found.items() if key[1] == dtype and op in (key[0], "all")}
            if not of:
                continue
            row = [dtype, op, len(of)]
            for clock in CLOCKS:
                least = min(of, key=lambda key: of[key][clock][3])
                where = f"{least[0]} {least[2]}" if op == "all" else str(least[2])
                row += [mean([cell[clock][3] for cell in of.values()]), of[least][clock][3], where]
            rows.append(row)
    return rows


def losses(found):
    """Cells where a peer is faster by a clock, the worst first."""
    lost = [(cell[clock][3], clock, *key, cell[clock][1]) for key, cell in found.items() for clock in CLOCKS
            if cell[clock][3] < 0.995]
    return sorted(lost)


def main():
    report, files, found = load(sys.argv[1], sys.argv[2:])
    print(f"Hot caches, operands resident, medians. {provenance(report, files)}.\n")
    print("| op | type | N | ours, device | best peer, device | ratio | ours, host | best peer, host | ratio | error / bound |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for (op, dtype, n), cell in found.items():
        times = []
        for clock in CLOCKS:
            ours, name, its, ratio = cell[clock]
            picked = f" ({cell['picked']})" if clock == "device" else ""
            times += [f"{duration(ours)}{picked}", f"{duration(its)} ({name})", f"{ratio:.2f}"]
        error = f"{cell['error']['value']:.1e} / {cell['error']['bound']:.1e}"
        print(f"| {op} | {dtype} | {n} | {' | '.join(times)} | {error} |")
    print("\nGeometric means of the ratios, and the smallest ratio with its size:\n")
    print("| type | op | cells | device | smallest | host | smallest |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for dtype, op, count, device, least, where, host, host_least, host_where in means(found):
        print(f"| {dtype} | {op} | {count} | {device:.2f} | {least:.2f} ({where}) | {host:.2f} | {host_least:.2f} ({host_where}) |")
    print("\nCells where a peer is faster:\n")
    for ratio, clock, op, dtype, n, name in losses(found):
        print(f"- {op} {dtype} N = {n}, {clock} clock: {ratio:.2f} against {name}")


if __name__ == "__main__":
    main()
