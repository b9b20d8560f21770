//! The verdict on the rules as text.

use crate::document::table::Table;
use crate::write::terminal::{TERMINAL_WIDTH, TerminalTable, hanging_within};
use gpubench_text::count::counted;
use gpubench_tuned::RuleText;

use super::unmeasured::{Unmeasured, command};
use super::{OpSlowdown, RulesVerdict};
use crate::report::quantity;

/// Columns by which the further lines of a rule are indented.
const RULE_INDENT: usize = 2;

pub(super) fn text(verdict: &RulesVerdict) -> String {
    let parts = [
        losses_text(verdict),
        unmeasured_text(&verdict.unmeasured),
        slowdowns_text(verdict),
        rules_text(&verdict.rules),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Lists the variants that the report did not measure, with the command that does; empty where there is none.
fn unmeasured_text(ops: &[Unmeasured]) -> String {
    if ops.is_empty() {
        return String::new();
    }
    let of_op = |Unmeasured { op, variants }: &Unmeasured| {
        hanging_within(TERMINAL_WIDTH, &format!("{op}: {}", variants.join(", ")), RULE_INDENT) + "\n"
    };
    let listed: String = ops.iter().map(of_op).collect();
    format!(
        "The report does not have these variants, so it does not say whether auto should pick them:\n\n{listed}\n\
         To measure them: {}\n",
        command(ops)
    )
}

fn slowdowns_text(RulesVerdict { cases, slowdown, ops, .. }: &RulesVerdict) -> String {
    let mut table = Table::listing(&["Op", "Cases", "Pick / fastest"]);
    for OpSlowdown { op, cases, slowdown } in ops {
        table.row([op.clone(), cases.to_string(), format!("{slowdown:.3}")]);
    }
    if let Some(slowdown) = slowdown {
        table.row(["all".into(), cases.to_string(), format!("{slowdown:.3}")]);
    }
    format!(
        "Time of the pick / time of the fastest variant, geometric mean (1 is best):\n\n{}",
        table.text_without_title(false)
    )
}

/// Lists the rules, each in one paragraph, since their texts are long.
fn rules_text(rules: &[RuleText]) -> String {
    let mut text = "The rules of auto in this gpubench. The picks above are those of the report.\n\
         On an H100 (SXM) or H200 the first rule that applies, and is supported, decides.\n\
         If it says \"if fastest in a trial\", auto times its variant and those of the\n\
         following rules that apply, up to the first without these words.\n\
         On other GPUs auto times the variants of an op's rules and takes the fastest.\n\n"
        .to_owned();
    for RuleText { op, variant, place, because } in rules {
        let reason = if because.is_empty() { String::new() } else { format!(" ({because})") };
        text += &hanging_within(TERMINAL_WIDTH, &format!("{op} {variant}: {place}{reason}"), RULE_INDENT);
        text.push('\n');
    }
    text
}

fn losses_text(RulesVerdict { cases, lost, .. }: &RulesVerdict) -> String {
    let compared = counted(*cases, "case");
    if lost.is_empty() {
        return format!(
            "In {compared}, no pick of auto takes over 5 % longer than the fastest variant, beyond the intervals of both.\n"
        );
    }
    let mut table = Table::listing(&[
        "Op", "N", "dtype", "Density", "Cache", "Picked", "Time", "Fastest", "Time", "Ratio",
    ]);
    for loss in lost {
        table.row([
            loss.op.clone(),
            loss.n.to_string(),
            loss.dtype.clone(),
            loss.density.map_or_else(String::new, |density| density.to_string()),
            loss.cache.clone(),
            loss.picked.clone(),
            quantity::time_text(loss.picked_s),
            loss.fastest.clone(),
            quantity::time_text(loss.fastest_s),
            format!("{:.2}", loss.ratio),
        ]);
    }
    format!(
        "In {} of {compared}, auto picked a variant that takes over 5 % longer than the fastest.\n\n{}\n\
         To use another variant, name it: --variants NAME.\n",
        lost.len(),
        table.text_without_title(false)
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;
    use super::super::verdict;
    use super::*;
    use crate::report::example;

    #[test]
    fn the_rules_of_the_compared_ops_are_listed_with_their_reasons() {
        let found = verdict(&example::of(rows(100, 1.0, 1.0, 1.0)));
        assert!(found.rules.iter().all(|rule| rule.op == "matmul") && found.rules.len() > 1);
        let text = rules_text(&found.rules);
        assert!(text.contains("matmul dmma: with fast float64, float32, N <= 512 (one launch"), "{text}");
        let explained = text.find("says \"if fastest in a trial\"").unwrap();
        assert!(text[explained..].contains("if fastest in a trial (the time of cuBLAS"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= TERMINAL_WIDTH), "{text}");
    }
}
