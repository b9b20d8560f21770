"""Plain formulas for the operands and answers of every op, to compare the adapters with."""

import numpy as np

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
# Small sizes at which every op and variant is tried; 101 is odd, and prime.
SIZES = (1, 2, 33, 101)
DENSITY = 0.2


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def bits(seed, operand, index):
    key = mix((seed + GAMMA * (operand + 1)) & MASK)
    return mix((key + GAMMA * (index + 1)) & MASK)


def uniform(seed, operand, index, dtype):
    leading = 53 if dtype == np.float64 else 24
    return dtype((bits(seed, operand, index) >> (64 - leading)) * 2.0**-leading)


def matrix(seed, operand, n, dtype, columns=None):
    columns = columns or n
    return np.array([uniform(seed, operand, k, dtype) for k in range(n * columns)], dtype).reshape(n, columns)


def sparse_as_dense(seed, operand, n, dtype):
    values = matrix(seed, 2 * operand + 1, n, dtype)
    threshold = int(DENSITY * 2**32)
    stored = np.array([(bits(seed, 2 * operand, k) >> 32) < threshold for k in range(n * n)]).reshape(n, n)
    return np.where(stored, values, 0).astype(dtype), stored


def operands(op, seed, n, dtype):
    """Returns the operands as dense matrices, and of a sparse one the stored places."""
    if op in ("matmul", "elementwise"):
        return [matrix(seed, 0, n, dtype), matrix(seed, 1, n, dtype)]
    if op == "solve":
        x = np.array([(bits(seed, 0, k) >> 45) * 2.0**-19 for k in range(n * n)]).reshape(n, n)
        return [(x.T @ x + np.eye(n)).astype(dtype), matrix(seed, 1, n, dtype, 1)]
    if op == "spgemm":
        return [sparse_as_dense(seed, 0, n, dtype)[0], sparse_as_dense(seed, 1, n, dtype)[0]]
    if op == "spmv":
        return [sparse_as_dense(seed, 0, n, dtype)[0], matrix(seed, 2, n, dtype, 1)]
    return [matrix(seed, 0, n, dtype)]


def dense_of(arrays, n):
    """Returns the dense matrix of a sparse answer."""
    indptr, indices, values = (array.reshape(-1) for array in arrays)
    assert indptr.dtype == indices.dtype == np.int32 and indptr[-1] == len(indices) == len(values)
    full = np.zeros((n, n), values.dtype)
    for row in range(n):
        columns = indices[indptr[row] : indptr[row + 1]]
        assert len(set(columns.tolist())) == len(columns), "a column is there twice"
        full[row, columns] = values[indptr[row] : indptr[row + 1]]
    return full


def expected(op, inputs):
    """Returns the arrays of the right answer in float64; not for svd."""
    a, *rest = (np.asarray(part, np.float64) for part in inputs)
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


def check(test, op, n, dtype, inputs, arrays, approximate=False):
    """Asserts that an answer has the right form and is right to the rounding of the type, or of float32 if approximate."""
    tolerance = (2e-4 if dtype == np.float32 or approximate else 1e-10) * (50 if op == "solve" else 1)
    if op == "spgemm":
        arrays = [dense_of(arrays, n)]
    if op == "svd":
        u, s, vt = arrays
        test.assertEqual((u.shape, s.shape, vt.shape), ((n, n), (n, 1), (n, n)))
        np.testing.assert_allclose(u * s.reshape(-1) @ vt, inputs[0], atol=tolerance * n)
        np.testing.assert_allclose(u.T @ u, np.eye(n), atol=tolerance)
        np.testing.assert_allclose(vt @ vt.T, np.eye(n), atol=tolerance)
        return
    wanted = expected(op, inputs)
    test.assertEqual([array.shape for array in arrays], [array.shape for array in wanted])
    scales = {"reduction": np.float64, "fft": np.result_type(dtype, np.complex64)}
    for found, right in zip(arrays, wanted):
        test.assertEqual(found.dtype, scales.get(op, dtype))
        np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance * max(1.0, np.abs(right).max()))
