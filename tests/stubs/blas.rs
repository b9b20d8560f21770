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

#[test]
fn a_library_without_complex_routines_is_measured_with_real_numbers() {
    let sandbox = Sandbox::new();
    let text = IDLE.replace("IDLE(dgemm_)", "");
    let Some(library) = sandbox.library("libopenblas.so.0", &format!("{text}{RIGHT}")) else { return };
    let words =
        "--backends cpu --ops matmul,solve,svd --sizes 8 --dtypes f64,c128 --variants openblas --blas";
    let ran = sandbox.run(&format!("{words} {}", library.display()), &[]);
    assert_eq!(ran.rows("cpu").iter().filter(|row| row["dtype"] == "c128").count(), 3);
    for row in ran.rows("cpu") {
        let outcome = match (row["dtype"].as_str(), row["op"].as_str()) {
            (Some("c128"), _) => "skipped",
            (_, Some("matmul")) => "measured",
            // The stub solves and decomposes nothing.
            _ => continue,
        };
        assert_eq!(row["outcome"], outcome, "{row}");
        assert!(outcome == "measured" || row["reason"].as_str().unwrap().contains("complex128"), "{row}");
    }
}
