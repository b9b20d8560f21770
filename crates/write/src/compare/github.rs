//! Writes workflow commands, which GitHub shows as annotations.

use gpubench_analysis::compare::Severity;
use gpubench_analysis::compare::result::{Change, Comparison, Conclusion};
use gpubench_document::comparison::{phrases, summary};
use gpubench_report::format::Makes;
use gpubench_text::cut::fitted;

use super::ComparisonFormat;
use super::names::names;

/// Annotations for GitHub Actions.
pub static GITHUB: ComparisonFormat = ComparisonFormat {
    name: "github",
    summary: "workflow commands that GitHub Actions shows as annotations",
    by_default: false,
    makes: Makes::Text("compare.github.txt", |comparison, _| Ok(text(comparison))),
};

/// Maximum number of annotations of one level that GitHub shows per step; it drops the others.
const MAX_ANNOTATIONS: usize = 10;

const MAX_MESSAGE_CHARS: usize = 1000;

/// A message on the page of a workflow run: its level, which is `error`, `warning` or `notice`, its title and its text.
type Annotation = (&'static str, String, String);

fn text(comparison: &Comparison) -> String {
    let own_level = match comparison.gate.conclusion {
        Conclusion::Regression | Conclusion::NotComparable => "error",
        Conclusion::Inconclusive => "warning",
        Conclusion::Pass | Conclusion::RatiosOnly => "notice",
    };
    let annotations = annotations(comparison);
    let (mut shown, mut message) = (vec![], summary::one_line(comparison));
    for level in ["error", "warning"] {
        let of_level: Vec<&Annotation> = annotations.iter().filter(|found| found.0 == level).collect();
        // The summary is the first annotation of its level.
        let room = MAX_ANNOTATIONS - usize::from(own_level == level);
        let (fitting, more) = of_level.split_at(of_level.len().min(room));
        shown.extend_from_slice(fitting);
        if !more.is_empty() {
            message += &format!("; {} more {level}s are not shown (--format md lists them)", more.len());
        }
    }
    let summary = (own_level, "gpubench compare".to_owned(), message);
    std::iter::once(&summary).chain(shown).map(command).collect()
}

/// Returns blocking differences, disturbances, regressions, inconclusive cells and other differences, in this order.
fn annotations(comparison: &Comparison) -> Vec<Annotation> {
    let differences = |severity, level| {
        let of = comparison.environment.iter().filter(move |difference| difference.severity == severity);
        of.map(move |difference| {
            let message = format!("OLD has {}, NEW has {}", difference.old, difference.new);
            (level, format!("{} differs", difference.fact), message)
        })
    };
    let is_blocked = comparison.gate.conclusion == Conclusion::NotComparable;
    let blocked = if is_blocked { "error" } else { "warning" };
    let mut found: Vec<Annotation> = differences(Severity::Block, blocked).collect();
    found.extend(differences(Severity::Inconclusive, "warning"));
    let cells = || comparison.cells.iter().zip(names(comparison));
    let regressions = cells().filter(|(change, _)| change.verdict.is_regression());
    found.extend(regressions.map(|(change, name)| of_cell("error", change, &name)));
    let slower = comparison.mean_changes.iter().filter(|mean| mean.is_regression());
    found.extend(slower.map(|mean| {
        let title = format!("mean slower: {}", mean.name());
        ("error", title, with_next(mean.reason.clone(), mean.next.as_deref()))
    }));
    let unresolved = cells().filter(|(change, _)| comparison.blocks_pass(change));
    found.extend(unresolved.map(|(change, name)| of_cell("warning", change, &name)));
    found.extend(differences(Severity::Warn, "warning"));
    found
}

fn of_cell(level: &'static str, change: &Change, name: &str) -> Annotation {
    let message = with_next(change.reason.clone(), change.next.as_deref());
    (level, format!("{}: {name}", phrases::verdict(change)), message)
}

fn with_next(message: String, next: Option<&str>) -> String {
    message + &next.map(|next| format!("; next: {next}")).unwrap_or_default()
}

/// Formats the command with its line end: `::error title=slower%3A matmul/...::1.31x slower`.
fn command((level, title, message): &Annotation) -> String {
    let [title, message] = [title, message].map(|text| fitted(text, MAX_MESSAGE_CHARS));
    format!("::{level} title={}::{}\n", property(&title), data(&message))
}

/// Escapes the message of a command like `escapeData` of `@actions/core`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command like `escapeProperty` of `@actions/core`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::compare::{Verdict, example};

    #[test]
    fn annotations_are_escaped_as_the_runner_reads_them() {
        assert_eq!(property("50%: a, b\n"), "50%25%3A a%2C b%0A");
        assert_eq!(data("50%: a, b\r\n"), "50%25: a, b%0D%0A");
        let text = text(&example::full());
        assert!(text.starts_with("::error title=gpubench compare::regression (exit code 1); 11 compared: "));
        for expected in [
            "\n::error title=slower%3A matmul/N=4096/f32/cuda/cublas/cold::1.31x slower (1.28 to 1.34); next: look at ",
            "\n::warning title=driver differs::OLD has 580.65.06, NEW has 580.82.07\n",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn no_level_has_more_annotations_than_github_shows() {
        let mut comparison = example::full();
        comparison.cells = (0..30).flat_map(|_| comparison.cells.clone()).collect();
        let text = text(&comparison);
        let count = |level: &str| text.lines().filter(|line| line.starts_with(level)).count();
        assert_eq!((count("::error "), count("::warning "), count("::notice ")), (10, 10, 0));
        let first = text.lines().next().unwrap();
        for more in ["; 112 more errors are not shown (--format md lists them)", "; 111 more warnings"] {
            assert!(first.contains(more), "{first}");
        }
    }

    #[test]
    fn accepted_cells_give_no_warning() {
        let mut comparison = example::full();
        assert!(text(&comparison).contains("::warning title=missing"));
        comparison.gate.accepted = vec![Verdict::Missing];
        let text = text(&comparison);
        assert!(!text.contains("title=missing") && text.contains("title=inconclusive%3A "), "{text}");
    }
}
