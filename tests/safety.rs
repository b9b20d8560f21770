//! The inventory of unsafe code in `docs/safety.md` is that of the sources.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Adds the files below `folder` that contain the keyword `unsafe`, by path, with the number of its uses.
fn count_in(root: &Path, folder: &str, counts: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
        let path = format!("{folder}/{name}");
        if entry.unwrap().path().is_dir() {
            count_in(root, &path, counts);
        } else if name.ends_with(".rs") {
            let uses = keywords(&fs::read_to_string(root.join(&path)).unwrap());
            counts.extend((uses > 0).then_some((path, uses)));
        }
    }
}

/// Counts the keyword outside comments.
fn keywords(text: &str) -> usize {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    code.flat_map(|line| line.split(|c| !is_part(c))).filter(|word| *word == "unsafe").count()
}

#[test]
fn the_page_counts_every_use_of_unsafe() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    for folder in ["src", "crates"] {
        count_in(root, folder, &mut found);
    }
    let page = fs::read_to_string(root.join("docs/safety.md")).unwrap();
    let listed: BTreeMap<String, usize> = page
        .lines()
        .filter_map(|line| {
            let mut fields = line.strip_prefix("| `")?.split(" | ");
            let path = fields.next()?.strip_suffix('`')?;
            Some((path.to_owned(), fields.next()?.parse().ok()?))
        })
        .collect();
    assert_eq!(
        listed, found,
        "docs/safety.md lists other files or numbers: look at what is new, then correct the table"
    );
}
