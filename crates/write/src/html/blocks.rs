//! Writes the blocks of documents as HTML.

use gpubench_document::blocks::{Block, DocumentSection, Inline, Remark, RichText};
use gpubench_document::table::{Column, Table, Tone};
use gpubench_text::count::counted;

use super::markup::{Element, Html, classed, element};
use super::table::{self as page_table, framed};

/// The elements for headings, by level.
const HEADINGS: [&str; 4] = ["h2", "h3", "h4", "h5"];

/// Writes blocks whose sections have headings of that level, 0 for the highest below the title. Identifiers of rows begin
/// with `prefix`.
pub(super) fn blocks(blocks: &[Block], level: usize, prefix: &str) -> Html {
    blocks.iter().map(|block| written(block, level, prefix)).collect()
}

fn written(block: &Block, level: usize, prefix: &str) -> Html {
    match block {
        Block::Paragraph(text) => element("p").holding(line(text)).into(),
        Block::Alert(alert) => classed("p", "alert").holding(format!("{}.", alert.text)).into(),
        Block::Items(items) => {
            element("ul").holding_all(items.iter().map(|item| element("li").holding(line(item)))).into()
        }
        Block::Facts(facts) => {
            page_table::facts(facts.iter().map(|(name, value)| (name.as_str(), line(value)))).into()
        }
        Block::Verbatim(text) => element("pre").holding(text.as_str()).into(),
        Block::Table(table) => {
            let title = (!table.title.is_empty()).then(|| heading(level).holding(table.title.as_str()));
            let name = if table.title.is_empty() { "table" } else { &table.title };
            title.map(Html::from).unwrap_or_default().and(framed(name, self::table(table)))
        }
        Block::Remarks(remarks) => {
            classed("ul", "reservations").holding_all(remarks.iter().map(|one| remark(one, prefix))).into()
        }
        Block::Section(section) => self::section(section, level, prefix),
    }
}

fn heading(level: usize) -> Element {
    element(HEADINGS[level.min(HEADINGS.len() - 1)])
}

fn section(section: &DocumentSection, level: usize, prefix: &str) -> Html {
    let title = section.title.as_str();
    match section.is_folded {
        true => {
            let summary = element("summary").holding(title);
            element("details").holding(summary).holding(blocks(&section.blocks, level, prefix)).into()
        }
        false => Html::from(heading(level).holding(title)).and(blocks(&section.blocks, level + 1, prefix)),
    }
}

fn remark(remark: &Remark, prefix: &str) -> Element {
    let count = if remark.count > 0 { format!(", {}", counted(remark.count, "cell")) } else { String::new() };
    let item = match remark.kind.is_empty() {
        true => element("li").holding(format!("{}. ", remark.text)),
        false => {
            let kind = element("b").holding(remark.kind.as_str());
            element("li").holding(kind).holding(format!("{count}: {}. ", remark.text))
        }
    };
    let item = item.holding_all(remark.next.as_deref().map(page_table::next_step));
    match remark.links.as_slice() {
        [] => item,
        links => {
            let link = |(id, name): &(String, String)| {
                element("li")
                    .holding(element("a").with("href", &format!("#{prefix}{id}")).holding(name.as_str()))
            };
            let summary = element("summary").holding(counted(links.len(), "cell"));
            let list = classed("ul", "cells").holding_all(links.iter().map(link));
            item.holding(element("details").holding(summary).holding(list))
        }
    }
}

/// Returns a `table` element, without its title, whose rows are cards on a phone unless columns share headings. Figures have the class `figure`, paths,
/// which break anywhere, `path`, and wrong answers `data-tone="wrong"`. Winners are badges in the colour of their side.
pub(super) fn table(table: &Table) -> Element {
    let rows = table.rows.iter().map(|row| {
        let cells = row.iter().zip(&table.columns).map(|(field, column)| {
            let side = match field.tone {
                Tone::Cpu => Some("cpu"),
                Tone::Gpu => Some("gpu"),
                _ => None,
            };
            let cell = match side {
                Some(side) => {
                    let badge = classed("span", "badge").with("data-side", side);
                    element("td").holding(badge.holding(field.text.as_str()))
                }
                None => element("td").holding(field.text.as_str()),
            };
            let cell = aligned(cell, column);
            let cell = if field.text.starts_with('/') { cell.with("class", "path") } else { cell };
            let cell = cell.with("data-label", &column.full_heading());
            if field.tone == Tone::Wrong { cell.with("data-tone", "wrong") } else { cell }
        });
        element("tr").holding_all(cells)
    });
    let class = if has_groups(table) { "overview" } else { "cards" };
    classed("table", class).holding(head(table)).holding(element("tbody").holding_all(rows))
}

fn has_groups(table: &Table) -> bool {
    table.columns.iter().any(|column| !column.group.is_empty())
}

/// The headings: one row, or a row of those that several columns share above them.
fn head(table: &Table) -> Element {
    let heading = |column: &Column| {
        let cell = element("th").with("scope", "col").holding(column.heading.as_ref());
        aligned(cell, column)
    };
    if !has_groups(table) {
        return element("thead").holding(element("tr").holding_all(table.columns.iter().map(heading)));
    }
    let runs = table.columns.chunk_by(|one, other| one.group == other.group && !one.group.is_empty());
    let above = runs.map(|run| match run {
        [column] if column.group.is_empty() => heading(column).with("rowspan", "2"),
        _ => {
            let group = classed("th", "group").with("scope", "colgroup");
            group.with("colspan", &run.len().to_string()).holding(run[0].group.as_ref())
        }
    });
    let below = table.columns.iter().filter(|column| !column.group.is_empty()).map(heading);
    let rows = [element("tr").holding_all(above), element("tr").holding_all(below)];
    element("thead").holding_all(rows)
}

fn aligned(cell: Element, column: &Column) -> Element {
    if column.figures { cell.with("class", "figure") } else { cell }
}

fn line(text: &RichText) -> Html {
    let part = |part: &Inline| match part {
        Inline::Plain(text) => Html::text(text),
        Inline::Code(text) => element("code").holding(text.as_str()).into(),
    };
    text.0.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_marks_figures_and_wrong_answers() {
        let columns = vec![Column::words("name"), Column::figures("N")];
        let wrong = gpubench_document::table::Field { text: "b|c".into(), tone: Tone::Wrong };
        let made = Table::untitled(columns, vec![vec![wrong, "5".into()]]);
        let expected = "<table class=\"cards\"><thead><tr><th scope=\"col\">name</th><th scope=\"col\" class=\"figure\">N</th></tr></thead>\
            <tbody><tr><td data-label=\"name\" data-tone=\"wrong\">b|c</td><td class=\"figure\" data-label=\"N\">5</td></tr></tbody></table>";
        assert_eq!(Html::from(table(&made)).into_string(), expected);
    }

    #[test]
    fn remarks_link_to_the_rows_of_their_report() {
        let remark = Remark {
            kind: "spread".into(),
            count: 1,
            text: "a < b".into(),
            next: Some("run again".into()),
            links: vec![("row-1".into(), "fft".into())],
            ..Remark::default()
        };
        let html = blocks(&[Block::Remarks(vec![remark])], 0, "m2-").into_string();
        for expected in ["<b>spread</b>, 1 cell: a &lt; b. ", "Next: run again.", "href=\"#m2-row-1\""] {
            assert!(html.contains(expected), "{expected}: {html}");
        }
    }
}
