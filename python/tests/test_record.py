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
def apply(function, *args):
    return function(*args)
for _ in range(3):
    y = np.exp(x)
    np.sin(x.astype("f4"), out=np.empty(20000, "f4"))
    x.sum()
    apply(np.sqrt, x)
np.exp(x[:10])
np.matmul(x.reshape(100, 200), x.reshape(200, 100))
try:
    np.exp(x, x, x, x)
except TypeError:
    print("refused")
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
            expected = {("ufunc", "exp", "f64"), ("ufunc", "sin", "f32"), ("ufunc", "sqrt", "f64"), ("reduce", "add", "f64")}
            self.assertEqual(found, {(*name, 20000, 3) for name in expected})


if __name__ == "__main__":
    unittest.main()
