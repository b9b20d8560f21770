//! A fleet as one page of HTML, which [`gpubench_render::html`] makes.

use gpubench_model::format::Makes;
use gpubench_render::html::page;

use super::contents::Format;

pub(crate) static HTML: Format = Format {
    name: "html",
    summary: "one page: the answer and every row of each member",
    by_default: false,
    makes: Makes::Text("fleet.html", |fleet, _| page(&fleet.named().collect::<Vec<_>>())),
};
