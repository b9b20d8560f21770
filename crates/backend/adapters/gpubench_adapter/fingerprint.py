"""Computes the fingerprint of operands, as docs/worker-protocol.md specifies it."""

import numpy as np

from . import pool
from .generator import CHUNK, GAMMA, MASK, Csr

_WEIGHTS = np.arange(CHUNK, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
# Elements that a device weighs at once, so that it needs little memory for it.
ON_DEVICE = 1 << 20
_WORDS = {4: np.uint32, 8: np.uint64}


def weigh(values):
    """Returns the sum over positions p of (bits of values[p] + 1) * (2 p + 1), modulo 2^64."""
    words = np.ascontiguousarray(values).reshape(-1).view(_WORDS[values.dtype.itemsize])

    def part(start, end):
        plus_one = words[start:end].astype(np.uint64)
        plus_one += np.uint64(1)
        total = int(plus_one.sum(dtype=np.uint64)) * 2 * start
        plus_one *= _WEIGHTS[: end - start]
        return total + int(plus_one.sum(dtype=np.uint64))

    return sum(pool.over_chunks(part, words.size, CHUNK)) & MASK


def _rotate_left(word, count):
    return ((word << count) | (word >> (64 - count))) & MASK


def fingerprint(operands, weigh_dense=weigh):
    """Returns the fingerprint of operands as 16 hexadecimal digits. A vector counts as a column.

    `weigh_dense` replaces `weigh` for dense operands, so that those of a library can stay where they are.
    """
    state = 0
    for operand in operands:
        if isinstance(operand, Csr):
            structure = (weigh(operand.indptr) + _rotate_left(weigh(operand.indices), 1)) & MASK
            values = weigh(operand.values)
        else:
            structure, values = 0, weigh_dense(operand)
        rows, columns = operand.shape if len(operand.shape) == 2 else (operand.shape[0], 1)
        for part in (rows, columns, structure, values):
            state = (_rotate_left(state, 13) * GAMMA + part) & MASK
    return format(state, "016x")
