//! Distributes a sparse product over the device: the kernel, the width of the column tiles and the warps per block.

use gpubench_cuda::{Result, Unavailable};
use gpubench_report::data::Csr;

/// Width of a dense tile, in which every column has an element in shared memory.
const DENSE_WIDTH: usize = 2048;

/// Width of a ranked tile, in which every column has a bit. Columns within the tile are 16-bit numbers.
const RANKED_WIDTH: usize = 65536;

/// Mean entries of a row of B per tile from which the dense kernel is used. With fewer, most lanes of a warp are idle
/// and the tiles cost more than they save.
const DENSE_ENTRIES: f64 = 8.0;

const MAX_ROOM: u64 = 4096;
const LEAST_ROOM: u64 = 256;

/// Bytes of shared memory that the kernels declare themselves.
const DECLARED: u32 = 256;

/// Bytes for pieces of rows of B: 32 pieces of 16 bytes. The dense kernel lists columns of C there, two bytes each, for a
/// quarter of a tile's columns or more.
const PIECES: u32 = 512;

/// The kernel that computes a tile of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKernel {
    /// One element of shared memory per column.
    Dense,
    /// One bit per column, and room for `room` entries.
    Ranked {
        /// Entries summed at a time, a multiple of 8.
        room: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpgemmPlan {
    pub method: RowKernel,
    pub tiles: u32,
    /// Columns of a tile.
    pub(crate) width: u32,
    /// Warps per block; each computes a tile of a row.
    pub(crate) warps: u32,
    /// Bytes of shared memory per block.
    pub shared: u32,
    pub blocks: u32,
}

impl SpgemmPlan {
    /// Plans `a` times `b` with elements of `element` bytes, for `shared` bytes of shared memory per block. Uses only what a caller
    /// knows of the operands without reading them: their shapes and numbers of entries. Fails if the product has
    /// too many tiles for one launch, or the device too little shared memory for a row.
    pub(crate) fn new(a: &Csr, b: &Csr, element: usize, shared: u32) -> Result<Self, Unavailable> {
        let mean = mean_bound(a, b);
        let tiles = b.cols.div_ceil(DENSE_WIDTH).max(1);
        let in_tile = b.nnz() as f64 / (b.rows.max(1) * tiles) as f64;
        let element = element as u32;
        if tiles == 1 || in_tile >= DENSE_ENTRIES {
            let width = b.cols.div_ceil(tiles).next_multiple_of(32).max(32);
            let stride = PIECES.max(width as u32 / 2) + (width as u32 + 32) * element;
            // Measured: more warps share a look-back, but fewer leave less shared memory idle.
            let warps = match (tiles, element) {
                (1, 4) if width > 1024 => 16,
                (1, _) | (_, 4) => 8,
                _ => 4,
            };
            return SpgemmPlan::sized(RowKernel::Dense, a.rows, b.cols, width, stride, warps, shared);
        }
        let width = b.cols.next_multiple_of(256).min(RANKED_WIDTH);
        let room = (mean + mean / 5).clamp(LEAST_ROOM, MAX_ROOM);
        let room = (room as u32).next_multiple_of(8);
        let stride = PIECES + width as u32 / 8 + (room + 32) * element + width as u32 / 16 + 2 * room;
        let warps = if width >= b.cols { 1 } else { 4 };
        SpgemmPlan::sized(RowKernel::Ranked { room }, a.rows, b.cols, width, stride, warps, shared)
    }

    fn sized(
        method: RowKernel,
        rows: usize,
        cols: usize,
        width: usize,
        stride: u32,
        mut warps: u32,
        shared: u32,
    ) -> Result<Self, Unavailable> {
        while warps > 1 && warps * stride + DECLARED > shared {
            warps /= 2;
        }
        if stride + DECLARED > shared {
            let reason = format!("a row needs {} bytes of shared memory", stride + DECLARED);
            return Err(Unavailable::new(reason, "use --variants cusparse"));
        }
        let tiles = cols.div_ceil(width).max(1);
        let items = u32::try_from(rows as u128 * tiles as u128);
        let blocks =
            items.ok().map(|items| items.div_ceil(warps)).filter(|blocks| *blocks <= i32::MAX as u32);
        let blocks = blocks.ok_or_else(|| {
            let reason = format!("{rows} rows in {tiles} column tiles exceed the size of one launch");
            Unavailable::new(reason, "use --variants cusparse")
        })?;
        let (tiles, width) = (tiles as u32, width as u32);
        Ok(SpgemmPlan { method, tiles, width, warps, shared: warps * stride, blocks })
    }
}

/// Returns the products per row of `a` times `b` if the columns of `a` are spread evenly, at most the columns of `b`.
fn mean_bound(a: &Csr, b: &Csr) -> u64 {
    let cells = (a.rows as u128 * b.rows as u128).max(1);
    let products = a.nnz() as u128 * b.nnz() as u128 / cells;
    u64::try_from(products).unwrap_or(u64::MAX).min(b.cols as u64)
}

/// Returns the first row whose columns are not strictly ascending.
pub(crate) fn unordered_row(csr: &Csr) -> Option<usize> {
    (0..csr.rows).find(|row| {
        let columns = &csr.indices[csr.indptr[*row] as usize..csr.indptr[row + 1] as usize];
        !columns.windows(2).all(|pair| pair[0] < pair[1])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::data::{Values, generator};

    const H200: u32 = 232_448;
    const TURING: u32 = 65_536;

    fn csr(indptr: &[i32], indices: &[i32]) -> Csr {
        let values = Values::F32(vec![1.0; indices.len()]);
        Csr { rows: indptr.len() - 1, cols: 3, indptr: indptr.into(), indices: indices.into(), values }
    }

    fn plan(n: usize, density: f64, element: usize, shared: u32) -> SpgemmPlan {
        let matrix = generator::sparse::<f32>(1, 0, n, n, density);
        SpgemmPlan::new(&matrix, &matrix, element, shared).unwrap()
    }

    #[test]
    fn small_products_are_dense_in_one_tile() {
        let small = plan(100, 0.01, 4, H200);
        assert_eq!((small.method, small.tiles, small.width, small.warps), (RowKernel::Dense, 1, 128, 8));
        let large = plan(2048, 0.01, 4, H200);
        assert_eq!((large.method, large.tiles, large.width, large.warps), (RowKernel::Dense, 1, 2048, 16));
        assert_eq!(large.blocks, 128);
    }

    #[test]
    fn wide_products_are_ranked_unless_rows_of_b_are_full_enough() {
        let ranked = plan(16384, 0.002, 4, H200);
        assert_eq!((ranked.tiles, ranked.width, ranked.warps), (1, 16384, 1));
        let RowKernel::Ranked { room } = ranked.method else { panic!("{ranked:?}") };
        assert!((1100..1500).contains(&room) && room.is_multiple_of(8), "{room}");
        let dense = plan(6000, 0.01, 8, H200);
        assert_eq!((dense.method, dense.tiles, dense.width, dense.warps), (RowKernel::Dense, 3, 2016, 4));
    }

    #[test]
    fn every_plan_fits_into_the_shared_memory_of_a_small_chip() {
        let dense = [(1, 1.0), (500, 0.3), (2048, 0.001)].map(|(n, density)| plan(n, density, 8, TURING));
        let diagonal =
            |n: i32| Csr { cols: n as usize, ..csr(&Vec::from_iter(0..=n), &Vec::from_iter(0..n)) };
        let ranked = [5000, 70_000].map(|n| SpgemmPlan::new(&diagonal(n), &diagonal(n), 8, TURING).unwrap());
        for plan in dense.into_iter().chain(ranked) {
            assert!(plan.shared + DECLARED <= TURING && plan.warps >= 1, "{plan:?}");
        }
        assert_eq!(ranked.map(|plan| plan.tiles * plan.width), [5120, 131_072]);
    }

    #[test]
    fn the_largest_room_fits_too() {
        let (width, room) = (RANKED_WIDTH as u32, MAX_ROOM as u32);
        let stride = PIECES + width / 8 + (room + 32) * 8 + width / 16 + 2 * room;
        assert!(stride + DECLARED <= TURING);
    }

    #[test]
    fn a_row_out_of_order_or_with_a_column_twice_is_found() {
        assert_eq!(unordered_row(&csr(&[0, 2, 2, 3], &[0, 2, 1])), None);
        assert_eq!(unordered_row(&csr(&[0, 2, 2, 4], &[0, 2, 2, 1])), Some(2));
        assert_eq!(unordered_row(&csr(&[0, 2, 2, 3], &[1, 1, 2])), Some(0));
    }
}
