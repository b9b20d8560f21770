//! The CUDA toolkit's libraries: names, versions, dependencies, and the command that installs each.

/// A library that is loaded when a cell needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Library {
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
    /// Every library.
    pub const ALL: [Library; 6] = [
        Library::Nvrtc,
        Library::Cublas,
        Library::CublasLt,
        Library::Cufft,
        Library::Cusolver,
        Library::Cusparse,
    ];

    /// Returns the library's usual name.
    pub fn title(self) -> &'static str {
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
    pub fn stem(self) -> &'static str {
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
    pub fn load_order(self) -> &'static [&'static str] {
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
    pub fn symbols(self) -> &'static [&'static str] {
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
    pub fn fix(self, major: u32) -> String {
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

/// Returns the CUDA release of a library of this stem and version; `None` if the version does not determine it. A soname is the
/// first number of a version.
pub(crate) fn cuda_major(stem: &str, version: &[u32]) -> Option<u32> {
    match (stem, version) {
        ("cufft" | "cusolver", [major, ..]) => Some(major + 1),
        // The first number is 12 in both CUDA 12 (up to 12.5) and CUDA 13 (from 12.6 on).
        ("cusparse", [12]) => None,
        ("cusparse", [12, minor, ..]) => Some(if *minor >= 6 { 13 } else { 12 }),
        (_, version) => version.first().copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_mapped_to_the_cuda_release_they_ship_with() {
        for (stem, version, release) in [
            ("cublas", &[13][..], Some(13)),
            ("cufft", &[12], Some(13)),
            ("cufft", &[11, 3], Some(12)),
            ("cusolver", &[11], Some(12)),
            ("nvJitLink", &[13], Some(13)),
            ("cusparse", &[12], None),
            ("cusparse", &[12, 5, 10], Some(12)),
            ("cusparse", &[12, 6, 2], Some(13)),
            ("cusparse", &[12, 9, 4], Some(13)),
            ("cusparse", &[], None),
        ] {
            assert_eq!(cuda_major(stem, version), release, "{stem} {version:?}");
        }
    }

    #[test]
    fn the_fix_names_wheels_that_the_driver_can_run() {
        assert_eq!(Library::Nvrtc.fix(13), "pip install nvidia-cuda-nvrtc");
        assert_eq!(Library::Cublas.fix(12), "pip install nvidia-cublas-cu12");
    }
}
