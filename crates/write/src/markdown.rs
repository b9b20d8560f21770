//! Writes documents as Markdown.

use std::fmt::Write;

use gpubench_document::blocks::{Block, Document, DocumentSection, Inline, Remark, RichText};
use gpubench_document::table::{Column, Field, Table};
use gpubench_text::control::spelled_out;
use gpubench_text::escape::markdown as escape;

/// Writes a document under its title.
pub fn document(document: &Document) -> String {
    let mut text = format!("# {}\n\n", escape(&document.title));
    text.push_str(&blocks(&document.blocks, 2));
    format!("{}\n", text.trim_end())
}

/// Writes blocks whose sections have headings of that level, each block followed by an empty line.
fn blocks(blocks: &[Block], level: usize) -> String {
    blocks.iter().map(|block| written(block, level)).collect()
}

fn written(block: &Block, level: usize) -> String {
    match block {
        Block::Paragraph(text) => format!("{}\n\n", line(text)),
        Block::Alert(alert) => format!("**{}.**\n\n", escape(&alert.text)),
        Block::Items(items) => {
            items.iter().map(|item| format!("- {}\n", line(item))).chain(["\n".into()]).collect()
        }
        Block::Facts(facts) => {
            let fact = |(name, value): &(String, RichText)| format!("- {}: {}\n", escape(name), line(value));
            facts.iter().map(fact).chain(["\n".into()]).collect()
        }
        Block::Verbatim(text) => format!("```text\n{}\n```\n\n", text.replace("```", "'''")),
        Block::Table(table) if table.title.is_empty() => format!("{}\n", self::table(table)),
        Block::Table(table) => {
            format!("{} {}\n\n{}\n", "#".repeat(level), escape(&table.title), self::table(table))
        }
        Block::Remarks(remarks) => self::remarks(remarks),
        Block::Section(section) => self::section(section, level),
    }
}

fn section(section: &DocumentSection, level: usize) -> String {
    let (title, content) = (escape(&section.title), &section.blocks);
    match section.is_folded {
        true => {
            format!("<details>\n<summary>{title}</summary>\n\n{}</details>\n\n", blocks(content, level))
        }
        false => format!("{} {title}\n\n{}", "#".repeat(level), blocks(content, level + 1)),
    }
}

/// Writes remarks about cells as a table, and others as a list.
fn remarks(remarks: &[Remark]) -> String {
    let (of_cells, of_whole): (Vec<&Remark>, Vec<&Remark>) =
        remarks.iter().partition(|remark| remark.count > 0);
    let mut text = String::new();
    if !of_cells.is_empty() {
        let shown = if of_cells.iter().all(|remark| remark.cells.is_empty()) { 4 } else { 5 };
        let columns = ["about", "cells", "what", "next", "which"].into_iter().take(shown);
        let columns = columns.map(|heading| Column::new(heading, heading == "cells")).collect();
        let row = |remark: &&Remark| -> Vec<Field> {
            let next = remark.next.as_deref().unwrap_or("-");
            let fields = [&remark.kind, &remark.count.to_string(), &remark.text, next, &remark.cells];
            fields.into_iter().take(shown).map(Field::from).collect()
        };
        let _ = writeln!(text, "{}", table(&Table::untitled(columns, of_cells.iter().map(row).collect())));
    }
    for remark in &of_whole {
        let next = remark.next.as_ref().map(|next| format!("; {next}")).unwrap_or_default();
        let _ = writeln!(text, "- {}.", escape(&format!("{}{next}", remark.text)));
    }
    if of_whole.is_empty() { text } else { text + "\n" }
}

/// Writes a table without its title.
pub fn table(table: &Table) -> String {
    let headings: Vec<_> = table.columns.iter().map(Column::full_heading).collect();
    let mut text = row(headings.iter().map(AsRef::as_ref));
    for column in &table.columns {
        text.push_str(if column.figures { "|---:" } else { "|---" });
    }
    text.push_str("|\n");
    for fields in &table.rows {
        text.push_str(&row(fields.iter().map(|field| field.text.trim_end())));
    }
    text
}

fn row<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let escaped: String = fields.map(|field| format!("| {} ", escape(field))).collect();
    escaped + "|\n"
}

fn line(text: &RichText) -> String {
    let part = |part: &Inline| match part {
        Inline::Plain(text) => escape(text),
        Inline::Code(text) => format!("`{}`", spelled_out(text).replace('`', "'")),
    };
    text.0.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_escapes_what_would_break_a_table() {
        let columns = vec![Column::words("na|me"), Column::figures("N")];
        let made =
            Table::new("t", columns, vec![vec!["a".into(), "1000".into()], vec!["b|c".into(), "5".into()]]);
        assert_eq!(
            written(&Block::Table(made), 3),
            "### t\n\n| na\\|me | N |\n|---|---:|\n| a | 1000 |\n| b\\|c | 5 |\n\n"
        );
    }

    #[test]
    fn sections_nest_and_remarks_have_their_advice() {
        let about_cells = Remark {
            kind: "spread".into(),
            count: 2,
            text: "too wide".into(),
            next: Some("run again".into()),
            cells: "fft".into(),
            ..Remark::default()
        };
        let about_run = Remark { text: "a *b*".into(), next: Some("close c".into()), ..Remark::default() };
        let inner = Block::section("inner", Block::remarks([about_cells, about_run]));
        let folded = Block::folded("more", [Block::paragraph("p")]);
        let facts = Block::Facts(vec![("host".into(), RichText::code("a`b"))]);
        let outer = Block::section("outer", [facts].into_iter().chain(inner));
        let made = Document { title: "title".into(), blocks: outer.into_iter().chain(folded).collect() };
        let expected = "# title\n\n## outer\n\n- host: `a'b`\n\n### inner\n\n\
            | about | cells | what | next | which |\n|---|---:|---|---|---|\n\
            | spread | 2 | too wide | run again | fft |\n\n- a \\*b\\*; close c.\n\n\
            <details>\n<summary>more</summary>\n\np\n\n</details>\n";
        assert_eq!(document(&made), expected);
    }
}
