//! Launches of `kernels/matmul.cu` and `kernels/dmma.cu`, the own kernels for matrix products, as safe functions that
//! check the length of every slice.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_model::case::DType;
use gpubench_model::error::{CellError, Unavailable};

use super::super::context::{Cuda, Element};
use super::super::kernels::KernelSource;
use super::launch::{Argument, BLOCK, Shape, Start, allow_shared, enqueue_shaped, fits, read, write};
use super::replay::{Launch, Replay};

/// A tile of the answer, and how a block computes it.
struct Tile {
    side: u32,
    /// Rows of B, and columns of A, in one stage of the sum.
    depth: u32,
    threads: u32,
    /// Bytes of shared memory.
    shared: u32,
    /// The largest N that the tile is used for.
    up_to: u32,
}

impl Tile {
    /// Returns the name of the entry.
    fn entry(&self, dtype: DType) -> String {
        format!("dmma_{0}x{0}x{1}_{dtype}", self.side, self.depth)
    }
}

/// The tiles that `kernels/dmma.cu` has entries for in float32, the smallest first. Small products take less time with
/// shallow stages, which hold fewer zeros.
const TILES_F32: [Tile; 4] = [
    Tile { side: 16, depth: 64, threads: 256, shared: 20_992, up_to: 64 },
    Tile { side: 16, depth: 128, threads: 256, shared: 41_472, up_to: u32::MAX },
    Tile { side: 32, depth: 32, threads: 256, shared: 38_912, up_to: u32::MAX },
    Tile { side: 64, depth: 64, threads: 128, shared: 71_680, up_to: u32::MAX },
];

/// The same in float64.
const TILES_F64: [Tile; 3] = [
    Tile { side: 16, depth: 64, threads: 256, shared: 37_888, up_to: u32::MAX },
    Tile { side: 32, depth: 32, threads: 256, shared: 73_728, up_to: u32::MAX },
    Tile { side: 64, depth: 32, threads: 128, shared: 71_680, up_to: u32::MAX },
];

/// The parts of `kernels/dmma.cu` with the entries of the tiles, in their order.
pub(crate) struct Parts {
    pub(crate) f32: [KernelSource; TILES_F32.len()],
    pub(crate) f64: [KernelSource; TILES_F64.len()],
}

impl Parts {
    /// Returns the tiles for an element type and their sources.
    fn of(&'static self, dtype: DType) -> (&'static [Tile], &'static [KernelSource]) {
        match dtype {
            DType::F32 => (&TILES_F32, &self.f32),
            DType::F64 => (&TILES_F64, &self.f64),
        }
    }
}

/// Up to this many tiles per multiprocessor, smaller tiles are faster, because they run at the same time.
const TILES_PER_MULTIPROCESSOR: u32 = 2;

/// Returns the index of the smallest tile that gives no more tiles than the device runs at the same time, otherwise of the largest.
fn best(tiles: &[Tile], n: u32, multiprocessors: u32) -> usize {
    let at_once = u64::from(TILES_PER_MULTIPROCESSOR * multiprocessors);
    let suits = |tile: &Tile| n <= tile.up_to && u64::from(n.div_ceil(tile.side)).pow(2) <= at_once;
    tiles.iter().position(suits).unwrap_or(tiles.len() - 1)
}

/// `c = a * b` of `n` by `n` row-major matrices.
pub(crate) struct SquareProduct<T> {
    function: CudaFunction,
    shape: Shape,
    n: u32,
    elements: PhantomData<T>,
}

impl<T: Element> SquareProduct<T> {
    /// Loads the kernel with tiles in shared memory, from `kernels/matmul.cu`.
    pub(crate) fn tiled(cuda: &Cuda, source: &'static KernelSource, n: u32) -> Result<Self, CellError> {
        let width = 16 / size_of::<T>() as u32;
        let form = if n.is_multiple_of(width) { "_aligned" } else { "" };
        let function = cuda.function(source, &format!("tiled{form}_{}", T::DTYPE))?;
        let tiles = n.div_ceil(32 * width);
        let shape = Shape { grid: (tiles, tiles), threads: BLOCK, shared: 0, start: Start::InOrder };
        Ok(SquareProduct { function, shape, n, elements: PhantomData })
    }

    /// Loads the kernel for float64 tensor cores from a part of `kernels/dmma.cu`, with the best tile for `n` and the device.
    ///
    /// # Errors
    /// The device has no float64 tensor cores (compute capability below 8.0) or too little shared memory.
    pub(crate) fn on_tensor_cores(cuda: &Cuda, parts: &'static Parts, n: u32) -> Result<Self, CellError> {
        let (tiles, sources) = parts.of(T::DTYPE);
        let index = best(tiles, n, cuda.multiprocessors());
        let tile = &tiles[index];
        Self::with_tile(cuda, &sources[index], &tile.entry(T::DTYPE), tile, n)
    }

    fn with_tile(
        cuda: &Cuda,
        source: &'static KernelSource,
        entry: &str,
        tile: &Tile,
        n: u32,
    ) -> Result<Self, CellError> {
        let missing = |what: &str| {
            let reason = format!("this device has {what}");
            Unavailable::new(reason, "use --variants cublas,tiled")
        };
        if cuda.capability().is_none_or(|chip| chip < 80) {
            return Err(missing("no float64 tensor cores").into());
        }
        if tile.shared > cuda.shared_memory_per_block() {
            return Err(missing("too little shared memory for this kernel").into());
        }
        let function = cuda.function(source, entry)?;
        allow_shared(&function, tile.shared)?;
        let tiles = n.div_ceil(tile.side);
        let shape =
            Shape { grid: (tiles, tiles), threads: tile.threads, shared: tile.shared, start: Start::InOrder };
        Ok(SquareProduct { function, shape, n, elements: PhantomData })
    }

    /// Checks that all matrices have `n * n` elements, and returns the arguments with which the entries begin.
    fn arguments(
        &self,
        stream: &CudaStream,
        [a, b]: [&CudaSlice<T>; 2],
        c: &mut CudaSlice<T>,
    ) -> Result<[Argument; 4], CellError> {
        let needed = self.n as usize * self.n as usize;
        fits("A", a, needed)?;
        fits("B", b, needed)?;
        fits("C", c, needed)?;
        Ok([read(stream, a), read(stream, b), write(stream, c), self.n.into()])
    }

    /// Enqueues `c = a * b`, by a replay if it ran on these matrices before.
    pub(crate) fn run(
        &self,
        cuda: &Cuda,
        replay: &mut Replay,
        operands: [&CudaSlice<T>; 2],
        c: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        let arguments = self.arguments(&cuda.stream, operands, c)?;
        // SAFETY: the entries take (const T*, const T*, T*, u32); each matrix holds n * n elements, and threads and
        // shared memory are those that the entry's tile needs.
        unsafe { replay.run(cuda, [Launch::new(&self.function, self.shape, arguments)]) }
    }
}

/// A product of float64 matrices that is computed only if a word on the device is not zero.
pub(crate) struct ConditionalProduct(SquareProduct<f64>);

impl ConditionalProduct {
    /// Loads the kernel for float64 tensor cores from the part `IF_NEEDED` of `kernels/dmma.cu`.
    ///
    /// # Errors
    /// As for [`SquareProduct::on_tensor_cores`].
    pub(crate) fn load(cuda: &Cuda, source: &'static KernelSource, n: u32) -> Result<Self, CellError> {
        let [.., largest] = &TILES_F64;
        SquareProduct::with_tile(cuda, source, "dmma_if_needed", largest, n).map(ConditionalProduct)
    }

    /// Enqueues `c = a * b` if the first word of `needed` is not zero then; otherwise `c` stays as it is.
    pub(crate) fn run(
        &self,
        stream: &CudaStream,
        needed: &CudaSlice<u32>,
        operands: [&CudaSlice<f64>; 2],
        c: &mut CudaSlice<f64>,
    ) -> Result<(), CellError> {
        fits("the condition", needed, 1)?;
        let [a, b, c, n] = self.0.arguments(stream, operands, c)?;
        let arguments = [a, b, c, n, read(stream, needed)];
        // SAFETY: the entry takes (const double*, const double*, double*, u32, const u32*); the matrices and the shape
        // are as for `SquareProduct::run`, and the condition holds a word.
        unsafe { enqueue_shaped(stream, &self.0.function, self.0.shape, arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::{TILES_F32, TILES_F64, Tile, best};
    use crate::ops::matmul::own::{DMMA, IF_NEEDED};
    use gpubench_model::case::DType;

    #[test]
    fn entries_are_launched_as_they_were_compiled() {
        for dtype in [DType::F32, DType::F64] {
            let (tiles, sources) = DMMA.of(dtype);
            for (tile, source) in tiles.iter().zip(sources) {
                let entry = tile.entry(dtype);
                let part = entry.replace("dmma", "TILE").to_uppercase();
                assert!(source.text.starts_with(&format!("#define {part}\n")), "{part}");
                assert_eq!(source.dtype, Some(dtype), "{part}");
                let Tile { side, depth, threads, shared, .. } = tile;
                let declared = format!("ENTRY({entry}, {threads}, {shared}, ");
                let text = source.text.split_once(&format!("#ifdef {part}\n{declared}")).expect(&declared).1;
                let shape: Vec<_> = text.split([',', ')']).map(str::trim).collect();
                assert_eq!(
                    [shape[1], shape[2], shape[6]],
                    [side, side, depth].map(u32::to_string),
                    "{entry}"
                );
            }
        }
    }

    #[test]
    fn the_conditional_entry_has_the_shape_of_the_largest_tile() {
        let [.., Tile { threads, shared, .. }] = TILES_F64;
        let shape = format!("THREADS == {threads} && Conditional::BYTES == {shared}, \"dmma_if_needed\"");
        assert!(IF_NEEDED.text.contains(&shape), "{shape}");
    }

    #[test]
    fn tiles_grow_once_they_fill_the_device() {
        let entries = |tiles: &[Tile], dtype| {
            [1, 64, 65, 256, 257, 512, 513, 10_000].map(|n| tiles[best(tiles, n, 132)].entry(dtype))
        };
        let [shallow, deep, middle, large] =
            ["dmma_16x16x64_f32", "dmma_16x16x128_f32", "dmma_32x32x32_f32", "dmma_64x64x64_f32"];
        let expected = [shallow, shallow, deep, deep, middle, middle, large, large];
        assert_eq!(entries(&TILES_F32, DType::F32), expected);
        let [small, middle, large] = ["dmma_16x16x64_f64", "dmma_32x32x32_f64", "dmma_64x64x32_f64"];
        let expected = [small, small, small, small, middle, middle, large, large];
        assert_eq!(entries(&TILES_F64, DType::F64), expected);
    }
}
