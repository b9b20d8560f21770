import ast
import importlib
import re
import unittest

from conversation import FOLDER
from gpubench_adapter.registry import ADAPTERS

PAGE = (FOLDER.parents[2] / "docs" / "python.md").read_text()


class Language(unittest.TestCase):
    def test_the_package_is_written_in_the_oldest_python_that_the_page_names(self):
        oldest = tuple(map(int, re.search(r"need Python (\d+)\.(\d+) or later", PAGE).groups()))
        rust = (FOLDER.parent / "src" / "external" / "python.rs").read_text()
        self.assertIn("OLDEST: (u32, u32) = (%d, %d);" % oldest, rust)
        for path in sorted((FOLDER / "gpubench_adapter").glob("*.py")):
            ast.parse(path.read_text(), path.name, feature_version=oldest)


class Code(unittest.TestCase):
    def test_every_variant_of_the_libraries_here_has_code(self):
        backends = {"numpy": "NumpyBackend", "cupy": "CupyBackend", "torch": "TorchOps", "jax": "JaxOps"}
        for library, backend in backends.items():
            adapters = [adapter for name, adapter in ADAPTERS.items() if name.split("-")[0] == library]
            try:
                module = importlib.import_module("gpubench_adapter." + adapters[0].module)
            except ImportError:
                continue
            variants = {(variant["op"], variant["name"]) for adapter in adapters for variant in adapter.variants}
            self.assertEqual(variants, set(getattr(module, backend).JOBS))


class Page(unittest.TestCase):
    def test_the_page_lists_every_adapter_with_the_line_that_installs_it(self):
        for name, adapter in ADAPTERS.items():
            row = re.search(r"^\| `%s` \|.*$" % name, PAGE, re.MULTILINE).group(0)
            self.assertIn("`%s`" % adapter.install, row)

    def test_the_page_lists_every_variant_and_marks_the_defaults(self):
        header = re.search(r"^\| op \|(.*)\|$", PAGE, re.MULTILINE).group(1)
        columns = [column.strip(" `") for column in header.split("|")]
        listed = {}
        for op, cells in re.findall(r"^\| `([a-z]+)` \|(.*)\|$", PAGE, re.MULTILINE):
            if cells.count("|") == len(columns) - 1 and op not in ADAPTERS:
                listed[op] = dict(zip(columns, cells.split("|")))
        self.assertEqual(len(listed), 9)
        for column in columns:
            variants = {}
            for variant in ADAPTERS[column].variants:
                shown = "**%s**" % variant["name"] if variant["default"] else variant["name"]
                variants.setdefault(variant["op"], []).append(shown)
            for op, row in listed.items():
                self.assertEqual(row[column].strip(), ", ".join(variants.get(op, [])), (op, column))


if __name__ == "__main__":
    unittest.main()
