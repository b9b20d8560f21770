use gpubench_report::report::{BackendState, Clock, Outcome, example};
use gpubench_report::{Accuracy, Side};

use super::*;
use crate::crossover::crossover;
use crate::crossover_text::{crossover_clause, plain};
use crate::words::{Line, paragraph};
use crate::{Comparison, Kind, Names, sections};

/// One op at one size on two backends of each side, of which JAX has no device clock.
fn several() -> Report {
    let mut report = example::of([
        example::measured("matmul", 1000, "cpu", "openblas", 8e-3),
        example::measured("matmul", 1000, "numpy", "matmul", 6e-3),
        example::measured("matmul", 1000, "cuda", "cublas", 60e-6),
        example::measured("matmul", 1000, "cupy", "matmul", 90e-6),
        example::measured("matmul", 1000, "cupy", "tf32", 20e-6),
        example::measured("matmul", 1000, "jax", "jit", 50e-6),
    ]);
    report.rows[1].side = Side::Cpu;
    report.rows[1].phases = report.rows[0].phases.clone();
    report.rows[1].execute =
        Some(example::measured("matmul", 1000, "cpu", "matmul", 6e-3)).and_then(|row| row.execute);
    report.rows[4].accuracy = Accuracy::Tf32;
    let jax = report.rows[5].execute.as_mut().unwrap();
    (jax.clock, jax.median_s) = (Clock::Host, jax.host_median_s);
    let state = |name: &str, device: &str| BackendState {
        name: name.into(),
        available: true,
        description: serde_json::json!({ "name": device }),
        ..BackendState::default()
    };
    let cpu = report.environment.host.cpu.clone();
    let backends = &mut report.environment.backends;
    backends.extend([state("numpy", &cpu), state("cupy", "NVIDIA H200"), state("jax", "NVIDIA H200")]);
    report
}

fn chosen(text: &str) -> Report {
    let mut report = several();
    Versus::choose(&mut report, text).unwrap();
    report
}

fn case(report: &Report) -> Comparison<'_> {
    sections(report)[0].comparisons[0].clone()
}

/// The rows of A and B by that kind.
fn pair(report: &Report, kind: Kind) -> Option<[String; 2]> {
    let (case, names) = (case(report), Names::of(report));
    case.pair(kind).map(|pair| [pair.a, pair.b].map(|row| names.name(row)))
}

fn error(text: &str) -> String {
    Versus::choose(&mut several(), text).unwrap_err()
}

#[test]
fn without_a_choice_the_best_of_all_backends_represents_its_side() {
    let report = several();
    assert_eq!(pair(&report, Kind::Kernel).unwrap(), ["numpy/matmul", "cuda/cublas"]);
    let bests = case(&report).bests().map(|row| row.unwrap().backend.as_str());
    assert_eq!(bests, ["numpy", "cuda"]);
}

#[test]
fn a_gpu_without_a_device_clock_takes_part_in_all_but_kernel_times() {
    let mut report = several();
    assert_eq!(pair(&report, Kind::Kernel).unwrap()[1], "cuda/cublas");
    assert_eq!(pair(&report, Kind::Resident).unwrap()[1], "jax/jit", "55 us against 65 us");
    assert_eq!(pair(&report, Kind::EndToEnd).unwrap()[1], "jax/jit");
    report.rows.retain(|row| row.side == Side::Cpu || row.backend == "jax");
    assert_eq!(pair(&report, Kind::Kernel), None, "a host time against a host time with a launch");
    assert_eq!(case(&report).b.map(|row| row.variant.as_str()), Some("jit"), "tables show it all the same");
    let words = paragraph(&report).iter().map(Line::to_string).collect::<Vec<_>>().join("\n");
    assert!(words.contains("the GPU is faster") && !words.contains("kernel alone"), "{words}");
}

#[test]
fn two_backends_of_one_side_are_compared_by_the_clocks_that_both_have() {
    let report = chosen("cuda:cupy");
    for kind in [Kind::Kernel, Kind::Resident, Kind::EndToEnd] {
        assert_eq!(
            pair(&report, kind).unwrap(),
            ["cuda/cublas", "cupy/matmul"],
            "tf32 is not named: {kind:?}"
        );
    }
    let pair_text = case(&report).pair(Kind::Kernel).unwrap().speed_up_text();
    assert_eq!(pair_text, "cuda 1.50x");
    let report = chosen("cuda:jax");
    assert_eq!(pair(&report, Kind::Kernel), None, "a device time against a host time");
    assert_eq!(pair(&report, Kind::Resident).unwrap(), ["cuda/cublas", "jax/jit"]);
    assert_eq!((case(&report).kind, case(&chosen("cuda:cupy")).kind), (Kind::Resident, Kind::Kernel));
    let report = chosen("cpu:numpy");
    assert_eq!(pair(&report, Kind::Resident).unwrap(), ["cpu/openblas", "numpy/matmul"]);
    for kind in [Kind::Kernel, Kind::EndToEnd] {
        assert_eq!(pair(&report, kind), None, "the same time again: {kind:?}");
    }
}

#[test]
fn lists_and_variants_choose_among_rows() {
    assert_eq!(pair(&chosen("cpu,numpy:cuda,cupy"), Kind::Kernel).unwrap(), ["numpy/matmul", "cuda/cublas"]);
    assert_eq!(
        pair(&chosen("cuda/cublas:cupy/tf32"), Kind::Kernel).unwrap()[1],
        "cupy/tf32",
        "named in full"
    );
    assert_eq!(pair(&chosen("cuda:cupy/*"), Kind::Kernel).unwrap()[1], "cupy/matmul");
    assert_eq!(pair(&chosen("numpy:c*"), Kind::Resident).unwrap()[1], "cuda/cublas");
}

#[test]
fn sentences_name_the_contenders() {
    let words = |text: &str| {
        let report = chosen(text);
        paragraph(&report).iter().map(Line::to_string).collect::<Vec<_>>().join("\n")
    };
    let found = words("numpy:cupy");
    let cpu = "Intel Xeon Platinum 8480C, 16 threads";
    let begin = format!(
        "cupy on NVIDIA H200 against numpy on {cpu}: at the largest size measured, cupy is faster in 1 of 1"
    );
    assert!(found.starts_with(&begin), "{found}");
    assert!(found.contains("cupy is faster at N = 1000, the only size; at N = 1000 cupy is 63x faster (cupy/matmul against numpy/matmul; kernel alone cupy 67x)"), "{found}");
    assert!(!found.contains("the GPU") && !found.contains("the CPU"), "{found}");
    let found = words("cuda:cupy");
    assert!(found.starts_with("cupy against cuda on NVIDIA H200: "), "{found}");
    let found = words("cpu,numpy:cupy,cuda,jax");
    assert!(found.starts_with("B (cupy,cuda,jax) on NVIDIA H200 against cpu,numpy on "), "{found}");
    assert!(
        found.contains("cupy,cuda,jax is faster") && found.contains("kernel alone cupy,cuda,jax 100x"),
        "{found}"
    );
    let found = words("cpu:numpy");
    assert!(
        found.starts_with(&format!("numpy against cpu on {cpu}: ")) && !found.contains("device"),
        "{found}"
    );
    assert!(
        !found.contains("kernel") && !found.contains("copies") && !found.contains("End to end"),
        "{found}"
    );
}

#[test]
fn the_size_from_which_b_is_faster_bears_its_name() {
    let mut report = example::of([100, 1000, 4000].into_iter().flat_map(|n| {
        let size = n as f64;
        example::both_sides("matmul", n, 1e-9 * size.powi(3), 310e-9 * size.powi(2))
    }));
    report.rows.iter_mut().filter(|row| row.backend == "cuda").for_each(|row| row.backend = "cupy".into());
    Versus::choose(&mut report, "cpu:cupy").unwrap();
    let section = &sections(&report)[0];
    let found = crossover(&section.comparisons, Kind::Kernel).unwrap();
    let clause = plain(&crossover_clause(&found, section.versus));
    assert!(clause.starts_with("cupy is faster from N = 310"), "{clause}");
}

#[test]
fn a_choice_is_kept_in_the_settings_and_can_be_taken_back() {
    let mut report = chosen("numpy:cupy");
    assert_eq!(report.environment.settings["versus"], "numpy:cupy");
    assert!(Versus::of(&report).is_named());
    Versus::choose(&mut report, "sides").unwrap();
    assert_eq!(report, several());
    report.environment.settings["versus"] = "nonsense".into();
    assert_eq!(Versus::of(&report), Versus::SIDES, "of an edited report");
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_next_step() {
    let forms = ["numpy", "a:b:c", "", "numpy:", ":cupy", ",:cupy"];
    assert!(forms.iter().all(|text| error(text).contains("such as numpy:cupy")), "{:?}", forms.map(error));
    assert!(error("cupy,cuda:cuda,cupy,cuda").contains("with itself"));
    let unknown = "there are no cells of 'torch': name one of cpu, numpy, cuda, cupy, jax";
    assert_eq!(error("torch:cupy"), unknown);
    assert_eq!(error("tf32:cupy"), "there is no backend 'tf32': did you mean 'cupy/tf32'?");
    assert_eq!(error("numpy:cupy/x"), "there are no cells of 'cupy/x': name one of cupy/matmul, cupy/tf32");
    let mut report = several();
    report.rows[1].outcome = Outcome::Incorrect;
    let refused = Versus::choose(&mut report, "numpy:cupy").unwrap_err();
    assert!(
        refused.starts_with("no case has a correct time of both numpy and cupy: 'gpubench show"),
        "{refused}"
    );
    assert!(!Versus::of(&report).is_named(), "the report is as it was");
}
