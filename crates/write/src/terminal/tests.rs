use gpubench_document::table::{Column, Field, Layout, Table, Tone, WIDTH};

use super::*;

fn table() -> Table {
    let columns = vec![Column::words("name"), Column::figures("N")];
    let wrong = Field { text: "b|c".into(), tone: Tone::Wrong };
    Table::new("t", columns, vec![vec!["a".into(), "1000".into()], vec![wrong, "5".into()]])
}

#[test]
fn columns_align_whether_coloured_or_not() {
    assert_eq!(table_text(&table(), false), "t\n  name     N\n  a     1000\n  b|c      5\n");
    assert_eq!(table_text(&table(), true), "t\n  name     N\n  a     1000\n  \x1b[31mb|c\x1b[0m      5\n");
}

#[test]
fn columns_move_together_where_lines_would_be_too_long() {
    let mut table = table();
    for (length, start) in [(WIDTH - 7, " name"), (WIDTH - 8, "  name")] {
        table.rows[0][0] = "a".repeat(length).into();
        let text = table_text(&table, false);
        assert!(text.lines().nth(1).unwrap().starts_with(start), "{text}");
    }
}

#[test]
fn listings_are_as_wide_as_their_widest_field_and_lines_end_bare() {
    let mut listing = Table::listing(&["A", "B"]);
    listing.row(["long", ""]);
    listing.row(["x", "y"]);
    assert_eq!(table_text(&listing, false), "A     B\nlong\nx     y\n");
}

#[test]
fn narrow_headings_are_no_wider_than_their_fields() {
    let columns = vec![Column::words("op"), Column::figures("GPU faster from N")];
    let mut table =
        Table::new("", columns, vec![vec!["fft".into(), ">10000".into()]]).laid_out(Layout::NarrowHeadings);
    let expected = "          GPU\n       faster\n  op   from N\n  fft  >10000\n";
    assert_eq!(table_text(&table, false), expected);
    table = table.within(10);
    assert!(table::fits(&table));
    assert_eq!(table_text(&table, false).lines().last(), Some("fft >10000"));
    assert!(!table::fits(&table.within(9)));
}

#[test]
fn headings_above_several_columns_have_a_line_and_a_rule() {
    let under = |group: &'static str| Column::words("from").in_group(group);
    let columns = vec![Column::words("op"), under("pageable"), under("pageable"), under("pinned").ranked(1)];
    let row = ["fft", "1.2x", "1550", "9x"];
    let mut table = Table::untitled(columns, vec![row.map(Field::from).to_vec()]);
    let expected = "
       pageable ─  pinned
  op   from  from  from
  fft  1.2x  1550  9x
";
    assert_eq!(format!("\n{}", table_text(&table, false)), expected);
    assert!(crate::markdown::table(&table).contains("| pinned: from |"));
    table.width = 20;
    assert_eq!(leave_out(std::slice::from_mut(&mut table)), ["pinned: from"]);
    assert!(leave_out(std::slice::from_mut(&mut table)).is_empty() && table.columns.len() == 3);
}

fn wide(columns: usize) -> Table {
    let mut headings = vec![Column::words("op"), Column::figures("N")];
    headings.extend((0..columns).map(|column| Column::figures(format!("node{column} GPU 0"))));
    let row = |op: &str, n: u64| {
        let mut fields: Vec<Field> = vec![op.into(), n.to_string().into()];
        fields.extend((0..columns).map(|column| Field::from(format!("{column}.00 µs"))));
        fields
    };
    let rows = vec![row("matmul", 1000), row("fft", 20)];
    Table::new("t", headings, rows).laid_out(Layout::Blocks { keys: 2 })
}

#[test]
fn headings_are_broken_and_end_above_their_figures() {
    let expected = "t
                  node0    node1
  op         N    GPU 0    GPU 0
  matmul  1000  0.00 µs  1.00 µs
  fft       20  0.00 µs  1.00 µs
";
    assert_eq!(table_text(&wide(2), false), expected);
}

#[test]
fn many_columns_come_in_blocks_that_fit_and_none_is_lost() {
    let text = table_text(&wide(30), false);
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    assert!(text.lines().all(|line| line.trim_end() == line));
    assert_eq!(text.lines().filter(|line| line.starts_with("  matmul")).count(), 4);
    assert!((0..30).all(|column| text.contains(&format!("node{column}"))), "{text}");
}
