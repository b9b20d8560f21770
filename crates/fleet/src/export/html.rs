//! A fleet as one HTML page, rendered by [`gpubench_render::html`].

use gpubench_model::format::Makes;
use gpubench_render::html::page;

use super::contents::Format;

pub(crate) static HTML: Format = Format {
    name: "html",
    summary: "one page: the answer and every row of each member",
    by_default: false,
    makes: Makes::Text("fleet.html", |fleet, _| page(&fleet.named().collect::<Vec<_>>())),
};
