"""The files in results/ that tables are made from."""
import functools, importlib.util, json, os

RESULTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(RESULTS)


def is_kept(*folders):
    """Whether that folder of results/ has a report."""
    return os.path.exists(os.path.join(RESULTS, *folders, "report.json"))


@functools.cache
def report(*folders):
    """The report in a folder of results/."""
    return json.load(open(os.path.join(RESULTS, *folders, "report.json")))


def row_of(of_report, op, n, backend, variant):
    return next(row for row in of_report["rows"]
                if (row["op"], row["n"], row["backend"], row["variant"]) == (op, n, backend, variant))


def script(*path):
    """A script of results/ as a module; the two ratios.py have one name and different folders."""
    file = os.path.join(RESULTS, *path)
    spec = importlib.util.spec_from_file_location("_".join(path).removesuffix(".py"), file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
