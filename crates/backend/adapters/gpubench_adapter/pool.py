"""Runs NumPy code on several threads of the host, outside timed regions. NumPy releases Python's lock in its loops."""

from concurrent.futures import ThreadPoolExecutor

_executor = None
_threads = 1


def use_threads(threads):
    """Sets the number of threads. Idle threads sleep, so they take no time from what is measured."""
    global _executor, _threads
    if _executor is not None:
        _executor.shutdown()
    _threads = threads
    _executor = ThreadPoolExecutor(threads) if threads > 1 else None


def threads():
    """Returns the number of threads."""
    return _threads


def over_chunks(function, length, chunk):
    """Returns `function(start, end)` of each chunk of `range(length)`, in order."""
    starts = range(0, length, chunk)
    if _executor is None or len(starts) < 2:
        return [function(start, min(start + chunk, length)) for start in starts]
    return list(_executor.map(lambda start: function(start, min(start + chunk, length)), starts))
