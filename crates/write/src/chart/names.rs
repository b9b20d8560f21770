//! Short names for the reports that share charts.

use std::path::{Component, Path, PathBuf};

use gpubench_report::report::file::locate;

/// Characters of a name up to which nothing is left out of it.
const SHORT: usize = 12;

/// A name for each report: its folder's for a `report.json`, otherwise the file's; where names collide, the parts of the
/// paths that differ.
pub fn names(reports: &[PathBuf]) -> Vec<String> {
    let short = |path: &PathBuf| {
        let file = locate(path);
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let stem = stem.map(|stem| stem.strip_suffix(".json").map(str::to_owned).unwrap_or(stem));
        let folder = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        match (stem, folder) {
            (Some(stem), Some(folder)) if stem == "report" => folder,
            (Some(stem), _) => stem,
            (None, _) => path.display().to_string(),
        }
    };
    let names: Vec<String> = reports.iter().map(short).collect();
    if is_distinct(&names) { names } else { by_path(reports) }
}

/// The paths without the folders that all begin with and the names that all end with; whole where the same path is
/// given twice.
fn by_path(paths: &[PathBuf]) -> Vec<String> {
    let parts: Vec<Vec<Component<'_>>> = paths.iter().map(|path| path.components().collect()).collect();
    let least = parts.iter().map(Vec::len).min().unwrap_or(0);
    let is_shared = |part: &dyn Fn(&Vec<Component<'_>>) -> String| {
        parts.iter().all(|other| part(other) == part(&parts[0]))
    };
    let text = |part: &Component<'_>| part.as_os_str().to_string_lossy().into_owned();
    let start = (0..least).take_while(|at| is_shared(&|parts| text(&parts[*at]))).count();
    let end =
        (0..least - start).take_while(|at| is_shared(&|parts| text(&parts[parts.len() - 1 - at]))).count();
    let left = parts.iter().map(|parts| {
        let left: PathBuf = parts[start..parts.len() - end].iter().collect();
        left.display().to_string()
    });
    let left: Vec<String> = left.collect();
    let whole = || paths.iter().map(|path| path.display().to_string()).collect();
    if left.iter().all(|name| !name.is_empty()) { left } else { whole() }
}

/// The names without the words that all of them begin or end with, for the legends of charts; short names stay whole.
pub(crate) fn shortened(names: &[&str]) -> Vec<String> {
    let whole: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    if names.len() < 2 || names.iter().all(|name| name.chars().count() <= SHORT) || !is_distinct(&whole) {
        return whole;
    }
    let start = shared_start(names);
    let rest: Vec<&str> = names.iter().map(|name| &name[start..]).collect();
    let end = shared_end(&rest);
    rest.iter().map(|name| name[..name.len() - end].to_owned()).collect()
}

fn is_distinct(names: &[String]) -> bool {
    (1..names.len()).all(|index| !names[..index].contains(&names[index]))
}

/// Bytes of the words that all names begin with, but not the `GPU` before a number, nor a part of a date.
fn shared_start(names: &[&str]) -> usize {
    let first = names[0];
    let is_end = |(place, separator): &(usize, &str)| {
        let place = place + separator.len();
        let begins_word = |name: &&str| name[place..].starts_with(char::is_alphabetic);
        let is_shared = |name: &&str| name.starts_with(&first[..place]) && name.len() > place;
        names.iter().all(is_shared)
            && !first[..place].ends_with("GPU ")
            && ([" ", "/"].contains(separator) || names.iter().all(begins_word))
    };
    let found = first.rmatch_indices([' ', '/', '-', '_']).find(is_end);
    found.map_or(0, |(place, separator)| place + separator.len())
}

/// Bytes of the words that all names end with, each with the separator before it.
fn shared_end(names: &[&str]) -> usize {
    let first = names[0];
    let is_start = |(place, separator): &(usize, &str)| {
        let word = &first[place + separator.len()..];
        let is_word = [" ", "/"].contains(separator) || word.starts_with(char::is_alphabetic);
        let is_shared = |name: &&str| name.ends_with(&first[*place..]) && name.len() > first.len() - place;
        is_word && names.iter().all(is_shared)
    };
    first.match_indices([' ', '/', '-', '_']).find(is_start).map_or(0, |(place, _)| first.len() - place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_leave_out_the_words_that_all_share() {
        for (names, left) in [
            (&["vm GPU 0, 2026-11-21 21:10:26", "vm GPU 0, 2026-11-21 21:12:30"][..], "21:10:26"),
            (&["vm GPU 0, 2026-11-21", "vm GPU 0, 2026-11-22"], "2026-11-21"),
            (&["node17.cluster GPU 0", "node17.cluster GPU 1"], "GPU 0"),
            (&["node17.cluster GPU 0", "node18.cluster GPU 0"], "node17.cluster"),
            (&["vm GPU 0", "vm GPU 1"], "vm GPU 0"),
            (&["a long name GPU 0", "a long name GPU 0 (2)"], "GPU 0"),
            (&["nightly-before-fix", "nightly-after-fix"], "before"),
            (&["2026-11-21-nightly", "2026-11-22-nightly"], "2026-11-21"),
            (&["a long name alone"], "a long name alone"),
            (&["the same name twice", "the same name twice"], "the same name twice"),
        ] {
            assert_eq!(shortened(names)[0], left);
        }
    }

    #[test]
    fn reports_are_named_by_folder_or_file_or_by_what_differs() {
        let found = |texts: &[&str]| names(&texts.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(found(&["a/h200/report.json", "b/before.json"]), ["h200", "before"]);
        assert_eq!(found(&["r/a/x.json", "r/b/x.json"]), ["a", "b"]);
        assert_eq!(found(&["r/a/x.json", "r/b/c/x.json"]), ["a", "b/c"]);
        assert_eq!(found(&["x.json", "b/x.json"]), ["x.json", "b/x.json"]);
        assert_eq!(found(&["x.json", "x.json"]), ["x.json", "x.json"]);
    }
}
