//! A float64 product by exact products of integers modulo small numbers, and the Chinese remainder theorem: K. Ozaki,
//! Y. Uchino, T. Imamura, "Ozaki Scheme II: A GEMM-oriented emulation of floating-point matrix multiplication using an
//! integer modular technique", arXiv 2504.08009 (2025). `docs/kernels/ozaki2-int8.md` describes it. Launches of
//! `kernels/matmul/ozaki2.cu` turn matrices into residues, and combine the products of residues.

use cudarc::driver::{CudaFunction, CudaSlice};
use gpubench_cuda::ffi::cublaslt::LtProduct;
use gpubench_cuda::ffi::launch::{BLOCK, enqueue, fits, read, write};
use gpubench_cuda::{Cuda, KernelSource, Result, Unavailable, kernel_source};

use super::own::ConditionalProduct;

pub(super) static SOURCE: KernelSource = kernel_source!("matmul/ozaki2");

/// The largest product of two residues: -128 * -128.
const PRODUCT: u64 = 1 << 14;
/// Moduli, and thus matrices of residues: `COUNT` in the kernel.
const MODULI: usize = 15;
/// Elements of a row whose residues are stored as one group: `TILE_K` in the kernel. Rows of residues are padded to a
/// multiple of it.
const GROUP: u32 = 128;
/// Parts of B's rows in which the norms of its columns are computed: `CHUNKS` in the kernel.
const CHUNKS: usize = 64;
/// Columns of B per block that computes residues: `WARP` in the kernel.
const COLUMNS: u32 = 32;

/// `c = a * b` of `n` by `n` row-major float64 matrices, as exact as in float64: where the combined products of residues may be less
/// accurate, a product on float64 tensor cores replaces them.
pub struct ResidueProduct {
    // Before the memory that its work uses.
    products: LtProduct<i8, i32>,
    cuda: Cuda,
    fallback: ConditionalProduct,
    n: u32,
    pitch: u32,
    rows: CudaFunction,
    columns: CudaFunction,
    combine: CudaFunction,
    residues_of_a: CudaSlice<i8>,
    residues_of_b: CudaSlice<i8>,
    sums: CudaSlice<i32>,
    of_rows: CudaSlice<f64>,
    of_columns: CudaSlice<f64>,
    squares: CudaSlice<f64>,
    small_in_rows: CudaSlice<u32>,
    small_in_columns: CudaSlice<u32>,
    /// One word: not zero if the combined answer may be less accurate than a product in float64.
    needed: CudaSlice<u32>,
}

/// Returns the row length of residues, or an error if sums over `n` products could overflow 32 bits.
fn pitch(n: u32) -> Result<u32, Unavailable> {
    let pitch = u64::from(n).next_multiple_of(u64::from(GROUP));
    let exact = u64::from(n) * PRODUCT <= i32::MAX as u64;
    u32::try_from(pitch).ok().filter(|_| exact).ok_or_else(|| {
        let reason = format!("sums of {n} products of residues overflow 32 bits");
        Unavailable::new(reason, "use --variants cublas, or a size of at most 131071")
    })
}

impl ResidueProduct {
    /// Returns the bytes of device memory of the residues of two operands, and of their sums of four bytes each, for size `n`.
    ///
    /// # Errors
    /// Sums over `n` products could overflow 32 bits.
    pub fn workspace_bytes(n: u32) -> Result<u128> {
        Ok(MODULI as u128 * (2 + 4) * u128::from(pitch(n)?).pow(2))
    }

    /// Loads cuBLASLt and the kernels, and allocates the residues, for matrices of size `n`.
    ///
    /// # Errors
    /// As for [`SquareProduct::on_tensor_cores`](super::SquareProduct::on_tensor_cores) and [`ResidueProduct::workspace_bytes`]; cuBLASLt is missing or has no such product;
    /// or the device has too little memory.
    pub fn new(cuda: &Cuda, n: u32) -> Result<Self> {
        let pitch = pitch(n)?;
        let products = LtProduct::of_integers(cuda, pitch as usize, MODULI)?;
        let (side, area) = (n as usize, pitch as usize * pitch as usize);
        Ok(ResidueProduct {
            cuda: cuda.clone(),
            products,
            n,
            pitch,
            rows: cuda.function(&SOURCE, "ozaki2_rows")?,
            columns: cuda.function(&SOURCE, "ozaki2_columns")?,
            combine: cuda.function(&SOURCE, "ozaki2_combine")?,
            // Zero, and never written outside the n rows in use.
            residues_of_a: cuda.alloc(MODULI * area)?,
            residues_of_b: cuda.alloc(MODULI * area)?,
            sums: cuda.alloc(MODULI * area)?,
            of_rows: cuda.alloc(side)?,
            of_columns: cuda.alloc(side)?,
            squares: cuda.alloc(CHUNKS * side)?,
            small_in_rows: cuda.alloc(side)?,
            small_in_columns: cuda.alloc(side)?,
            needed: cuda.alloc(1)?,
            fallback: ConditionalProduct::load(cuda, n)?,
        })
    }

    /// Times the algorithms of cuBLASLt on the residues of these matrices, and keeps the fastest. All give the same bits. Real residues
    /// are needed: multiplying zeros draws less power, so the chip clocks higher.
    ///
    /// # Errors
    /// As for [`ResidueProduct::run`].
    pub fn choose(&mut self, operands: [&CudaSlice<f64>; 2]) -> Result<()> {
        self.compute_residues(operands)?;
        self.products.choose(&self.residues_of_a, &self.residues_of_b, &mut self.sums)
    }

    /// Enqueues `c = a * b`.
    ///
    /// # Errors
    /// A matrix has fewer than `n * n` elements, or the device fails.
    pub fn run(&mut self, operands: [&CudaSlice<f64>; 2], c: &mut CudaSlice<f64>) -> Result<()> {
        self.compute_residues(operands)?;
        self.products.enqueue(&self.residues_of_a, &self.residues_of_b, &mut self.sums)?;
        self.combine(c)?;
        self.fallback.run(&self.needed, operands, c)
    }

    /// Enqueues the kernels that compute the residues of both operands.
    fn compute_residues(&mut self, [a, b]: [&CudaSlice<f64>; 2]) -> Result<()> {
        let elements = self.n as usize * self.n as usize;
        fits("A", a, elements)?;
        fits("B", b, elements)?;
        let stream = &self.cuda.stream;
        let (n, pitch) = (self.n.into(), self.pitch.into());
        let squares = write(stream, &mut self.squares);
        let small = write(stream, &mut self.small_in_columns);
        let arguments = [
            read(stream, a),
            read(stream, b),
            write(stream, &mut self.residues_of_a),
            write(stream, &mut self.of_rows),
            write(stream, &mut self.small_in_rows),
            small,
            squares,
            write(stream, &mut self.needed),
            n,
            pitch,
        ];
        let blocks = self.n + self.n.div_ceil(BLOCK) * CHUNKS as u32;
        // SAFETY: the entry takes (const double*, const double*, u32*, double*, u32*, u32*, double*, u32*, u32, u32); the
        // arrays have the lengths of `new` and the check above; blocks are one per row, and one per strip and chunk.
        unsafe { enqueue(stream, &self.rows, (blocks, 1), arguments) }?;
        let (residues, inverses) =
            (write(stream, &mut self.residues_of_b), write(stream, &mut self.of_columns));
        let arguments = [read(stream, b), squares, residues, inverses, small, n, pitch];
        let tiles = (self.n.div_ceil(COLUMNS), self.pitch / GROUP);
        // SAFETY: the entry takes (const double*, const double*, u32*, double*, u32*, u32, u32), of these lengths.
        unsafe { enqueue(stream, &self.columns, tiles, arguments) }
    }

    /// Enqueues the kernel that combines the products of residues to C, unless `needed` is not zero.
    fn combine(&mut self, c: &mut CudaSlice<f64>) -> Result<()> {
        fits("C", c, self.n as usize * self.n as usize)?;
        let stream = &self.cuda.stream;
        let arguments = [
            read(stream, &self.sums),
            read(stream, &self.of_rows),
            read(stream, &self.of_columns),
            read(stream, &self.small_in_rows),
            read(stream, &self.small_in_columns),
            write(stream, &mut self.needed),
            write(stream, c),
            self.n.into(),
            self.pitch.into(),
        ];
        let grid = (self.n.div_ceil(BLOCK), self.n);
        // SAFETY: the entry takes (const int*, const double*, const double*, const u32*, const u32*, u32*, double*, u32,
        // u32); all are those of `new`, and C holds n * n elements (checked above).
        unsafe { enqueue(stream, &self.combine, grid, arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_cuda::kernels::HEADERS;

    #[test]
    fn the_kernel_has_the_same_constants() {
        let own = kernel_source!("matmul/ozaki2").text;
        let constants = [
            (own, "COUNT", MODULI),
            (own, "TILE_K", GROUP as usize),
            (own, "CHUNKS", CHUNKS),
            (own, "THREADS", BLOCK as usize),
            (HEADERS[0].text, "WARP", COLUMNS as usize),
        ];
        for (text, name, value) in constants {
            assert!(text.contains(&format!(" {name} = {value};")), "{name}");
        }
    }

    /// The moduli as the kernel has them.
    fn moduli() -> Vec<u64> {
        let text = kernel_source!("matmul/ozaki2").text;
        let list = text.split_once("MODULI[COUNT] = {").unwrap().1.split_once('}').unwrap().0;
        list.split(", ").map(|modulus| modulus.parse().unwrap()).collect()
    }

    #[test]
    fn the_moduli_are_coprime_and_their_product_exceeds_twice_the_largest_entry() {
        let gcd = |mut a: u64, mut b: u64| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let moduli = moduli();
        assert_eq!(moduli.len(), MODULI);
        for (i, a) in moduli.iter().enumerate() {
            assert!(*a <= 256 && moduli[..i].iter().all(|b| gcd(*a, *b) == 1), "{a}");
        }
        let bits: f64 = moduli.iter().map(|modulus| (*modulus as f64).log2()).sum();
        assert!(kernel_source!("matmul/ozaki2").text.contains(" NORM_BITS = 58;"));
        // With a margin, so that the number of whole products to subtract can be rounded in float64.
        assert!(bits > 2.0 * 58.0 + 1.5, "{bits}");
    }

    /// Whether the kernels compute the product of operands with such elements in float64: whether one of 2 n rows and
    /// columns has too many small elements.
    fn needs_float64(n: usize, element: impl Fn(f64, f64) -> f64) -> bool {
        let text = kernel_source!("matmul/ozaki2").text;
        assert!(text.contains("n >= 1024 ? 256.0 : n >= 64 ? 64.0 : 16.0;"));
        assert!(text.contains("small >= (n + 3) / 4;"));
        let part = if n >= 1024 {
            256.0
        } else if n >= 64 {
            64.0
        } else {
            16.0
        };
        let mut bits = n as u64;
        let mut uniform = || {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((bits >> 11) as f64 + 0.5) * 2f64.powi(-53)
        };
        (0..2 * n).any(|_| {
            let mut next = || {
                let normal = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
                element(uniform(), normal)
            };
            let row: Vec<f64> = (0..n).map(|_| next()).collect();
            let squares: f64 = row.iter().map(|x| x * x).sum();
            row.iter().filter(|x| **x * **x * part * (n as f64) < squares).count() >= n.div_ceil(4)
        })
    }

    #[test]
    fn float64_is_needed_for_the_operands_that_the_page_names() {
        let page = include_str!("../../../../docs/kernels/ozaki2-int8.md");
        assert!(page.contains("`(u - 0.5) exp(z / 2)`") && page.contains("`(u - 0.5) exp(z)`"));
        for n in [128, 250, 512, 1000, 1024, 2048] {
            assert!(!needs_float64(n, |u, _| u), "uniform, {n}");
            assert!(!needs_float64(n, |_, z| z), "normal, {n}");
            assert!(!needs_float64(n, |u, z| (u - 0.5) * (0.5 * z).exp()), "graded by half, {n}");
            assert!(needs_float64(n, |u, z| (u - 0.5) * z.exp()), "graded by 1, {n}");
        }
        let small = (4..64).filter(|n| needs_float64(*n, |u, _| u)).count();
        assert!(small > 40, "{small}");
    }

    #[test]
    fn rows_are_padded_and_sums_stay_within_32_bits() {
        assert_eq!(pitch(1).ok(), Some(128));
        assert_eq!(pitch(5000).ok(), Some(5120));
        assert_eq!(pitch(131_071).ok(), Some(131_072));
        let refused = pitch(131_072).unwrap_err();
        assert!(refused.fix.is_some_and(|fix| fix.contains("131071")));
    }
}
