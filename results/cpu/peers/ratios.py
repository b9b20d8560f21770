#!/usr/bin/env python3
"""Put what measure.py wrote side by side: our best row of full precision, and the best call of each peer.

usage: ratios.py MEASURED.json > ratios.md

A ratio is the peer's time over ours, above 1 where ours is faster: the median of the rounds' ratios, with the least and
the greatest. Our row is the one of IEEE arithmetic with the least median over the rounds; so is the peer's call.
"""
import json, math, statistics, sys

OPS = ("matmul", "elementwise", "reduction", "fft", "solve", "spgemm", "svd")
PEERS = {"NumPy and SciPy": {"numpy", "scipy"}, "PyTorch": {"torch"}}
# The call that a reader would write, where other calls are timed too.
USUAL = {"matmul": {"dot", "matmul"}, "elementwise": {"expression", "eager"}, "fft": {"fft2"},
         "solve": {"solve-pos", "cholesky"}, "svd": {"svd"}}
# Ops whose time is compared with the matrix product's rate; the others' with the memory's.
OF_ARITHMETIC = {"matmul", "solve", "svd"}
ENOUGH = 0.95


def time(milliseconds):
    micro = milliseconds * 1e3
    return f"{micro:.3g} µs" if micro < 999.5 else f"{milliseconds:.3g} ms" if milliseconds < 999.5 else f"{milliseconds / 1e3:.3g} s"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def middle(row):
    return statistics.median(row["rounds_ms"])


class Ratio:
    """A peer's time over ours, round by round."""

    def __init__(self, peer, ours):
        by_round = [its / mine for its, mine in zip(peer["rounds_ms"], ours["rounds_ms"])]
        self.value, self.least, self.most = statistics.median(by_round), min(by_round), max(by_round)
        self.rounds = len(by_round)

    def __str__(self):
        text = f"{self.value:.2f} ({self.least:.2f}–{self.most:.2f})"
        return f"**{text}**" if self.value < ENOUGH else text


def best(rows):
    return min(rows, key=middle, default=None)


def share(row, peaks):
    """How near a row comes to the memory's triad rate or to the matrix product's."""
    seconds = middle(row) / 1e3
    short = {"float32": "f32", "float64": "f64"}[row["dtype"]]
    if row["op"] in OF_ARITHMETIC:
        rate, amount, word = peaks.get("matmul", {}).get(short), row["flop"], "product"
    else:
        rate, amount, word = peaks.get("triad"), row["bytes"], "triad"
    return f"{amount / seconds / rate:.0%} {word}" if rate and amount else "–"


def pairs(measured, libraries, dtype):
    """Op, size and ratio of the cells of one type that both sides have, each side by its fastest row."""
    for case in sorted({case_of(row) for row in measured["ours"] if row["dtype"] == dtype}):
        mine = best(row for row in measured["ours"] if case_of(row) == case)
        its = best(row for row in measured["peers"] if case_of(row) == case and row["lib"] in libraries)
        if its:
            yield case[1], case[3], Ratio(its, mine)


def case_of(row):
    return OPS.index(row["op"]), row["op"], row["dtype"], row["n"]


def rounds(measured):
    """In how many rounds cells were measured."""
    counts = [len(row["rounds_ms"]) for row in measured["ours"] + measured["peers"]]
    least, most = min(counts), max(counts)
    return f"{most} round{'s' * (most > 1)}" if least == most else f"{least} to {most} rounds"


def head(measured):
    gpubench = measured["gpubench"]
    peaks = gpubench["peaks"] or {}
    print(f"{measured['processor']}, {measured['processors']} hardware threads, {measured['system']}; "
          f"{measured['threads']} threads on every side; {rounds(measured)}, alternating.\n")
    print(f"- gpubench {gpubench['version']} ({(gpubench['revision'] or 'unknown')[:12]}): "
          + "; ".join(f"{lib['name']} {lib['version']} ({lib['file']})" for lib in gpubench["libraries"]))
    print("- " + "; ".join(f"{name} {version}" for name, version in measured["versions"].items()))
    if peaks:
        products = ", ".join(f"{rate / 1e9:.0f} GFLOP/s in {name}" for name, rate in peaks.get("matmul", {}).items())
        triad = f"{peaks['triad'] / 1e9:.1f} GB/s" if peaks.get("triad") else "not measured"
        print(f"- Peaks: triad {triad}; matrix products {products}")
    print("\nA share above 100 % of triad means that the data stayed in the caches. "
          f"Ratios below {ENOUGH} are bold.\n")
    return peaks


def main():
    measured = json.load(open(sys.argv[1]))
    peaks = head(measured)
    present = {name: libs for name, libs in PEERS.items() if any(row["lib"] in libs for row in measured["peers"])}
    columns = "".join(f" {name}: best call | its time | ratio | usual call |" for name in present)
    print(f"| op | type | N | ours | time | share |{columns}")
    print("|---|---|---|---|---|---|" + "---|---|---|---|" * len(present))
    best_of, usual_of = {}, {}
    for case in sorted({case_of(row) for row in measured["ours"]}):
        mine = best(row for row in measured["ours"] if case_of(row) == case)
        threads = f", {mine['threads']} threads" if mine.get("threads") else ""
        line = (f"| {case[1]} | {case[2]} | {case[3]} | {mine['variant']}{threads} | {time(middle(mine))} "
                f"| {share(mine, peaks)} |")
        for name, libs in present.items():
            rows = [row for row in measured["peers"] if case_of(row) == case and row["lib"] in libs]
            usual = best(row for row in rows if row["variant"] in USUAL.get(row["op"], {row["variant"]}))
            fastest = best(rows)
            if not fastest or not usual:
                line += " – | – | – | – |"
                continue
            key = (name, *case[1:])
            best_of[key], usual_of[key] = Ratio(fastest, mine), Ratio(usual, mine)
            line += (f" {fastest['lib']} {fastest['variant']} | {time(middle(fastest))} | {best_of[key]} "
                     f"| {usual_of[key].value:.2f} |")
        print(line)
    print("\nGeometric means of the ratios, and the least:\n")
    print("| cells |" + "".join(f" {name}: best call | least | usual call |" for name in present))
    print("|---|" + "---|---|---|" * len(present))
    for dtype in ("float32", "float64"):
        for label, ops in [("all", OPS), *((op, (op,)) for op in OPS)]:
            line, counted = "", 0
            for name in present:
                keys = [key for key in best_of if key[0] == name and key[1] in ops and key[2] == dtype]
                if not keys:
                    line += " – | – | – |"
                    continue
                counted = max(counted, len(keys))
                values = [best_of[key].value for key in keys]
                line += f" {mean(values):.2f} | {min(values):.2f} | {mean([usual_of[key].value for key in keys]):.2f} |"
            if counted:
                print(f"| {dtype}, {label}: {counted} |{line}")


if __name__ == "__main__":
    main()
