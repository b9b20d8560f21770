//! A BLAS that computes nothing, and one whose version changes.

use crate::Sandbox;

/// A library that passes for OpenBLAS and leaves every answer as it was.
const IDLE: &str = r#"
const char *openblas_get_config(void) { return "OpenBLAS 9.9.9 "; }
const char *openblas_get_corename(void) { return "Idle"; }
int openblas_get_parallel(void) { return 0; }
int openblas_get_num_threads(void) { return 1; }
#define IDLE(name) void name(void) {}
IDLE(openblas_set_num_threads) IDLE(sgemm_) IDLE(dgemm_) IDLE(sposv_) IDLE(dposv_) IDLE(sgesv_) IDLE(dgesv_)
IDLE(sgesdd_) IDLE(dgesdd_) IDLE(sgesvd_) IDLE(dgesvd_) IDLE(spotrf_) IDLE(dpotrf_) IDLE(strsm_) IDLE(dtrsm_)
IDLE(ssyrk_) IDLE(dsyrk_) IDLE(strsv_) IDLE(dtrsv_)
"#;

/// A product that is right.
const RIGHT: &str = r#"
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc) {
    int ra = (*ta | 32) == 'n' ? 1 : *lda, ca = (*ta | 32) == 'n' ? *lda : 1;
    int rb = (*tb | 32) == 'n' ? 1 : *ldb, cb = (*tb | 32) == 'n' ? *ldb : 1;
    for (int i = 0; i < *m; i++)
        for (int j = 0; j < *n; j++) {
            double sum = 0;
            for (int l = 0; l < *k; l++) sum += a[i * ra + l * ca] * b[l * rb + j * cb];
            c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
        }
}
"#;

#[test]
fn a_resumed_run_refuses_another_version_of_a_library() {
    let sandbox = Sandbox::new();
    let install = |version: &str| {
        let text = IDLE.replace("9.9.9", version).replace("IDLE(dgemm_)", "");
        sandbox.library("libopenblas.so.0", &format!("{text}{RIGHT}"))
    };
    let Some(library) = install("9.9.8") else { return };
    let words = format!(
        "run --no-peaks --samples 3 --backends cpu --ops matmul --dtypes f64 --sizes 8,16 --variants openblas --blas {} --out kept",
        library.display()
    );
    let run = |words: &str| sandbox.gpubench(words, &[]).output().unwrap();
    let ran = run(&words);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let path = sandbox.path("kept").join("report.json");
    let report = || -> serde_json::Value { serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap() };
    let mut first = report();
    first["rows"].as_array_mut().unwrap().retain(|row| row["n"] == 8);
    std::fs::write(&path, first.to_string()).unwrap();
    install("9.9.9");
    let outcome = |n: u64| {
        let report = report();
        let row = report["rows"].as_array().unwrap().iter().find(|row| row["n"] == n).unwrap().clone();
        (row["outcome"].as_str().unwrap().to_owned(), row["reason"].to_string())
    };
    let resume = format!("run --resume kept --blas {}", library.display());
    run(&resume);
    let (failed, reason) = outcome(16);
    assert_eq!(failed, "failed", "{reason}");
    assert!(reason.contains("version of OpenBLAS was") && reason.contains("9.9.8"), "{reason}");
    assert_eq!(outcome(8).0, "measured", "what is finished stays");
    run(&format!("{resume} --force"));
    assert_eq!(outcome(16).0, "measured");
}

#[test]
fn a_blas_that_answers_wrongly_has_no_times_and_the_others_have() {
    let sandbox = Sandbox::new();
    let Some(library) = sandbox.library("libopenblas.so.0", IDLE) else { return };
    let words = format!(
        "--backends cpu --ops matmul --sizes 8,16 --variants openblas,faer --blas {}",
        library.display()
    );
    let ran = sandbox.run(&words, &[]);
    for row in ran.rows("cpu") {
        if row["variant"] == "faer" {
            assert_eq!(row["outcome"], "measured", "{row}");
        } else {
            assert_eq!(row["outcome"], "incorrect", "{row}");
            assert!(row["reason"].as_str().unwrap().contains("the answer is wrong"), "{row}");
            assert!(row["execute"].is_null() && row["end_to_end"].is_null(), "{row}");
        }
    }
    assert_eq!(ran.rows("cpu").len(), 4);
    assert_eq!(ran.code, Some(1));
}

#[test]
fn a_row_has_the_threads_that_openmp_gives_the_library() {
    const PTHREADS: u64 = 1;
    const OPENMP: u64 = 2;
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return crate::leave_out("this machine has one CPU");
    }
    // Where it may, the job tries two threads, and the library writes that down.
    const WRITES: &str = r#"#include <stdio.h>
#include <stdlib.h>
static int threads = 1;
void openblas_set_num_threads(int count) {
    threads = count;
    if (count == 2) fclose(fopen(getenv("STUB_LOG"), "w"));
}
int openblas_get_num_threads(void) { return threads; }
"#;
    let words = "--backends cpu --ops matmul --sizes 8 --dtypes f64 --threads 2 --variants openblas --blas";
    for (parallel, limit, may) in
        [(OPENMP, "1", false), (PTHREADS, "1", true), (OPENMP, "64", true), (OPENMP, "x", true)]
    {
        let sandbox = Sandbox::new();
        let text = IDLE.replace("IDLE(dgemm_)", "").replace("IDLE(openblas_set_num_threads)", "");
        let text = text.replace("int openblas_get_num_threads(void) { return 1; }", WRITES);
        let text = text.replace(
            "int openblas_get_parallel(void) { return 0; }",
            &format!("int openblas_get_parallel(void) {{ return {parallel}; }}"),
        );
        let Some(library) = sandbox.library("libopenblas.so.0", &format!("{text}{RIGHT}")) else { return };
        let log = sandbox.path("log");
        let variables = [("OMP_THREAD_LIMIT", limit), ("STUB_LOG", log.to_str().unwrap())];
        let ran = sandbox.run(&format!("{words} {}", library.display()), &variables);
        let row = ran.rows("cpu")[0];
        assert_eq!(log.exists(), may, "{parallel} {limit}: {row}");
        assert!(may || row["threads"] == 1, "{row}");
    }
}
