import importlib.util
import os
import tempfile
import unittest

import checkout

# Each text runs in the main module.
SAVE = """
import os, sys
from gpubench import _functions
from gpubench._compare import own_op
for number, text in enumerate(%r):
    exec(text, globals())
    try:
        _functions.save(f, os.path.join("stored", str(number)), own_op().variables_of)
    except TypeError as error:
        print(error)
"""
LOAD = """
import contextlib, os
from gpubench import _functions
for number, call in enumerate(%r):
    f = _functions.load(os.path.join("stored", str(number)), lambda folder: contextlib.nullcontext())
    print(eval(call))
"""


class Sending(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "stored"))

    def sent(self, texts, calls):
        """Returns the lines that calls of `f` print in another process than the one that runs the texts."""
        self.assertEqual(self.refused(texts), [])
        return checkout.python(LOAD % calls, self.folder).splitlines()

    def refused(self, texts, before=""):
        """Returns the errors of sending the functions `f` that texts define."""
        return checkout.python(before + SAVE % texts, self.folder).splitlines()

    def test_functions_of_the_main_module_arrive_with_what_they_use(self):
        cases = [
            ("f = lambda x: x + 1", "f(2)", "3"),
            ("def g(y):\n    return lambda x: x + y\nf = g(5)", "f(2)", "7"),
            ("def f(x):\n    def g(y): return y * k\n    return g(x)\nk = 3", "f(2)", "6"),
            ("def f(x, y=[4], *, z=5): return x + y[0] + z", "f(1)", "10"),
            ("import os.path as p\ndef f(x): return p.basename(x)", "f('a/b')", "b"),
            ("def f(n): return 1 if n == 0 else n * f(n - 1)", "f(5)", "120"),
            ("def g():\n    def h(n): return 0 if n == 0 else h(n - 1) + 2\n    return h\nf = g()", "f(5)", "10"),
            ("def a(n): return n == 0 or b(n - 1)\ndef b(n): return n != 0 and a(n - 1)\nf = a", "f(4)", "True"),
            ("import numpy as np\nbig = np.arange(1000)\ndef f(x): return big[x] + big.sum()", "f(3)", "499503"),
            ("import functools\ndef g(a, b): return a - b\nf = functools.partial(g, 10)", "f(4)", "6"),
            ("import linecache\ntext = 'def f(x): return x'\nlinecache.cache['<cell>'] = (18, None, [text], '<cell>')\n"
             "exec(compile(text, '<cell>', 'exec'))", "__import__('inspect').getsource(f)", "def f(x): return x"),
            ("import math\nf = math.hypot", "f(3, 4)", "5.0"),
            ("import numpy as np\nf = np.negative", "f(3)", "-3"),
            ("def f(x): return [missing_name for _ in range(0)]", "f(1)", "[]"),
            ("count = 0\ndef step():\n    global count\n    count += 1\ndef f(x):\n    step()\n    step()\n    return count", "f(0)", "2"),
        ]
        found = self.sent([text for text, _, _ in cases], [call for _, call, _ in cases])
        self.assertEqual(found, [expected for _, _, expected in cases])

    def test_functions_of_a_module_arrive_by_name_with_their_folder(self):
        folder = os.path.join(self.folder, "project")
        os.mkdir(folder)
        with open(os.path.join(folder, "kernels.py"), "w") as file:
            file.write("from gpubench import compare\nhidden = object()\ndef f(x): return x * 7 if hidden else 0\n")
        text = "import sys\nsys.path.append('project')\nfrom kernels import f\n"
        self.assertEqual(self.sent([text], ["(f(6), f.__module__)"]), ["(42, 'kernels')"])

    def test_a_variable_that_cannot_be_sent_is_named_with_advice(self):
        cases = [
            ("import threading\nlock = threading.Lock()\ndef f(x): return lock", "lock of function f"),
            ("import threading\nlock = threading.Lock()\ndef g(): return lock\ndef f(x): return g()", "lock of function g"),
            ("class C: pass\nc = C()\ndef f(x): return c", "c of function f"),
            ("import functools\n@functools.lru_cache(None)\ndef g(x): return x\ndef f(x): return g(x)", "g of function f"),
            ("class C: pass\ndef f(x, y=C()): return y", "y of function f"),
        ]
        # None of the optional packages.
        messages = self.refused([text for text, _ in cases], "import sys\nsys.modules['cloudpickle'] = None")
        self.assertEqual(len(messages), len(cases))
        for message, (_, variable) in zip(messages, cases):
            self.assertTrue(message.startswith("the variable %s cannot be sent" % variable), message)
            self.assertIn("install cloudpickle", message)

    @unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "needs cloudpickle")
    def test_cloudpickle_sends_classes_of_the_main_module(self):
        text = "class C:\n    def __init__(self): self.k = 4\n    def m(self, x): return x * self.k\nc = C()\ndef f(x): return c.m(x)"
        self.assertEqual(self.sent([text], ["f(3)"]), ["12"])
