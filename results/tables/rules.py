"""Times of variants next to each other: the emulated product in float64 and cuBLAS; sparse products of irregular matrices."""
from .kept import measured_with, report
from .text import duration, factor


def ozaki2():
    """Times and errors of `cublas` and `ozaki2-int8` by size."""
    kept, rows = report("h200", "rules", "ozaki2"), {}
    for row in kept["rows"]:
        rows.setdefault(row["n"], {})[row["variant"]] = row
    is_throttled = lambda row: any(warning["kind"] == "throttled" for warning in row["execute"]["warnings"])
    throttled = sum(map(is_throttled, kept["rows"]))
    lines = [f"{measured_with(kept['environment'])}. The driver throttled the clocks in {throttled} of {len(kept['rows'])} cells.", "",
             "| N | `cublas` | `ozaki2-int8` | speed-up (95 % interval) | error of `cublas` | error of `ozaki2-int8` |", "|---:|---:|---:|---:|---:|---:|"]
    for n, of in rows.items():
        library, own = (of[variant] for variant in ("cublas", "ozaki2-int8"))
        (low, high), (own_low, own_high) = (row["execute"]["ci95_s"] for row in (library, own))
        times = " | ".join(duration(row["execute"]["median_s"]) for row in (library, own))
        errors = " | ".join(f"{row['error']['value']:.1e}" for row in (library, own))
        speed_up = library["execute"]["median_s"] / own["execute"]["median_s"]
        lines.append(f"| {n} | {times} | {factor(speed_up)} ({factor(low / own_high)} to {factor(high / own_low)}) | {errors} |")
    return "\n".join(lines)


def irregular():
    """Times of the sparse products of a matrix with one row that is much longer than the others."""
    kept = report("h200", "matrices")
    lines = []
    for op in ("spgemm", "spmv"):
        is_shown = lambda row: (row["op"], row["dtype"]) == (op, "f32") and row["matrix"].startswith("hub@") and row.get("execute")
        rows = sorted(filter(is_shown, kept["rows"]), key=lambda row: row["execute"]["host_median_s"])
        lines.append(f"- `{op}`: " + ", ".join(f"{duration(row['execute']['host_median_s'])} by `{row['backend']}/{row['variant']}`" for row in rows))
    with_what = measured_with(kept["environment"], "cold")
    return (f"On a graph of 20 000 nodes with a node that has edges to all others, an H200 and 16 threads of its host took, in float32 and by the host's "
            f"clock ({with_what}, `results/h200/matrices`):\n\n" + "\n".join(lines))


PEERS = ("cupy", "torch", "jax")


def small_batches(op):
    """Times of batches of small problems by an own kernel, the fastest call of CUDA's libraries, and the fastest of other programs."""
    kept, cases = report("h200", "small-batches"), {}
    for row in kept["rows"]:
        if row["op"] == op and row.get("execute"):
            cases.setdefault((row["dtype"], tuple(row["shape"].values())), []).append(row)
    lines = [f"{measured_with(kept['environment'])}; device time.", "",
             "| problems | type | own kernel | CUDA's libraries | fastest of CuPy, PyTorch and JAX | its time / own (95 % interval) | error / bound |",
             "|---|---|---:|---:|---:|---:|---:|"]
    for (dtype, (*sides, batch)), rows in sorted(cases.items(), key=lambda case: (case[0][0], case[0][1])):
        own = next(row for row in rows if row["variant"] in ("cholesky", "jacobi") and row["backend"] == "cuda")
        fastest = lambda takes: min(filter(takes, rows), key=lambda row: row["execute"]["median_s"], default=None)
        library = fastest(lambda row: row["backend"] == "cuda" and row is not own)
        peer = fastest(lambda row: row["backend"] in PEERS)
        text = lambda row, name: f"{duration(row['execute']['median_s'])}, `{name}`" if row else "-"
        (low, high), (own_low, own_high) = (row["execute"]["ci95_s"] for row in (peer, own))
        ratio = peer["execute"]["median_s"] / own["execute"]["median_s"]
        error = own["error"]
        lines.append(f"| {batch} of {' x '.join(map(str, sides))} | {dtype} | {duration(own['execute']['median_s'])} | {text(library, library and library['variant'])} | "
                     f"{text(peer, peer['backend'] + '/' + peer['variant'])} | {factor(ratio)} ({factor(low / own_high)} to {factor(high / own_low)}) | {error['value']:.1e} / {error['bound']:.1e} |")
    refused = [f"`{row['backend']}/{row['variant']}` ({row['dtype']}, {row['shape']['batch']} of {' x '.join(str(side) for name, side in row['shape'].items() if name != 'batch')}): {row['outcome']}"
               for row in kept["rows"] if row["op"] == op and not row.get("execute")]
    return "\n".join(lines + (["", "Without a time: " + "; ".join(refused) + "."] if refused else []))


def small_sizes(op, sizes, *variants):
    """Times of variants at those sizes, of one problem."""
    kept, times = report("h200", "rules", "small"), {}
    for row in kept["rows"]:
        if row["op"] == op and row["n"] in sizes:
            times.setdefault(row["n"], {})[row["variant"], row["dtype"]] = row["execute"]["median_s"]
    columns = [(variant, dtype) for dtype in ("f32", "f64") for variant in variants]
    lines = [f"{measured_with(kept['environment'])}; device time.", "", "| N | " + " | ".join(f"`{variant}` {dtype}" for variant, dtype in columns) + " |",
             "|---:|" + "---:|" * len(columns)]
    return "\n".join(lines + [f"| {n} | " + " | ".join(duration(of[column]) for column in columns) + " |" for n, of in sorted(times.items())])
