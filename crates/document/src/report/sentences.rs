//! The answer in sentences, one per op, for Markdown, JSON and the page.

use gpubench_ops as op;
use gpubench_report::report::Report;
use gpubench_text::count::counted;

use crate::report::crossover_text::{crossover_clause, neither};
use gpubench_analysis::answer::cost::Kind;
use gpubench_analysis::answer::crossover::crossover;
use gpubench_analysis::answer::{
    Comparison, Contender, Estimate, Kinds, Names, Pair, Section, Versus, sections,
};

/// Returns one sentence about all ops, then one per op, element type, cache state and family.
pub fn paragraph(report: &Report) -> Vec<String> {
    let sections = sections(report);
    let parts: Vec<Section<'_>> = sections.iter().flat_map(Section::by_family).collect();
    overall(report, &parts).into_iter().chain(parts.iter().filter_map(|part| about(report, part))).collect()
}

/// The pair of the largest size that has one.
pub fn largest<'a>(part: &[Comparison<'a>], kind: Kind) -> Option<(u64, Pair<'a>)> {
    part.iter().rev().find_map(|comparison| Some((comparison.n, comparison.pair(kind)?)))
}

/// The number of ops for which B is faster at the largest size.
fn overall(report: &Report, parts: &[Section<'_>]) -> Option<String> {
    let versus = Versus::of(report);
    let machines = versus.machines(report)?;
    let count = |kind: Kind| {
        let winner = |part: &Section<'_>| Some(largest(&part.comparisons, kind)?.1.speed_up.winner());
        let winners: Vec<Option<Contender>> = parts.iter().filter_map(winner).collect();
        let count = |winner: Option<Contender>| winners.iter().filter(|found| **found == winner).count();
        let open = match count(None) {
            0 => String::new(),
            open => format!(", and in {open} {} is measurably faster", neither(versus)),
        };
        (count(Some(Contender::B)), winners.len(), open)
    };
    let (resident, of, open) = count(Kind::Resident);
    if of == 0 {
        return None;
    }
    let pairs = parts.iter().filter_map(|part| largest(&part.comparisons, Kind::Resident));
    let data =
        if pairs.into_iter().all(|(_, pair)| pair.is_on_cpu()) { "" } else { " with the data on the device" };
    let kinds = Kinds::of(&report.rows);
    let end = kinds.end_to_end().iter().map(|&kind| match count(kind) {
        (_, 0, _) => String::new(),
        (whole, of, open) => {
            format!("; with copies both ways{} in {whole} of {of}{open}", kinds.memory(kind))
        }
    });
    let end: String = end.collect();
    Some(format!(
        "{machines}: at the largest size measured, {} is faster in {resident} of {}{data}{open}{end}.",
        versus.noun(Contender::B),
        counted(of, "sweep")
    ))
}

/// The sentence about one op: crossovers, speed-ups at the largest size, and shares of the peaks.
fn about(report: &Report, section: &Section<'_>) -> Option<String> {
    let part = &section.comparisons;
    let resident = crossover(part, Kind::Resident)?;
    let (n, pair) = largest(part, Kind::Resident)?;
    let (dtype, family) = (section.dtype.words(), resident.family.clause());
    let kernel = largest(part, Kind::Kernel).filter(|(at, _)| *at == n);
    let kernel =
        kernel.map(|(_, pair)| format!("; kernel alone {}", pair.speed_up.text_in_words(pair.versus)));
    let own_copies = op::copies_itself(section.op);
    let data = match () {
        () if own_copies => "with its own copies ",
        () if pair.is_on_cpu() => "",
        () => "with the data on the device ",
    };
    let names = Names::of(report);
    let mut text = format!(
        "{} ({dtype}{family}, {} cache): {data}{}; at N = {n} {} ({} against {}{})",
        section.op,
        section.cache,
        crossover_clause(&resident, section.versus),
        faster(&pair),
        names.name(pair.b),
        names.name(pair.a),
        kernel.unwrap_or_default(),
    );
    let kinds = Kinds::of(&report.rows);
    for &kind in kinds.end_to_end().iter().filter(|_| !own_copies) {
        let Some((whole, (at, pair))) = crossover(part, kind).zip(largest(part, kind)) else { continue };
        let (memory, clause) = (kinds.memory(kind), crossover_clause(&whole, section.versus));
        text += &format!(". End to end{memory} {clause}; at N = {at} {}", faster(&pair));
    }
    Some(text + ".")
}

/// `the GPU is 31x faster`; only the interval where neither contender is measurably faster.
fn faster(pair: &Pair<'_>) -> String {
    let Estimate { low, high, .. } = pair.speed_up.0;
    match pair.speed_up.winner() {
        None => {
            let [a, b] = Contender::BOTH.map(|one| pair.versus.noun(one));
            format!("{a} takes {low:.2} to {high:.2} times as long as {b}")
        }
        Some(winner) => {
            let mark = if pair.is_unreliable() { " (unreliable)" } else { "" };
            format!("{} is {} faster{mark}", pair.versus.noun(winner), pair.speed_up.factor_text())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::Side;
    use gpubench_report::report::example;

    #[test]
    fn the_paragraph_answers_the_question() {
        let lines = paragraph(&example::full());
        assert_eq!(
            lines[0],
            "NVIDIA H200 against Intel Xeon Platinum 8480C, 16 threads: at the largest size measured, the GPU is \
             faster in 1 of 1 sweep with the data on the device; with copies both ways in 1 of 1."
        );
        assert!(lines[1].starts_with(
            "matmul (float32, cold cache): with the data on the device the GPU is faster from N = "
        ));
        assert!(lines[1].contains("; at N = 10000 the GPU is 18.2x faster (cublas against openblas; kernel alone GPU 18x). End to end "), "{}", lines[1]);
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn both_kinds_of_memory_have_their_answer() {
        let report = example::with_pinned(example::full(), 5.0);
        let lines = paragraph(&report);
        let expected = "; with copies both ways (pageable memory) in 1 of 1; with copies both ways (pinned memory) in 1 of 1.";
        assert!(lines[0].ends_with(expected), "{}", lines[0]);
        let at = |text: &str| lines[1].find(text).unwrap_or_else(|| panic!("{text}: {}", lines[1]));
        assert!(at(". End to end (pageable memory) the GPU") < at(". End to end (pinned memory) the GPU"));
    }

    #[test]
    fn without_a_device_clock_no_sentence_names_kernel_times() {
        let mut report = example::several();
        report.rows.retain(|row| row.side == Side::Cpu || row.backend == "jax");
        let words = paragraph(&report).join("\n");
        assert!(words.contains("the GPU is faster") && !words.contains("kernel alone"), "{words}");
    }

    #[test]
    fn sentences_name_the_contenders() {
        let words = |text: &str| {
            let mut report = example::several();
            Versus::choose(&mut report, text).unwrap();
            paragraph(&report).join("\n")
        };
        let found = words("numpy:cupy");
        let cpu = "Intel Xeon Platinum 8480C, 16 threads";
        let has = |found: &str, parts: &[&str]| parts.iter().all(|part| found.contains(part));
        let begin = format!(
            "cupy on NVIDIA H200 against numpy on {cpu}: at the largest size measured, cupy is faster in 1 of 1"
        );
        let clause = "cupy is faster at N = 1000, the only size; at N = 1000 cupy is 63x faster (cupy/matmul against numpy/matmul; kernel alone cupy 67x)";
        assert!(found.starts_with(&begin) && has(&found, &[clause]), "{found}");
        assert!(!found.contains("the GPU") && !found.contains("the CPU"), "{found}");
        let found = words("cuda:cupy");
        assert!(found.starts_with("cupy against cuda on NVIDIA H200: "), "{found}");
        let found = words("cpu,numpy:cupy,cuda,jax");
        assert!(found.starts_with("others (cupy,cuda,jax) on NVIDIA H200 against cpu,numpy on "), "{found}");
        assert!(has(&found, &["cupy,cuda,jax is faster", "kernel alone cupy,cuda,jax 100x"]), "{found}");
        let found = words("cpu:numpy");
        assert!(found.starts_with(&format!("numpy against cpu on {cpu}: ")), "{found}");
        let absent = ["device", "kernel", "copies", "End to end"];
        assert!(!absent.iter().any(|word| found.contains(word)), "{found}");
    }
}
