import importlib.util
import os
import tempfile
import textwrap
import unittest

from conversation import Conversation

HEAD = """
import gpubench, numpy as np
op = gpubench.Op("double", sizes=[8, 16])
@op.inputs
def _(n, rng): return rng.random((n, n))
"""
RIGHT = """
@op.variant("right")
def _(a): return a + a
"""


class Files(unittest.TestCase):
    """Writes files of operations and asks about them."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, text, name="mine.py"):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        return path

    def described(self, text):
        """Returns the reply to a description of one file."""
        with Conversation("ops") as judge:
            return judge.ask("describe-ops", files=[self.file(text)], sizes=[])

    def verdict(self, text, variant="mine"):
        """Returns what is wrong with a variant by all checks of a cell, in their order: `None` for nothing."""
        return self.verdicts(text, [variant])[0]

    def verdicts(self, text, variants):
        """The same of several variants of the file's operation, which share a process until one ends it."""
        path = self.file(text)
        with Conversation("ops") as judge, Conversation("numpy") as worker:
            described = judge.ask("describe-ops", files=[path], sizes=[])
            self.assertEqual(described["type"], "described-ops", described)
            self.assertEqual(worker.hello(files=[path])["type"], "ready")
            op = described["ops"][0]
            case = {"op": op["name"], "n": op["sizes"][0], "dtype": op["dtypes"][0], "seed": 42}
            return [self.checked(judge, worker, case, variant) for variant in variants]

    def checked(self, judge, worker, case, variant):
        def answer():
            with open(worker.path(), "rb") as file:
                return file.read()

        def fault():
            judged = judge.ask("judge", case=case, answer=worker.path())
            if judged["type"] != "judged":
                return judged, judged["reason"]
            is_wrong = judged["value"] > judged["bound"]
            return judged, judged["fault"] or ("error %.1e" % judged["value"] if is_wrong else None)

        try:
            prepared = worker.prepare(case["op"], variant, case["n"], case["dtype"])
        except EOFError as ended:
            return str(ended)
        if prepared["type"] != "answered":
            return prepared["reason"]
        judged, wrong = fault()
        if wrong or judged["inputs"] != prepared["inputs"]:
            return wrong or "other inputs"
        first = answer()
        if judged["decisive"]:
            worker.verify(alter=judged["decisive"])
            if answer() == first:
                return "kept"
        worker.measure()
        for execute in (False, True):
            reply = worker.verify(execute=execute)
            if reply["type"] != "answered":
                return reply["reason"]
            if reply["inputs"] != prepared["inputs"]:
                return "operands changed"
            if answer() != first and fault()[1]:
                return "later: %s" % fault()[1]
        return None


class Describing(Files):
    def test_a_file_is_described_with_its_sizes_types_and_work(self):
        found = self.described(HEAD.replace("sizes=[8, 16]", "sizes=[16, 8], work=lambda n: (8 * n, n)") + RIGHT)["ops"][0]
        self.assertEqual((found["name"], found["sizes"], found["dtypes"]), ("double", [8, 16], ["f64"]))
        self.assertEqual(found["work"], [[8, 64.0, 8.0], [16, 128.0, 16.0]])
        self.assertEqual([(v["name"], v["backend"], v["side"]) for v in found["variants"]], [("right", "numpy", "cpu")])

    def test_the_adapter_is_that_of_the_library_a_function_uses(self):
        text = HEAD + textwrap.dedent("""
            import cupy as cp, torch, jax.numpy as jnp
            from cupyx.scipy import ndimage
            scale = cp.float32(2)
            @op.variant("a")
            def _(a): return cp.sin(a) + np.pi
            @op.variant("b")
            def _(a): return ndimage.gaussian_filter(a, 3)
            @op.variant("c")
            def _(a): return torch.sin(a)
            @op.variant("d", side="cpu")
            def _(a): return torch.sin(a)
            @op.variant("e")
            def _(a): return jnp.sin(a)
            @op.variant("f")
            def _(a): return a @ a
            @op.variant("torch")
            def _(a): return a @ a
            @op.variant("g", library="numba", side="gpu")
            def _(a): return a @ a
            @op.variant("h")
            def _(a): return a * scale
            def helper(a): return again(a) if a is None else torch.sin(a)
            def again(a): return helper(a)
            @op.variant("i")
            def _(a): return again(a)
            from cupy import sin
            op.variant("j")(sin)
            """)
        found = {v["name"]: v["backend"] for v in self.described(text)["ops"][0]["variants"]}
        self.assertEqual(found, {
            "a": "cupy", "b": "cupy", "c": "torch", "d": "torch-cpu", "e": "jax", "f": "numpy", "torch": "torch", "g": "cupy", "h": "cupy",
            "i": "torch", "j": "cupy",
        })

    def test_a_file_that_is_wrong_is_refused_with_the_line_at_fault(self):
        refused = {
            "import gpubench\nprint('a'\n": "mine.py:2: '(' was never closed",
            "import gpubench\nimport not_there\n": "mine.py:2: ModuleNotFoundError: No module named 'not_there'",
            "import gpubench\n1 / 0\n": "mine.py:2: ZeroDivisionError: division by zero",
            "import gpubench, sys\nsys.exit(3)\n": "mine.py:2: SystemExit: 3",
            "print('nothing')\n": "defines no operation",
            "import gpubench\ngpubench.Op('My Op', sizes=[1])\n": "mine.py:2: 'My Op' is no name of an operation",
            "import gpubench\ngpubench.Op('a', sizes=[])\n": "a needs sizes of at least 1",
            "import gpubench\ngpubench.Op('a', sizes=['x'])\n": "must be a list of whole numbers",
            "import gpubench\ngpubench.Op('a', sizes=[1])\n": "a has no inputs",
            HEAD: "double has no variants",
            HEAD + RIGHT + RIGHT: "two variants named right of numpy",
            HEAD + "import cupy\n@op.variant('x')\ndef _(a): return cupy.sin(a)\n": "nothing to compare answers with",
            HEAD + "import cupy, torch\n@op.variant('x')\ndef _(a): return cupy.sin(torch.sin(a))\n": "name one by library=",
            HEAD + "@op.variant('x', library='matlab')\ndef _(a): return a\n": "'matlab' of variant x is no library",
            HEAD + "@op.variant('x', library='cupy', side='cpu')\ndef _(a): return a\n": "cupy does not run on the side cpu",
            HEAD + RIGHT + "@op.inputs\ndef _(n): return n\n": "must be a function of n and rng",
            HEAD + RIGHT + "@op.inputs\ndef _(n, rng): return object()\n": "a value of type object",
            HEAD + RIGHT + "@op.inputs\ndef _(n, rng): return np.array([object()])\n": "an array of type object",
            HEAD + RIGHT + "@op.inputs\ndef _(n, rng): 1 / 0\n": "ZeroDivisionError",
            HEAD + RIGHT + "op.work = lambda n: (1, -1)\n": "must return bytes and FLOP",
            HEAD + RIGHT + "gpubench.Op('double', sizes=[1]).inputs(lambda n, rng: 1)\n": "double has no variants",
        }
        for text, expected in refused.items():
            reply = self.described(text)
            self.assertEqual(reply["type"], "unavailable", (text, reply))
            self.assertIn(expected.split(": '(' was")[0], reply["reason"], text)
            self.assertNotIn("\n", reply["reason"])


class Judging(Files):
    def test_right_answers_of_every_form_pass(self):
        for inputs, function in [
            ("rng.random((n, n))", "a + a"),
            ("rng.random((n, n), dtype='float32')", "a + a"),
            ("(rng.random(n), 3, 'text', rng.integers(0, 9, n))", "a[0] + 0, a[3] * a[1]"),
            ("rng.random((2, n, 3)) + 1j", "{'x': a.sum(), 'y': a * 2}"),
            ("scipy.sparse.random(n, n, 0.5, rng=rng, format='coo')", "a @ a"),
            ("rng.random(n) > 0.5", "~a"),
            ("np.zeros((n, 0))", "a + 1"),
            ("rng.random(n)", "float(a.sum())"),
            ("np.where(rng.random(n) > 0.5, np.nan, 1.0)", "a + 1"),
        ]:
            star = "*a" if inputs.startswith("(rng") else "a"
            text = "import gpubench, numpy as np, scipy.sparse\nop = gpubench.Op('double', sizes=[8])\n"
            text += "@op.inputs\ndef _(n, rng): return %s\n@op.variant('mine')\ndef _(%s): return %s\n" % (inputs, star, function)
            self.assertIsNone(self.verdict(text), (inputs, function))

    def test_functions_that_prepare_and_functions_that_change_their_inputs_pass(self):
        self.assertIsNone(self.verdict(HEAD + "@op.variant('mine', setup=True)\ndef _(a):\n    b = a * 0\n    return lambda a: np.add(a, a, out=b)\n"))
        changing = HEAD.replace("sizes=[8, 16]", "sizes=[8], mutates=True") + "@op.variant('mine')\ndef _(a):\n    a *= 2\n    return a\n"
        self.assertIsNone(self.verdict(changing))
        exact = HEAD.replace("sizes=[8, 16]", "sizes=[8], tolerance=0").replace("rng.random((n, n))", "rng.random(n, dtype='float32')")
        self.assertIsNone(self.verdict(exact + "@op.variant('mine')\ndef _(a): return np.sort(a)\n"))
        almost = "@op.variant('right')\ndef _(a): return np.sort(a)\n@op.variant('mine')\ndef _(a): return np.sort(a) * np.float32(1.0000001)\n"
        self.assertIn("error", self.verdict(exact + almost))
        typed = HEAD.replace("def _(n, rng): return rng.random((n, n))", "def _(n, rng, dtype): return rng.random((n, n)).astype(dtype)")
        self.assertIsNone(self.verdict(typed + "@op.variant('mine')\ndef _(a): return a + a\n"))
        judged = HEAD.replace("sizes=[8, 16]", "sizes=[8], tolerance=0.5")
        judged += "@op.judge\ndef _(answer, a): return abs(answer.mean() - a.mean())\n"
        judged += "@op.variant('mine')\ndef _(a): return np.random.default_rng().permutation(a.reshape(-1))\n"
        self.assertIsNone(self.verdict(judged))

    def test_planted_faults_are_found_and_named(self):
        faults = {
            "return a + a + 1e-9": "error",
            "return (a + a).astype('float32')": "error",
            "return None": "returned None",
            "pass": "returned None",
            "return (x for x in a)": "generator",
            "return a": "an input, or a view",
            "return a[:4]": "an input, or a view",
            "return a.T": "an input, or a view",
            "return 'text'": "a value of type str",
            "return object()": "a value of type object",
            "return [a + a, a]": "an input, or a view",
            "return [a + a, a + 0]": "has 2 arrays, not 1",
            "return (a + a)[:4]": "has the shape (4, 8), not (8, 8)",
            "return (a + a).reshape(-1)": "has the shape (64,), not (8, 8)",
            "return (a + a).astype(complex)": "is complex",
            "return a + np.nan": "not finite",
            "b = a + a; b[3, 3] = np.inf; return b": "not finite",
            "a += 1; return a + a": "",
            "raise ValueError('bad luck')": "ValueError: bad luck",
            "import sys; sys.exit(1)": "exit(1)",
            "import os; os._exit(7)": "ended with",
            "import os; os.kill(os.getpid(), 11)": "ended with",
            "np.zeros(1 << 50)": "",
            "return np.array([object()])": "elements of type object",
            "return np.linalg.inv(np.zeros((2, 2)))": "LinAlgError",
            "import cupy; return cupy.asarray(a)": "cupy",
        }
        ends = [body for body in faults if faults[body] == "ended with"]
        together = [body for body in faults if body not in ends]
        variants = {body: "f%d" % place for place, body in enumerate(together)}

        def function(body):
            name = variants.get(body, "mine")
            return "@op.variant('%s')\ndef _(a):\n%s" % (name, "".join("    %s\n" % line for line in body.split("; ")))

        found = self.verdicts(HEAD + RIGHT + "".join(map(function, together)), list(variants.values()))
        found += [self.verdict(HEAD + RIGHT + function(body)) for body in ends]
        for body, text in zip(together + ends, found):
            self.assertIsNotNone(text, body)
            self.assertIn(faults[body], text, body)

    def test_functions_that_keep_something_between_calls_are_found(self):
        bodies = [
            "return a + a if len(seen) < 30 else a + 1.5",
            "return a + a + (len(seen) > 30) * 1e-3",
            "kept.append(a + a); return kept[0].copy()",
            "a[0, 0] += (len(seen) > 30); return a + a",
        ]
        text = HEAD + RIGHT
        for place, body in enumerate(bodies):
            lines = "".join("    %s\n" % line for line in body.split("; "))
            text += "\ndef make():\n    seen, kept = [], []\n    def function(a):\n        seen.append(1)\n%s" % textwrap.indent(lines, "    ")
            text += "    return function\nop.variant('f%d')(make())\n" % place
        found = self.verdicts(text, ["f%d" % place for place in range(len(bodies))])
        self.assertNotIn(None, found)
        self.assertEqual(found[2], "kept")

    def test_inputs_that_differ_between_calls_are_named(self):
        for function in ("np.random.random((n, n))", "np.full((n, n), __import__('time').time())"):
            text = HEAD.replace("rng.random((n, n))", function) + RIGHT
            self.assertIn("differ between two calls", self.verdict(text, "right"), function)

    def test_a_function_whose_package_is_not_installed_has_no_time_whatever_it_does_with_it(self):
        for package, function in [
            ("numba", "@numba.njit\ndef _(a): return a + a\n"),
            ("numba", "@numba.njit(fastmath=True)\ndef _(a): return a + a\n"),
            ("sklearn", "def _(a): return -sklearn.preprocessing.scale(a)[::-1]\n"),
        ]:
            if importlib.util.find_spec(package) is None:
                text = HEAD + "import %s\n" % package + RIGHT + "@op.variant('mine')\n" + function
                needs = "the function needs %s" % package.replace("sklearn", "scikit-learn")
                self.assertEqual(self.verdicts(text, ["right", "mine"]), [None, needs])

    def test_packages_of_an_environment_next_to_the_file_import_what_is_there(self):
        # A package that does without CuPy must find none, not a placeholder.
        package = os.path.join(self.folder.name, ".venv", "lib", "python3", "site-packages")
        os.makedirs(package)
        with open(os.path.join(package, "optional.py"), "w") as file:
            file.write("try:\n    import cupy\n    found = True\nexcept ImportError:\n    found = False\n")
        described = self.described(
            "import sys\nsys.path.append(%r)\nimport optional, cupy\nassert not optional.found\n" % package + HEAD + RIGHT
        )
        self.assertEqual(described["type"], "described-ops", described)

    def test_what_a_function_prints_stays_out_of_the_conversation(self):
        self.assertIsNone(self.verdict(HEAD + "@op.variant('mine')\ndef _(a):\n    print('{}')\n    return a + a\nprint('loaded')\n"))


if __name__ == "__main__":
    unittest.main()
