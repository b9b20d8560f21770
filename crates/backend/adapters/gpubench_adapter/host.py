"""Describes the host: its CPUs, caches, memory and drivers. Runs NumPy code on several of its threads, outside timed regions."""

import ctypes
import os
import platform
import re
from concurrent.futures import ThreadPoolExecutor

_executor = None


def _read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def cpus():
    """Returns the CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def cpu_name():
    """Returns the model of the CPU."""
    found = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def has_cpu_flag(flag):
    """Returns whether Linux lists that feature of the CPU."""
    found = re.search(r"^flags\s*:(.*)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return found is not None and flag in found.group(1).split()


def last_level_cache_bytes():
    """Returns the bytes of the last-level caches of the usable CPUs, or `None` if the system does not report them."""
    caches = set()
    for cpu in cpus():
        levels = []
        for index in range(8):
            folder = "/sys/devices/system/cpu/cpu%d/cache/index%d/" % (cpu, index)
            size = re.match(r"(\d+)([KM]?)", _read(folder + "size"))
            if size and _read(folder + "type").strip() != "Instruction":
                scale = {"": 1, "K": 1 << 10, "M": 1 << 20}[size.group(2)]
                shared = _read(folder + "shared_cpu_list").strip()
                levels.append((int(_read(folder + "level")), shared, int(size.group(1)) * scale))
        if levels:
            caches.add(max(levels)[1:])
    return sum(size for _, size in caches) or None


def free_memory():
    """Returns the bytes of free memory, or `None` if the system does not report them. Limits of control groups count."""
    found = re.search(r"^MemAvailable:\s*(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    frees = [int(found.group(1)) << 10] if found else []
    group = re.search(r"^0::/(.*)$", _read("/proc/self/cgroup"), re.MULTILINE)
    parts = group.group(1).split("/") if group else []
    for depth in range(len(parts) + 1):
        folder = "/".join(["/sys/fs/cgroup"] + parts[:depth])
        limit, used = (_read(folder + "/memory." + name).strip() for name in ("max", "current"))
        idle = re.search(r"^inactive_file (\d+)", _read(folder + "/memory.stat"), re.MULTILINE)
        if limit.isdigit() and used.isdigit():
            frees.append(max(0, int(limit) - int(used) + (int(idle.group(1)) if idle else 0)))
    return min(frees) if frees else None


def nvidia_driver():
    """Returns the version of NVIDIA's driver, or `None` without one."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    text = ctypes.create_string_buffer(96)
    if nvml.nvmlInit_v2() != 0:
        return None
    found = nvml.nvmlSystemGetDriverVersion(text, 96) == 0
    nvml.nvmlShutdown()
    return text.value.decode() if found else None


def use_threads(threads):
    """Sets the number of threads. Idle threads sleep, so they take no time from what is measured."""
    global _executor
    if _executor is not None:
        _executor.shutdown()
    _executor = ThreadPoolExecutor(threads) if threads > 1 else None


def over_chunks(function, length, chunk):
    """Returns `function(start, end)` of each chunk of `range(length)`, in order. NumPy releases Python's lock in its loops."""
    starts = range(0, length, chunk)
    if _executor is None or len(starts) < 2:
        return [function(start, min(start + chunk, length)) for start in starts]
    return list(_executor.map(lambda start: function(start, min(start + chunk, length)), starts))
