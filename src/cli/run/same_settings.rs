//! The rows of an earlier start that a resumed run keeps.

use anyhow::Result;
use serde_json::Value;

use crate::executor::Earlier;
use crate::report::Row;
use crate::settings::Settings;

/// Keeps the rows whose settings are those of the resumed run: a sweep file may have changed meanwhile.
pub(super) fn keep_same_settings(earlier: &mut Earlier, settings: &Settings) -> Result<()> {
    let (was, is) = (earlier.environment.settings.clone(), serde_json::to_value(settings)?);
    let same_options = was["options"] == is["options"];
    earlier.retain(|row| {
        same_options && sampling(&was, row).is_some_and(|found| sampling(&is, row) == Some(found))
    });
    Ok(())
}

/// Returns how the settings sample the op of a row.
fn sampling<'a>(settings: &'a Value, row: &Row) -> Option<&'a Value> {
    let sweeps = settings["sweeps"].as_array()?;
    let of_op = |sweep: &&Value| {
        let sizes = sweep["sizes"].as_array().is_some_and(|sizes| sizes.iter().any(|n| *n == row.case.n));
        sweep["op"] == row.case.op.as_str() && (sizes || row.added_by_refinement)
    };
    sweeps.iter().find(of_op).map(|sweep| &sweep["sampling"])
}
