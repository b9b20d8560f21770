import gzip
import importlib.util
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import numpy as np
import checkout

import gpubench
from gpubench import _compare

SHORT = ["--max-time", "50ms", "--no-peaks"]


def matrix(n, rng):
    return rng.random((n, n))


class Comparing(unittest.TestCase):
    """Runs the program. The functions are those of a module; in `test_functions_of_the_main_module` they are not."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.back = os.getcwd()
        os.chdir(cls.folder.name)
        offset = 1.0
        cls.report = gpubench.compare(
            {"NumPy": lambda a: a + offset, "Python loop": lambda a: np.array([[x + offset for x in row] for row in a]),
             "wrong": lambda a: a, "CuPy": lambda a: a + offset},
            matrix, [8, 24], work=lambda n: (16 * n * n, n * n), arguments=SHORT, quiet=True,
        )  # fmt: skip

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.back)
        cls.folder.cleanup()

    def test_the_report_is_in_a_new_folder_in_results(self):
        self.assertRegex(str(self.report.path), r"^results/\d{4}-\d\d-\d\dT\d{6}Z$")
        self.assertTrue((self.report.path / "report.csv").is_file())

    def test_rows_have_the_columns_of_the_csv_with_values_of_their_types(self):
        rows = {(row["variant"], row["n"]): row for row in self.report.rows}
        numpy, loop = rows["numpy", 24], rows["python-loop", 24]
        self.assertEqual((numpy["op"], numpy["dtype"], numpy["backend"], numpy["outcome"]), ("operation", "f64", "numpy", "measured"))
        self.assertLess(numpy["host_median_s"], loop["host_median_s"])
        self.assertLessEqual(numpy["ci95_low_s"], numpy["ci95_high_s"])
        self.assertEqual((numpy["bytes"], numpy["reason"]), (9216, None))
        self.assertEqual(list(self.report.rows[0]), (self.report.path / "report.csv").read_text().splitlines()[0].split(","))

    def test_failed_rows_say_why_and_skipped_rows_are_none(self):
        self.assertEqual({row["variant"] for row in self.report.failed}, {"wrong"})
        self.assertIn("the function returned an input", self.report.failed[0]["reason"])
        if not importlib.util.find_spec("cupy"):
            skipped = {row["variant"] for row in self.report.rows if row["outcome"] == "skipped"}
            self.assertEqual(skipped, {"cupy"})

    def test_a_report_is_text_a_page_and_a_chart(self):
        text, page, chart = repr(self.report), self.report._repr_html_(), self.report.plot()
        self.assertIn("python-loop", text)
        self.assertIn("slowest takes", page)
        self.assertIn("data:image/svg+xml;base64,", page)
        self.assertLess(len(page), 300_000)
        self.assertNotIn("<script", page)
        self.assertTrue(chart._repr_png_().startswith(b"\x89PNG"))
        chart.save("chart.png")
        self.assertEqual(pathlib.Path("chart.png").read_bytes(), chart.png)
        self.assertEqual(self.report.crossovers, [])

    def test_a_report_is_loaded_from_a_folder_and_from_files(self):
        file = self.report.path / "report.json"
        packed = pathlib.Path("packed.json.gz")
        packed.write_bytes(gzip.compress(file.read_bytes()))
        for path in (self.report.path, str(file), packed):
            self.assertEqual(gpubench.load(path).rows, self.report.rows)
        with self.assertRaisesRegex(FileNotFoundError, "no report.json"):
            gpubench.load("nowhere")
        kept = gpubench.load(checkout.ROOT / "results/h200/article-python")
        self.assertEqual({"op", "kind", "b_faster_from", "words"} - set(kept.crossovers[0]), set())
        self.assertLess(len(kept._repr_html_()), 300_000)
        pathlib.Path("odd").mkdir()
        pathlib.Path("odd/report.json").write_text("{}")
        with self.assertRaises(gpubench.RunError):
            gpubench.load("odd").rows

    def test_texts_of_a_report_are_escaped(self):
        copy = shutil.copytree(self.report.path, "escaped")
        file = pathlib.Path(copy, "report.json")
        file.write_text(file.read_text().replace('"python-loop"', '"<b>loop"'))
        page = gpubench.load(copy)._repr_html_()
        self.assertNotIn("<b>", page)

    def test_tables_of_other_packages_or_a_clear_error(self):
        for package, method in (("pandas", self.report.to_pandas), ("polars", self.report.to_polars)):
            if importlib.util.find_spec(package):
                self.assertEqual(len(method()), len(self.report.rows))
            else:
                self.assertRaisesRegex(ImportError, "pip install %s" % package, method)

    def test_arguments_that_are_wrong_get_one_line(self):
        double = lambda a: a + a
        for error, message, functions, inputs, sizes, named in [
            (ValueError, "sizes of at least 1", {"NumPy": double}, matrix, [], {}),
            (ValueError, "list of whole numbers", {"NumPy": double}, matrix, "abc", {}),
            (ValueError, "no name of a variant", {"2 plus": double}, matrix, [4], {}),
            (ValueError, "two variants named a-b", {"a b": double, "A-B": double}, matrix, [4], {}),
            (ValueError, "no function to measure", {}, matrix, [4], {}),
            (ValueError, "nothing to compare answers with", {"CuPy": double}, matrix, [4], {}),
            (ValueError, "function of n and rng", {"NumPy": double}, lambda n: n, [4], {}),
            (ValueError, "libraries names 'Cupy'", {"NumPy": double}, matrix, [4], {"libraries": {"Cupy": "cupy"}}),
            (ValueError, "'matlab' of variant", {"NumPy": double}, matrix, [4], {"libraries": {"NumPy": "matlab"}}),
            (TypeError, "inputs must be a function, not a value of type ndarray", {"NumPy": double}, np.ones(3), [4], {}),
            (TypeError, "must be a dictionary", [double], matrix, [4], {}),
            (TypeError, "must be a list", {"NumPy": double}, matrix, [4], {"arguments": "--max-time 1s"}),
            (TypeError, "NumPy must be a function, not None", {"NumPy": None}, matrix, [4], {}),
            (gpubench.RunError, "unexpected argument '--nonsense'", {"NumPy": double}, matrix, [4], {"arguments": ["--nonsense"]}),
            (gpubench.RunError, "matmul", {"NumPy": double}, matrix, [4], {"name": "matmul"}),
            (gpubench.RunError, "ZeroDivisionError", {"NumPy": double}, lambda n, rng: 1 // 0, [4], {}),
        ]:
            before = os.listdir("results")
            with self.assertRaisesRegex(error, re.escape(message)) as raised:
                gpubench.compare(functions, inputs, sizes, quiet=True, **named)
            self.assertNotIn("\n", str(raised.exception))
            self.assertEqual(os.listdir("results"), before, message)

    def test_functions_of_the_main_module_are_measured_without_loading_those_of_others(self):
        text = """
            import sys, types
            import numpy as np, gpubench
            # Stands for CuPy: it must be imported in no process that times NumPy.
            cupy = types.ModuleType("cupy")
            cupy.sin = np.sin
            def helper(a): return np.sin(a)
            def on_cpu(a):
                assert "cupy" not in sys.modules
                return helper(a)
            def on_gpu(a): return cupy.sin(a)
            report = gpubench.compare({"np": on_cpu, "cp": on_gpu}, lambda n, rng: rng.random(n), [16], arguments=%r, quiet=True)
            print([(row["variant"], row["backend"], row["outcome"]) for row in report.rows if row["backend"] == "numpy"])
            print(sorted({row["backend"] for row in report.rows}))
        """
        self.assertEqual(checkout.python(text % SHORT, "."), "[('np', 'numpy', 'measured')]\n['cupy', 'numpy']")


class Timing(unittest.TestCase):
    def test_a_call_is_timed_with_its_interval(self):
        found = gpubench.time(np.matmul, np.ones((32, 32), "float32"), np.ones((32, 32), "float32"), options=SHORT)
        low, high = found.host_interval_s
        self.assertTrue(0 < low <= found.host_s <= high)
        self.assertIsNone(found.device_s)
        self.assertIsNone(found.device_interval_s)
        self.assertRegex(repr(found), r"^<Timing: host [\d.]+ (ns|µs|ms) \([\d.]+ to [\d.]+\)(, unreliable \(.*\))?>$")
        self.assertEqual(found.report.rows[0]["n"], 32)

    def test_what_cannot_be_timed_says_why(self):
        for error, message, arguments in [
            (TypeError, "an argument has the type list", (np.sin, [1.0])),
            (gpubench.RunError, "f was not timed: ValueError: no", (f, np.ones(3))),
            (gpubench.RunError, "values that are not finite", (lambda a: a / 0, np.ones(3))),
            (TypeError, "must be a function", (3,)),
        ]:
            with self.assertRaisesRegex(error, re.escape(message)):
                gpubench.time(*arguments, options=SHORT)

    def test_random_answers_and_numbers_as_arguments_are_accepted(self):
        found = gpubench.time(lambda a, k, kind: np.random.random(3) * k, np.full(4, np.nan), 2, "text", options=SHORT)
        self.assertGreater(found.host_s, 0)


class Libraries(unittest.TestCase):
    def test_the_library_of_a_function_is_found(self):
        libraries_of = _compare.own_op().libraries_of
        calls = lambda a: helper(a)
        helper = lambda a: np.sin(a)
        for function, expected in [(np.sin, "numpy"), (np.fft.fft2, "numpy"), (calls, "numpy"), (gzip.open, None), (helper, "numpy"), (len, None)]:
            self.assertEqual(libraries_of(function), [expected] if expected else [], function)


class Running(unittest.TestCase):
    def test_run_returns_the_report_of_the_folder_that_was_named(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out")
            report = gpubench.run("--ops", "sin", "--sizes", 64, "--backends", "cpu", *SHORT, "--out", out, quiet=True)
            self.assertEqual(report.path, out)
            self.assertEqual({row["op"] for row in report.rows}, {"sin"})
            with self.assertRaisesRegex(gpubench.RunError, "already contains"):
                gpubench.run("--ops", "sin", "--sizes", 64, "--out", out, quiet=True)
            with self.assertRaisesRegex(gpubench.RunError, "no report.json"):
                gpubench.run("--ops", "sin", "--sizes", 64, "--dry-run", "--out", out / "none", quiet=True)
        with self.assertRaisesRegex(gpubench.RunError, "unknown op 'nosuch'"):
            gpubench.run("--ops", "nosuch", quiet=True)


def f(a):
    raise ValueError("no")
