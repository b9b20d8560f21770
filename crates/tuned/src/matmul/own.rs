//! Matrix products by own kernels in one launch: tiles through shared memory (`kernels/matmul/tiled.cu`), and float64 tensor cores,
//! for which float32 operands are converted on load (`kernels/matmul/dmma.cu`, described in `docs/kernels/dmma.md`).

use std::marker::PhantomData;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};
use gpubench_cuda::ffi::launch::{Argument, LaunchShape, allow_shared, enqueue_shaped, fits, read, write};
use gpubench_cuda::ffi::replay::{Launch, Replay};
use gpubench_cuda::{Cuda, DeviceElement, KernelSource, Result, Unavailable, kernel_source};
use gpubench_report::case::DType;

pub(super) static TILED: KernelSource = kernel_source!("matmul/tiled");

/// A tile of the answer, and how a block computes it.
struct Tile {
    /// The part of `kernels/matmul/dmma.cu` with the tile's entry.
    source: KernelSource,
    side: u32,
    /// Rows of B, and columns of A, in one stage of the sum.
    depth: u32,
    threads: u32,
    /// Bytes of shared memory.
    shared: u32,
    /// A further limit on N.
    max_n: Option<u32>,
}

impl Tile {
    /// Returns the name of the tile's entry in `kernels/matmul/dmma.cu`.
    fn entry(&self, dtype: DType) -> String {
        format!("dmma_{0}x{0}x{1}_{dtype}", self.side, self.depth)
    }
}

/// Declares a tile by its side, depth, element type, threads and bytes of shared memory, and the sizes for which
/// [`best_tile`] takes it on a device with 132 multiprocessors.
macro_rules! tile {
    ($side:literal, $depth:literal, $dtype:ident, $threads:literal, $shared:literal, $sizes:expr) => {
        Tile {
            source: KernelSource {
                sizes: $sizes,
                ..kernel_source!(
                    "matmul/dmma",
                    concat!("TILE_", $side, "X", $side, "X", $depth, "_", stringify!($dtype)),
                    $dtype
                )
            },
            side: $side,
            depth: $depth,
            threads: $threads,
            shared: $shared,
            max_n: None,
        }
    };
}

/// The tiles in float32, the smallest first. Up to N = 64 one stage of depth 64 holds the whole sum; at least half of one
/// of depth 128 would be zeros.
static TILES_F32: [Tile; 4] = [
    Tile { max_n: Some(64), ..tile!(16, 64, F32, 256, 20_992, 1..=64) },
    tile!(16, 128, F32, 256, 41_472, 65..=256),
    tile!(32, 32, F32, 256, 38_912, 257..=512),
    tile!(64, 64, F32, 128, 71_680, 513..=u64::MAX),
];

/// The tiles in float64, the smallest first.
static TILES_F64: [Tile; 3] = [
    tile!(16, 64, F64, 256, 37_888, 1..=256),
    tile!(32, 32, F64, 256, 73_728, 257..=512),
    tile!(64, 32, F64, 128, 71_680, 513..=u64::MAX),
];

/// The sources of all tiles, of both element types.
pub(super) static TILE_SOURCES: [&KernelSource; TILES_F32.len() + TILES_F64.len()] = {
    let ([a, b, c, d], [e, f, g]) = (&TILES_F32, &TILES_F64);
    [&a.source, &b.source, &c.source, &d.source, &e.source, &f.source, &g.source]
};

/// The part with the product that is computed only if a word on the device says so.
pub(super) static IF_NEEDED: KernelSource = kernel_source!("matmul/dmma", "IF_NEEDED", F64);

/// Up to this many tiles per multiprocessor, smaller tiles are faster, because they run at the same time.
const TILES_PER_MULTIPROCESSOR: u32 = 2;

/// Returns the first tile that allows `n` and gives no more tiles than the device runs at the same time, otherwise the
/// last.
fn best_tile(dtype: DType, n: u32, multiprocessors: u32) -> &'static Tile {
    let tiles: &[Tile] = match dtype {
        DType::F64 => &TILES_F64,
        _ => &TILES_F32,
    };
    let concurrent = u64::from(TILES_PER_MULTIPROCESSOR * multiprocessors);
    let suits = |tile: &Tile| {
        tile.max_n.is_none_or(|max_n| n <= max_n) && u64::from(n.div_ceil(tile.side)).pow(2) <= concurrent
    };
    &tiles[tiles.iter().position(suits).unwrap_or(tiles.len() - 1)]
}

/// `c = a * b` of `n` by `n` row-major matrices in one launch.
pub struct SquareProduct<T> {
    cuda: Cuda,
    replay: Replay,
    function: CudaFunction,
    shape: LaunchShape,
    n: u32,
    elements: PhantomData<T>,
}

impl<T: DeviceElement> SquareProduct<T> {
    /// Loads the kernel with tiles in shared memory, from `kernels/matmul/tiled.cu`, for matrices of size `n`.
    ///
    /// # Errors
    /// The kernel cannot be compiled.
    pub fn tiled(cuda: &Cuda, n: u32) -> Result<Self> {
        let width = 16 / size_of::<T>() as u32;
        let form = if n.is_multiple_of(width) { "_aligned" } else { "" };
        let function = cuda.function(&TILED, &format!("tiled{form}_{}", T::DTYPE))?;
        let tiles = n.div_ceil(32 * width);
        let shape = LaunchShape::of_blocks((tiles, tiles));
        Ok(SquareProduct::new(cuda, function, shape, n))
    }

    fn new(cuda: &Cuda, function: CudaFunction, shape: LaunchShape, n: u32) -> Self {
        let replay = Replay::default();
        SquareProduct { cuda: cuda.clone(), replay, function, shape, n, elements: PhantomData }
    }

    /// Loads the kernel for float64 tensor cores, with the best tile for `n` and the device.
    ///
    /// # Errors
    /// The device has no float64 tensor cores (compute capability below 8.0) or too little shared memory.
    pub fn on_tensor_cores(cuda: &Cuda, n: u32) -> Result<Self> {
        let tile = best_tile(T::DTYPE, n, cuda.multiprocessors());
        Self::with_tile(cuda, &tile.source, &tile.entry(T::DTYPE), tile, n)
    }

    fn with_tile(
        cuda: &Cuda,
        source: &'static KernelSource,
        entry: &str,
        tile: &Tile,
        n: u32,
    ) -> Result<Self> {
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
        let shape = LaunchShape { grid: (tiles, tiles), ..LaunchShape::new(1, tile.threads, tile.shared) };
        Ok(SquareProduct::new(cuda, function, shape, n))
    }

    /// Checks that all matrices have `n * n` elements, and returns the arguments with which the entries begin.
    fn arguments(
        &self,
        stream: &CudaStream,
        [a, b]: [&CudaSlice<T>; 2],
        c: &mut CudaSlice<T>,
    ) -> Result<[Argument; 4]> {
        let needed = self.n as usize * self.n as usize;
        fits("A", a, needed)?;
        fits("B", b, needed)?;
        fits("C", c, needed)?;
        Ok([read(stream, a), read(stream, b), write(stream, c), self.n.into()])
    }

    /// Enqueues `c = a * b`.
    ///
    /// # Errors
    /// A matrix has fewer than `n * n` elements, or the device fails.
    pub fn run(&mut self, operands: [&CudaSlice<T>; 2], c: &mut CudaSlice<T>) -> Result<()> {
        let arguments = self.arguments(&self.cuda.stream, operands, c)?;
        // SAFETY: the entries take (const T*, const T*, T*, u32); each matrix holds n * n elements, and threads and
        // shared memory are those that the entry's tile needs.
        unsafe { self.replay.run(&self.cuda, [Launch::new(&self.function, self.shape, arguments)]) }
    }
}

/// A product of float64 matrices that is computed only if a word on the device is not zero.
pub(super) struct ConditionalProduct(SquareProduct<f64>);

impl ConditionalProduct {
    /// Loads the kernel for float64 tensor cores from the part `IF_NEEDED` of `kernels/matmul/dmma.cu`.
    pub(super) fn load(cuda: &Cuda, n: u32) -> Result<Self> {
        let [.., largest] = &TILES_F64;
        SquareProduct::with_tile(cuda, &IF_NEEDED, "dmma_if_needed", largest, n).map(ConditionalProduct)
    }

    /// Enqueues `c = a * b` if the first word of `needed` is not zero then; otherwise `c` stays as it is.
    pub(super) fn run(
        &self,
        needed: &CudaSlice<u32>,
        operands: [&CudaSlice<f64>; 2],
        c: &mut CudaSlice<f64>,
    ) -> Result<()> {
        fits("the condition", needed, 1)?;
        let stream = &self.0.cuda.stream;
        let [a, b, c, n] = self.0.arguments(stream, operands, c)?;
        let arguments = [a, b, c, n, read(stream, needed)];
        // SAFETY: the entry takes (const double*, const double*, double*, u32, const u32*); the matrices and the shape
        // are as for `SquareProduct::run`, and the condition holds a word.
        unsafe { enqueue_shaped(stream, &self.0.function, self.0.shape, arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each source has the entry with which it is launched, and that the entry computes that tile.
    fn check_entries(tiles: &[Tile], dtype: DType, element: &str) {
        for tile in tiles {
            let Tile { source, side, depth, threads, shared, .. } = tile;
            let entry = tile.entry(dtype);
            let part = entry.replace("dmma", "TILE").to_uppercase();
            assert!(source.text.starts_with(&format!("#define {part}\n")), "{part}");
            assert_eq!(source.dtype, Some(dtype), "{part}");
            // The arguments of `Product` follow: element, rows, columns, rows and columns of a warp, groups, depth.
            let declared =
                format!("#ifdef {part}\nENTRY({entry}, {threads}, {shared}, {element}, {side}, {side}, ");
            let rest = source.text.split_once(&declared).expect(&declared).1;
            assert_eq!(rest.split(", ").nth(3), Some(depth.to_string().as_str()), "{entry}");
        }
    }

    #[test]
    fn entries_are_launched_as_they_were_compiled() {
        check_entries(&TILES_F32, DType::F32, "float");
        check_entries(&TILES_F64, DType::F64, "double");
    }

    #[test]
    fn the_conditional_entry_has_the_shape_of_the_largest_tile() {
        let [.., Tile { threads, shared, .. }] = &TILES_F64;
        let shape = format!("THREADS == {threads} && Conditional::BYTES == {shared}, \"dmma_if_needed\"");
        assert!(IF_NEEDED.text.contains(&shape), "{shape}");
    }

    #[test]
    fn side_and_depth_follow_the_size_and_the_device() {
        let entry = |n, dtype, multiprocessors| best_tile(dtype, n, multiprocessors).entry(dtype);
        for (sizes, f32, f64) in [
            ([1, 64], "dmma_16x16x64_f32", "dmma_16x16x64_f64"),
            ([65, 256], "dmma_16x16x128_f32", "dmma_16x16x64_f64"),
            ([257, 512], "dmma_32x32x32_f32", "dmma_32x32x32_f64"),
            ([513, 10_000], "dmma_64x64x64_f32", "dmma_64x64x32_f64"),
        ] {
            for n in sizes {
                assert_eq!([entry(n, DType::F32, 132), entry(n, DType::F64, 132)], [f32, f64], "{n}");
                let compiled = |tiles: &[Tile]| {
                    let tiles = tiles.iter().map(|tile| &tile.source);
                    let tiles = tiles.filter(|source| source.sizes.contains(&u64::from(n)));
                    tiles
                        .map(|source| source.name.to_lowercase().replace("matmul/", "").replace("-tile", ""))
                        .collect::<Vec<_>>()
                };
                assert_eq!([compiled(&TILES_F32), compiled(&TILES_F64)], [[f32], [f64]], "{n}");
            }
        }
        // A device with one multiprocessor runs two tiles at the same time.
        let [small, large] = [16, 64].map(|n| entry(n, DType::F32, 1));
        assert_eq!([small, large], ["dmma_16x16x64_f32", "dmma_64x64x64_f32"]);
    }
}
