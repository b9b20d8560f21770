import math
import re
import unittest
from unittest import mock

import numpy as np

from conversation import FOLDER
from gpubench_adapter import host
from gpubench_adapter import operands as made_operands
from gpubench_adapter.errors import OutOfMemory
from gpubench_adapter.generator import BF16, CHUNK, Csr, Stream, fingerprint, weigh, widened
from gpubench_adapter.operands import OPERANDS, Case, admit, footprint
from plain import DENSITY, SHAPES, SHAPE_SIZE, SIZES, TYPES, axes, bits, extents, operands, sparse_as_dense, uniform

# The ops of the types that not every op has.
OPS_OF_TYPE = dict.fromkeys(("bf16", "f16"), ("matmul", "elementwise", "reduction"))
OPS_OF_TYPE.update(dict.fromkeys(("c64", "c128"), ("matmul", "fft", "solve", "svd")))

PROTOCOL = (FOLDER.parents[2] / "docs" / "worker-protocol.md").read_text()
VECTOR = re.compile(r"^\| (\d+) \| (\d) \| (\d+) \| `([0-9A-F]{16})`" + 4 * r" \| ([\d.]+)" + r" \|$", re.MULTILINE)


def case(op, n=2, dtype="f32", density=None, shape=None):
    return Case({"op": op, "n": n, "dtype": dtype, "density": density, "seed": 42, "shape": shape})


class Generator(unittest.TestCase):
    def test_the_published_vectors_hold(self):
        vectors = VECTOR.findall(PROTOCOL)
        self.assertGreaterEqual(len(vectors), 12)
        for seed, operand, index, word, *texts in vectors:
            stream = Stream(int(seed), int(operand))
            at = np.array([int(index)])
            self.assertEqual(int(stream.bits_at(at)[0]), int(word, 16))
            self.assertEqual(int(stream.bits(int(index), int(index) + 1)[0]), int(word, 16))
            start = int(index)
            for dtype, text in zip((np.float64, np.float32, np.float16, BF16), texts):
                if start < CHUNK:
                    value = widened(stream.uniforms((start + 1,), dtype))[start]
                    self.assertEqual(float(value), float(text))

    def test_chunks_on_several_threads_agree_with_single_values(self):
        size = 2 * CHUNK + 5
        alone = Stream(7, 1).uniforms((size,), np.dtype(np.float32))
        host.use_threads(3)
        together = Stream(7, 1).uniforms((size,), np.dtype(np.float32))
        host.use_threads(1)
        np.testing.assert_array_equal(alone, together)
        for index in (0, CHUNK - 1, CHUNK, size - 1):
            self.assertEqual(alone[index], uniform(7, 1, index, np.float32))
        self.assertEqual(int(Stream(7, 1).bits(CHUNK, CHUNK + 1)[0]), bits(7, 1, CHUNK))

    def test_operands_of_every_op_are_those_of_the_plain_formulas(self):
        for op, makers in OPERANDS.items():
            for n in SIZES[:3]:
                for name, dtype in TYPES.items():
                    if op not in OPS_OF_TYPE.get(name, OPERANDS):
                        continue
                    made = [make(case(op, n, name, DENSITY)) for make in makers]
                    for found, wanted in zip(made, operands(op, 42, n, dtype)):
                        if isinstance(found, Csr):
                            found = _dense(found)
                        self.assertEqual(found.dtype, dtype)
                        found = widened(found)
                        np.testing.assert_array_equal(found.reshape(wanted.shape), wanted, err_msg=op + name)

    def test_a_sparse_matrix_stores_the_places_of_its_pattern(self):
        made = OPERANDS["spgemm"][1](case("spgemm", 33, "f64", DENSITY))
        _, stored = sparse_as_dense(42, 1, 33, np.float64)
        np.testing.assert_array_equal(np.diff(made.indptr), stored.sum(axis=1))
        np.testing.assert_array_equal(made.indices, np.nonzero(stored)[1])
        full = OPERANDS["spgemm"][0](case("spgemm", 20, "f32", 1.0))
        self.assertEqual(full.values.size, 400)


def _pairs(words):
    """Returns two words in one: the first, which is a real part, in the lower half."""
    return words[0::2] | words[1::2] << np.uint64(32)


def _bytes(operand):
    parts = (operand.indptr, operand.indices, operand.values) if isinstance(operand, Csr) else (operand,)
    return sum(part.nbytes for part in parts)


def _dense(matrix):
    full = np.zeros(matrix.shape, matrix.values.dtype)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    full[rows, matrix.indices] = matrix.values
    return full


class Shapes(unittest.TestCase):
    def test_operands_of_every_shape_are_those_of_the_plain_formulas(self):
        for op, shapes in SHAPES.items():
            for shape in shapes:
                for name, dtype in TYPES.items():
                    if op not in OPS_OF_TYPE.get(name, OPERANDS):
                        continue
                    made = [make(case(op, SHAPE_SIZE, name, DENSITY, shape)) for make in OPERANDS[op]]
                    made = [_dense(array) if isinstance(array, Csr) else array for array in made]
                    wanted = operands(op, 42, SHAPE_SIZE, dtype, shape)
                    if dtype != BF16:
                        self.assertEqual(fingerprint(made), fingerprint(wanted), (op, shape))
                    for found, right in zip(made, wanted):
                        self.assertEqual(found.dtype, dtype)
                        values = widened(found).reshape(right.shape)
                        np.testing.assert_array_equal(values, right, err_msg="%s %s %s" % (op, shape, name))
                        if op != "fft":
                            self.assertEqual(found.ndim == 3, "batch" in shape)

    def test_a_single_right_hand_side_of_one_system_is_a_vector(self):
        for shape, form in ((None, (9,)), (dict(n=5), (5,)), (dict(n=5, rhs=1), (5,)), (dict(n=5, rhs="N"), (5, 9))):
            self.assertEqual(OPERANDS["solve"][1](case("solve", 9, shape=shape)).shape, form)
        self.assertEqual(OPERANDS["solve"][1](case("solve", 9, shape=dict(n=5, batch=1))).shape, (1, 5, 1))

    def test_systems_that_are_made_together_are_those_made_one_after_another(self):
        many = case("solve", 20, "f64", shape=dict(n=20, batch=7))
        together = OPERANDS["solve"][0](many)
        for elements in (1, 3 * 400):
            with mock.patch.object(made_operands, "SYSTEMS_ELEMENTS", elements):
                np.testing.assert_array_equal(OPERANDS["solve"][0](many), together)

    def test_a_footprint_is_the_bytes_of_operands_and_answer(self):
        for op, shapes in SHAPES.items():
            for shape in shapes:
                dims = extents(shape, SHAPE_SIZE)
                answer = {
                    "matmul": lambda: dims["batch"] * dims["m"] * dims["n"],
                    "elementwise": lambda: dims["rows"] * dims["cols"],
                    "reduction": lambda: 3 * {0: dims["cols"], 1: dims["rows"]}.get(dims.get("axis"), 1),
                    "fft": lambda: dims["batch"] * math.prod(axes(dims)),
                    "solve": lambda: dims["batch"] * dims["n"] * dims["rhs"],
                    "spgemm": lambda: dims["m"] * dims["n"],
                    "spmv": lambda: dims["m"],
                    "svd": lambda: dims["batch"] * min(dims["m"], dims["n"]) * (dims["m"] + dims["n"] + 1),
                }[op]()
                for name, dtype in TYPES.items():
                    if op not in OPS_OF_TYPE.get(name, OPERANDS):
                        continue
                    of_shape = case(op, SHAPE_SIZE, name, 1.0, shape)
                    size = np.dtype(dtype).itemsize
                    # A spectrum has complex elements, and the answer of a reduction is in float64.
                    in_answer = {"fft": size if name in ("c64", "c128") else 2 * size, "reduction": 8}.get(op, size)
                    expected = sum(_bytes(make(of_shape)) for make in OPERANDS[op]) + in_answer * answer
                    if op == "spgemm":
                        expected += 4 * answer + 4 * (dims["m"] + 1)
                    self.assertEqual(footprint(of_shape), expected, (op, shape, name))

    def test_what_exceeds_every_memory_is_refused_and_counted_without_an_overflow(self):
        for op, shapes in SHAPES.items():
            for shape in shapes:
                huge = {name: 2**40 if name not in ("layout", "axis") else value for name, value in shape.items()}
                with mock.patch.object(host, "free_memory", lambda: 2**36), self.assertRaises(OutOfMemory):
                    admit(case(op, 2**40, density=DENSITY, shape=huge))
        huge = case("matmul", 2**63, "f64", shape=dict(m="N", n="N", k="N", batch="4N"))
        self.assertEqual(footprint(huge), 8 * 3 * 4 * 2**189)

    def test_the_side_of_a_shape_is_the_mean_of_its_dimensions(self):
        for op, shape, side in (
            ("matmul", None, 9), ("matmul", dict(m=2, n=4, k="3N", batch=5), 6), ("solve", dict(n=7, rhs=3), 7),
            ("svd", dict(m=4, n="N"), 6), ("elementwise", dict(rows=2**20, cols=1), 1024),
        ):
            self.assertEqual(case(op, 9, shape=shape).side, side)


class Fingerprint(unittest.TestCase):
    def test_the_documented_examples_hold(self):
        documented = re.search(r"have the fingerprint `([0-9a-f]{16})`", PROTOCOL).group(1)
        of_types = dict(re.findall(r"`([0-9a-f]{16})` in `([a-z0-9]+)`", PROTOCOL))
        self.assertEqual(sorted(of_types.values()), ["bf16", "c128", "c64", "f16"])
        for expected, name in [(documented, "f32"), *of_types.items()]:
            made = [make(case("matmul", dtype=name)) for make in OPERANDS["matmul"]]
            self.assertEqual(fingerprint(made), expected, name)

    def test_elements_are_weighed_as_words_of_their_bits(self):
        values = Stream(42, 0).uniforms((CHUNK + 3,), np.float64)
        half, single = values.astype(np.float16), values.astype(np.float32)
        for array, words in (
            (half, half.view(np.uint16)),
            (half.view(BF16), half.view(np.uint16)),
            (single[:-1].view(np.complex64), _pairs(single[:-1].view(np.uint32).astype(np.uint64))),
            (values[:-1].view(np.complex128), values[:-1].view(np.uint64)),
        ):
            expected = sum((int(word) + 1) * (2 * position + 1) for position, word in enumerate(words))
            self.assertEqual(weigh(array), expected & (1 << 64) - 1, array.dtype)

    def test_chunks_add_up_to_the_plain_sum(self):
        values = np.arange(2 * CHUNK + 7, dtype=np.uint64).view(np.float64)
        weights = sum((int(v) + 1) * (2 * p + 1) for p, v in enumerate(values.view(np.uint64)))
        state = 0
        for part in (values.size, 1, 0, weights):
            state = (((state << 13 | state >> 51) & (1 << 64) - 1) * 0x9E3779B97F4A7C15 + part) & (1 << 64) - 1
        self.assertEqual(fingerprint([values]), format(state, "016x"))

    def test_every_part_of_an_operand_counts(self):
        matrix = OPERANDS["spgemm"][0](case("spgemm", 33, "f32", DENSITY))
        whole = fingerprint([matrix])
        for part in (matrix.indptr, matrix.indices, matrix.values):
            part[3] += 1
            self.assertNotEqual(fingerprint([matrix]), whole)
            part[3] -= 1
        self.assertEqual(fingerprint([matrix]), whole)


if __name__ == "__main__":
    unittest.main()
