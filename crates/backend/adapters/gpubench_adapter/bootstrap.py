"""Loads the package from memory and runs an adapter: python -c BOOTSTRAP NAME.

The first line of standard input is a JSON object that maps each file name of the package to its source text. The lines after
it are requests.
"""

import sys

# Before Python 3.11, `python -c` searches the current folder for modules: a file there must not replace one of the library.
sys.path[:] = [folder for folder in sys.path if folder]

import importlib.abc  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import linecache  # noqa: E402

PACKAGE = "gpubench_adapter"


class MemoryImporter(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the package from source texts, which tracebacks can quote."""

    def __init__(self, sources):
        self.sources = {}
        for file, text in sources.items():
            stem = file[: -len(".py")]
            module = PACKAGE if stem == "__init__" else PACKAGE + "." + stem
            path = "<" + PACKAGE + "/" + file + ">"
            self.sources[module] = (path, text)
            linecache.cache[path] = (len(text), None, text.splitlines(True), path)

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self.sources:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=self.sources[fullname][0])

    def is_package(self, fullname):
        return fullname == PACKAGE

    def get_source(self, fullname):
        return self.sources[fullname][1]

    def exec_module(self, module):
        path, text = self.sources[module.__name__]
        exec(compile(text, path, "exec"), module.__dict__)


def main():
    requests = sys.stdin.buffer
    sys.meta_path.insert(0, MemoryImporter(json.loads(requests.readline().decode("utf-8"))))
    worker = importlib.import_module(PACKAGE + ".worker")
    worker.main(sys.argv[1], requests)


if __name__ == "__main__":
    main()
