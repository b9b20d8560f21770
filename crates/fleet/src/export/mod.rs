//! Fleets as text, Markdown, CSV and JSON: bytes from tables and findings.

mod csv;
mod grid;
mod json;
mod sheet;
mod text;

use anyhow::{Result, bail};
use gpubench_model::Side;
use gpubench_render::Format;

use super::finding::Finding;
use super::findings::{calm, findings};
use super::{Fleet, Table};

/// Everything that is shown of a fleet.
pub struct Shown<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// GPUs, then hosts; sides that no member has are left out.
    pub tables: Vec<Table>,
    /// What stands out on either side.
    pub findings: Vec<Finding>,
    /// The kinds of which there is nothing to tell, a line each.
    pub calm: Vec<String>,
}

impl<'a> Shown<'a> {
    /// What is shown of `fleet`.
    pub fn of(fleet: &'a Fleet) -> Shown<'a> {
        let tables: Vec<Table> = [Side::Gpu, Side::Cpu]
            .into_iter()
            .map(|side| Table::of(fleet, side))
            .filter(|table| !table.columns.is_empty())
            .collect();
        let found: Vec<Finding> = tables.iter().flat_map(findings).collect();
        let calm = tables
            .iter()
            .flat_map(|table| {
                let of_side: Vec<Finding> =
                    found.iter().filter(|finding| finding.side == table.side).cloned().collect();
                calm(table, &of_side)
            })
            .collect();
        Shown { fleet, tables, findings: found, calm }
    }
}

/// A fleet in one of the formats of one file.
///
/// # Errors
/// The format is one of several files, or the page cannot be drawn.
pub fn bytes(fleet: &Fleet, format: Format, color: bool) -> Result<Vec<u8>> {
    let shown = Shown::of(fleet);
    Ok(match format {
        Format::Table => text::text(&shown, color).into_bytes(),
        Format::Md => text::markdown(&shown).into_bytes(),
        Format::Csv => csv::csv(&shown).into_bytes(),
        Format::Json => json::json(&shown)?,
        Format::Html => gpubench_render::html::page(&fleet.named().collect::<Vec<_>>())?.into_bytes(),
        Format::Png | Format::Svg => {
            let name = format.name();
            bail!("{name} charts are files: draw them with 'gpubench plot'")
        }
    })
}

#[cfg(test)]
mod tests;
