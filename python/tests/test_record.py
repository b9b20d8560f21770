import json
import os
import subprocess
import sys
import tempfile
import unittest

import checkout  # noqa: F401  finds the program

PROGRAM = """
import sys
import numpy as np
x = np.ones(20000)
class Loud:
    def __getattribute__(self, name):
        if name in ("size", "dtype", "__name__", "__self__"):
            raise SystemExit(9)
        return object.__getattribute__(self, name)
    def __call__(self, other):
        return other
    def __array__(self, dtype=None, copy=None):
        return x
class Sub(np.ndarray):
    size = property(lambda self: print("asked"))
def apply(function, *args):
    return function(*args)
for _ in range(3):
    y = np.exp(x)
    np.sin(x.astype("f4"), out=np.empty(20000, "f4"))
    x.sum()
    np.ones(3).sum()
    apply(np.sqrt, x)
    np.reciprocal(x)
    np.add(x, x)
for _ in range(5000):
    np.cos(x[:10])
np.cosh(x[:10])
np.matmul(x.reshape(100, 200), x.reshape(200, 100))
np.log(Loud())
Loud()(Loud())
np.log(x.view(Sub))
try:
    np.exp(x, x, x, x)
except TypeError:
    print("refused")
for tool in (3, 4):
    sys.monitoring.use_tool_id(tool, "mine")
print(isinstance(np.exp, np.ufunc), np.add.reduce(np.ones(3)), y[0] == np.exp(1.0))
"""


@unittest.skipIf(sys.version_info < (3, 12), "the interpreter reports calls from Python 3.12")
@unittest.skipUnless(sys.platform == "linux", "record is for Linux")
class Recording(unittest.TestCase):
    def test_ufuncs_of_large_arrays_are_recorded_and_stay_what_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "calls.json")
            command = [os.environ["GPUBENCH"], "record", "--python", "-q", "-o", out, "--", sys.executable, "-c", PROGRAM]
            ended = subprocess.run(command, check=True, capture_output=True, text=True)
            self.assertEqual((ended.stdout, ended.stderr), ("refused\nTrue 3.0 True\n", ""))
            with open(out, encoding="utf-8") as file:
                calls = json.load(file)["calls"]
            found = {(call["routine"], call["flags"], call["dtype"], call["m"], call["count"]) for call in calls if call["library"] == "numpy"}
            unary = {("ufunc", "exp", "f64"), ("ufunc", "sin", "f32"), ("ufunc", "sqrt", "f64"), ("ufunc", "recip", "f64")}
            expected = unary | {("reduce", "add", "f64")}
            self.assertEqual(found, {(*name, 20000, 3) for name in expected})


if __name__ == "__main__":
    unittest.main()
