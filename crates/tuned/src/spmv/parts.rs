//! The plan of the adaptive product: cuts the entries of a sparse matrix into parts of about equal work.

/// Most entries per part, as in `kernels/spmv/csr.cu`.
const ROOM: i32 = 1024;

/// Most rows per part; the threads of a block loop over them.
const ROWS: usize = 2048;

/// The parts of a matrix, one per block.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MatrixParts {
    /// First row, end row, first entry, end entry. For a piece of a row that is too long for one part, the second
    /// value is the complement of the row's index in `longs`.
    pub(super) parts: Vec<[i32; 4]>,
    /// For each long row: its first part and the number of its parts.
    pub(super) longs: Vec<[i32; 2]>,
}

/// Cuts the entries of the rows given by `offsets`, which ascend from 0. A part gets as many whole rows as fit;
/// longer rows are cut into pieces.
pub(super) fn cut(offsets: &[i32]) -> MatrixParts {
    let mut cut = MatrixParts::default();
    let (mut row, rows) = (0, offsets.len().saturating_sub(1));
    while row < rows {
        let begin = offsets[row];
        let fitting = offsets[row + 1..].iter().take(ROWS).take_while(|end| **end - begin <= ROOM).count();
        if fitting > 0 {
            cut.parts.push([row as i32, (row + fitting) as i32, begin, offsets[row + fitting]]);
            row += fitting;
        } else {
            cut.pieces(row as i32, begin, offsets[row + 1]);
            row += 1;
        }
    }
    cut
}

impl MatrixParts {
    /// Cuts a row that does not fit into one part.
    fn pieces(&mut self, row: i32, begin: i32, end: i32) {
        let (first, number) = (self.parts.len() as i32, self.longs.len() as i32);
        let pieces = (begin..end).step_by(ROOM as usize);
        // The last piece ends with the row; saturating is right, because a sum that overflows is beyond the row's
        // end.
        self.parts.extend(pieces.map(|from| [row, !number, from, from.saturating_add(ROOM).min(end)]));
        self.longs.push([first, self.parts.len() as i32 - first]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(lengths: &[i32]) -> Vec<i32> {
        let ends = lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }

    #[test]
    fn whole_rows_share_a_part_while_they_have_room() {
        let cut = cut(&offsets(&[1000, 24, 1, 0]));
        assert_eq!(cut.parts, [[0, 2, 0, 1024], [2, 4, 1024, 1025]]);
        assert!(cut.longs.is_empty());
    }

    #[test]
    fn a_long_row_is_cut_and_its_neighbours_are_not() {
        let cut = cut(&offsets(&[3, 2049, 5]));
        let parts =
            [[0, 1, 0, 3], [1, !0, 3, 1027], [1, !0, 1027, 2051], [1, !0, 2051, 2052], [2, 3, 2052, 2057]];
        assert_eq!(cut.parts, parts);
        assert_eq!(cut.longs, [[1, 3]]);
    }

    proptest::proptest! {
        #[test]
        fn parts_cover_every_entry_and_row_once(lengths in proptest::collection::vec(0i32..3000, 0..60)) {
            let offsets = offsets(&lengths);
            let cut = cut(&offsets);
            let (mut row, mut entry) = (0, 0);
            for [first, last, begin, end] in &cut.parts {
                proptest::prop_assert_eq!((*first, *begin), (row, entry));
                proptest::prop_assert!(end - begin <= ROOM && begin <= end);
                entry = *end;
                row = if *last >= 0 { *last } else { row + i32::from(entry == offsets[row as usize + 1]) };
                proptest::prop_assert!(*last < 0 || offsets[row as usize] == entry);
            }
            proptest::prop_assert_eq!((row as usize, entry), (lengths.len(), offsets[lengths.len()]));
            for (number, [first, count]) in cut.longs.iter().enumerate() {
                let mine = cut.parts.iter().filter(|part| part[1] == !(number as i32)).count();
                proptest::prop_assert_eq!(mine as i32, *count);
                proptest::prop_assert_eq!(cut.parts[*first as usize][1], !(number as i32));
            }
        }
    }
}
