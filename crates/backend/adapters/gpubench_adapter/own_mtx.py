"""Reads files in the Matrix Market format (https://math.nist.gov/MatrixMarket/formats.html), for operations of the user's own and for
cases on the matrix of a file."""

import gzip
import os

import numpy as np

from .errors import CellFailed

FIELDS = {"real": np.float64, "double": np.float64, "integer": np.int64, "complex": np.complex128, "pattern": np.float64}
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
# Larger matrices have offsets that do not fit into 32 bits.
MAX_SIDE = (1 << 31) - 1
MAX_BYTES = 1 << 34


class MatrixError(CellFailed):
    """A file is no matrix in this format; the message names file and line."""


class _Lines:
    """The lines of a file that are neither blank nor comments, with their numbers."""

    def __init__(self, path):
        self.name, self.number = os.path.basename(path), 0
        opened = gzip.open if path.endswith(".gz") else open
        try:
            with opened(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except (EOFError, gzip.BadGzipFile, OSError) as error:
            raise MatrixError("%s: %s" % (self.name, getattr(error, "strerror", None) or error)) from None
        if len(data) > MAX_BYTES:
            raise MatrixError("%s: more than %d GiB of text" % (self.name, MAX_BYTES >> 30))
        self.lines = data.decode("ascii", "replace").split("\n")

    def fail(self, message):
        raise MatrixError("%s:%d: %s" % (self.name, self.number, message))

    def header(self):
        """Returns the words of the first line."""
        self.number = 1
        words = self.lines[0].lower().split()
        if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
            self.fail("the first line must be %%MatrixMarket matrix FORMAT FIELD SYMMETRY")
        return words[2:]

    def line(self):
        """Returns the words of the next line that says something, or `None` at the end."""
        while self.number < len(self.lines):
            line = self.lines[self.number].strip()
            self.number += 1
            if line and not line.startswith("%"):
                return line.split()
        return None

    def next(self, what):
        """Returns the words of the next line that says something."""
        return self.line() or self.fail("the file ends before %s" % what)

    def numbers(self, per_line, count):
        """Returns the numbers of the next `count` lines as rows of `per_line` numbers, and checks that nothing follows."""
        found = None
        try:
            # Comments are no numbers, nor are mistakes: both are read line by line.
            found = np.array(" ".join(self.lines[self.number :]).split(), np.float64)
        except ValueError:
            pass
        if found is None or found.size != per_line * count:
            found = self._one_by_one(per_line, count)
        return found.reshape(count, per_line)

    def _one_by_one(self, per_line, count):
        """The same line by line, which finds the line at fault."""
        rows = np.empty((count, per_line))
        for place in range(count):
            words = self.next("entry %d of %d" % (place + 1, count))
            if len(words) != per_line:
                self.fail("%d numbers instead of %d" % (len(words), per_line))
            try:
                rows[place] = [float(word) for word in words]
            except ValueError:
                self.fail("'%s' is no list of numbers" % " ".join(words)[:60])
        if self.line() is not None:
            self.fail("more than %d entries" % count)
        return rows


def read_mtx(path):
    """Returns the matrix of a `.mtx` or `.mtx.gz` file: a CSR matrix of SciPy for the format coordinate, in which entries given
    twice are added up, and an array of NumPy for the format array."""
    return _read(path, _sparse)


def read_csr(path):
    """Returns the matrix of a file in float64, bit for bit as the parent reads it: rows are sorted by column, entries given twice are
    added in the order of the file, and of the format array values other than zero are stored."""
    found = _read(path, _coordinate)
    if isinstance(found, np.ndarray):
        rows, columns = np.nonzero(found)
        values, shape = found[rows, columns], found.shape
    else:
        values, rows, columns, shape = found
    # A stable sort.
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order].astype(np.float64)
    is_first = np.ones(rows.size, bool)
    is_first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    sums = values[is_first]
    np.add.at(sums, np.cumsum(is_first)[~is_first] - 1, values[~is_first])
    indptr = np.searchsorted(rows[is_first], np.arange(shape[0] + 1)).astype(np.int32)
    # Not at the top: the package gpubench has this file without the generator.
    from .generator import Csr

    return Csr(shape, indptr, columns[is_first].astype(np.int32), sums)


def _read(path, coordinate):
    """Returns what `coordinate` makes of a file in the format coordinate, and the array of one in the format array."""
    lines = _Lines(os.fspath(path))
    layout, field, symmetry = lines.header()
    if layout not in ("coordinate", "array") or field not in FIELDS or symmetry not in SYMMETRIES:
        lines.fail("'%s %s %s' is not in the Matrix Market format" % (layout, field, symmetry))
    if layout == "array" and field == "pattern" or symmetry == "hermitian" and field != "complex":
        lines.fail("a matrix cannot be %s %s %s" % (layout, field, symmetry))
    sizes = lines.next("the sizes")
    try:
        sizes = [int(word) for word in sizes]
    except ValueError:
        lines.fail("the sizes must be whole numbers")
    if len(sizes) != (3 if layout == "coordinate" else 2):
        lines.fail("the sizes of this format are %s" % ("rows, columns and entries" if layout == "coordinate" else "rows and columns"))
    rows, columns = sizes[:2]
    if min(sizes) < 0 or max(rows, columns) > MAX_SIDE:
        lines.fail("a size is negative or above %d" % MAX_SIDE)
    if symmetry != "general" and rows != columns:
        lines.fail("a %s matrix must be square" % symmetry)
    read = coordinate if layout == "coordinate" else _array
    try:
        return read(lines, field, symmetry, *sizes)
    except MemoryError:
        raise MatrixError("%s: a matrix of %d x %d does not fit into memory" % (lines.name, rows, columns)) from None


def _values(numbers, field, lines):
    if field == "complex":
        return numbers[:, 0] + 1j * numbers[:, 1]
    values = numbers[:, 0]
    if field == "integer" and not np.array_equal(values, np.rint(values)):
        lines.fail("a matrix of integers has a fraction")
    return values.astype(FIELDS[field])


def _mirrored(values, symmetry):
    return {"symmetric": values, "skew-symmetric": -values, "hermitian": np.conj(values)}[symmetry]


def _sparse(*of_file):
    from scipy import sparse

    values, at, to, shape = _coordinate(*of_file)
    return sparse.csr_matrix((values, (at, to)), shape=shape)


def _coordinate(lines, field, symmetry, rows, columns, entries):
    """Returns the values, rows and columns of the entries, and the shape."""
    # A line has at least four bytes.
    if entries > MAX_BYTES // 4:
        lines.fail("%d entries are more than the file can hold" % entries)
    per_line = {"pattern": 2, "complex": 4}.get(field, 3)
    numbers = lines.numbers(per_line, entries)
    places = numbers[:, :2]
    is_place = (places == np.rint(places)) & (places >= 1) & (places <= [rows, columns])
    if not is_place.all():
        row, column = places[int(np.flatnonzero(~is_place.all(axis=1))[0])]
        lines.fail("the entry at %g, %g is outside of %d x %d" % (row, column, rows, columns))
    at, to = (places[:, side].astype(np.int64) - 1 for side in (0, 1))
    values = np.ones(entries) if field == "pattern" else _values(numbers[:, 2:], field, lines)
    if symmetry != "general":
        if (at < to).any():
            lines.fail("a %s matrix lists entries on and below its diagonal alone" % symmetry)
        off = at != to
        if symmetry == "skew-symmetric" and not off.all():
            lines.fail("a skew-symmetric matrix has no entries on its diagonal")
        at, to, values = (
            np.concatenate([at, to[off]]), np.concatenate([to, at[off]]), np.concatenate([values, _mirrored(values[off], symmetry)])
        )
    return values, at, to, (rows, columns)


def _array(lines, field, symmetry, rows, columns):
    first = 1 if symmetry == "skew-symmetric" else 0
    count = rows * columns if symmetry == "general" else rows * (rows + 1) // 2 - (rows if first else 0)
    if count > MAX_BYTES // 2:
        lines.fail("%d x %d values are more than the file can hold" % (rows, columns))
    values = _values(lines.numbers(2 if field == "complex" else 1, count), field, lines)
    if symmetry == "general":
        return np.ascontiguousarray(values.reshape(columns, rows).T)
    matrix = np.zeros((rows, columns), values.dtype)
    # Column after column, each from the diagonal or from below it.
    column, row = np.triu_indices(rows, first)
    matrix[row, column] = values
    off = row != column
    matrix[column[off], row[off]] = _mirrored(values[off], symmetry)
    return matrix
