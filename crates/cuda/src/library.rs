//! The CUDA toolkit's libraries: their names, versions, what they need loaded first, and how to get them.

/// A library that is loaded when a cell needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Library {
    /// The run-time compiler.
    Nvrtc,
    /// Dense linear algebra.
    Cublas,
    /// Matrix products whose way the caller chooses.
    CublasLt,
    /// Fourier transforms.
    Cufft,
    /// Factorisations.
    Cusolver,
    /// Sparse linear algebra.
    Cusparse,
}

impl Library {
    pub(crate) const ALL: [Library; 6] = [
        Library::Nvrtc,
        Library::Cublas,
        Library::CublasLt,
        Library::Cufft,
        Library::Cusolver,
        Library::Cusparse,
    ];

    /// The name people know.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Library::Nvrtc => "NVRTC",
            Library::Cublas => "cuBLAS",
            Library::CublasLt => "cuBLASLt",
            Library::Cufft => "cuFFT",
            Library::Cusolver => "cuSOLVER",
            Library::Cusparse => "cuSPARSE",
        }
    }

    /// The file name between `lib` and `.so`.
    pub(crate) fn stem(self) -> &'static str {
        match self {
            Library::Nvrtc => "nvrtc",
            Library::Cublas => "cublas",
            Library::CublasLt => "cublasLt",
            Library::Cufft => "cufft",
            Library::Cusolver => "cusolver",
            Library::Cusparse => "cusparse",
        }
    }

    /// Stems to load from one place, in this order, so that each finds the ones it needs already loaded.
    pub(crate) fn load_order(self) -> &'static [&'static str] {
        match self {
            // Without its builtins loaded first, NVRTC 13.0 as pip installs it cannot compile.
            Library::Nvrtc => &["nvrtc-builtins", "nvrtc"],
            Library::Cublas => &["cublasLt", "cublas"],
            Library::CublasLt => &["cublasLt"],
            Library::Cufft => &["cufft"],
            Library::Cusolver => &["cublasLt", "cublas", "nvJitLink", "cusparse", "cusolver"],
            Library::Cusparse => &["nvJitLink", "cusparse"],
        }
    }

    /// Symbols without which the library is of no use here; the first also tells where it was loaded from.
    pub(crate) fn symbols(self) -> &'static [&'static str] {
        match self {
            Library::Nvrtc => &[
                "nvrtcVersion",
                "nvrtcCreateProgram",
                "nvrtcCompileProgram",
                "nvrtcGetCUBIN",
                "nvrtcGetSupportedArchs",
            ],
            Library::Cublas => {
                &["cublasCreate_v2", "cublasGemmEx", "cublasGemmEx_64", "cublasSetWorkspace_v2"]
            }
            Library::CublasLt => &["cublasLtCreate", "cublasLtMatmul", "cublasLtMatmulAlgoGetHeuristic"],
            Library::Cufft => {
                &["cufftCreate", "cufftMakePlanMany64", "cufftExecR2C", "cufftExecZ2Z", "cufftSetWorkArea"]
            }
            Library::Cusolver => &[
                "cusolverDnCreate",
                "cusolverDnXpotrf",
                "cusolverDnXgetrf",
                "cusolverDnXgesvd",
                "cusolverDnXgesvdp",
            ],
            Library::Cusparse => {
                &["cusparseCreate", "cusparseSpGEMM_compute", "cusparseSpMV", "cusparseCreateConstCsr"]
            }
        }
    }

    /// The command that supplies the library where it is missing, for a driver of CUDA `major`.
    pub(crate) fn fix(self, major: u32) -> String {
        let package = match self {
            Library::Nvrtc => "nvidia-cuda-nvrtc",
            Library::Cublas | Library::CublasLt => "nvidia-cublas",
            Library::Cufft => "nvidia-cufft",
            Library::Cusolver => "nvidia-cusolver",
            Library::Cusparse => "nvidia-cusparse",
        };
        // CUDA 13's wheels have no suffix; a driver of CUDA 12 cannot run them.
        if major >= 13 {
            format!("pip install {package}")
        } else {
            format!("pip install {package}-cu{major}")
        }
    }
}

/// The CUDA release that a library file of this stem and soname version belongs to; `None` where it does not tell.
pub(crate) fn cuda_major(stem: &str, soname: u32) -> Option<u32> {
    match (stem, soname) {
        ("cufft" | "cusolver", version) => Some(version + 1),
        // cuSPARSE has kept 12 for both CUDA 12 and CUDA 13.
        ("cusparse", 12) => None,
        (_, version) => Some(version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sonames_are_mapped_to_the_cuda_release_they_ship_with() {
        assert_eq!(cuda_major("cublas", 13), Some(13));
        assert_eq!(cuda_major("cufft", 12), Some(13));
        assert_eq!(cuda_major("cufft", 11), Some(12));
        assert_eq!(cuda_major("cusolver", 11), Some(12));
        assert_eq!(cuda_major("cusparse", 12), None);
    }

    #[test]
    fn the_fix_names_wheels_that_the_driver_can_run() {
        assert_eq!(Library::Nvrtc.fix(13), "pip install nvidia-cuda-nvrtc");
        assert_eq!(Library::Cublas.fix(12), "pip install nvidia-cublas-cu12");
    }
}
