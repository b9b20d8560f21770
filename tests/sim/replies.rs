//! The replies of a worker are checked before they enter a report: impossible figures cost the cells of that worker,
//! and the report stays readable.

use gpubench::report::{Outcome, Row};

use crate::sim::stage::{Stage, reason};

const PREPARED: &str = r#"{"type":"prepared","error":{"value":1e-9,"bound":1e-6},"inputs":"00000000000000ff","phases":{"inputs_s":0.1,"prepare_s":0.1,"first_s":0.1,"download_s":0.1,"check_s":0.1},"libraries":[]}"#;
const MEASURED: &str = r#"{"type":"measured","clock":"host","result":{"samples":[{"host_s":0.001},{"host_s":0.001}],"warmups":2,"warmup_s":0.1,"steady":true,"discarded":0,"spent_s":0.01,"setup_while_sampling":{"allocations":0,"plans":0,"compilations":0}}}"#;

/// Returns the row of a cell whose worker gives these replies to `prepare` and `measure`.
fn row(prepared: &str, measured: &str) -> Row {
    let mut stage = Stage::new("[[variant]]\nname = 'a'\n", "sin", &[2]);
    stage.work_by(&format!(
        "while read -r line; do case \"$line\" in\n\
         *'\"hello\"'*) echo '{{\"type\":\"ready\",\"description\":{{}}}}' ;;\n\
         *'\"prepare\"'*) echo '{prepared}' ;;\n*'\"measure\"'*) echo '{measured}' ;;\n\
         *'\"verify\"'*) echo '{{\"type\":\"verified\"}}' ;;\n*'\"release\"'*) echo '{{\"type\":\"released\"}}' ;;\n\
         *'\"exit\"'*) exit 0 ;;\nesac; done\n"
    ));
    let report = stage.finish();
    assert_eq!(stage.saved().rows, report.rows);
    report.rows[0].clone()
}

#[test]
fn figures_that_make_no_sense_fail_the_cell_and_leave_a_report_that_can_be_read() {
    let sound = row(PREPARED, MEASURED);
    assert_eq!(sound.outcome, Outcome::Measured, "{:?}", sound.reason);
    // An error beyond its bound is never measured.
    let wrong = row(&PREPARED.replace("1e-9", "1e-3"), MEASURED);
    assert_eq!((wrong.outcome, wrong.execute.is_none()), (Outcome::Incorrect, true));
    assert!(reason(&wrong).contains("exceeds the bound"), "{}", reason(&wrong));
    let with = |more: &str| PREPARED.replace(r#""libraries""#, &format!(r#"{more},"libraries""#));
    for prepared in [with(r#""threads":0"#), with(r#""picked":"../x""#), with(r#""picked":"a\u001b[31m""#)] {
        let row = row(&prepared, MEASURED);
        assert_eq!((row.outcome, row.execute.is_none()), (Outcome::Failed, true), "{prepared}");
        assert!(reason(&row).contains("sent an invalid reply"), "{prepared}: {}", reason(&row));
    }
    for time in ["1e300", "-1.0"] {
        // Times that are not the cell's count in the report's own figures.
        for key in ["inputs_s", "check_s"] {
            let prepared = PREPARED.replace(&format!("\"{key}\":0.1"), &format!("\"{key}\":{time}"));
            assert_eq!(row(&prepared, MEASURED).outcome, Outcome::Failed, "{key} {time}");
        }
        for key in ["warmup_s\":0.1", "spent_s\":0.01"] {
            let name = key.split(':').next().unwrap();
            row(PREPARED, &MEASURED.replace(key, &format!("{name}:{time}")));
        }
        let row = row(PREPARED, &MEASURED.replace("0.001", time));
        assert_eq!((row.outcome, row.execute.is_none()), (Outcome::Failed, true), "{time}");
    }
}
