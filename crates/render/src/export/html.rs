//! Writes a report as one HTML page, made by [`crate::html`].

use gpubench_model::format::Makes;

use super::view::Format;
use crate::html::page;

pub(crate) static HTML: Format = Format {
    name: "html",
    summary: "one page: the answer, charts and every row to sort and filter",
    by_default: false,
    makes: Makes::Text("report.html", |report, _| page(&[("", report)])),
};
