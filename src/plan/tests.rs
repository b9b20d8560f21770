use std::borrow::Cow;

use super::*;
use crate::backend::{Accuracy, Side};
use crate::case::DType;
use crate::settings::options::{DTypes, Sizes, SweepOptions};
use crate::settings::resolve::Request;

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
        library: None,
    }
}

fn tables() -> Vec<BackendVariants> {
    let cpu = vec![
        variant("matmul", "openblas", true, DType::ALL),
        variant("matmul", "faer", true, DType::ALL),
        variant("matmul", "naive", false, DType::ALL),
        variant("fft", "realfft", true, DType::ALL),
    ];
    let cuda = vec![
        variant("matmul", "cublas", true, DType::ALL),
        variant("matmul", "cublas-tf32", false, &[DType::F32]),
    ];
    vec![
        BackendVariants { backend: "cpu".into(), variants: cpu },
        BackendVariants { backend: "cuda".into(), variants: cuda },
    ]
}

fn settings(ops: &str, sizes: &[u64], dtypes: &[DType], variants: Option<&str>) -> Settings {
    let options = SweepOptions {
        ops: ops.parse().ok(),
        sizes: Some(Sizes(sizes.to_vec())),
        dtypes: Some(DTypes(dtypes.to_vec())),
        variants: variants.and_then(|list| list.parse().ok()),
        ..SweepOptions::default()
    };
    Settings::resolve(Request { options, ..Request::default() }, None).unwrap()
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
    let mut settings = settings("fft,matmul", &[2, 10], &[DType::F64, DType::F32], None);
    settings.sweeps.reverse();
    let expected = [
        "matmul N=2 f32 cpu/openblas cold",
        "matmul N=2 f32 cpu/faer cold",
        "matmul N=2 f32 cuda/cublas cold",
        "matmul N=10 f32 cpu/openblas cold",
        "matmul N=10 f32 cpu/faer cold",
        "matmul N=10 f32 cuda/cublas cold",
        "matmul N=2 f64 cpu/openblas cold",
        "matmul N=2 f64 cpu/faer cold",
        "matmul N=2 f64 cuda/cublas cold",
        "matmul N=10 f64 cpu/openblas cold",
        "matmul N=10 f64 cpu/faer cold",
        "matmul N=10 f64 cuda/cublas cold",
        "fft N=2 f32 cpu/realfft cold",
        "fft N=10 f32 cpu/realfft cold",
        "fft N=2 f64 cpu/realfft cold",
        "fft N=10 f64 cpu/realfft cold",
    ];
    assert_eq!(planned(&settings), expected);
}

#[test]
fn patterns_choose_among_all_variants_in_the_dtypes_they_support() {
    let chosen = settings("matmul", &[4], DType::ALL, Some("naive,cuda/*"));
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
    let mut settings = settings("fft", &[4], &[DType::F32], None);
    let mut again = settings.sweeps[0].clone();
    again.sizes = vec![4, 8];
    again.sampling.samples = Some(1);
    settings.sweeps.push(again);
    let plan = Plan::from_tables(&settings, &tables()).unwrap();
    let samples: Vec<Option<u32>> = plan.cells.iter().map(|planned| planned.sampling.samples).collect();
    assert_eq!(samples, [None, Some(1)]);
}

#[test]
fn a_pattern_without_a_match_names_the_nearest_variant() {
    for (variants, expected) in [
        ("cublass", "--variants: unknown variant 'cublass': did you mean 'cublas'?"),
        ("cpu/fear", "--variants: unknown variant 'cpu/fear': did you mean 'cpu/faer'?"),
        ("*,zzz*", "--variants: unknown variant 'zzz*' ('gpubench list' names them all)"),
        ("realfft", "--variants: variant 'realfft' is not in this run: cpu/realfft computes fft"),
    ] {
        let message = refused(&settings("matmul", &[4], &[DType::F32], Some(variants)));
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn variants_that_leave_a_backend_without_cells_get_a_note() {
    for (variants, expected) in [
        (Some("faer"), &["Note: no CUDA variant matches --variants faer; only the CPU is measured."][..]),
        (Some("cublas*"), &["Note: no CPU variant matches --variants cublas*; only the GPU is measured."]),
        (Some("faer,cublas"), &[]),
        (None, &[]),
    ] {
        let settings = settings("matmul", &[4], &[DType::F32], variants);
        let plan = Plan::from_tables(&settings, &tables()).unwrap();
        assert_eq!(plan.notes(&settings, &[]), expected, "{variants:?}");
    }
}

#[test]
fn an_empty_plan_says_what_to_change() {
    for (settings, expected) in [
        (settings("svd", &[4], &[DType::F32], None), "has no variant of svd"),
        (
            settings("matmul", &[4], &[DType::F64], Some("cublas-tf32")),
            "supports f64; change --dtypes or --variants",
        ),
    ] {
        let message = refused(&settings);
        assert!(message.starts_with("nothing to run: ") && message.contains(expected), "{message}");
    }
}

#[test]
fn a_large_plan_is_made_and_an_absurd_one_refused() {
    let sizes: Vec<u64> = (1..=50_000).collect();
    assert_eq!(planned(&settings("fft", &sizes, &[DType::F32], None)).len(), 50_000);
    let sizes: Vec<u64> = (1..=1_000_000).collect();
    let message = refused(&settings("matmul", &sizes, &[DType::F32], None));
    assert!(message.starts_with("the plan has 3000000 cells, more than 1000000"), "{message}");
}

#[test]
fn fewer_threads_make_cells_in_addition_to_those_of_all_threads() {
    let mut settings = settings("fft", &[2, 10], &[DType::F32], None);
    settings.fewer_threads = vec![1, 16];
    settings.sweeps.push(settings.sweeps[0].clone());
    let expected = ["realfft", "realfft@1", "realfft@16"];
    let plan = Plan::from_tables(&settings, &tables()).unwrap();
    let names: Vec<&str> = plan.cells.iter().map(|planned| planned.cell.variant.as_str()).collect();
    assert_eq!(names, [expected, expected].concat());
    assert_eq!(workers(&plan)[..3], ["cpu", "cpu@1", "cpu@16"]);
    assert!(plan.cells.iter().all(|planned| planned.variant.name == "realfft"));
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
    let mut settings = settings("matmul,fft", &[2], &[DType::F32], Some("cpu/*"));
    settings.fewer_threads = vec![1];
    let plan = Plan::from_tables(&settings, &tables).unwrap();
    let expected = ["cpu (openblas)", "cpu@1 (openblas)", "cpu (mkl)", "cpu@1 (mkl)", "cpu", "cpu@1"];
    assert_eq!(workers(&plan)[..6], expected);
}
