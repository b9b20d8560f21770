//! A BLAS that computes nothing.

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
