"""Defines a job: one prepared cell."""

import operator
from functools import partial

import numpy as np

from . import answers


class Job:
    """One prepared cell: operands in the library's storage, the call that is timed, and the way to its answer.

    `call` takes the operands and returns the result. `parts` lists the library's arrays in a result, and `finish` turns
    their copies on the host into the arrays of the answer. `outputs` are arrays that every execution overwrites. `restore`
    runs before each execution, outside the clock, for calls that destroy what they read. `activate` sets what a library
    keeps for the whole process, such as a mode of its products, and `set_defaults` resets all of these modes. `copy_result`
    copies a result whose memory other jobs overwrite.
    """

    def __init__(self, storage, operands, call, parts=None, finish=None, outputs=(), restore=None):
        self.storage, self.operands, self.call = storage, [storage.upload(operand) for operand in operands], call
        self.parts, self.finish = parts or (lambda result: [result]), finish or (lambda arrays: arrays)
        self.outputs, self.restore, self.result = list(outputs), restore, None
        self.thread_choices, self.threads, self.use_threads, self.wake = [], None, None, None
        self.set_defaults, self.activate, self.copy_result = None, None, None
        self.compile_s, self.history = None, None

    @property
    def sources(self):
        """The operands whose values the next execution takes."""
        return self.operands

    @property
    def restores(self):
        """Whether executions destroy what they read."""
        return self.restore is not None

    def execute(self):
        """Does the op once. The last result is freed first, so that an allocator can give its memory to the next one."""
        self.result = None
        self.result = self.call(*self.operands)

    def reset(self):
        """Prepares for an execution, outside the clock: frees the last result and restores what executions destroy."""
        self.result = None
        if self.restore is not None:
            self.restore(*self.operands)

    def settle(self):
        """Sets the library to the job's threads and modes."""
        if self.set_defaults is not None:
            # The last job may have left another mode.
            self.set_defaults()
        if self.use_threads is not None and self.threads is not None:
            self.use_threads(self.threads)
        if self.activate is not None:
            self.activate()

    def set_threads(self, threads):
        """Uses that number of threads from now on."""
        self.threads = threads
        self.settle()

    def check_result(self):
        """Raises an error if the last result is none that can be judged."""

    def write(self, path, arrays):
        """Writes the arrays of an answer to a file, and returns their descriptions."""
        return answers.write(path, arrays)

    def answer(self):
        """Returns the arrays of the answer that the last execution left, on the host."""
        return self.finish([self.storage.host(part) for part in self.parts(self.result)])

    def keep_result(self):
        """Makes the last result last until it is verified, outside the clock."""
        if self.copy_result is not None and self.result is not None:
            self.result = self.copy_result(self.result)

    def execute_erased(self):
        """Overwrites the last result and the outputs with NaN, and executes once."""
        if self.copy_result is not None:
            # The kept result is a copy; this execution's result is in the memory that the next one writes to.
            self.execute()
        if self.result is not None:
            # An allocator may give the same memory to the next result, which must not pass with the old values.
            for part in self.parts(self.result):
                self.storage.erase_result(part)
        self.reset()
        for output in self.outputs:
            self.storage.erase(output)
        if self.restores:
            # An output in which the operands are restored holds them when the call begins.
            self.reset()
        self.execute()

    def fingerprint(self):
        """Returns the fingerprint of the operands as they are now."""
        return self.storage.fingerprint(self.operands)

    def altered(self, operand, element, value):
        """Executes once with another value at one stored element of an operand, then restores the element."""
        sources = self.sources
        sources[operand], original = self.storage.exchange(sources[operand], element, value)
        try:
            self.reset()
            self.execute()
        finally:
            sources[operand], _ = self.storage.exchange(sources[operand], element, original)

    def memory(self):
        """Returns host arrays over all memory of operands and outputs."""
        return [part for array in self.operands + self.outputs for part in self.storage.memory(array)]


def call_of(function, parts=None, finish=None):
    """Returns the preparation of a call without an output of its own."""
    return lambda backend, case, operands: Job(backend.storage, operands, function, parts, finish)


def moments_of(function, of_half, name="axis"):
    """Returns the preparation of a reduction, by the second function for elements of 16 bits; `name` is the module's for an axis."""

    def prepare(backend, case, operands):
        along = {} if case.axis is None else {name: case.axis}
        call = partial(of_half if case.is_half else function, **along)
        return call_of(call, list, answers.moments)(backend, case, operands)

    return prepare


def transform_of(fft, case, axes="axes"):
    """Returns the function of a module that transforms all axes of a case but that of a batch; `axes` is its name for them."""
    if len(case.axes) == 3:
        return partial(fft.fftn, **{axes: (-3, -2, -1)})
    return fft.fft if len(case.axes) == 1 else fft.fft2


def spectrum(fft, axes="axes"):
    """Returns the preparation of a transform by such a module."""
    return lambda backend, case, operands: Job(backend.storage, operands, transform_of(fft, case, axes))


def into(function):
    """Returns the preparation of a call that writes an output like its first operand."""

    def prepare(backend, case, operands):
        c = backend.storage.send(operands[0])
        return Job(backend.storage, operands, partial(function, out=c), outputs=[c])

    return prepare


def of_factors(function, case):
    """Returns a product that takes the factors as the case stores them: a transposed one as a transposed view."""
    if case.transposed == (False, False):
        return function
    if case.transposed == (True, False):
        return lambda a, b: function(a.swapaxes(-2, -1), b)
    if case.transposed == (False, True):
        return lambda a, b: function(a, b.swapaxes(-2, -1))
    return lambda a, b: function(a.swapaxes(-2, -1), b.swapaxes(-2, -1))


def product(backend, case, operands):
    """Prepares the product by the operator `@`."""
    return Job(backend.storage, operands, of_factors(operator.matmul, case))


def product_into(function):
    """Returns the preparation of a product that writes an output."""

    def prepare(backend, case, operands):
        c = backend.storage.send(np.zeros(case.form("m", "n"), case.dtype))
        return Job(backend.storage, operands, of_factors(partial(function, out=c), case), outputs=[c])

    return prepare
