//! Sanitizes a comparison before it is formatted: removes control characters from texts and numbers that are not finite.
//!
//! A broken or hostile report must not control a terminal or send commands to a pipeline.

use gpubench_text::control::is_invisible;

use gpubench_analysis::compare::result::{Change, Comparison, Gate, Judgement, MeanChange, Measured, Method};
use gpubench_analysis::compare::runs::ReportRef;

/// A comparison that is safe to print or write in any format.
pub struct Sanitized(Comparison);

impl Sanitized {
    /// Sanitizes the texts and removes numbers that are not finite.
    pub fn of(comparison: &Comparison) -> Sanitized {
        let mut plain = comparison.clone();
        texts(&mut plain).into_iter().for_each(|text| *text = sanitize(text));
        plain.means.retain(|mean| mean.ratio.is_finite());
        plain.mean_changes.iter_mut().for_each(drop_infinite);
        plain.mean_changes.retain(|mean| mean.ratio.is_some());
        plain.cells.iter_mut().for_each(drop_infinite);
        Sanitized(plain)
    }
}

impl std::ops::Deref for Sanitized {
    type Target = Comparison;

    fn deref(&self) -> &Comparison {
        &self.0
    }
}

/// Puts `text` on one line: replaces line ends and tabs by blanks, escapes other invisible characters as `\u{1b}`, and
/// breaks up the commands of pipelines.
///
/// GitHub reads `::error::`, Azure `##vso[`, TeamCity `##teamcity[`, some of them only at the start of a line, where
/// wrapping may put any word. All begin with a doubled sign, so no doubled sign remains.
pub(crate) fn sanitize(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => clean.push(' '),
            ':' | '#' if clean.ends_with(c) => clean.extend([' ', c]),
            c if is_invisible(c) => clean.extend(c.escape_unicode()),
            c => clean.push(c),
        }
    }
    // A format may append a colon.
    if clean.ends_with(':') {
        clean.push(' ');
    }
    clean
}

fn texts(comparison: &mut Comparison) -> Vec<&mut String> {
    let Comparison {
        comparison_version: _,
        gpubench_version,
        gate: Gate { conclusion: _, exit_code: _, reason, next, accepted: _ },
        counts: _,
        old,
        new,
        method:
            Method { alpha: _, confidence: _, correction, cells_tested: _, means_tested: _, variation_source },
        environment,
        notes,
        means,
        mean_changes,
        cells,
    } = comparison;
    let mut texts = vec![gpubench_version, reason, correction, variation_source];
    texts.extend(next);
    for run in old.iter_mut().chain(new) {
        let ReportRef { name, started, host, gpubench_version, gpubench_revision, git_revision } =
            &mut run.report;
        texts.extend([name, started, host, gpubench_version]);
        texts.extend(gpubench_revision.iter_mut().chain(git_revision));
    }
    for difference in environment {
        texts.extend([&mut difference.fact, &mut difference.old, &mut difference.new]);
    }
    for note in notes {
        texts.extend([&mut note.text, &mut note.next]);
    }
    for mean in means {
        texts.extend([&mut mean.op, &mut mean.backend]);
    }
    for MeanChange { subject, reason, next, .. } in mean_changes {
        texts.push(reason);
        texts.extend([&mut subject.op, &mut subject.backend, next].into_iter().flatten());
    }
    for Change { subject, reason, next, .. } in cells {
        let cell = &mut subject.cell;
        texts.extend([&mut cell.case.op, &mut cell.backend, &mut cell.variant, reason]);
        texts.extend(next);
    }
    texts
}

fn drop_infinite<T>(judged: &mut Judgement<T>) {
    let Judgement {
        ratio,
        interval,
        p,
        p_corrected,
        p_rounds,
        smallest_detectable_change,
        variation_between_runs,
        old,
        new,
        ..
    } = judged;
    for figure in [ratio, p, p_corrected, p_rounds, smallest_detectable_change, variation_between_runs] {
        *figure = figure.filter(|figure| figure.is_finite());
    }
    *interval = interval.filter(|ends| ends.iter().all(|end| end.is_finite()));
    for side in [old, new] {
        side.take_if(|measured| !measured.median_s.is_finite());
        if let Some(Measured { sm_mhz, error, .. }) = side {
            *sm_mhz = sm_mhz.filter(|clock| clock.is_finite());
            *error = error.filter(|error| error.value.is_finite() && error.bound.is_finite());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::compare::example;

    #[test]
    fn what_is_not_to_be_seen_is_spelled_out() {
        assert_eq!(sanitize("a\x1b[31m\nb\u{9b}\u{202e}c"), "a\\u{1b}[31m b\\u{9b}\\u{202e}c");
        assert_eq!(sanitize("a: b #7 7.68 µs, ±5 %"), "a: b #7 7.68 µs, ±5 %");
    }

    #[test]
    fn commands_of_pipelines_are_broken_up_wherever_they_stand() {
        let commands = [
            ("::error::a", ": :error: :a"),
            ("a ::b std::c", "a : :b std: :c"),
            (":::x", ": : :x"),
            ("a:", "a: "),
            ("a ##[error]b", "a # #[error]b"),
            ("a##vso[task.complete]", "a# #vso[task.complete]"),
            ("###teamcity[x]", "# # #teamcity[x]"),
        ];
        for (command, text) in commands {
            assert_eq!(sanitize(command), text);
        }
    }

    #[test]
    fn figures_that_are_not_finite_are_as_if_unknown_and_others_stay() {
        let mut comparison = example::full();
        assert_eq!(*Sanitized::of(&comparison), comparison);
        let change = &mut comparison.cells[2];
        (change.ratio, change.interval) = (Some(f64::INFINITY), Some([1.0, f64::NAN]));
        change.new.as_mut().unwrap().median_s = f64::NAN;
        comparison.means[0].ratio = f64::INFINITY;
        let plain = Sanitized::of(&comparison);
        let change = &plain.cells[2];
        assert_eq!((change.ratio, change.interval, &change.new), (None, None, &None));
        assert!(change.p.is_some() && change.old.is_some());
        assert_eq!(plain.means.len(), 1);
    }
}
