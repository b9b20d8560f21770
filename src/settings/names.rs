//! Parses names on the command line and in sweep files: of ops, element types, backends, formats.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use gpubench_text::words::{choose, unknown_with};

use crate::answer::Versus;
use crate::backend::external::ADAPTERS;
use crate::backend::{BACKENDS, TransferMemory};
use crate::case::{Cache, DType};
use crate::op::OPS;
use crate::write::chart::{self, ChartKind, Selection, Theme};

const OTHER_GPUS: &str = "gpubench measures GPUs through CUDA only; its backends are cpu, cuda and sim";
const TF32: &str = "TF32 exists as a variant of matmul: --ops matmul --variants cublas-tf32";

/// Words of other programs, each with the kind of list it is written in, and the word or the advice that it gets here. Suggestions by
/// spelling would be wrong for them, such as cpu for gpu.
const MEANINGS: &[(&str, &[&str], &str)] = &[
    ("backend", &["gpu", "nvidia", "device", "cublas"], "cuda"),
    ("backend", &["host", "blas", "openblas", "mkl"], "cpu"),
    ("backend", &["scipy"], "numpy"),
    ("backend", &["pytorch"], "torch"),
    ("backend", &["rocm", "hip", "amd", "metal", "mps", "opencl", "sycl", "vulkan"], OTHER_GPUS),
    ("op", &["gemm", "sgemm", "dgemm", "mm", "dot", "matrix"], "matmul"),
    ("op", &["chol", "cholesky", "potrf", "posv", "linsolve"], "solve"),
    ("op", &["sum", "reduce"], "reduction"),
    ("op", &["fft2", "rfft", "rfft2", "dft"], "fft"),
    ("dtype", &["fp32", "float", "single"], "f32"),
    ("dtype", &["fp64", "double"], "f64"),
    ("dtype", &["fp16", "half"], "f16"),
    ("dtype", &["complex", "cfloat", "c32"], "c64"),
    ("dtype", &["cdouble"], "c128"),
    ("dtype", &["tf32"], TF32),
    ("state of the caches", &["warm"], "hot"),
    ("state of the caches", &["all"], "both"),
    ("number of threads", &["max"], "all"),
];

/// Describes a `word` that is not a valid `kind`: by its meaning if it has one, otherwise with the word spelt most alike.
pub(super) fn unknown_word(kind: &str, word: &str, valid: &[&str]) -> String {
    let lower = word.to_lowercase();
    let found = MEANINGS.iter().find(|(of, words, _)| *of == kind && words.contains(&&*lower));
    match found.map(|(.., meaning)| *meaning) {
        Some(advice) if advice.contains(' ') => format!("unknown {kind} '{word}': {advice}"),
        Some(meant) => unknown_with(kind, word, Some(&format!("did you mean '{meant}'?")), valid),
        None => unknown_with(kind, word, None, valid),
    }
}

/// Parses a list as [`choose`] does, and refuses the first wrong word by its meaning.
fn chosen(kind: &str, text: &str, valid: &[&str]) -> Result<Vec<usize>> {
    let items = text.split(',').map(str::trim);
    let mut wrong = items.filter(|item| !item.is_empty() && *item != ALL && !valid.contains(item));
    match wrong.next() {
        Some(word) => bail!("{}", unknown_word(kind, word, valid)),
        None => choose(kind, text, valid),
    }
}

/// Returns whether an item of a list of ops names a file that defines operations of the user's own.
pub fn is_file(item: &str) -> bool {
    Path::new(item).extension().is_some_and(|extension| extension == "py")
}

/// Parses names of ops and of files that define operations of the user's own; returns the ops in the order of [`OPS`], then the
/// files.
pub fn ops(text: &str) -> Result<Vec<String>> {
    let valid: Vec<&str> = OPS.iter().map(|op| op.name()).collect();
    let (files, names): (Vec<&str>, Vec<&str>) = text.split(',').partition(|item| is_file(item.trim()));
    let mut found: Vec<String> = vec![];
    if files.is_empty() || names.iter().any(|name| !name.trim().is_empty()) {
        let names = chosen("op", &names.join(","), &valid)?;
        found.extend(names.into_iter().map(|index| valid[index].to_owned()));
    }
    found.extend(files.into_iter().map(|file| file.trim().to_owned()));
    Ok(found)
}

/// Returns the names of the backends that can be chosen: those of this program, then its adapters for Python libraries.
pub fn backend_names() -> Vec<&'static str> {
    let own = BACKENDS.iter().map(|backend| backend.name);
    own.chain(ADAPTERS.iter().map(|adapter| adapter.name)).collect()
}

/// Parses names of backends; returns them in the order of `valid`. [`ALL`] is the default backends.
pub fn backends(text: &str, valid: &[&str]) -> Result<Vec<String>> {
    let text = text.split(',').map(|item| if item.trim() == ALL { DEFAULT_BACKENDS } else { item });
    let text = text.collect::<Vec<_>>().join(",");
    Ok(chosen("backend", &text, valid)?.into_iter().map(|index| valid[index].to_owned()).collect())
}

/// Parses one word, whose meaning is next to it in `valid`.
fn one<T: Clone>(kind: &str, text: &str, valid: &[(&str, T)]) -> Result<T> {
    let word = text.trim();
    match valid.iter().find(|(name, _)| *name == word) {
        Some((_, meaning)) => Ok(meaning.clone()),
        None => {
            let names: Vec<&str> = valid.iter().map(|(name, _)| *name).collect();
            bail!("{}", unknown_word(kind, word, &names))
        }
    }
}

/// Parses the states of the caches: `cold`, `hot`, or `both`.
pub fn caches(text: &str) -> Result<Vec<Cache>> {
    let each = Cache::ALL.iter().map(|cache| (cache.name(), vec![*cache]));
    let valid: Vec<_> = each.chain([("both", Cache::ALL.to_vec())]).collect();
    one("state of the caches", text, &valid)
}

/// Parses the host memory of copies: `both`, `pageable` or `pinned`.
pub fn transfer(text: &str) -> Result<TransferMemory> {
    one("kind of host memory", text, &TransferMemory::ALL.map(|memory| (memory.name(), memory)))
}

/// Parses the theme of charts: `light` or `dark`.
pub fn theme(text: &str) -> Result<Theme> {
    one("theme", text, &Theme::ALL.map(|theme| (theme.name(), theme)))
}

/// Parses the contenders of the answer: `A:B` with lists of backends or `backend/variant`, or `sides`.
pub fn contenders(text: &str) -> Result<String> {
    let text: String = text.split_whitespace().collect();
    Versus::parse(&text).map_err(|problem| anyhow!(problem))?;
    Ok(text)
}

/// The word for every item of a list; of backends, for the default ones.
pub const ALL: &str = "all";

/// The backends of a run that names none.
pub const DEFAULT_BACKENDS: &str = "cpu,cuda";

/// Parses element types; `float32`, `bfloat16` and similar names are aliases.
pub fn dtypes(text: &str) -> Result<Vec<DType>> {
    let valid: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    let short = |item: &str| {
        let known = DType::ALL.iter().find(|dtype| dtype.words() == item.trim());
        known.map_or_else(|| item.to_owned(), |dtype| dtype.name().to_owned())
    };
    let text = text.split(',').map(short).collect::<Vec<_>>().join(",");
    Ok(chosen("dtype", &text, &valid)?.into_iter().map(|index| DType::ALL[index]).collect())
}

/// Parses formats of charts: `png`, `svg`.
pub fn chart_formats(text: &str) -> Result<Vec<chart::Format>> {
    let charts = chart::Format::ALL;
    let indices = chosen("format", text, &charts.map(chart::Format::extension))?;
    Ok(indices.into_iter().map(|index| charts[index]).collect())
}

/// Parses kinds of charts; `all` is every kind.
pub fn charts(text: &str) -> Result<Selection> {
    Ok(Selection::of(chosen("chart", text, &ChartKind::ALL.map(ChartKind::name))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_out_in_the_registry_s_order_each_word_once() {
        assert_eq!(ops("svd, matmul,svd").ok(), Some(vec!["matmul".to_owned(), "svd".to_owned()]));
        assert_eq!(ops("all").map(|all| all.len()).ok(), Some(OPS.len()));
        assert_eq!(dtypes("float64,f32").ok(), Some(DType::REAL.to_vec()));
    }

    #[test]
    fn messages_name_the_word_the_nearest_one_and_all_of_a_short_list() {
        let message = dtypes("i8").map_err(|e| e.to_string());
        let expected = "unknown dtype 'i8' (valid: f32, f64, bf16, f16, c64, c128)";
        assert_eq!(message, Err(expected.to_owned()));
        assert!(ops(" , ").is_err_and(|e| e.to_string().starts_with("name at least one op")));
    }

    #[test]
    fn words_of_other_programs_get_what_they_mean_here() {
        let refused = |kind: &str, word: &str| {
            let found = match kind {
                "op" => ops(word).map(|_| ()),
                "backend" => backends(word, &backend_names()).map(|_| ()),
                "dtype" => dtypes(word).map(|_| ()),
                "state of the caches" => caches(word).map(|_| ()),
                _ => crate::settings::threads::parse(word).map(|_| ()),
            };
            found.map_or_else(|error| error.to_string(), |()| format!("{word} is valid"))
        };
        for (kind, words, meaning) in MEANINGS {
            for word in *words {
                let message = refused(kind, word);
                let is_word = !meaning.contains(' ');
                assert!(!is_word || refused(kind, meaning).ends_with("is valid"), "{kind} {meaning}");
                assert!(message.contains(meaning), "{kind} {word}: {message}");
            }
        }
        assert!(refused("backend", "GPU").contains("did you mean 'cuda'?"));
    }
}
