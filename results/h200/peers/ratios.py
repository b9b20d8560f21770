#!/usr/bin/env python3
"""Compare a report of gpubench with what peers.py measured on the same machine.

usage: ratios.py report.csv PEERS.json... > ratios.md        PEERS: of peers.py and of sparse.py

For each op, element type and size: the best of CuPy, PyTorch (eager, compiled) and JAX at the same accuracy, our
`auto` row with hot caches, and their ratio by three of our times: the device's, corrected, without gaps between launches;
the two events' as they read; and the host's, from the call until all is done. Peers are timed by events around the call
(JAX by the host's clock), so that their launches count. Geometric means at the end.
"""
import csv, json, math, sys

# What a peer's row must be called to be the same work in full precision.
SAME = {
    "matmul": {"dot", "matmul", "highest"},
    "elementwise": {"eager", "fused", "compile", "jit"},
    "reduction": {"sum,mean,std", "compile", "jit"},
    "fft": {"fft2"},
    "solve": {"lu", "pos"},
    "spgemm": {"csr"},
    "spmv": {"csr"},
    "svd": {"thin", "gesvd", "gesvdj", "gesvda"},
}
# What users of CuPy call, eager and with its defaults.
CUPY = {"matmul": "dot", "elementwise": "eager", "reduction": "sum,mean,std", "fft": "fft2", "solve": "lu",
        "spgemm": "csr", "spmv": "csr", "svd": "thin"}
# The article's cells.
SMALL, BIG = (100, 500, 512, 1024, 2048), (100, 500, 1000, 5000, 10000)
ARTICLE = {(op, n) for op in SAME if op != "spmv"
           for n in (BIG if op in ("matmul", "elementwise", "reduction") else SMALL)}


def time(seconds):
    micro = seconds * 1e6
    return f"{micro:.3g} µs" if micro < 999.5 else f"{micro / 1e3:.3g} ms"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    ours = list(csv.DictReader(open(sys.argv[1])))
    peers = [row for path in sys.argv[2:] for row in json.load(open(path))]
    print("| op | type | N | best peer | its time | ours | picked | host clock, call returned | host clock, done "
          "| ratio | by events | by host clock | share of limit | error / bound |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    best_of, cupy_of, events_of, host_of = {}, {}, {}, {}
    for row in ours:
        if (row["backend"], row["variant"], row["outcome"], row["cache"]) != ("cuda", "auto", "measured", "hot"):
            continue
        op, n, dtype = row["op"], int(row["n"]), {"f32": "float32", "f64": "float64"}[row["dtype"]]
        density = float(row["density"] or 0.01)
        same = [p for p in peers
                if (p["op"], p["n"], p["dtype"], p.get("density", 0.01)) == (op, n, dtype, density)
                and p["variant"] in SAME.get(op, ())]
        if not same:
            continue
        best = min(same, key=lambda p: p["median_ms"])
        its, device, host = best["median_ms"] / 1e3, float(row["median_s"]), float(row["host_median_s"])
        key = (op, dtype, n)
        best_of[key], host_of[key] = its / device, its / host
        events_of[key] = its / float(row["events_median_s"])
        for peer in same:
            if peer["lib"] == "cupy" and peer["variant"] == CUPY[op]:
                cupy_of[key] = peer["median_ms"] / 1e3 / device
        share = f"{float(row['limit_share']):.1%} {row['limit_roof']}" if row["limit_share"] else "–"
        returned = time(float(row["enqueue_median_s"])) if row["enqueue_median_s"] else "–"
        sparse = f", density {density:g}" if row["density"] else ""
        print(f"| {op} | {row['dtype']} | {n}{sparse} | {best['lib']} {best['variant']} | {time(its)} | {time(device)} "
              f"| {row['picked']} | {returned} | {time(host)} | {best_of[key]:.2f} | {events_of[key]:.2f} | {host_of[key]:.2f} | {share} "
              f"| {float(row['error']):.1e} / {float(row['error_bound']):.1e} |")
    print()
    print("Geometric means of the ratios:\n")
    print("| cells | best peer | by events | by host clock | CuPy, eager and default |")
    print("|---|---|---|---|---|")
    for dtype in ("float32", "float64"):
        groups = [(f"{dtype}, the article's ops", lambda key: (key[0], key[2]) in ARTICLE)]
        groups += [(f"{dtype}, {op}", lambda key, op=op: key[0] == op) for op in SAME]
        for name, belongs in groups:
            of = lambda ratios: [r for key, r in ratios.items() if key[1] == dtype and belongs(key)]
            if not of(best_of):
                continue
            cupy = of(cupy_of)
            print(f"| {name}: {len(of(best_of))} | {mean(of(best_of)):.2f} | {mean(of(events_of)):.2f} | {mean(of(host_of)):.2f} | "
                  f"{f'{mean(cupy):.2f} ({len(cupy)})' if cupy else '–'} |")


main()
