//! Chooses how many columns a block of `fft_columns` transforms.

use gpubench_report::case::DType;

/// The columns of a tile, and whether a tile takes one more column to write its mirrors aligned.
pub(super) type ColumnTile = (usize, bool);

/// Returns the tiles for transforms by the factors of `n`, best first.
///
/// Below N = 600 the number of blocks matters most. From there on the rows of a tile must first fill whole 32-byte sectors,
/// and then each multiprocessor should get at most one block. Above N = 4096 the shared memory of an H100 allows one sector,
/// and at some sizes the extra column. Narrower tiles were slower than cuFFT there at most sizes measured.
pub(super) fn tiles(n: usize, dtype: DType, multiprocessors: usize) -> Vec<ColumnTile> {
    let widths = match (n, dtype) {
        (..200, _) => return vec![(2, false)],
        (200..600, _) => return vec![(4, false)],
        (4097.., DType::F32) => return vec![(4, true), (4, false)],
        (4097.., DType::F64) => return vec![(2, true), (2, false)],
        (_, DType::F64) => [4, 6],
        _ => [4, 8],
    };
    vec![(narrowest(n, &widths, multiprocessors), true), (4, true), (2, true)]
}

/// Returns the tiles for convolutions, best first. Their transforms are more than twice as long: one more column to write
/// mirrors aligned takes more time than it saves.
pub(super) fn convolution_tiles(n: usize, dtype: DType, multiprocessors: usize) -> Vec<ColumnTile> {
    let widths: &[usize] = match dtype {
        DType::F64 => &[2, 4],
        _ => &[2, 4, 8],
    };
    [narrowest(n, widths, multiprocessors), 4, 2, 1].map(|columns| (columns, false)).to_vec()
}

/// Returns the narrowest width for which no multiprocessor gets a second block. If there is none it returns 4: narrow tiles
/// balance the load, and 4 columns fill a 32-byte sector in float32, too.
fn narrowest(n: usize, widths: &[usize], multiprocessors: usize) -> usize {
    let blocks = |columns| n.div_ceil(2).div_ceil(columns) + 1;
    widths.iter().copied().find(|&columns| blocks(columns) <= multiprocessors).unwrap_or(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_the_narrowest_with_one_block_per_multiprocessor() {
        let columns = |n, dtype, multiprocessors| tiles(n, dtype, multiprocessors)[0].0;
        let single = |n| columns(n, DType::F32, 132);
        assert_eq!([1048, 1049, 2096, 2097].map(single), [4, 8, 8, 4]);
        let double = |n| columns(n, DType::F64, 132);
        assert_eq!([1048, 1049, 1572, 1573].map(double), [4, 6, 6, 4]);
        let few = |n| columns(n, DType::F32, 46);
        assert_eq!([720, 721].map(few), [8, 4]);
        let convolution = |n| convolution_tiles(n, DType::F32, 132)[0].0;
        assert_eq!([524, 525, 1048, 1049, 2096, 2097].map(convolution), [2, 4, 4, 8, 8, 4]);
    }
}
