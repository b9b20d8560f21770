//! The CUDA toolkit's libraries: names, versions, dependencies, and the command that installs each.

/// A library that is loaded when a cell needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Library {
    /// The run-time compiler.
    Nvrtc,
    /// Dense linear algebra.
    Cublas,
    /// Matrix products with an algorithm chosen by the caller.
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

    /// Returns the library's usual name.
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

    /// Returns the part of the file name between `lib` and `.so`.
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

    /// Returns the stems to load from one installation, in this order, so that each library finds its dependencies
    /// loaded.
    pub(crate) fn load_order(self) -> &'static [&'static str] {
        match self {
            // pip's NVRTC 13.0 cannot compile unless its builtins were loaded first.
            Library::Nvrtc => &["nvrtc-builtins", "nvrtc"],
            Library::Cublas => &["cublasLt", "cublas"],
            Library::CublasLt => &["cublasLt"],
            Library::Cufft => &["cufft"],
            Library::Cusolver => &["cublasLt", "cublas", "nvJitLink", "cusparse", "cusolver"],
            Library::Cusparse => &["nvJitLink", "cusparse"],
        }
    }

    /// Symbols that gpubench requires. The first also serves to find the file that the library was loaded from.
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

    /// Returns the command that installs the library, for a driver of CUDA `major`.
    pub(crate) fn fix(self, major: u32) -> String {
        let package = match self {
            Library::Nvrtc => "nvidia-cuda-nvrtc",
            Library::Cublas | Library::CublasLt => "nvidia-cublas",
            Library::Cufft => "nvidia-cufft",
            Library::Cusolver => "nvidia-cusolver",
            Library::Cusparse => "nvidia-cusparse",
        };
        // CUDA 13's wheels have no suffix; a driver for CUDA 12 cannot run them.
        if major >= 13 {
            format!("pip install {package}")
        } else {
            format!("pip install {package}-cu{major}")
        }
    }
}

/// Returns the CUDA release of a library file of this stem and soname version, or `None` if the soname does not
/// determine it.
pub(crate) fn cuda_major(stem: &str, soname: u32) -> Option<u32> {
    match (stem, soname) {
        ("cufft" | "cusolver", version) => Some(version + 1),
        // cuSPARSE uses soname 12 in both CUDA 12 and CUDA 13.
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
