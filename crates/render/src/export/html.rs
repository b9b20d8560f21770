//! The report as one page of HTML: [`crate::html`] makes it.

use gpubench_model::format::Makes;

use super::view::Format;
use crate::html::page;

pub(crate) static HTML: Format = Format {
    name: "html",
    summary: "one page: the answer, charts and every row to sort and filter",
    by_default: false,
    makes: Makes::Text("report.html", |report, _| page(&[("", report)])),
};
