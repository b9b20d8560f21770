//! Reads files in the Matrix Market format (<https://math.nist.gov/MatrixMarket/formats.html>), compressed by gzip or not.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use gpubench_text::control::single_line;

use self::lines::{MAX_BYTES, NumberedLines};
use super::{Csr, Values};

mod lines;

/// Most rows, columns or stored entries, whose offsets and indices have 32 bits.
const MAX_SIZE: u64 = i32::MAX as u64;

/// Bytes in memory of an entry while a file is read: its position and value, then its column and value in its row.
const ENTRY_BYTES: u128 = 16 + 12;

/// Bytes in memory of a row: two offsets.
const ROW_BYTES: u128 = 8;

/// Reads the real matrix of a `.mtx` or `.mtx.gz` file into float64. Rows are sorted by column, and entries given twice are added in
/// the order of the file. Of the format `array`, values other than zero are stored.
///
/// # Errors
/// In one line: the file cannot be read, contains no real matrix, which is said with the line, or needs more memory than `free`.
pub fn read(path: &Path, free: Option<u128>) -> Result<Csr, String> {
    let name = single_line(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
    let open = || match std::fs::metadata(path)?.is_file() {
        true => File::open(path),
        // The workers read it too, which they cannot from a pipe.
        false => Err(io::Error::other("it is not a file")),
    };
    let file = open().map_err(|error| {
        let shown = single_line(&path.to_string_lossy());
        format!("cannot read '{shown}': {error}; name a Matrix Market file (.mtx or .mtx.gz)")
    })?;
    match path.extension().is_some_and(|extension| extension == "gz") {
        true => parse(&name, BufReader::new(MultiGzDecoder::new(BufReader::new(file))), free),
        false => parse(&name, BufReader::new(file), free),
    }
}

/// Reads a matrix as [`read`] does, from the text of the file of that name.
///
/// # Errors
/// As for [`read`].
pub fn parse(name: &str, text: impl BufRead, free: Option<u128>) -> Result<Csr, String> {
    let mut lines = NumberedLines::of(name, text);
    let header = header(&mut lines)?;
    let [rows, cols, count] = sizes(&mut lines, header)?;
    let mirrors = u64::from(header.symmetry != Symmetry::General) + 1;
    let needed = u128::from(rows) * ROW_BYTES + u128::from(count.saturating_mul(mirrors)) * ENTRY_BYTES;
    if free.is_some_and(|free| needed > free) {
        let gib = needed as f64 / f64::from(1 << 30);
        return lines.fail(format!("a matrix of {rows} x {cols} needs {gib:.1} GiB, which is not free"));
    }
    let mut entries = Entries { rows, cols, header, all: vec![] };
    match header.is_array {
        true => array(&mut lines, &mut entries, count)?,
        false => coordinate(&mut lines, &mut entries, count)?,
    }
    let matrix = entries.into_csr();
    match matrix.values.are_finite() {
        true => Ok(matrix),
        false => Err(format!("{name}: the sum of entries at one position is not finite")),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ValueKind {
    Real,
    Integer,
    Pattern,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

impl Symmetry {
    fn name(self) -> &'static str {
        match self {
            Symmetry::General => "general",
            Symmetry::Symmetric => "symmetric",
            Symmetry::Skew => "skew-symmetric",
        }
    }
}

/// What the first line says.
#[derive(Clone, Copy, Debug)]
struct MtxHeader {
    is_array: bool,
    field: ValueKind,
    symmetry: Symmetry,
}

fn header<R: BufRead>(lines: &mut NumberedLines<'_, R>) -> Result<MtxHeader, String> {
    let text = lines.first()?.to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
        return lines.fail("the first line must be %%MatrixMarket matrix FORMAT FIELD SYMMETRY");
    };
    let all = format!("{layout} {field} {symmetry}");
    let is_known = ["coordinate", "array"].contains(&layout)
        && ["real", "double", "integer", "complex", "pattern"].contains(&field)
        && ["general", "symmetric", "skew-symmetric", "hermitian"].contains(&symmetry);
    if !is_known {
        return lines.fail(format!("'{all}' is not in the Matrix Market format"));
    }
    let is_array = layout == "array";
    if is_array && field == "pattern" || symmetry == "hermitian" && field != "complex" {
        return lines.fail(format!("a matrix cannot be {all}"));
    }
    let field = match field {
        "complex" => return lines.fail("the matrix is complex, and gpubench's operations take real ones"),
        "integer" => ValueKind::Integer,
        "pattern" => ValueKind::Pattern,
        _ => ValueKind::Real,
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        _ => Symmetry::Skew,
    };
    Ok(MtxHeader { is_array, field, symmetry })
}

/// Returns the rows, the columns and the number of lines with entries.
fn sizes<R: BufRead>(lines: &mut NumberedLines<'_, R>, header: MtxHeader) -> Result<[u64; 3], String> {
    lines.expect(|| "the sizes".into())?;
    let text = lines.text();
    let Ok(sizes) = text.split_ascii_whitespace().map(str::parse).collect::<Result<Vec<i128>, _>>() else {
        return lines.fail("the sizes must be whole numbers");
    };
    let count = match (header.is_array, &sizes[..]) {
        (false, &[_, _, count]) => count,
        (true, &[_, _]) => 0,
        (false, _) => return lines.fail("the sizes of this format are rows, columns and entries"),
        (true, _) => return lines.fail("the sizes of this format are rows and columns"),
    };
    let most = i128::from(MAX_SIZE);
    if sizes.iter().any(|size| *size < 0) || sizes[0].max(sizes[1]) > most {
        return lines.fail(format!("a size is negative or above {most}"));
    }
    if header.symmetry != Symmetry::General && sizes[0] != sizes[1] {
        return lines.fail(format!("a {} matrix must be square", header.symmetry.name()));
    }
    let [rows, cols] = [sizes[0] as u64, sizes[1] as u64];
    if header.is_array {
        let count = match header.symmetry {
            Symmetry::General => rows * cols,
            Symmetry::Symmetric => rows * (rows + 1) / 2,
            Symmetry::Skew => rows * rows.saturating_sub(1) / 2,
        };
        if count > MAX_BYTES / 2 {
            return lines.fail(format!("{rows} x {cols} values are more than the file can hold"));
        }
        return Ok([rows, cols, count]);
    }
    // A line has at least four bytes.
    match u64::try_from(count).ok().filter(|count| *count <= MAX_BYTES / 4) {
        Some(count) => Ok([rows, cols, count]),
        None => lines.fail(format!("{count} entries are more than the file can hold")),
    }
}

/// The entries of a matrix: row, column, value.
struct Entries {
    rows: u64,
    cols: u64,
    header: MtxHeader,
    all: Vec<(u32, u32, f64)>,
}

impl Entries {
    /// Adds the entry of a line at `row`, `col`, and the one that mirrors it.
    fn add<R: BufRead>(
        &mut self,
        lines: &NumberedLines<'_, R>,
        row: u64,
        col: u64,
        value: f64,
    ) -> Result<(), String> {
        if self.header.field == ValueKind::Integer && value != value.round_ties_even() {
            return lines.fail("a matrix of integers has a fraction");
        }
        if !value.is_finite() {
            return lines.fail("a value is not finite");
        }
        let (row, col) = (row as u32, col as u32);
        self.all.push((row, col, value));
        match self.header.symmetry {
            Symmetry::Symmetric if row != col => self.all.push((col, row, value)),
            Symmetry::Skew => self.all.push((col, row, -value)),
            Symmetry::General | Symmetry::Symmetric => {}
        }
        match self.all.len() as u64 > MAX_SIZE {
            true => lines
                .fail(format!("the matrix has more than {MAX_SIZE} entries, too many for 32-bit offsets")),
            false => Ok(()),
        }
    }

    /// Sorts the entries by row, then column, and adds those at one position in their order.
    fn into_csr(self) -> Csr {
        let mut starts = vec![0i32; self.rows as usize + 1];
        self.all.iter().for_each(|(row, ..)| starts[*row as usize + 1] += 1);
        (0..self.rows as usize).for_each(|row| starts[row + 1] += starts[row]);
        let mut sorted = vec![(0u32, 0.0f64); self.all.len()];
        let mut next = starts.clone();
        for (row, col, value) in self.all {
            let next = &mut next[row as usize];
            sorted[*next as usize] = (col, value);
            *next += 1;
        }
        let (mut indptr, mut indices, mut values) = (vec![0i32], Vec::<i32>::new(), Vec::<f64>::new());
        indices.reserve_exact(sorted.len());
        values.reserve_exact(sorted.len());
        for ends in starts.windows(2) {
            let row = &mut sorted[ends[0] as usize..ends[1] as usize];
            // Stable, so that sums have the order of the file.
            row.sort_by_key(|(col, _)| *col);
            let first = indices.len();
            for (col, value) in row {
                match indices[first..].last() == Some(&(*col as i32)) {
                    true => values.last_mut().into_iter().for_each(|last| *last += *value),
                    false => {
                        indices.push(*col as i32);
                        values.push(*value);
                    }
                }
            }
            indptr.push(indices.len() as i32);
        }
        let values = Values::F64(values);
        Csr { rows: self.rows as usize, cols: self.cols as usize, indptr, indices, values }
    }
}

fn coordinate<R: BufRead>(
    lines: &mut NumberedLines<'_, R>,
    entries: &mut Entries,
    count: u64,
) -> Result<(), String> {
    for index in 1..=count {
        lines.expect(|| format!("entry {index} of {count}"))?;
        let [row, col, value] = match entries.header.field {
            ValueKind::Pattern => lines.numbers::<2>().map(|[row, col]| [row, col, 1.0])?,
            ValueKind::Real | ValueKind::Integer => lines.numbers::<3>()?,
        };
        let is_within = |index: f64, size: u64| index.fract() == 0.0 && index >= 1.0 && index <= size as f64;
        if !is_within(row, entries.rows) || !is_within(col, entries.cols) {
            let (rows, cols) = (entries.rows, entries.cols);
            return lines.fail(format!("the entry at {row}, {col} is outside of {rows} x {cols}"));
        }
        let (row, col) = (row as u64 - 1, col as u64 - 1);
        match entries.header.symmetry {
            kind @ (Symmetry::Symmetric | Symmetry::Skew) if row < col => {
                return lines
                    .fail(format!("a {} matrix lists entries on and below its diagonal alone", kind.name()));
            }
            Symmetry::Skew if row == col => {
                return lines.fail("a skew-symmetric matrix has no entries on its diagonal");
            }
            Symmetry::General | Symmetry::Symmetric | Symmetry::Skew => {}
        }
        entries.add(lines, row, col, value)?;
    }
    ends(lines, count)
}

/// Column after column; of a matrix with symmetry, each from the diagonal or from below it.
fn array<R: BufRead>(
    lines: &mut NumberedLines<'_, R>,
    entries: &mut Entries,
    count: u64,
) -> Result<(), String> {
    let mut index = 0;
    // Without rows, any number of columns has no values.
    for col in 0..entries.cols.min(count) {
        let first = match entries.header.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => col,
            Symmetry::Skew => col + 1,
        };
        for row in first..entries.rows {
            index += 1;
            lines.expect(|| format!("entry {index} of {count}"))?;
            let [value] = lines.numbers()?;
            if value != 0.0 {
                entries.add(lines, row, col, value)?;
            }
        }
    }
    ends(lines, count)
}

fn ends<R: BufRead>(lines: &mut NumberedLines<'_, R>, count: u64) -> Result<(), String> {
    if lines.next()? { lines.fail(format!("more than {count} entries")) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
