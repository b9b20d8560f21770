//! A trend as Markdown: a table of the steps, the current times, the steady series and the method.

use std::fmt::Write;

use gpubench_model::format::Makes;
use gpubench_model::report::quantity::time_text;
use gpubench_text::escape::markdown as escape;
use gpubench_text::table::{Column, Field, Table};

use super::text::{changed, folded, summary, supporting_reports};
use super::view::Format;
use crate::descriptions::{
    also_changed, change, kept_apart, label, left_out, minute, percent, revision, status,
};
use crate::{Series, Step, Trend};

pub(crate) static MARKDOWN: Format = Format {
    name: "md",
    summary: "the steps, what did not change, and the method, as Markdown",
    by_default: true,
    makes: Makes::Text("trend.md", |trend, _| Ok(markdown(trend))),
};

pub(crate) fn markdown(trend: &Trend) -> String {
    let mut text = format!("# gpubench trend\n\n{}.\n", escape(&summary(trend)));
    let changed = changed(trend);
    if !changed.is_empty() {
        if changed.iter().any(|series| !series.steps.is_empty() || series.latest.is_some()) {
            let _ = write!(text, "\n## Steps\n\n{}", table(trend, &changed));
        }
        let _ = write!(text, "\n## Current times\n\n");
        for series in changed {
            let line = format!("{}: {}", label(trend, series), status(series));
            let _ = writeln!(text, "- {}", escape(&line));
        }
    }
    let mut rest = folded(trend);
    rest.extend(kept_apart(trend));
    rest.extend(left_out(&trend.left_out));
    if !rest.is_empty() {
        text.push_str("\n## Other series and files\n\n");
        rest.iter().for_each(|line| text.push_str(&format!("- {}\n", escape(line))));
    }
    let _ = write!(
        text,
        "\n## Method\n\n- Times are the medians of the reports, in order of their start (UTC).\n- A step is a change of \
        level >= {} that the noise does not explain, with at least 3 reports on both sides. gpubench fits piecewise \
        constant levels to the logarithms; the noise may be correlated between successive reports.\n- \
        Noise is the standard deviation around the levels; its correlation is that of successive reports.\n- \
        The revision is that of the first report after the step: the cause lies between it and the report before.\n",
        percent(trend.threshold)
    );
    text
}

fn table(trend: &Trend, changed: &[&Series]) -> String {
    let columns = [
        "cell",
        "change",
        "before",
        "after",
        "first seen",
        "revision",
        "reports",
        "changed at the same time",
    ];
    let columns = columns.map(|heading| Column::new(heading, matches!(heading, "before" | "after"))).to_vec();
    let row = |series: &Series, step: &Step, is_confirmed: bool| -> Vec<Field> {
        let first = &trend.reports[step.first_after];
        [
            label(trend, series),
            change(step.ratio),
            time_text(step.before_s),
            time_text(step.after_s),
            minute(first),
            revision(first),
            supporting_reports(step, is_confirmed),
            also_changed(trend, step).unwrap_or_else(|| "-".into()),
        ]
        .map(Field::from)
        .into()
    };
    let rows = changed
        .iter()
        .flat_map(|series| series.changes().map(|(step, is_confirmed)| row(series, step, is_confirmed)));
    Table::untitled(columns, rows.collect()).markdown_table()
}
