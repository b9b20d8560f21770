//! Chooses the environment variables that a report records, and names those that distort times.

use std::collections::BTreeMap;

use gpubench_text::cut;
use gpubench_text::glob::glob;

use crate::data::hash::fnv1a;

/// Version of the rule that [`recorded`] follows.
pub const RULE: u32 = 1;

const MAX_VARIABLES: usize = 128;

/// Maximum number of characters of a value in a report.
const MAX_CHARACTERS: usize = 1000;

/// Variables that reports of rule 0 have, which had no others.
const OF_RULE_0: &str = "\
    BLIS_NUM_THREADS CUBLAS_WORKSPACE_CONFIG CUDA_DEVICE_MAX_CONNECTIONS CUDA_HOME \
    CUDA_LAUNCH_BLOCKING CUDA_MODULE_LOADING CUDA_PATH CUDA_VISIBLE_DEVICES LD_LIBRARY_PATH \
    LD_PRELOAD MKL_CBWR MKL_DYNAMIC MKL_ENABLE_INSTRUCTIONS MKL_INTERFACE_LAYER MKL_NUM_THREADS \
    MKL_THREADING_LAYER NVIDIA_TF32_OVERRIDE OMP_NUM_THREADS OMP_PLACES OMP_PROC_BIND \
    OMP_WAIT_POLICY OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS RAYON_NUM_THREADS";

/// Prefixes of the variables of libraries, run times, allocators and loaders whose settings change times. Libraries add
/// variables with each release, so that a list of names is never complete.
const PREFIXES: &str = "\
    ASAN_ ATEN_ BLIS_ CUBLAS CUDA_ CUDNN_ CUFFT CUPY_ CUSOLVER CUSPARSE DNNL_ FFTW GLIBC_TUNABLES \
    GOMP_ GOTO_ JAX_ KMP_ LD_AUDIT LD_BIND_NOW LD_LIBRARY_PATH LD_PRELOAD LSAN_ MALLOC_ MIMALLOC_ \
    MKL_ MSAN_ NPY_ NUMBA_ NUMEXPR_ NUMPY_ NVIDIA_ NVTX_ OMP_ ONEDNN_ OPENBLAS_ PYTHONDEVMODE \
    PYTHONMALLOC PYTHONTRACEMALLOC PYTHON_GIL PYTHON_JIT PYTORCH_ RAYON_ TCMALLOC_ TF_XLA_ TORCH \
    TRITON_ TSAN_ UBSAN_ XLA_";

/// Globs for the variables that change the arithmetic of a library's calls, which would then not compute what the label of a variant
/// says. Workers run without them.
const ARITHMETIC: &str = "\
    CUBLAS_EMULAT* CUBLAS_FIXEDPOINT_EMULATION_* CUPY_TF32 DNNL_DEFAULT_FPMATH_MODE \
    JAX_DEFAULT_MATMUL_PRECISION NVIDIA_TF32_OVERRIDE ONEDNN_DEFAULT_FPMATH_MODE \
    TORCH_ALLOW_TF32_CUBLAS_OVERRIDE";

/// Parts of a name, between underscores, that mark its value as a secret.
const SECRET_PARTS: &str = "\
    APIKEY AUTH COOKIE CREDENTIAL CREDENTIALS KEY PASS PASSWD PASSWORD SECRET TOKEN TOKENS";

/// Ends of the names of variables that hold a path, devices or a version, and do not change how libraries work.
const LOCATIONS: &str = "\
    _CACHE _CACHE_DIR _CACHE_PATH _CAPABILITIES _HOME _LIBRARY_PATH _PATH _ROOT _VERSION \
    _VISIBLE_DEVICES _REQUIRE_CUDA";

/// Modes that make the calls of a library slower: globs for the variables that switch one on, parts of the value of which one is
/// needed (any value counts where it is empty), and the effect.
const DISTORTIONS: [(&str, &str, &str); 9] = [
    ("MKL_VERBOSE DNNL_VERBOSE ONEDNN_VERBOSE OPENBLAS_VERBOSE MIMALLOC_VERBOSE", "", "prints each call"),
    ("CUBLAS_LOG* CUBLASLT_LOG* CUDNN_LOG* CUFFT_LOG* CUSOLVER*_LOG* CUSPARSE*_LOG*", "", "logs each call"),
    ("CUDA_LAUNCH_BLOCKING", "", "waits for each kernel"),
    ("CUDA_INJECTION*_PATH NVTX_INJECTION*_PATH LD_AUDIT OMP_TOOL_LIBRARIES", "", PROFILES),
    ("LD_PRELOAD", "asan tsan lsan ubsan sanitizer vgpreload memcheck libefence heaptrack nsys", PROFILES),
    ("MALLOC_CHECK_ MALLOC_PERTURB_ MALLOC_TRACE PYTHONTRACEMALLOC", "", TRACES),
    ("GLIBC_TUNABLES", "malloc.check= malloc.perturb=", TRACES),
    ("PYTHONMALLOC", "debug", TRACES),
    (
        "PYTHONDEVMODE JAX_DEBUG_NANS JAX_DISABLE_JIT NUMBA_DISABLE_JIT CUPY_DEBUG*",
        "",
        "runs in a debug mode",
    ),
];

const PROFILES: &str = "loads a profiler or checker into the process";
const TRACES: &str = "checks or traces each allocation";

/// Returns the variables that a report records: those of libraries that change times, without secrets, cut to a bounded length.
pub fn recorded(variables: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let chosen: BTreeMap<String, String> =
        variables.filter(|(name, value)| is_recorded(name) && !is_secret(name, value)).collect();
    chosen.into_iter().take(MAX_VARIABLES).map(|(name, value)| (name, bounded(&value))).collect()
}

/// Returns whether a report with that rule has the variable if it was set.
pub fn is_recorded_by(rule: u32, name: &str) -> bool {
    rule >= RULE || OF_RULE_0.split(' ').any(|known| known == name)
}

/// Returns whether the variable changes the arithmetic of a library's calls, so that workers run without it.
pub fn changes_arithmetic(name: &str) -> bool {
    ARITHMETIC.split(' ').any(|pattern| glob(pattern, name))
}

fn is_recorded(name: &str) -> bool {
    !changes_arithmetic(name) && PREFIXES.split(' ').any(|prefix| name.starts_with(prefix))
}

/// Returns whether a value may grant access: by its name, or as an address that contains a password.
fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_uppercase();
    name.split('_').any(|part| SECRET_PARTS.split(' ').any(|secret| secret == part))
        || ["TOKEN", "SECRET", "PASSW", "CREDENTIAL"].iter().any(|part| name.contains(part))
        || value.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}

/// Returns the value as reports record it: a long one is cut, with its length and a hash of the whole.
pub fn bounded(value: &str) -> String {
    let characters = value.chars().count();
    if characters <= MAX_CHARACTERS {
        return value.to_owned();
    }
    let end = format!("... ({characters} characters, hash {:016x})", fnv1a(0, value.as_bytes()));
    cut::start(value, MAX_CHARACTERS - end.len()).to_owned() + &end
}

/// Returns whether the variable holds a path, a list of devices or a version, which does not change how libraries work.
pub fn is_location(name: &str) -> bool {
    LOCATIONS.split(' ').any(|end| name.ends_with(end)) && distortion(name, "1").is_none()
}

/// Returns whether the value switches off what the variable stands for.
pub fn is_off(value: &str) -> bool {
    ["", "0", "false", "no", "off"].contains(&value.trim().to_lowercase().as_str())
}

/// Returns how this variable distorts times, such as `prints each call`; `None` if it does not.
pub fn distortion(name: &str, value: &str) -> Option<&'static str> {
    if is_off(value) {
        return None;
    }
    let value = value.trim().to_lowercase();
    let applies = |(names, parts, _): &&(&str, &str, &str)| {
        names.split(' ').any(|pattern| glob(pattern, name))
            && (parts.is_empty() || parts.split(' ').any(|part| value.contains(part)))
    };
    DISTORTIONS.iter().find(applies).map(|(.., effect)| *effect)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        recorded(names.into_iter().map(|name| (name.to_owned(), "1".to_owned()))).into_keys().collect()
    }

    #[test]
    fn variables_that_change_times_are_recorded_without_a_list_of_names() {
        const OTHERS: &str = "\
            MKL_VERBOSE MKL_DEBUG_CPU_TYPE NPY_DISABLE_CPU_FEATURES ATEN_CPU_CAPABILITY ONEDNN_MAX_CPU_ISA \
            XLA_FLAGS NUMPY_MADVISE_HUGEPAGE GLIBC_TUNABLES MALLOC_ARENA_MAX KMP_AFFINITY KMP_BLOCKTIME \
            GOMP_CPU_AFFINITY OMP_THREAD_LIMIT OMP_DYNAMIC BLIS_ARCH_TYPE CUPY_ACCELERATORS CUDA_FORCE_PTX_JIT \
            CUDA_MPS_ACTIVE_THREAD_PERCENTAGE MIMALLOC_PURGE_DELAY TORCHINDUCTOR_MAX_AUTOTUNE \
            CUSOLVERDN_LOG_LEVEL FFTWF_X";
        let of_rule_0 = OF_RULE_0.split(' ').filter(|name| !changes_arithmetic(name));
        for name in OTHERS.split(' ').chain(of_rule_0) {
            assert_eq!(names([name]), [name]);
        }
        assert!(names(["HOME", "PATH", "AWS_PROFILE", "MKLROOT", "omp_x"]).is_empty());
    }

    #[test]
    fn variables_without_which_workers_run_are_not_recorded() {
        const REMOVED: &str = "\
            CUBLAS_EMULATE_DOUBLE_PRECISION CUBLAS_EMULATION_STRATEGY NVIDIA_TF32_OVERRIDE \
            CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT";
        assert!(REMOVED.split(' ').all(changes_arithmetic) && names(REMOVED.split(' ')).is_empty());
        assert!(!changes_arithmetic("CUBLAS_WORKSPACE_CONFIG"));
    }

    #[test]
    fn secrets_are_not_recorded_whatever_their_prefix() {
        const SECRETS: &str = "\
            NVIDIA_API_KEY TORCH_HUB_TOKEN JAX_AUTH CUDA_PASSWORD NVIDIA_ACCESSTOKEN OMP_SECRET_X \
            XLA_CLIENT_CREDENTIALS TORCH_SSH_KEY";
        assert!(names(SECRETS.split(' ')).is_empty());
        let address = [("JAX_SERVER".to_owned(), "https://me:word@host/".to_owned())];
        assert!(recorded(address.into_iter()).is_empty());
    }

    #[test]
    fn values_are_bounded_in_number_and_length_and_stay_distinct() {
        let many = (0..10_000).map(|k| (format!("OMP_{k}"), "x".repeat(5000) + &k.to_string()));
        let found = recorded(many);
        assert_eq!(found.len(), MAX_VARIABLES);
        let values: std::collections::BTreeSet<&String> = found.values().collect();
        assert_eq!(values.len(), MAX_VARIABLES);
        assert!(values.iter().all(|value| value.chars().count() <= MAX_CHARACTERS));
        assert!(values.iter().all(|value| bounded(value) == **value));
    }

    #[test]
    fn modes_that_make_calls_slower_are_named() {
        const SLOWER: &str = "\
            MKL_VERBOSE=1 ONEDNN_VERBOSE=all CUBLAS_LOGINFO_DBG=1 CUSPARSE_LOG_LEVEL=5 CUDA_LAUNCH_BLOCKING=1 \
            CUDA_INJECTION64_PATH=/x.so NVTX_INJECTION64_PATH=/x.so MALLOC_CHECK_=3 MALLOC_PERTURB_=85 \
            GLIBC_TUNABLES=glibc.malloc.check=3 LD_PRELOAD=/usr/lib/libasan.so.8 PYTHONMALLOC=pymalloc_debug \
            JAX_DISABLE_JIT=True";
        for (name, value) in SLOWER.split(' ').map(|set| set.split_once('=').unwrap()) {
            assert!(distortion(name, value).is_some() && is_recorded(name) && !is_location(name), "{name}");
            assert!(distortion(name, "0").is_none() || value != "1", "{name}");
        }
        const HARMLESS: &str = "\
            MKL_VERBOSE=0 MKL_VERBOSE= CUDA_LAUNCH_BLOCKING=0 OMP_NUM_THREADS=4 LD_PRELOAD=libjemalloc.so \
            GLIBC_TUNABLES=glibc.malloc.arena_max=1 MALLOC_ARENA_MAX=1";
        for (name, value) in HARMLESS.split(' ').map(|set| set.split_once('=').unwrap()) {
            assert_eq!(distortion(name, value), None, "{name}");
        }
        assert!("CUDA_HOME LD_LIBRARY_PATH CUDA_VISIBLE_DEVICES CUDA_PATH".split(' ').all(is_location));
        assert!(!is_location("LD_PRELOAD") && !is_location("OMP_NUM_THREADS"));
    }
}
