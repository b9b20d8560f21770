"""Lists the adapters and their variants. Imports no library, so that `describe` answers immediately."""

# The name by which a process describes and judges operations of the user's own, and times none.
OPS = "ops"

BOTH, SINGLE, DOUBLE = ("f32", "f64"), ("f32",), ("f64",)
# With complex elements; NumPy and CuPy have float16 too, PyTorch and JAX also bfloat16.
COMPLEX = BOTH + ("c64", "c128")
OF_ARRAYS, OF_TENSORS = ("f16",), ("bf16", "f16")

# The ops whose variants take shapes. A variant that cannot compute one of them raises `Unavailable` when it is prepared.
SHAPED = ("matmul", "elementwise", "reduction", "fft", "solve", "spgemm", "spmv", "svd")


class Adapter:
    """An entry of the list."""

    def __init__(self, title, summary, side, module, install, variants, environment=None):
        self.title, self.summary, self.side, self.module = title, summary, side, module
        self.install, self.variants, self.environment = install, variants, environment or {}

    def described(self):
        """Returns the reply to `describe`."""
        variants = [dict(variant, side=self.side) for variant in self.variants]
        return {"type": "described", "name": self.title, "summary": self.summary, "variants": variants}


def _variant(op, name, summary, default=True, accuracy="ieee", dtypes=BOTH):
    variant = dict(op=op, name=name, summary=summary, accuracy=accuracy, default=default, dtypes=list(dtypes))
    # The half of a spectrum is completed for square matrices alone.
    return dict(variant, shapes="any") if op in SHAPED and "rfft2" not in name else variant


HALF = "left half of the spectrum only; the other half is added outside the clock"

NUMPY = [
    _variant("matmul", "matmul", "a @ b, into a new array", dtypes=COMPLEX),
    _variant("matmul", "out", "numpy.matmul(a, b, out=c)", dtypes=COMPLEX),
    _variant("elementwise", "ufuncs", "a * b + sin(a) + cos(b), with temporary arrays", dtypes=BOTH + OF_ARRAYS),
    _variant("elementwise", "out", "the same ufuncs into arrays allocated beforehand", dtypes=BOTH + OF_ARRAYS),
    _variant("sin", "ufunc", "numpy.sin(a), into a new array"),
    _variant("sin", "out", "numpy.sin(a, out=c)"),
    _variant("reduction", "numpy", "numpy.sum, numpy.mean and numpy.std", dtypes=BOTH + OF_ARRAYS),
    _variant("fft", "scipy-fft2", "scipy.fft.fft2 with workers", dtypes=COMPLEX),
    _variant("fft", "scipy-rfft2", "scipy.fft.rfft2 with workers: " + HALF, default=False),
    _variant("fft", "numpy-fft2", "numpy.fft.fft2, serial", dtypes=COMPLEX),
    _variant("solve", "solve", "numpy.linalg.solve, by LU", default=False, dtypes=COMPLEX),
    _variant("solve", "scipy-pos", 'scipy.linalg.solve with assume_a="pos", by Cholesky', dtypes=COMPLEX),
    _variant("solve", "posv", "LAPACK's posv through SciPy, in place; A and b are restored outside the clock", dtypes=COMPLEX),
    _variant("spgemm", "scipy-csr", "product of two csr_array, serial"),
    _variant("spmv", "scipy-csr", "product of a csr_array and a vector, serial"),
    _variant("svd", "gesdd", "numpy.linalg.svd, by divide and conquer", dtypes=COMPLEX),
    _variant("svd", "gesvd", "scipy.linalg.svd with lapack_driver='gesvd'", default=False, dtypes=COMPLEX),
]

CUPY = [
    _variant("matmul", "matmul", "a @ b, into a new array", dtypes=COMPLEX + OF_ARRAYS),
    _variant("matmul", "out", "cupy.matmul(a, b, out=c)", dtypes=COMPLEX + OF_ARRAYS),
    _variant("matmul", "tf32", "a @ b with compute type TF32", default=False, accuracy="tf32", dtypes=SINGLE),
    _variant("elementwise", "eager", "a * b + sin(a) + cos(b), with temporary arrays", dtypes=BOTH + OF_ARRAYS),
    _variant("elementwise", "fuse", "the same by cupy.fuse, in one kernel", dtypes=BOTH + OF_ARRAYS),
    _variant("sin", "eager", "cupy.sin(a), into a new array"),
    _variant("sin", "out", "cupy.sin(a, out=c)"),
    _variant("reduction", "eager", "cupy.sum, cupy.mean and cupy.std with CuPy's default accelerators", dtypes=BOTH + OF_ARRAYS),
    _variant("reduction", "cub", "the same with accelerator cub, CuPy's own default", default=False, dtypes=BOTH + OF_ARRAYS),
    _variant("reduction", "none", "the same without accelerators", default=False, dtypes=BOTH + OF_ARRAYS),
    _variant("fft", "fft2", "cupy.fft.fft2", dtypes=COMPLEX),
    _variant("fft", "rfft2", "cupy.fft.rfft2: " + HALF, default=False),
    _variant("solve", "solve", "cupy.linalg.solve, by LU", dtypes=COMPLEX),
    _variant("solve", "posv", "cupyx.lapack.posv, by Cholesky", dtypes=COMPLEX),
    _variant("spgemm", "csr", "product of two csr_matrix, by cuSPARSE"),
    _variant("spmv", "csr", "product of a csr_matrix and a vector, by cuSPARSE"),
    _variant("svd", "svd", "cupy.linalg.svd, full_matrices=False", dtypes=COMPLEX),
]

_TORCH = [
    _variant("matmul", "matmul", "a @ b, into a new tensor", dtypes=COMPLEX + OF_TENSORS),
    _variant("matmul", "out", "torch.matmul(a, b, out=c)", dtypes=COMPLEX + OF_TENSORS),
    _variant("elementwise", "eager", "a * b + sin(a) + cos(b), with temporary tensors", dtypes=BOTH + OF_TENSORS),
    _variant("elementwise", "compile", "the same by torch.compile", dtypes=BOTH + OF_TENSORS),
    _variant("sin", "eager", "torch.sin(a), into a new tensor"),
    _variant("sin", "out", "torch.sin(a, out=c)"),
    _variant("reduction", "eager", "sum, mean and std(correction=0)", dtypes=BOTH + OF_TENSORS),
    _variant("reduction", "std-mean", "sum and torch.std_mean(correction=0)", dtypes=BOTH + OF_TENSORS),
    _variant("reduction", "compile", "sum, mean and std by torch.compile", dtypes=BOTH + OF_TENSORS),
    _variant("fft", "fft2", "torch.fft.fft2", dtypes=COMPLEX),
    _variant("fft", "rfft2", "torch.fft.rfft2: " + HALF, default=False),
    _variant("solve", "solve", "torch.linalg.solve, by LU", default=False, dtypes=COMPLEX),
    _variant("solve", "cholesky", "torch.linalg.cholesky_ex and torch.cholesky_solve", dtypes=COMPLEX),
    _variant("svd", "svd", "torch.linalg.svd, full_matrices=False", dtypes=COMPLEX),
]

_TORCH_SPARSE = [
    _variant("spgemm", "csr", "product of two sparse CSR tensors"),
    _variant("spmv", "csr", "product of a sparse CSR tensor and a vector"),
]

_TORCH_CUDA = [
    _variant("matmul", "tf32", "a @ b with TF32 allowed", default=False, accuracy="tf32", dtypes=SINGLE),
    _variant(
        "elementwise", "compile-reduce-overhead", 'torch.compile with mode="reduce-overhead": CUDA graphs', dtypes=BOTH + OF_TENSORS
    ),
    _variant(
        "reduction", "compile-reduce-overhead", 'torch.compile with mode="reduce-overhead": CUDA graphs', dtypes=BOTH + OF_TENSORS
    ),
    _variant("svd", "gesvd", 'torch.linalg.svd with driver="gesvd"'),
    _variant("svd", "gesvdj", 'torch.linalg.svd with driver="gesvdj"'),
    _variant("svd", "gesvda", 'torch.linalg.svd with driver="gesvda", which cuSOLVER documents as approximate'),
]


def _in_float32(variants):
    """Returns variants for a device that has float32 alone."""
    return [dict(variant, dtypes=list(SINGLE)) for variant in variants]


_JAX = [
    _variant("matmul", "jit", 'jax.numpy.matmul with precision="highest"', dtypes=COMPLEX + OF_TENSORS),
    _variant("elementwise", "jit", "a * b + sin(a) + cos(b), one jitted function", dtypes=BOTH + OF_TENSORS),
    _variant("sin", "jit", "jax.numpy.sin"),
    _variant("reduction", "jit", "sum, mean and std, one jitted function", dtypes=BOTH + OF_TENSORS),
    _variant("fft", "fft2", "jax.numpy.fft.fft2", dtypes=COMPLEX),
    _variant("fft", "rfft2", "jax.numpy.fft.rfft2: " + HALF, default=False),
    _variant("solve", "solve", "jax.numpy.linalg.solve, by LU", default=False, dtypes=COMPLEX),
    _variant("solve", "cholesky", 'jax.scipy.linalg.solve with assume_a="pos"', dtypes=COMPLEX),
    _variant("spmv", "bcsr", "product of a jax.experimental.sparse.BCSR and a vector"),
    _variant("svd", "svd", "jax.numpy.linalg.svd, full_matrices=False", dtypes=COMPLEX),
    _variant("svd", "qr", "jax.lax.linalg.svd by QR iteration", default=False),
]
_JAX_GPU = [
    _variant(
        "matmul", "tf32", 'jax.numpy.matmul with precision="tensorfloat32"', default=False, accuracy="tf32", dtypes=SINGLE
    ),
    _variant("svd", "jacobi", "jax.lax.linalg.svd by Jacobi's method", default=False),
    _variant("svd", "polar", "jax.lax.linalg.svd by polar decomposition", default=False),
]

_CUPY_PIP = 'pip install "cupy-cuda13x[ctk]"'
_TORCH_PIP = "pip install torch"
# Without --force-reinstall, pip keeps a build without CUDA.
TORCH_CUDA_PIP = _TORCH_PIP + " --force-reinstall --index-url https://download.pytorch.org/whl/cu130"
_XPU_PIP = _TORCH_PIP + " --index-url https://download.pytorch.org/whl/xpu"

# Variables of the process, set before the library is imported. gpubench removes those that change the arithmetic of libraries.
# Compile times are those of a first use, and no other process compiles.
_TORCH_ENVIRONMENT = dict(
    TORCHINDUCTOR_FORCE_DISABLE_CACHES="1",
    TORCHINDUCTOR_COMPILE_THREADS="1",
)
_JAX_ENVIRONMENT = dict(
    XLA_PYTHON_CLIENT_PREALLOCATE="false",
    JAX_ENABLE_COMPILATION_CACHE="false",
)


def _torch_adapter(title, summary, side, module, variants, install=_TORCH_PIP):
    return Adapter(title, summary, side, module, install, variants, _TORCH_ENVIRONMENT)


ADAPTERS = {
    "numpy": Adapter("NumPy", "NumPy and SciPy on the CPU", "cpu", "numpy_backend", "pip install numpy scipy", NUMPY),
    "cupy": Adapter("CuPy", "CuPy on an NVIDIA GPU", "gpu", "cupy_backend", _CUPY_PIP, CUPY),
    "torch": _torch_adapter(
        "PyTorch", "PyTorch on an NVIDIA GPU, or an AMD GPU (untested)", "gpu", "torch_backend",
        _TORCH + _TORCH_SPARSE + _TORCH_CUDA,
    ),
    "torch-cpu": _torch_adapter("PyTorch (CPU)", "PyTorch on the CPU", "cpu", "torch_backend", _TORCH + _TORCH_SPARSE),
    "torch-mps": _torch_adapter(
        "PyTorch (MPS)", "PyTorch on an Apple GPU, host clock only; untested", "gpu", "torch_backend", _in_float32(_TORCH)
    ),
    "torch-xpu": _torch_adapter(
        "PyTorch (XPU)", "PyTorch on an Intel GPU, host clock only; untested", "gpu", "torch_backend",
        _TORCH + _TORCH_SPARSE, _XPU_PIP,
    ),
    "jax": Adapter(
        "JAX", "JAX on its default accelerator; host clock only, because JAX gives no access to its stream", "gpu",
        "jax_backend", 'pip install "jax[cuda13]"', _JAX + _JAX_GPU, _JAX_ENVIRONMENT,
    ),
    "jax-cpu": Adapter(
        "JAX (CPU)", "JAX on the CPU", "cpu", "jax_backend", "pip install jax", _JAX, dict(_JAX_ENVIRONMENT, JAX_PLATFORMS="cpu")
    ),
}
