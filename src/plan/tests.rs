use std::borrow::Cow;

use super::*;
use crate::backend::{Accuracy, Shapes, Side};
use crate::case::DType;
use crate::settings::OutputSettings;
use crate::settings::options::tests::options;

fn variant(op: &'static str, name: &'static str, default: bool, dtypes: &'static [DType]) -> Variant {
    Variant {
        op: Cow::Borrowed(op),
        name: Cow::Borrowed(name),
        summary: Cow::Borrowed("a test's variant"),
        side: Side::Cpu,
        accuracy: Accuracy::Ieee,
        origin: None,
        default,
        dtypes: Cow::Borrowed(dtypes),
        shapes: Shapes::Square,
        library: None,
    }
}

fn tables() -> Vec<BackendVariants> {
    let cpu = vec![
        variant("matmul", "openblas", true, DType::REAL),
        variant("matmul", "faer", true, DType::REAL),
        variant("matmul", "naive", false, DType::REAL),
        variant("fft", "realfft", true, DType::REAL),
    ];
    let cuda = vec![
        variant("matmul", "cublas", true, DType::REAL),
        variant("matmul", "cublas-tf32", false, &[DType::F32]),
    ];
    vec![
        BackendVariants { backend: "cpu".into(), variants: cpu },
        BackendVariants { backend: "cuda".into(), variants: cuda },
    ]
}

fn settings(line: &str) -> Settings {
    Settings::resolve(options(line), OutputSettings::default(), None).unwrap()
}

fn planned(settings: &Settings) -> Vec<String> {
    let plan = Plan::from_tables(settings, &tables()).unwrap();
    plan.cells.iter().map(|planned| planned.cell.to_string()).collect()
}

fn refused(settings: &Settings) -> String {
    Plan::from_tables(settings, &tables()).map_or_else(|e| format!("{e:#}"), |plan| format!("{plan:?}"))
}

#[test]
fn cells_are_sorted_by_op_dtype_size_and_backend() {
    let mut settings = settings("--ops fft,matmul --sizes 2,10 --dtypes all");
    settings.sweeps.reverse();
    let mut expected = vec![];
    for (op, variants) in
        [("matmul", &["cpu/openblas", "cpu/faer", "cuda/cublas"][..]), ("fft", &["cpu/realfft"])]
    {
        for case in ["N=2 f32", "N=10 f32", "N=2 f64", "N=10 f64"] {
            expected.extend(variants.iter().map(|variant| format!("{op} {case} {variant} cold")));
        }
    }
    assert_eq!(planned(&settings), expected);
}

#[test]
fn patterns_choose_among_all_variants_in_the_dtypes_they_support() {
    let chosen = settings("--ops matmul --sizes 4 --dtypes all --variants naive,cuda/*");
    let expected = [
        "matmul N=4 f32 cpu/naive cold",
        "matmul N=4 f32 cuda/cublas cold",
        "matmul N=4 f32 cuda/cublas-tf32 cold",
        "matmul N=4 f64 cpu/naive cold",
        "matmul N=4 f64 cuda/cublas cold",
    ];
    assert_eq!(planned(&chosen), expected);
}

#[test]
fn a_cell_of_two_sweeps_is_planned_once_as_the_first_says() {
    let mut settings = settings("--ops fft --sizes 4");
    let mut again = settings.sweeps[0].clone();
    again.sizes = vec![4, 8];
    again.sampling.samples = Some(1);
    settings.sweeps.push(again);
    let plan = Plan::from_tables(&settings, &tables()).unwrap();
    let samples: Vec<Option<u32>> = plan.cells.iter().map(|planned| planned.sampling.samples).collect();
    assert_eq!(samples, [None, Some(1)]);
}

#[test]
fn a_problem_that_is_written_in_several_ways_is_planned_once() {
    let mut settings = settings("--ops matmul --shape m=64,n=64,k=64,m=N,n=N,k=N --sizes 64 --batch 1");
    settings.sweeps.extend(self::settings("--ops matmul --sizes 64").sweeps);
    assert_eq!(planned(&settings).len(), 3);
    // One transform of each batch, not transforms of two axes.
    let batches = self::settings("--ops fft --shape N --batch N --sizes 8");
    assert_eq!(batches.sweeps[0].shapes[0].shape.as_ref().map(ToString::to_string), Some("N batch N".into()));
}

#[test]
fn a_pattern_without_a_match_names_the_nearest_variant() {
    for (variants, expected) in [
        ("cublass", "no chosen backend has a variant 'cublass' of a chosen op: did you mean 'cublas'?"),
        ("cpu/fear", "variant 'cpu/fear' of a chosen op: did you mean 'faer'?"),
        ("*,zzz*", "variant 'zzz*' of a chosen op; 'gpubench list'"),
        ("realfft", "variant 'realfft' of a chosen op; 'gpubench list'"),
    ] {
        let message = refused(&settings(&format!("--ops matmul --sizes 4 --variants {variants}")));
        assert!(message.starts_with("--variants: ") && message.contains(expected), "{message}");
    }
}

#[test]
fn an_empty_plan_says_what_to_change() {
    for (settings, expected) in [
        (settings("--ops svd --sizes 4"), "no chosen variant of svd"),
        (settings("--ops matmul --dtypes f64 --variants cublas-tf32"), "computes f64 in these shapes"),
    ] {
        let message = refused(&settings);
        assert!(message.starts_with("nothing to run: ") && message.contains(expected), "{message}");
    }
}

#[test]
fn a_large_plan_is_made_and_an_absurd_one_refused() {
    assert_eq!(planned(&settings("--ops fft --sizes 1..50000:+1")).len(), 50_000);
    let message = refused(&settings("--ops matmul --sizes 1..1000000:+1"));
    assert!(message.starts_with("the plan has 3000000 cells, more than 1000000"), "{message}");
}

fn workers(plan: &Plan) -> Vec<String> {
    plan.cells.iter().map(|planned| planned.worker().to_string()).collect()
}

#[test]
fn each_library_has_a_worker_of_its_own_on_every_number_of_threads() {
    let mut tables = tables();
    for (variant, library) in tables[0].variants.iter_mut().zip(["openblas", "mkl"]) {
        variant.library = Some(library.into());
    }
    let mut settings = settings("--ops matmul,fft --sizes 2 --variants cpu/*");
    settings.fewer_threads = vec![1];
    let plan = Plan::from_tables(&settings, &tables).unwrap();
    let names: Vec<&str> = plan.cells.iter().map(|planned| planned.cell.variant.as_str()).collect();
    assert_eq!(names[..4], ["openblas", "openblas@1", "faer", "faer@1"]);
    assert_eq!(plan.cells[1].variant.name, "openblas");
    let expected = ["cpu (openblas)", "cpu@1 (openblas)", "cpu (mkl)", "cpu@1 (mkl)", "cpu", "cpu@1"];
    assert_eq!(workers(&plan)[..6], expected);
}
