//! The report as one page of HTML: [`crate::html`] makes it.

use gpubench_model::report::Report;

use super::{Exporter, File, View};
use crate::html::page;

/// The report as a page.
pub struct Html;

impl Exporter for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn summary(&self) -> &'static str {
        "one page: the answer, charts and every row to sort and filter"
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn files(&self, report: &Report, _: &View) -> anyhow::Result<Vec<File>> {
        Ok(vec![File { name: "report.html".into(), bytes: page(&[("", report)])?.into_bytes() }])
    }
}
