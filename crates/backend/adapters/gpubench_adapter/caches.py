"""Flushes memory from the CPU's caches before samples with cold caches."""

import ctypes
import mmap
import platform
import sys

import numpy as np

from . import host

LINE = 64
# Bytes per chunk when several threads share the work.
CHUNK = 1 << 20
# Bytes read per byte of the last-level cache: twice, because replacement is only roughly least recently used.
TIMES = 2
UNKNOWN_LAST_LEVEL = 32 << 20
# At least this much is read per CPU: twice the largest private cache in use.
MIN_BYTES_PER_CPU = 8 << 20

# void flush(char* line, char* end), in the calling convention of Linux and macOS:
#     endbr64; mfence; next: cmp rdi, rsi; jae done; FLUSH [rdi]; add rdi, 64; jmp next; done: mfence; ret
_BEFORE = bytes.fromhex("f30f1efa 0faef0 4839f7 73")
_CLFLUSHOPT, _CLFLUSH = bytes.fromhex("660fae3f"), bytes.fromhex("0fae3f")
_AFTER = bytes.fromhex("4883c740 eb")
_END = bytes.fromhex("0faef0 c3")


def _machine_code(instruction):
    to_done = len(instruction) + len(_AFTER) + 1
    to_next = -(to_done + 5)
    return _BEFORE + bytes([to_done]) + instruction + _AFTER + bytes([to_next & 0xFF]) + _END


class FlushInstruction:
    """Flushes lines by CLFLUSHOPT or CLFLUSH, from a page of machine code."""

    def __init__(self):
        is_newer = host.has_cpu_flag("clflushopt")
        self.method = "clflushopt" if is_newer else "clflush"
        access = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        self.page = mmap.mmap(-1, mmap.PAGESIZE, prot=access)
        self.page.write(_machine_code(_CLFLUSHOPT if is_newer else _CLFLUSH))
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.page))
        self.code = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)

    def flush(self, arrays):
        """Flushes every line in which a byte of `arrays` is."""
        for array in arrays:
            first = array.ctypes.data // LINE * LINE
            size = array.ctypes.data + array.nbytes - first
            host.over_chunks(lambda start, end: self.code(first + start, first + end), size, CHUNK)


class FlushByReading:
    """Empties the caches by reading other data, as gearshifft and Triton's CPU driver do."""

    def __init__(self):
        size = TIMES * (host.last_level_cache_bytes() or UNKNOWN_LAST_LEVEL)
        size = max(size, MIN_BYTES_PER_CPU * len(host.cpus()))
        self.data = np.arange(size // 8, dtype=np.int64)
        self.method = "reading %d MiB" % (size >> 20)

    def flush(self, _arrays):
        """Reads all data; its lines stay clean, so nothing is written back during the timed work."""
        host.over_chunks(lambda start, end: self.data[start:end].sum(), self.data.size, CHUNK)


def flusher():
    """Returns the best way to flush caches that this machine allows."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64") and sys.platform in ("linux", "darwin")
    try:
        return FlushInstruction() if is_x86 else FlushByReading()
    except (OSError, PermissionError, ValueError):
        # Hardened systems allow no page that is both writable and executable.
        return FlushByReading()
