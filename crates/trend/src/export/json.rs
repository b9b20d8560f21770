//! A trend as JSON: every series with its times, levels and steps.

use gpubench_model::format::Makes;
use gpubench_model::report::file::to_json_text;

use super::view::Format;
use crate::FILE_NAME;

pub(crate) static JSON: Format = Format {
    name: "json",
    summary: "every series with its times, levels and steps, for programs",
    by_default: true,
    makes: Makes::Text(FILE_NAME, |trend, _| to_json_text(trend)),
};
