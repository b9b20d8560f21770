"""Times of a cell by round."""
from statistics import median

from .kept import report
from .libraries import provenance
from .text import duration

# The first total of samples at which the rule for drift holds for gpubench's row.
STOP = 27


def rounds():
    """Samples and medians of the float64 product at N = 5000, in the last of 20 rounds and in those before."""
    run = report("h200", "rounds")
    rows = [row for row in run["rows"] if (row["op"], row["n"]) == ("matmul", 5000)]
    # JAX has no time by the device's clock.
    rows = [row for row in rows if row["execute"]["clock"] == "device-events"]
    lines = ["| matmul f64, N = 5000 | samples in rounds 1 to 19 | their median | samples in round 20 | their median | median of all, 95 % interval |",
             "|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        execute = row["execute"]
        low, high = execute["ci95_s"]
        parts = " | ".join(f"{len(times)} | {duration(median(times))}" for times in parts_of(row, "samples_s"))
        lines.append(f"| {row['backend']} {row['variant']} | {parts} | {duration(execute['median_s'])} [{duration(low)}–{duration(high)}] |")
    own = next(row for row in rows if row["backend"] == "cuda")
    before, last = (f"{median(clocks):.0f} MHz" for clocks in parts_of(own, "sm_mhz"))
    first = duration(median(own["execute"]["samples_s"][:STOP]))
    return "\n".join([provenance(run), "", *lines, "",
                      f"Times are by the device's clock; JAX has none. The median of the GPU's clock in gpubench's row was {before} in rounds 1 to 19, and {last} in round 20. "
                      f"The rule would have ended the row after {STOP} samples, with a median of {first}."])


def parts_of(row, values):
    """The values of the samples before the last round, and of those in it."""
    execute = row["execute"]
    return [[value for value, of in zip(execute[values], execute["rounds"]) if (of == 19) == last] for last in (False, True)]
