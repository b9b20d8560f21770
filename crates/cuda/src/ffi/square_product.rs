//! Launches of `kernels/matmul.cu` and `kernels/dmma.cu`, the own kernels for matrix products, as safe functions that
//! check the length of every slice.

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_model::case::DType;
use gpubench_model::error::{CellError, Unavailable};

use super::super::context::{Cuda, Element};
use super::super::kernels::{ByType, KernelSource};
use super::launch::{Argument, BLOCK, Shape, Start, allow_shared, enqueue_shaped, fits, read, write};
use super::replay::{Launch, Replay};

/// A tile of the answer: its size, its threads per block, and their bytes of shared memory by element type.
struct Tile {
    side: u32,
    threads: u32,
    shared: [u32; 2],
}

/// The tiles that `kernels/dmma.cu` has entries for, the smallest first.
const TILES: [Tile; 3] = [
    Tile { side: 16, threads: 256, shared: [41_472, 37_888] },
    Tile { side: 32, threads: 256, shared: [38_912, 73_728] },
    Tile { side: 64, threads: 128, shared: [71_680, 71_680] },
];

/// Up to this many tiles per multiprocessor, smaller tiles are faster, because they run at the same time.
const TILES_PER_MULTIPROCESSOR: u32 = 2;

/// Returns the index of the smallest tile that gives no more tiles than the device runs at the same time, otherwise the largest.
fn tile(n: u32, multiprocessors: u32) -> usize {
    let at_once = u64::from(TILES_PER_MULTIPROCESSOR * multiprocessors);
    let few = |tile: &Tile| u64::from(n.div_ceil(tile.side)).pow(2) <= at_once;
    TILES.iter().position(few).unwrap_or(TILES.len() - 1)
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
    pub(crate) fn on_tensor_cores(
        cuda: &Cuda,
        sources: &'static [ByType; TILES.len()],
        n: u32,
    ) -> Result<Self, CellError> {
        let index = tile(n, cuda.multiprocessors());
        let (tile, source) = (&TILES[index], sources[index].of(T::DTYPE));
        Self::with_tile(cuda, source, &format!("dmma_{}_{}", tile.side, T::DTYPE), tile, n)
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
        let shared = tile.shared[usize::from(T::DTYPE == DType::F64)];
        if shared > cuda.shared_memory_per_block() {
            return Err(missing("too little shared memory for this kernel").into());
        }
        let function = cuda.function(source, entry)?;
        allow_shared(&function, shared)?;
        let tiles = n.div_ceil(tile.side);
        let shape = Shape { grid: (tiles, tiles), threads: tile.threads, shared, start: Start::InOrder };
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
        let [.., largest] = &TILES;
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
    use super::{TILES, Tile, tile};
    use crate::ops::matmul::own::{DMMA, IF_NEEDED};
    use gpubench_model::case::DType;

    #[test]
    fn entries_are_launched_as_they_were_compiled() {
        for (tile, source) in TILES.iter().zip(&DMMA) {
            for (dtype, shared) in [DType::F32, DType::F64].into_iter().zip(tile.shared) {
                let part = format!("TILE_{}_{}", tile.side, dtype.to_string().to_uppercase());
                let text = source.of(dtype).text;
                assert!(text.starts_with(&format!("#define {part}\n")), "{part}");
                let entry = format!("ENTRY(dmma_{}_{dtype}, {}, {shared}, ", tile.side, tile.threads);
                assert!(text.contains(&format!("#ifdef {part}\n{entry}")), "{entry}");
            }
        }
    }

    #[test]
    fn the_conditional_entry_has_the_shape_of_the_largest_tile() {
        let [.., Tile { threads, shared: [_, shared], .. }] = TILES;
        let shape = format!("THREADS == {threads} && Conditional::BYTES == {shared}, \"dmma_if_needed\"");
        assert!(IF_NEEDED.text.contains(&shape), "{shape}");
    }

    #[test]
    fn tiles_grow_once_they_fill_the_device() {
        let sides = [1, 100, 256, 257, 512, 513, 10_000].map(|n| TILES[tile(n, 132)].side);
        assert_eq!(sides, [16, 16, 16, 32, 32, 64, 64]);
    }
}
