"""Times of a cell by round."""
from statistics import median

from .kept import measured_with, report


def rounds():
    """Samples and medians of the float64 product at N = 5000, in the last of 20 rounds and in those before."""
    run = report("h200", "rounds")
    lines = [measured_with(run["environment"]) + ".", "",
             "| matmul f64, N = 5000 | samples in rounds 1 to 19 | their median | samples in round 20 | their median | median of all |",
             "|---|---:|---:|---:|---:|---:|"]
    for row in run["rows"]:
        execute = row["execute"]
        # JAX has no time by the device's clock.
        if (row["op"], row["n"]) != ("matmul", 5000) or execute["clock"] != "device-events":
            continue
        parts = [[time for time, of in zip(execute["samples_s"], execute["rounds"]) if (of == 19) == last] for last in (False, True)]
        halves = " | ".join(f"{len(times)} | {milliseconds(median(times))}" for times in parts)
        lines.append(f"| {row['backend']} {row['variant']} | {halves} | {milliseconds(execute['median_s'])} |")
    return "\n".join(lines)


def milliseconds(seconds):
    return f"{seconds * 1e3:.2f} ms"
