#!/usr/bin/env python3
"""Try a wheel as a new user would: install it into a new virtual environment that is not activated, and time the way to the first answer.

usage: try_wheel.py [--python PROGRAM] [--wheels FOLDER] [--nvidia FOLDER] [--run ARGUMENTS] WHEEL [REQUIREMENT ...]

    WHEEL               the file, with extras if wanted: gpubench_cli-0.1.0-py3-none-manylinux_2_28_x86_64.whl[mkl]
    REQUIREMENT         another package for pip, such as nvidia-cuda-nvrtc
    --python PROGRAM    makes the environment with this Python
    --wheels FOLDER     without a network: takes all packages from this folder
    --nvidia FOLDER     without a network: copies the CUDA libraries of this .../site-packages/nvidia into the environment
    --run ARGUMENTS     what gpubench runs (default: --ops matmul,fft --sizes 100,1000)

The commands get no variables of this shell and a new home folder, which has no compiled kernels. As root the script hides all other CUDA
libraries from them, in a mount namespace of its own; the driver stays visible. The script fails if gpubench takes a library from another
place than the environment that has it, if it finds a hidden one, or if no time was measured; with a driver, if none was measured on the GPU.
"""
import argparse, glob, json, os, pathlib, shutil, subprocess, sys, tempfile, time

# Names in doctor's list, with the files.
CUDA = {"NVRTC": "nvrtc", "cuBLAS": "cublas", "cuBLASLt": "cublasLt", "cuFFT": "cufft", "cuSOLVER": "cusolver", "cuSPARSE": "cusparse"}
COPIED = tuple(f"lib{stem}{end}" for stem in [*CUDA.values(), "nvJitLink"] for end in (".so", "-builtins.so"))
IN_NAMESPACE = "GPUBENCH_TRY_WHEEL_IN_NAMESPACE"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--wheels")
    parser.add_argument("--nvidia", type=pathlib.Path)
    parser.add_argument("--run", default="--ops matmul,fft --sizes 100,1000")
    parser.add_argument("wheel")
    parser.add_argument("requirements", nargs="*")
    return parser.parse_args()


def other_cuda_libraries():
    """The folders in which machines have CUDA toolkits and NVIDIA's packages for Python."""
    prefixes = ["/usr", "/usr/local", "/opt/*", "/opt/*/envs/*", sys.prefix, pathlib.Path.home() / ".local"]
    patterns = ["/usr/local/cuda*", "/opt/cuda*", *(f"{prefix}/lib/python3*/*-packages/nvidia" for prefix in prefixes)]
    folders = {os.path.realpath(path) for pattern in patterns for path in glob.glob(pattern)}
    return sorted(folder for folder in folders if os.path.isdir(folder))


def enter_namespace():
    """Starts this script again in a mount namespace of its own, if that is allowed. Returns whether it runs in one."""
    if os.environ.pop(IN_NAMESPACE, None):
        return True
    may = os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode == 0
    if may:
        os.execvpe("unshare", ["unshare", "--mount", sys.executable, *sys.argv], {**os.environ, IN_NAMESPACE: "1"})
    return False


def make_environment(python, environment):
    """Makes a virtual environment, and returns the command of its pip. Some distributions' Pythons cannot install pip into it."""
    if subprocess.run([python, "-m", "venv", environment], stdout=subprocess.DEVNULL).returncode == 0:
        return [environment / "bin/python", "-m", "pip"]
    subprocess.run([python, "-m", "venv", "--clear", "--without-pip", environment], check=True)
    return [python, "-m", "pip", "--python", environment / "bin/python"]


def copy_libraries(source, environment):
    """Copies the CUDA libraries in source/PACKAGE/lib to the same place in the environment."""
    target = next(environment.glob("lib/python3*/site-packages")) / "nvidia"
    for file in source.glob("*/lib/*.so*"):
        if file.name.startswith(COPIED):
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)


def timed(title, command, **arguments):
    """Runs a command and prints and returns the seconds that it took."""
    start = time.monotonic()
    code = subprocess.run([str(word) for word in command], **arguments).returncode
    seconds = time.monotonic() - start
    if code:
        sys.exit(f"try_wheel.py: {title} ended with code {code}")
    print(f"{title}: {seconds:.1f} s", flush=True)
    return seconds


def complaints(findings, environment, hidden):
    """Prints the libraries that gpubench found, and returns those that come from the wrong place."""
    for finding in findings:
        name, path = finding["name"], finding["path"]
        print(f"  {name}: {path or finding['problem']}")
        stem = {**CUDA, "MKL": "mkl_rt"}.get(name)
        if stem is None:
            continue
        own = next(environment.rglob(f"lib{stem}.so.*"), None)
        inside = path is not None and environment in pathlib.Path(path).parents
        if own and not inside:
            yield f"{name} was not taken from {own}"
        elif path and not inside and name in CUDA and hidden:
            yield f"{name} was found at {path}, which this script did not hide"


def measured(results):
    """The number of times measured on each backend."""
    rows = json.loads(next(results.glob("report.json")).read_text())["rows"]
    counts = {"cpu": 0, "cuda": 0}
    for row in rows:
        counts[row["backend"]] += row["outcome"] == "measured"
    return counts


def main():
    asked = options()
    hidden = enter_namespace()
    with tempfile.TemporaryDirectory(prefix="gpubench-try-") as folder:
        folder = pathlib.Path(folder).resolve()
        environment, results = folder / "venv", folder / "results"
        pip = make_environment(asked.python, environment)
        if asked.nvidia:
            copy_libraries(asked.nvidia.resolve(), environment)
        for other in other_cuda_libraries() if hidden else []:
            subprocess.run(["mount", "-t", "tmpfs", "none", other], check=True)
            print(f"hidden: {other}")

        offline = ["--no-index", "--find-links", asked.wheels] if asked.wheels else []
        install = [*pip, "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir", *offline]
        total = timed("pip install", [*install, asked.wheel, *asked.requirements])

        clean = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        gpubench = environment / "bin/gpubench"
        importing = "import gpubench; print(gpubench.run('--ops', 'sin', '--sizes', '100', quiet=True))"
        timed("the Python package", [environment / "bin/python", "-c", importing], env=clean, cwd=folder)
        doctor = json.loads(subprocess.run([gpubench, "doctor", "--json"], env=clean, cwd=folder, check=True, stdout=subprocess.PIPE).stdout)
        findings = [finding for backend in doctor["backends"] for finding in backend["findings"]]
        wrong = list(complaints(findings, environment, hidden))

        total += timed("first run", [gpubench, "run", *asked.run.split(), "--out", results], env=clean, cwd=folder)
        counts = measured(results)
        print(f"from pip install to the first answer: {total:.1f} s; times measured: {counts}")
        has_driver = any(finding["name"] == "NVIDIA driver" and finding["path"] for finding in findings)
        if not counts["cuda" if has_driver else "cpu"]:
            wrong.append(f"nothing was measured on the {'GPU' if has_driver else 'CPU'}")
        if wrong:
            sys.exit("".join(f"try_wheel.py: {line}\n" for line in wrong))


sys.stdout.reconfigure(line_buffering=True)
main()
