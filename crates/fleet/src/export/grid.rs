//! Formats a fleet's table: selects the columns that name a case, and formats times and marks.

use gpubench_model::case::density_text;
use gpubench_model::report::Outcome;
use gpubench_model::report::quantity::{factor_within, time_within};
use gpubench_text::table::{Column, Field, Layout, Table as Texts, Tone};

use crate::best::{BestResult, Key};
use crate::finding_texts;
use crate::{Line, Table};

/// Follows the fastest time.
pub(crate) const MARK: &str = "*";

/// The heading of a column that names a case, and the function for its fields.
type KeyColumn = (&'static str, fn(&Key) -> String);

/// The columns that may be needed to name a case; the size always is.
const KEYS: [KeyColumn; 7] = [
    ("op", |key| key.op.clone()),
    ("variant", |key| key.variant.clone().unwrap_or("-".into())),
    ("dtype", |key| key.dtype.to_string()),
    ("cache", |key| key.cache.to_string()),
    ("density", |key| key.density.map_or("-".into(), density_text)),
    ("seed", |key| key.seed.to_string()),
    ("N", |key| key.n.to_string()),
];

/// Formats a table; properties that all lines share are in its title.
pub(crate) fn texts(table: &Table) -> Texts {
    let varies = |of: fn(&Key) -> String| {
        let mut values = table.lines.iter().map(|line| of(&line.key));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let columns: Vec<KeyColumn> =
        KEYS.into_iter().filter(|(name, of)| matches!(*name, "op" | "N") || varies(*of)).collect();
    let shared = KEYS.into_iter().filter(|(name, _)| !columns.iter().any(|(known, _)| known == name));
    let shared: Vec<String> =
        shared.filter_map(|(name, of)| shared_words(name, of(&table.lines.first()?.key))).collect();
    let has_ratio = table.lines.iter().any(|line| line.max_over_min.is_some());
    let row = |line: &Line| -> Vec<Field> {
        let keys = columns.iter().map(|(_, of)| Field::from(of(&line.key)));
        let times = (0..table.columns.len()).map(|column| time(line, column));
        keys.chain(times).chain(has_ratio.then(|| max_over_min(line))).collect()
    };
    let side = finding_texts::side(table.side);
    let title = format!("{side}: median time of the best correct variant, {}", shared.join(", "));
    let title = title.trim_end_matches(", ").to_owned();
    let rows: Vec<Vec<Field>> = table.lines.iter().map(row).collect();
    // Sizes and densities are aligned like other numbers.
    let has_digits =
        |place: usize| rows.iter().any(|row| row[place].text.starts_with(|c: char| c.is_ascii_digit()));
    let keys = columns.len();
    let named =
        columns.into_iter().enumerate().map(|(place, (name, _))| Column::new(name, has_digits(place)));
    let times = table.columns.iter().map(|column| Column::figures(column.name.clone()));
    let columns = named.chain(times).chain(has_ratio.then(|| Column::figures("max/min"))).collect();
    aligned(Texts::new(title, columns, rows), keys).laid_out(Layout::Blocks { keys })
}

/// Returns the words of the title for a shared property; `None` if it needs none.
fn shared_words(name: &str, value: String) -> Option<String> {
    match name {
        "dtype" => Some(value),
        "variant" if value != "-" => Some(format!("variant {value}")),
        "cache" => Some(format!("{value} cache")),
        "density" if value != "-" => Some(format!("density {value}")),
        _ => None,
    }
}

fn time(line: &Line, column: usize) -> Field {
    match &line.times[column] {
        None => "-".into(),
        Some(BestResult::Untimed(missing)) => {
            let wrong = matches!(missing.outcome, Outcome::Incorrect | Outcome::Failed);
            Field { text: missing.outcome.name().into(), tone: if wrong { Tone::Wrong } else { Tone::Plain } }
        }
        Some(BestResult::Timed(timing)) => {
            let half_width = (timing.ci95_s[1] - timing.ci95_s[0]) / 2.0;
            let text = time_within(timing.median_s, timing.has_interval.then_some(half_width));
            match line.fastest == Some(column) {
                true => Field { text: text + MARK, tone: Tone::Better },
                false => text.into(),
            }
        }
    }
}

fn max_over_min(line: &Line) -> Field {
    line.max_over_min.map_or("-".into(), |ratio| Field::from(factor_within(ratio, 3)))
}

/// Pads times without a mark, so that digits align.
fn aligned(mut texts: Texts, keys: usize) -> Texts {
    for column in keys..texts.columns.len() {
        if texts.rows.iter().any(|row| row[column].text.ends_with(MARK)) {
            for row in texts.rows.iter_mut().filter(|row| !row[column].text.ends_with(MARK)) {
                row[column].text.push(' ');
            }
        }
    }
    texts
}
