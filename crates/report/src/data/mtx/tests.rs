use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

const HEAD: &str = "%%MatrixMarket matrix coordinate real general\n";

fn parsed(text: &str) -> Result<Csr, String> {
    parse("a.mtx", text.as_bytes(), None)
}

/// Returns the elements row after row, those that are not stored as zeros.
fn dense(matrix: &Csr) -> Vec<f64> {
    let Values::F64(values) = &matrix.values else { panic!("float64") };
    let mut dense = vec![0.0; matrix.rows * matrix.cols];
    for row in 0..matrix.rows {
        for entry in matrix.indptr[row] as usize..matrix.indptr[row + 1] as usize {
            dense[row * matrix.cols + matrix.indices[entry] as usize] = values[entry];
        }
    }
    dense
}

#[test]
fn every_field_and_symmetry_of_both_formats_is_read() {
    let spaces = "%%matrixmarket Matrix COORDINATE Integer General\r\n% a comment\r\n\r\n2 3 2\r\n  1  3\t-4\r\n2 1 7\r\n\n";
    let skew = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n";
    for (text, expected) in [
        (spaces, &[0.0, 0.0, -4.0, 7.0, 0.0, 0.0][..]),
        ("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", &[1.0, 1.0, 1.0, 0.0]),
        ("%%MatrixMarket matrix coordinate double skew-symmetric\n2 2 1\n2 1 .5\n", &[0.0, -0.5, 0.5, 0.0]),
        (
            "%%MatrixMarket matrix array integer general\n2 3\n1\n2\n3\n4\n5\n6\n",
            &[1.0, 3.0, 5.0, 2.0, 4.0, 6.0],
        ),
        ("%%MatrixMarket matrix array real symmetric\n2 2\n1\n0\n3e1\n", &[1.0, 0.0, 0.0, 30.0]),
        (skew, &[0.0, -1.0, -2.0, 1.0, 0.0, -3.0, 2.0, 3.0, 0.0]),
    ] {
        assert_eq!(parsed(text).map(|matrix| dense(&matrix)).as_deref(), Ok(expected), "{text}");
    }
    let zeros = parsed("%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n3\n").unwrap();
    assert_eq!(zeros.nnz(), 2, "an array stores its values other than zero");
    let wide = parsed("%%MatrixMarket matrix array integer general\n0 2147483647\n").unwrap();
    assert_eq!((wide.nnz(), wide.cols), (0, 2_147_483_647), "its columns are not visited");
}

#[test]
fn entries_given_twice_are_added_in_their_order_and_rows_are_sorted() {
    let matrix = parsed(&format!("{HEAD}2 3 5\n2 3 1\n1 2 1e16\n2 1 5\n1 2 1\n1 2 -1e16\n")).unwrap();
    assert_eq!((matrix.indptr, matrix.indices), (vec![0, 1, 3], vec![1, 0, 2]));
    assert_eq!(matrix.values, Values::F64(vec![0.0, 5.0, 1.0]), "1e16 + 1 is 1e16");
    let empty = parsed(&format!("{HEAD}3 3 0\n")).unwrap();
    assert_eq!((empty.nnz(), empty.indptr), (0, vec![0; 4]));
}

#[test]
fn what_is_no_real_matrix_is_refused_with_its_line() {
    let of = |field: &str, symmetry: &str| HEAD.replace("real", field).replace("general", symmetry);
    for (text, expected) in [
        (String::new(), "a.mtx:1: the first line must be"),
        ("%%MatrixMarket vector coordinate real general\n".into(), "a.mtx:1: the first line must be"),
        (of("quaternion", "general") + "1 1 0\n", "is not in the Matrix Market format"),
        (of("real", "hermitian") + "1 1 0\n", "cannot be coordinate real hermitian"),
        ("%%MatrixMarket matrix array pattern general\n1 1\n".into(), "cannot be array pattern general"),
        (of("complex", "hermitian") + "1 1 0\n", "a.mtx:1: the matrix is complex"),
        (HEAD.into(), "the file ends before the sizes"),
        (format!("{HEAD}% only\n% comments\n"), "the file ends before the sizes"),
        (format!("{HEAD}2 2\n"), "a.mtx:2: the sizes of this format"),
        (format!("{HEAD}2 x 1\n"), "a.mtx:2: the sizes must be whole numbers"),
        (format!("{HEAD}-1 2 0\n"), "negative"),
        (format!("{HEAD}9999999999 2 0\n"), "above"),
        (format!("{HEAD}2 2 2\n1 1 1\n"), "the file ends before entry 2 of 2"),
        (format!("{HEAD}2 2 1\n1 1 1\n2 2 2\n"), "a.mtx:4: more than 1 entries"),
        (format!("{HEAD}2 2 1\n1 1\n"), "a.mtx:3: 2 numbers instead of 3"),
        (format!("{HEAD}2 2 1\n1 1 one\n"), "a.mtx:3: '1 1 one' is no list of numbers"),
        (format!("{HEAD}2 2 1\n3 1 1\n"), "the entry at 3, 1 is outside of 2 x 2"),
        (format!("{HEAD}2 2 1\n0 1 1\n"), "outside of 2 x 2"),
        (format!("{HEAD}2 2 1\n1.5 1 1\n"), "outside of 2 x 2"),
        (format!("{HEAD}2 2 1\n1 1 nan\n"), "a.mtx:3: a value is not finite"),
        (
            format!("{HEAD}1 1 2\n1 1 1e308\n1 1 1e308\n"),
            "a.mtx: the sum of entries at one position is not finite",
        ),
        (format!("{HEAD}2 2 99999999999\n1 1 1\n"), "more than the file can hold"),
        (of("real", "symmetric") + "2 3 0\n", "must be square"),
        (of("real", "symmetric") + "2 2 1\n1 2 1\n", "on and below its diagonal"),
        (of("real", "skew-symmetric") + "2 2 1\n1 1 1\n", "no entries on its diagonal"),
        (of("integer", "general") + "2 2 1\n1 1 1.5\n", "has a fraction"),
    ] {
        let refused = parsed(&text).expect_err(&text);
        assert!(refused.contains(expected) && !refused.contains('\n'), "{text}: {refused}");
    }
    let large = format!("{HEAD}2000000000 2000000000 1\n1 1 1\n");
    let refused = parse("a.mtx", large.as_bytes(), Some(1 << 20)).unwrap_err();
    assert!(refused.starts_with("a.mtx:2: a matrix of 2000000000 x 2000000000 needs 14.9 GiB"), "{refused}");
}

#[test]
fn compressed_files_are_read_and_cut_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx.gz");
    let mut gzip = GzEncoder::new(vec![], Compression::default());
    gzip.write_all(format!("{HEAD}1 1 1\n1 1 2\n").as_bytes()).unwrap();
    let bytes = gzip.finish().unwrap();
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(read(&path, None).map(|matrix| matrix.values), Ok(Values::F64(vec![2.0])));
    std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
    assert!(read(&path, None).unwrap_err().starts_with("a.mtx.gz: "));
    let refused = read(&folder.path().join("missing.mtx"), None).unwrap_err();
    assert!(refused.contains("missing.mtx': No such file"), "{refused}");
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        cells in prop::collection::btree_map((0usize..9, 0usize..7), -1e9f64..1e9, 0..40),
        turn in 0usize..40,
    ) {
        let mut lines: Vec<String> =
            cells.iter().map(|((row, col), value)| format!("{} {} {value:e}\n", row + 1, col + 1)).collect();
        let turn = turn.min(lines.len());
        lines.rotate_left(turn);
        let matrix = parsed(&format!("{HEAD}9 7 {}\n{}", lines.len(), lines.concat())).unwrap();
        let expected: Vec<f64> =
            (0..63).map(|place| cells.get(&(place / 7, place % 7)).copied().unwrap_or(0.0)).collect();
        prop_assert_eq!(dense(&matrix), expected);
        prop_assert_eq!(matrix.nnz(), cells.len());
    }

    #[test]
    fn no_change_of_a_file_does_more_than_refuse_it(
        changes in prop::collection::vec((0usize..90, 0usize..6, "[ \n4%.-]|nan|inf|1e999|\u{0}|ü"), 1..5),
    ) {
        let mut text: Vec<char> =
            "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 3\n1 1 1\n2 1 -2e3\n3 3 .5\n".chars().collect();
        for (place, length, new) in changes {
            let place = place.min(text.len());
            let end = (place + length).min(text.len());
            text.splice(place..end, new.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(refused) = parse("a.mtx", text.as_bytes(), Some(1 << 30)) {
            prop_assert!(!refused.contains(char::is_control), "{refused:?}");
        }
    }
}
