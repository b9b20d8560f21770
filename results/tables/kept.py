"""The files in results/ that tables are made from."""
import functools, gzip, json, os, re

RESULTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(RESULTS)


@functools.cache
def report(*folders):
    """The report in a folder of results/."""
    with gzip.open(os.path.join(RESULTS, *folders, "report.json.gz")) as file:
        return json.load(file)


def revision(environment):
    """The revision with a short hash; `+` or `-` and a word after it say that it had an uncommitted change."""
    return re.sub("^([0-9a-f]{7})[0-9a-f]*", r"\1", environment["gpubench_revision"])


def measured_on(environment, caches="hot"):
    """Device, date and state of the caches."""
    device = next(backend["description"] for backend in environment["backends"] if backend["name"] == "cuda")
    return f"{device['name']}, {environment['started'][:10]}, {caches} caches"


def measured_with(environment, caches="hot"):
    """Revision, device, date and state of the caches."""
    return f"gpubench {revision(environment)}, {measured_on(environment, caches)}"


def origins(parts):
    """The sources of a table: the only one, or each with the parts of the table that it has."""
    return "\n".join(f"- {', '.join(of)}: {source}" for source, of in parts.items()) if len(parts) > 1 else next(iter(parts))


def row_of(of_report, op, n, backend, variant):
    return next(row for row in of_report["rows"]
                if (row["op"], row["n"], row["backend"], row["variant"]) == (op, n, backend, variant))
