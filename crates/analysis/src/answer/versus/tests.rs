use gpubench_report::Side;
use gpubench_report::report::{Outcome, example};

use super::*;
use crate::answer::{Comparison, Kind, Names, sections};

fn chosen(text: &str) -> Report {
    let mut report = example::several();
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
    Versus::choose(&mut example::several(), text).unwrap_err()
}

#[test]
fn without_a_choice_the_best_of_all_backends_represents_its_side() {
    let report = example::several();
    assert_eq!(pair(&report, Kind::Kernel).unwrap(), ["numpy/matmul", "cuda/cublas"]);
    let bests = case(&report).bests().map(|row| row.unwrap().backend.as_str());
    assert_eq!(bests, ["numpy", "cuda"]);
}

#[test]
fn a_gpu_without_a_device_clock_takes_part_in_all_but_kernel_times() {
    let mut report = example::several();
    assert_eq!(pair(&report, Kind::Kernel).unwrap()[1], "cuda/cublas");
    assert_eq!(pair(&report, Kind::Resident).unwrap()[1], "jax/jit", "55 us against 65 us");
    assert_eq!(pair(&report, Kind::EndToEnd).unwrap()[1], "jax/jit");
    report.rows.retain(|row| row.side == Side::Cpu || row.backend == "jax");
    assert_eq!(pair(&report, Kind::Kernel), None, "a host time against a host time with a launch");
    assert_eq!(case(&report).b.map(|row| row.variant.as_str()), Some("jit"), "tables show it all the same");
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
fn a_choice_is_kept_in_the_settings_and_can_be_taken_back() {
    let mut report = chosen("numpy:cupy");
    assert_eq!(report.environment.settings["versus"], "numpy:cupy");
    assert!(Versus::of(&report).is_named());
    Versus::choose(&mut report, "sides").unwrap();
    assert_eq!(report, example::several());
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
    assert_eq!(error("numpy:cupy/x"), "there are no cells of 'cupy/x': name one of cupy/matmul, cupy/tf32");
    let mut report = example::several();
    report.rows[1].outcome = Outcome::Incorrect;
    let refused = Versus::choose(&mut report, "numpy:cupy").unwrap_err();
    assert!(
        refused.starts_with("no case has a correct time of both numpy and cupy: 'gpubench show"),
        "{refused}"
    );
    assert!(!Versus::of(&report).is_named(), "the report is as it was");
}
