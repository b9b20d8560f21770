"""Generates operands, by SplitMix64 with random access, and their fingerprints, as docs/worker-protocol.md specifies both."""

import math

import numpy as np

from . import host

GAMMA = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
# Elements per chunk: its words and scratch stay in a core's second-level cache.
CHUNK = 1 << 16

# GAMMA * (index + 1) of the first chunk.
_STEPS = np.arange(1, CHUNK + 1, dtype=np.uint64) * np.uint64(GAMMA)
_WEIGHTS = np.arange(CHUNK, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
# Elements that a device weighs at once, so that it needs little memory for it.
ON_DEVICE = 1 << 20
# Words by the bytes of an element. A complex128 is two of them.
_WORDS = {2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.uint64}
# Elements of bfloat16, which NumPy lacks: their bits, on which NumPy does no arithmetic.
BF16 = np.dtype([("bf16", np.uint16)])
# Element types of operands by name.
DTYPES = {
    "f32": np.float32, "f64": np.float64, "bf16": BF16, "f16": np.float16, "c64": np.complex64, "c128": np.complex128
}
# Leading bits of a uniform value by the bytes of an element.
_BITS = {2: 11, 4: 24, 8: 53}


def widened(array):
    """Returns an array of bfloat16 in float32, and others as they are."""
    return (array["bf16"].astype(np.uint32) << np.uint32(16)).view(np.float32) if array.dtype == BF16 else array


class Csr:
    """A sparse matrix in CSR form with 32-bit offsets and columns."""

    def __init__(self, shape, indptr, indices, values):
        self.shape, self.indptr, self.indices, self.values = shape, indptr, indices, values


def _mix_number(z):
    z = ((z ^ (z >> 30)) * FACTORS[0]) & MASK
    z = ((z ^ (z >> 27)) * FACTORS[1]) & MASK
    return z ^ (z >> 31)


def _mix(z):
    """Mixes an array of words in place."""
    scratch = np.empty_like(z)
    for shift, factor in ((30, FACTORS[0]), (27, FACTORS[1]), (31, None)):
        np.right_shift(z, np.uint64(shift), out=scratch)
        np.bitwise_xor(z, scratch, out=z)
        if factor is not None:
            np.multiply(z, np.uint64(factor), out=z)
    return z


class Stream:
    """The random words of one operand."""

    def __init__(self, seed, operand):
        self.key = _mix_number((seed + GAMMA * (operand + 1)) & MASK)

    def bits(self, start, end):
        """Returns the words from `start` to `end`, at most `CHUNK`."""
        return _mix(_STEPS[: end - start] + np.uint64((self.key + GAMMA * start) & MASK))

    def bits_at(self, indices):
        """Returns the words at `indices`."""
        z = (indices.astype(np.uint64) + np.uint64(1)) * np.uint64(GAMMA)
        return _mix(z + np.uint64(self.key))

    def fill(self, out, convert, first=0):
        """Writes `convert(words, part)` into all parts of a flat array; the words begin at index `first`."""
        host.over_chunks(lambda start, end: convert(self.bits(first + start, first + end), out[start:end]), out.size, CHUNK)
        return out

    def uniforms(self, shape, dtype):
        """Returns uniform values in [0, 1). The parts of complex ones are those of real elements."""
        dtype = np.dtype(dtype)
        out = np.empty(math.prod(shape), dtype)
        self.fill(out.view(out.real.dtype) if dtype.kind == "c" else out, _uniform)
        return out.reshape(shape)


def _leading(words, bits, part):
    """Writes the leading `bits` bits of `words` into `part`, as fractions of 2^bits."""
    np.right_shift(words, np.uint64(64 - bits), out=words)
    # Below 2^63 the signed view has the same value, and CPUs convert it faster.
    np.multiply(words.view(np.int64), part.dtype.type(2.0**-bits), out=part, casting="unsafe", dtype=part.dtype)


def _uniform(words, part):
    if part.dtype != BF16:
        return _leading(words, _BITS[part.dtype.itemsize], part)
    single = np.empty(part.size, np.float32)
    _leading(words, 8, single)
    part["bf16"] = single.view(np.uint32) >> np.uint32(16)


def short_uniforms(seed, n, start=0, end=1, is_complex=False):
    """Returns X of the systems from `start` to `end` of the op solve: the leading 19 bits of stream 0, system by system."""
    parts = 2 if is_complex else 1
    out = np.empty((end - start) * n * n * parts, np.float64)
    Stream(seed, 0).fill(out, lambda words, part: _leading(words, 19, part), start * n * n * parts)
    return (out.view(np.complex128) if is_complex else out).reshape(-1, n, n)


def sparse(seed, operand, shape, density, dtype):
    """Returns a sparse matrix of that shape and density; its rows are sorted by column."""
    rows, cols = shape
    pattern, values = Stream(seed, 2 * operand), Stream(seed, 2 * operand + 1)
    threshold = np.uint64(min(math.floor(density * 2.0**32), 1 << 32))

    def stored(start, end):
        words = pattern.bits(start, end)
        at = np.flatnonzero(np.right_shift(words, np.uint64(32), out=words) < threshold)
        at += start
        part = np.empty(at.size, dtype)
        _uniform(values.bits_at(at), part)
        return at, part

    chunks = host.over_chunks(stored, rows * cols, CHUNK)
    at = np.concatenate([chunk[0] for chunk in chunks])
    indptr = np.searchsorted(at, np.arange(rows + 1, dtype=np.int64) * cols).astype(np.int32)
    indices = (at % cols).astype(np.int32)
    return Csr((rows, cols), indptr, indices, np.concatenate([chunk[1] for chunk in chunks]))


def weigh(values):
    """Returns the sum over positions p of (bits of values[p] + 1) * (2 p + 1), modulo 2^64."""
    words = np.ascontiguousarray(values).reshape(-1).view(_WORDS[values.dtype.itemsize])

    def part(start, end):
        plus_one = words[start:end].astype(np.uint64)
        plus_one += np.uint64(1)
        total = int(plus_one.sum(dtype=np.uint64)) * 2 * start
        plus_one *= _WEIGHTS[: end - start]
        return total + int(plus_one.sum(dtype=np.uint64))

    return sum(host.over_chunks(part, words.size, CHUNK)) & MASK


def stacked(shape):
    """Returns the rows and columns of an array as one matrix: a vector is a column, the matrices of a batch are stacked by rows."""
    return (math.prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (shape[0], 1)


def _rotate_left(word, count):
    return ((word << count) | (word >> (64 - count))) & MASK


def fingerprint(operands, weigh_dense=weigh):
    """Returns the fingerprint of operands as 16 hexadecimal digits. A vector counts as a column; the matrices of a
    batch are stacked by rows.

    `weigh_dense` replaces `weigh` for dense operands, so that those of a library can stay where they are.
    """
    state = 0
    for operand in operands:
        if isinstance(operand, Csr):
            structure = (weigh(operand.indptr) + _rotate_left(weigh(operand.indices), 1)) & MASK
            values = weigh(operand.values)
        else:
            structure, values = 0, weigh_dense(operand)
        for part in (*stacked(operand.shape), structure, values):
            state = (_rotate_left(state, 13) * GAMMA + part) & MASK
    return format(state, "016x")
