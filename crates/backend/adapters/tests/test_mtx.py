import gzip
import os
import random
import tempfile
import unittest

import conversation  # noqa: F401  finds the package
import numpy as np
import scipy.io
import scipy.sparse
from gpubench_adapter.errors import CellFailed
from gpubench_adapter.generator import fingerprint
from gpubench_adapter.operands import Case, generated
from gpubench_adapter.own_mtx import MatrixError, read_csr, read_mtx


class Reading(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, text, name="a.mtx"):
        path = os.path.join(self.folder.name, name)
        opened = gzip.open if name.endswith(".gz") else open
        with opened(path, "wb") as file:
            file.write(text.encode())
        return path

    def read(self, text, name="a.mtx"):
        found = read_mtx(self.path(text, name))
        return found.toarray() if scipy.sparse.issparse(found) else found

    def test_every_format_field_and_symmetry_reads_as_scipy_reads_it(self):
        rng = np.random.default_rng(1)
        tried = 0
        for field, values in [
            ("real", rng.standard_normal(9)), ("integer", rng.integers(-9, 9, 9)), ("complex", rng.random(9) + 1j), ("pattern", np.ones(9)),
        ]:
            for symmetry in ("general", "symmetric", "skew-symmetric", "hermitian"):
                for name in ("a.mtx", "a.mtx.gz"):
                    if symmetry == "hermitian" and field != "complex" or (symmetry, field) == ("skew-symmetric", "pattern"):
                        continue
                    entries = [(1, 1), (2, 1), (3, 2), (3, 3), (1, 3)]
                    if symmetry != "general":
                        entries = [(row, column) for row, column in entries if row > column or (row == column and symmetry == "symmetric")]
                    number = lambda v: {"complex": "%.17g %.17g" % (v.real, v.imag), "pattern": ""}.get(field, str(v))
                    lines = ["%%%%MatrixMarket Matrix Coordinate %s %s" % (field.upper(), symmetry), "% a comment", "", "3 3 %d" % len(entries)]
                    lines += ["  %d  %d\t%s" % (row, column, number(value)) for (row, column), value in zip(entries, values)]
                    text = "\r\n".join(lines) + "\n\n"
                    wanted = scipy.io.mmread(self.path("\n".join(line for line in text.split("\r\n") if line) + "\n", "plain.mtx")).toarray()
                    np.testing.assert_array_equal(self.read(text, name), wanted, "%s %s" % (field, symmetry))
                    tried += 1
        self.assertEqual(tried, 24)

    def test_arrays_read_as_scipy_reads_them(self):
        rng = np.random.default_rng(2)
        for symmetry in ("general", "symmetric", "skew-symmetric"):
            a = rng.standard_normal((4, 4))
            a = {"general": a, "symmetric": a + a.T, "skew-symmetric": a - a.T}[symmetry]
            path = os.path.join(self.folder.name, "dense.mtx")
            scipy.io.mmwrite(path, a, symmetry=symmetry)
            np.testing.assert_allclose(read_mtx(path), a, rtol=1e-12)
        np.testing.assert_array_equal(self.read("%%MatrixMarket matrix array integer general\n2 3\n1\n2\n3\n4\n5\n6\n"), [[1, 3, 5], [2, 4, 6]])

    def test_what_is_no_matrix_is_refused_with_its_line(self):
        head = "%%MatrixMarket matrix coordinate real general\n"
        for text, expected in [
            ("", "a.mtx:1: the first line must be"),
            ("%%MatrixMarket vector coordinate real general\n", "a.mtx:1: the first line must be"),
            ("%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n", "is not in the Matrix Market format"),
            ("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", "cannot be coordinate real hermitian"),
            ("%%MatrixMarket matrix array pattern general\n1 1\n", "cannot be array pattern general"),
            (head, "the file ends before the sizes"),
            (head + "% only\n% comments\n", "the file ends before the sizes"),
            (head + "2 2\n", "a.mtx:2: the sizes of this format"),
            (head + "2 x 1\n", "a.mtx:2: the sizes must be whole numbers"),
            (head + "-1 2 0\n", "negative"),
            (head + "9999999999 2 0\n", "above"),
            (head + "2 2 2\n1 1 1\n", "the file ends before entry 2 of 2"),
            (head + "2 2 1\n1 1 1\n2 2 2\n", "a.mtx:4: more than 1 entries"),
            (head + "2 2 1\n1 1\n", "a.mtx:3: 2 numbers instead of 3"),
            (head + "2 2 1\n1 1 one\n", "a.mtx:3: '1 1 one' is no list of numbers"),
            (head + "2 2 1\n3 1 1\n", "the entry at 3, 1 is outside of 2 x 2"),
            (head + "2 2 1\n0 1 1\n", "outside of 2 x 2"),
            (head + "2 2 1\n1.5 1 1\n", "outside of 2 x 2"),
            (head + "2 2 99999999999\n1 1 1\n", "more than the file can hold"),
            ("%%MatrixMarket matrix array real skew-symmetric\n2147483647 2147483647\n", "more than the file can hold"),
            (head.replace("general", "symmetric") + "2 3 0\n", "must be square"),
            (head.replace("general", "symmetric") + "2 2 1\n1 2 1\n", "on and below its diagonal"),
            (head.replace("general", "skew-symmetric") + "2 2 1\n1 1 1\n", "no entries on its diagonal"),
            (head.replace("real", "integer") + "2 2 1\n1 1 1.5\n", "has a fraction"),
        ]:
            with self.assertRaises(MatrixError) as refused:
                self.read(text)
            self.assertIn(expected, str(refused.exception), text)
        with self.assertRaises(MatrixError):
            read_mtx(os.path.join(self.folder.name, "missing.mtx"))
        with open(os.path.join(self.folder.name, "cut.mtx.gz"), "wb") as file:
            file.write(gzip.compress(head.encode() + b"1 1 1\n1 1 1\n")[:-9])
        with self.assertRaises(MatrixError):
            read_mtx(os.path.join(self.folder.name, "cut.mtx.gz"))

    def test_the_matrices_of_cases_are_read_bit_for_bit_as_the_parent_reads_them(self):
        head = "%%MatrixMarket matrix coordinate real "
        for text, indptr, indices, values in [
            (head + "general\n2 3 5\n2 3 1\n1 2 1e16\n2 1 5\n1 2 1\n1 2 -1e16\n", [0, 1, 3], [1, 0, 2], [0.0, 5.0, 1.0]),
            (head + "skew-symmetric\n2 2 1\n2 1 .5\n", [0, 1, 2], [1, 0], [-0.5, 0.5]),
            (head + "general\n3 3 0\n", [0, 0, 0, 0], [], []),
            ("%%MatrixMarket matrix array integer general\n2 2\n1\n0\n0\n3\n", [0, 1, 2], [0, 1], [1.0, 3.0]),
        ]:
            found = read_csr(self.path(text))
            self.assertEqual([part.tolist() for part in (found.indptr, found.indices, found.values)], [indptr, indices, values])
            self.assertEqual((found.indptr.dtype, found.indices.dtype, found.values.dtype), (np.int32, np.int32, np.float64))

    def test_operands_on_a_matrix_are_the_file_rounded_and_a_generated_vector(self):
        path = self.path("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 .1\n2 1 -3\n")
        name = "a@" + fingerprint([read_csr(path)])
        matrices = {name: path, "b@0": path}
        fields = {"n": 2, "dtype": "f32", "seed": 42, "density": 0.75, "matrix": name}
        of = lambda op: generated(Case(dict(fields, op=op), None, matrices))
        a, x = of("spmv")
        self.assertEqual((a.values.dtype, a.values.tolist(), x.shape), (np.float32, [np.float32(0.1), -3.0, -3.0], (2,)))
        self.assertEqual([part.values.tolist() for part in of("spgemm")], [a.values.tolist()] * 2)
        np.testing.assert_array_equal(of("solve")[0], np.array([[0.1, -3], [-3, 0]], np.float32))
        for changed, reason in [("a@0", "no file"), ("b@0", "has changed")]:
            with self.assertRaisesRegex(CellFailed, reason):
                Case(dict(fields, op="spmv", matrix=changed), None, matrices)

    def test_no_change_of_a_file_raises_anything_else(self):
        rng = random.Random(3)
        good = "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 3\n1 1 1\n2 1 -2e3\n3 3 .5\n"
        for _ in range(3000):
            text = list(good)
            for _ in range(rng.randint(1, 4)):
                place = rng.randrange(len(text))
                text[place : place + rng.randint(0, 6)] = rng.choice(["", " ", "\n", "4", "-", "%", "nan", "inf", "1e999", "\x00", "ü"])
            try:
                self.read("".join(text))
            except MatrixError as refused:
                self.assertNotIn("\n", str(refused))


if __name__ == "__main__":
    unittest.main()
