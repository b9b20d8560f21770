//! Words from fixed lists: ops, element types, backends, formats; and the nearest valid one to a wrong one.

use anyhow::{Result, bail};

use crate::backend::{BACKENDS, HostMemory};
use crate::case::{Cache, DType};
use crate::chart::Theme;
use crate::glob::glob;
use crate::op::OPS;
use crate::settings::Format;

/// The valid word most like `word`; `None` when there is no valid word.
pub fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let likeness = |candidate: &str| {
        let edits = strsim::normalized_damerau_levenshtein(&word, candidate);
        edits.max(strsim::jaro_winkler(&word, candidate))
    };
    let mut best: Option<(f64, &str)> = None;
    for candidate in valid {
        let likeness = likeness(candidate);
        if best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Says that `word` is no `kind` and which valid word is nearest.
pub fn unknown(kind: &str, word: &str, valid: &[&str]) -> String {
    match nearest(word, valid.iter().copied()) {
        Some(near) => {
            format!("unknown {kind} '{word}': did you mean '{near}'? (valid: {})", valid.join(", "))
        }
        None => format!("unknown {kind} '{word}'"),
    }
}

/// Refuses a glob that matches none of `valid`, with the nearest of them.
pub fn matches_some<'a>(
    key: &str,
    kind: &str,
    pattern: &str,
    valid: impl Iterator<Item = &'a str> + Clone,
) -> anyhow::Result<()> {
    if !valid.clone().any(|word| glob(pattern, word)) {
        let near = nearest(pattern, valid).unwrap_or("*");
        bail!("{key} = \"{pattern}\" matches no {kind}: did you mean \"{near}\"?");
    }
    Ok(())
}

/// Parses a comma-separated list of words from `valid`, or `all`; returns their places, ascending, each once.
fn places(kind: &str, text: &str, valid: &[&str]) -> Result<Vec<usize>> {
    let items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items.is_empty() {
        bail!("no {kind} is named (valid: {})", valid.join(", "));
    }
    let mut places = Vec::new();
    for item in items {
        match valid.iter().position(|word| *word == item) {
            Some(place) => places.push(place),
            None if item == "all" => places.extend(0..valid.len()),
            None => bail!("{}", unknown(kind, item, valid)),
        }
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// Names of ops, in the order of [`OPS`].
pub fn ops(text: &str) -> Result<Vec<String>> {
    let valid: Vec<&str> = OPS.iter().map(|op| op.name()).collect();
    Ok(places("op", text, &valid)?.into_iter().map(|place| valid[place].to_owned()).collect())
}

/// Names of backends, in the order of [`BACKENDS`]. `all` leaves out the simulated device.
pub fn backends(text: &str) -> Result<Vec<String>> {
    let valid: Vec<&str> = BACKENDS.iter().map(|backend| backend.name).collect();
    let text = text.split(',').map(|item| if item.trim() == "all" { DEFAULT_BACKENDS } else { item });
    let text = text.collect::<Vec<_>>().join(",");
    Ok(places("backend", &text, &valid)?.into_iter().map(|place| valid[place].to_owned()).collect())
}

/// States of the caches: `cold`, `hot`, or `both`.
pub fn caches(text: &str) -> Result<Vec<Cache>> {
    let valid = ["cold", "hot", "both"];
    match text.trim() {
        "both" => Ok(Cache::ALL.to_vec()),
        word => match Cache::ALL.iter().find(|cache| cache.name() == word) {
            Some(cache) => Ok(vec![*cache]),
            None => bail!("{}", unknown("state of the caches", word, &valid)),
        },
    }
}

/// Host memory of copies: `pageable` or `pinned`.
pub fn transfer(text: &str) -> Result<HostMemory> {
    let valid = [HostMemory::Pageable, HostMemory::Pinned];
    match valid.iter().find(|memory| memory.name() == text.trim()) {
        Some(memory) => Ok(*memory),
        None => bail!("{}", unknown("kind of host memory", text.trim(), &valid.map(HostMemory::name))),
    }
}

/// The look of charts: `light` or `dark`.
pub fn theme(text: &str) -> Result<Theme> {
    let word = text.trim();
    match Theme::find(word) {
        Some(theme) => Ok(theme),
        None => bail!("{}", unknown("theme", word, &Theme::ALL.map(Theme::name))),
    }
}

/// The backends of a run that names none.
pub const DEFAULT_BACKENDS: &str = "cpu,cuda";

/// Element types; `float32` and `float64` are understood too.
pub fn dtypes(text: &str) -> Result<Vec<DType>> {
    let valid: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    let text = text.split(',').map(|item| match item.trim() {
        "float32" => "f32",
        "float64" => "f64",
        other => other,
    });
    let text = text.collect::<Vec<_>>().join(",");
    Ok(places("dtype", &text, &valid)?.into_iter().map(|place| DType::ALL[place]).collect())
}

/// Formats, in the order of [`Format::ALL`].
pub fn formats(text: &str) -> Result<Vec<Format>> {
    let valid = Format::ALL.map(Format::name);
    Ok(places("format", text, &valid)?.into_iter().map(|place| Format::ALL[place]).collect())
}

/// Formats of charts: `png`, `svg`.
pub fn chart_formats(text: &str) -> Result<Vec<Format>> {
    let charts = [Format::Png, Format::Svg];
    Ok(places("format", text, &charts.map(Format::name))?.into_iter().map(|place| charts[place]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_misspelt_word_gets_the_word_that_was_meant() {
        let ops: Vec<&str> = OPS.iter().map(|op| op.name()).collect();
        for (typed, meant) in [
            ("matmull", "matmul"),
            ("mat", "matmul"),
            ("Matmul", "matmul"),
            ("ftt", "fft"),
            ("reduce", "reduction"),
            ("element", "elementwise"),
            ("sovle", "solve"),
            ("spgem", "spgemm"),
            ("vsd", "svd"),
        ] {
            assert_eq!(nearest(typed, ops.iter().copied()), Some(meant), "{typed}");
        }
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn lists_come_out_in_the_registry_s_order_each_word_once() {
        assert_eq!(ops("svd, matmul,svd").ok(), Some(vec!["matmul".to_owned(), "svd".to_owned()]));
        assert_eq!(ops("all").map(|all| all.len()).ok(), Some(OPS.len()));
        assert_eq!(dtypes("float64,f32").ok(), Some(DType::ALL.to_vec()));
        assert_eq!(backends("all").ok(), Some(vec!["cpu".to_owned(), "cuda".to_owned()]));
        assert_eq!(formats("csv,table").ok(), Some(vec![Format::Table, Format::Csv]));
    }

    #[test]
    fn messages_name_the_word_the_nearest_one_and_all_of_a_short_list() {
        let message = dtypes("f16").map_err(|e| e.to_string());
        let expected = "unknown dtype 'f16': did you mean 'f32'? (valid: f32, f64)";
        assert_eq!(message, Err(expected.to_owned()));
        assert!(ops(" , ").is_err_and(|e| e.to_string().starts_with("no op is named")));
    }

    proptest! {
        #[test]
        fn no_list_panics(text in ".*") {
            let _ = (ops(&text).is_ok(), dtypes(&text).is_ok(), backends(&text).is_ok(), formats(&text).is_ok());
        }
    }
}
