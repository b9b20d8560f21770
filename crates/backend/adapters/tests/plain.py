"""Plain formulas for the operands and answers of every op, to compare the adapters with."""

import math

import numpy as np

from gpubench_adapter.generator import BF16, DTYPES as TYPES, widened

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
# Permitted errors of an answer by element type: those of its rounding, several times.
TOLERANCES = {"bf16": 0.02, "f16": 2e-3, "f32": 2e-4, "c64": 2e-4, "f64": 1e-10, "c128": 1e-10}
# Small sizes at which every op and variant is tried; 101 is odd, and prime.
SIZES = (1, 2, 33, 101)
DENSITY = 0.2
# Shapes at which the variants of an op are tried, with their size N.
SHAPE_SIZE = 9
SHAPES = {
    "matmul": [
        dict(m=7, n=5, k="2N", layout=layout, **batch) for layout in ("nn", "nt", "tn", "tt") for batch in ({}, {"batch": 3})
    ] + [dict(m=1, n="N", k=4, batch="N")],
    "elementwise": [dict(rows="N", cols=4)],
    "reduction": [dict(rows=4, cols="N", **axis) for axis in ({}, {"axis": 0}, {"axis": 1})],
    "fft": [
        dict(nx="N"),
        dict(nx=8, batch="N"),
        dict(nx="N", ny=4),
        dict(nx=4, ny=6, batch=3),
        dict(nx=3, ny="N", nz=4),
        dict(nx=4, ny=2, nz=5, batch=2),
    ],
    "spgemm": [dict(m=7, n=5, k="2N"), dict(m=1, n="3N", k=8), dict(m="3N", n=1, k=8)],
    "spmv": [dict(m=7, n="2N"), dict(m="4N", n=5), dict(m=1, n="9N"), dict(m="9N", n=1)],
    "solve": [dict(n=7), dict(n="N", rhs=3), dict(n=6, batch="N"), dict(n=6, rhs=2, batch=3)],
    "svd": [dict(m="3N", n=5), dict(m=5, n="N"), dict(m="N", n=4, batch=3), dict(m=4, n="N", batch=3)],
}


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def bits(seed, operand, index):
    key = mix((seed + GAMMA * (operand + 1)) & MASK)
    return mix((key + GAMMA * (index + 1)) & MASK)


def uniform(seed, operand, index, dtype):
    if np.dtype(dtype).kind == "c":
        real = np.float32 if dtype == np.complex64 else np.float64
        return dtype(complex(*(uniform(seed, operand, 2 * index + part, real) for part in (0, 1))))
    leading = {np.float64: 53, np.float32: 24, np.float16: 11}.get(dtype, 8)
    value = (bits(seed, operand, index) >> (64 - leading)) * 2.0**-leading
    return np.float32(value) if dtype == BF16 else dtype(value)


def matrix(seed, operand, n, dtype, columns=None):
    columns = columns or n
    # In place of bfloat16, float32 with the same values.
    kind = np.float32 if dtype == BF16 else dtype
    return np.array([uniform(seed, operand, k, dtype) for k in range(n * columns)], kind).reshape(n, columns)


def _system(seed, n, dtype, first=0):
    """Returns A of one system, whose elements of X begin at index `first`."""
    parts = 2 if np.dtype(dtype).kind == "c" else 1
    short = np.array([(bits(seed, 0, parts * first + k) >> 45) * 2.0**-19 for k in range(parts * n * n)])
    x = (short.view(np.complex128) if parts == 2 else short).reshape(n, n)
    return (x.conj().T @ x + np.eye(n)).astype(dtype)


def sparse_as_dense(seed, operand, n, dtype, columns=None):
    columns = columns or n
    values = matrix(seed, 2 * operand + 1, n, dtype, columns)
    threshold = int(DENSITY * 2**32)
    stored = np.array([(bits(seed, 2 * operand, k) >> 32) < threshold for k in range(n * columns)]).reshape(n, columns)
    return np.where(stored, values, 0).astype(dtype), stored


def operands(op, seed, n, dtype, shape=None):
    """Returns the operands as dense matrices, those of a batch stacked by rows."""
    if shape is not None:
        return _shaped_operands(op, seed, extents(shape, n), dtype)
    if op in ("matmul", "elementwise"):
        return [matrix(seed, 0, n, dtype), matrix(seed, 1, n, dtype)]
    if op == "solve":
        return [_system(seed, n, dtype), matrix(seed, 1, n, dtype, 1)]
    if op == "spgemm":
        return [sparse_as_dense(seed, 0, n, dtype)[0], sparse_as_dense(seed, 1, n, dtype)[0]]
    if op == "spmv":
        return [sparse_as_dense(seed, 0, n, dtype)[0], matrix(seed, 2, n, dtype, 1)]
    return [matrix(seed, 0, n, dtype)]


def extents(shape, n):
    """Returns the dimensions of a shape as numbers and words, with those that are left out."""
    number = lambda value: int(value[:-1] or 1) * n if str(value).endswith("N") else value
    return dict(dict(batch=1, rhs=1, layout="nn"), **{name: number(value) for name, value in shape.items()})


def _shaped_operands(op, seed, dims, dtype):
    random = lambda operand, rows, columns: matrix(seed, operand, dims["batch"] * rows, dtype, columns)
    if op == "matmul":
        m, n, k = dims["m"], dims["n"], dims["k"]
        a_is_transposed, b_is_transposed = (letter == "t" for letter in dims["layout"])
        a = random(0, k, m) if a_is_transposed else random(0, m, k)
        return [a, random(1, n, k) if b_is_transposed else random(1, k, n)]
    if op == "elementwise":
        return [random(0, dims["rows"], dims["cols"]), random(1, dims["rows"], dims["cols"])]
    if op == "reduction":
        return [random(0, dims["rows"], dims["cols"])]
    if op == "spgemm":
        m, n, k = dims["m"], dims["n"], dims["k"]
        return [sparse_as_dense(seed, 0, m, dtype, k)[0], sparse_as_dense(seed, 1, k, dtype, n)[0]]
    if op == "spmv":
        return [sparse_as_dense(seed, 0, dims["m"], dtype, dims["n"])[0], random(2, dims["n"], 1)]
    if op == "svd":
        return [random(0, dims["m"], dims["n"])]
    if op == "fft":
        *others, last = axes(dims)
        return [random(0, math.prod(others), last)]
    n = dims["n"]
    systems = [_system(seed, n, dtype, index * n * n) for index in range(dims["batch"])]
    return [np.concatenate(systems), random(1, n, dims["rhs"])]


def axes(dims):
    """Returns the extents of the axes that a transform takes."""
    return [dims[name] for name in ("nx", "ny", "nz") if name in dims]


def check_shaped(test, op, n, dtype, inputs, arrays, shape, approximate=False):
    """Asserts that an answer to a problem of a shape is right: each matrix of a batch by itself."""
    dims = extents(shape, n)
    if op == "spgemm":
        return check(test, op, n, dtype, inputs, arrays, approximate)
    if op == "reduction":
        a, tolerance = np.asarray(inputs[0], np.float64), tolerance_of(np.float32 if approximate else dtype)
        wanted = np.stack([function(a, axis=dims.get("axis")).reshape(-1) for function in (np.sum, np.mean, np.std)])
        test.assertEqual([(array.shape, array.dtype) for array in arrays], [(wanted.shape, wanted.dtype)])
        return np.testing.assert_allclose(arrays[0], wanted, rtol=tolerance, atol=tolerance * max(1.0, wanted.max()))
    for array in arrays:
        test.assertEqual((array.ndim, len(array) % dims["batch"]), (2, 0))
    split = lambda stacked: zip(*(np.split(matrix, dims["batch"]) for matrix in stacked))
    for of_one, answer in zip(split(inputs), split(arrays)):
        if op == "matmul":
            of_one = [factor.T if letter == "t" else factor for factor, letter in zip(of_one, dims["layout"])]
        if op == "fft":
            right = np.fft.fftn(of_one[0].reshape(axes(dims)).astype(np.complex128)).reshape(of_one[0].shape)
            test.assertEqual((answer[0].shape, answer[0].dtype), (right.shape, np.result_type(dtype, np.complex64)))
            atol = tolerance_of(dtype) * max(1.0, np.abs(right).max())
            np.testing.assert_allclose(answer[0], right, atol=atol)
            continue
        check(test, op, n, dtype, of_one, answer, approximate)


def dense_of(arrays, shape):
    """Returns the dense matrix of a sparse answer of that shape."""
    indptr, indices, values = (array.reshape(-1) for array in arrays)
    assert indptr.dtype == indices.dtype == np.int32 and indptr[-1] == len(indices) == len(values)
    assert len(indptr) == shape[0] + 1
    full = np.zeros(shape, values.dtype)
    for row in range(shape[0]):
        columns = indices[indptr[row] : indptr[row + 1]]
        assert len(set(columns.tolist())) == len(columns), "a column is there twice"
        full[row, columns] = values[indptr[row] : indptr[row + 1]]
    return full


def expected(op, inputs):
    """Returns the arrays of the right answer in float64; not for svd."""
    wide = np.complex128 if inputs[0].dtype.kind == "c" else np.float64
    a, *rest = (np.asarray(part, wide) for part in inputs)
    if op in ("matmul", "spgemm", "spmv"):
        return [a @ rest[0]]
    if op == "elementwise":
        return [a * rest[0] + np.sin(a) + np.cos(rest[0])]
    if op == "sin":
        return [np.sin(a)]
    if op == "reduction":
        return [np.array([[a.sum()], [a.mean()], [a.std()]])]
    if op == "fft":
        return [np.fft.fft2(a)]
    return [np.linalg.solve(a, rest[0])]


def tolerance_of(dtype):
    """Returns the permitted error of an answer, relative to its largest element."""
    return TOLERANCES[next(name for name, kind in TYPES.items() if kind == dtype)]


def check(test, op, n, dtype, inputs, arrays, approximate=False):
    """Asserts that an answer has the right form and is right to the rounding of the type, or of float32 if approximate."""
    tolerance = tolerance_of(np.float32 if approximate else dtype) * (50 if op == "solve" else 1)
    if op == "spgemm":
        arrays = [dense_of(arrays, (len(inputs[0]), inputs[1].shape[1]))]
    if op == "svd":
        u, s, vt = arrays
        rows, columns = inputs[0].shape
        short = min(rows, columns)
        test.assertEqual((u.shape, s.shape, vt.shape), ((rows, short), (short, 1), (short, columns)))
        np.testing.assert_allclose(u * s.reshape(-1) @ vt, inputs[0], atol=tolerance * max(rows, columns))
        np.testing.assert_allclose(u.conj().T @ u, np.eye(short), atol=tolerance)
        np.testing.assert_allclose(vt @ vt.conj().T, np.eye(short), atol=tolerance)
        return
    wanted = expected(op, inputs)
    test.assertEqual([array.shape for array in arrays], [array.shape for array in wanted])
    for found, right in zip(arrays, wanted):
        if op == "matmul" and np.dtype(dtype).itemsize == 2:
            test.assertIn(found.dtype, (dtype, np.float32))
        elif op == "fft":
            test.assertEqual(found.dtype, np.result_type(dtype, np.complex64))
        else:
            test.assertEqual(found.dtype, np.float64 if op == "reduction" else dtype)
        found = widened(found)
        np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance * max(1.0, np.abs(right).max()))
