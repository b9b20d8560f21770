//! Chooses how many columns a block of `fft_columns` transforms.

use gpubench_model::case::DType;

/// The columns of a tile, and whether a tile takes one more column to write its mirrors aligned.
pub(super) type Tile = (usize, bool);

/// Returns the tile of transforms so small that their number of blocks matters most.
fn small_tile(n: usize) -> Option<Tile> {
    match n {
        0..200 => Some((2, false)),
        200..600 => Some((4, false)),
        _ => None,
    }
}

/// Returns the tiles for transforms by the factors of `n`, best first.
///
/// For spectra of several MB, whole 32-byte sectors matter most, and then that no multiprocessor gets a second block. The
/// narrowest width for which none does is best. If every width needs a second round, the narrowest balances the load.
pub(super) fn tiles(n: usize, dtype: DType, multiprocessors: usize) -> Vec<Tile> {
    if let Some(tile) = small_tile(n) {
        return vec![tile];
    }
    let widths = match dtype {
        DType::F32 => [4, 8],
        DType::F64 => [4, 6],
    };
    let blocks = |columns| n.div_ceil(2).div_ceil(columns) + 1;
    let best = widths.into_iter().find(|&columns| blocks(columns) <= multiprocessors).unwrap_or(4);
    vec![(best, true), (4, true), (2, true)]
}

/// Returns the tiles for convolutions, best first. Their transforms are more than twice as long, so wider tiles rarely
/// fit.
pub(super) fn convolution_tiles(n: usize, dtype: DType) -> Vec<Tile> {
    let best = match (small_tile(n), dtype) {
        (Some(tile), _) => vec![tile],
        (None, DType::F32) => vec![(4, true)],
        (None, DType::F64) => vec![(4, true), (2, true)],
    };
    [best, vec![(2, false), (1, false)]].concat()
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
    }
}
