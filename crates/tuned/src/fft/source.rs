//! The sources of the two-pass kernels, with the constants of a plan before their text.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use gpubench_cuda::kernels::{Capacity, KernelSource, PerSize, kernel_source};
use gpubench_report::case::DType;

use super::plan::{FftMethod, FftPlan};

/// The source for sizes with small prime factors. It contains the constants of float32 at `n = 2048`, which a plan's
/// header overrides.
pub(crate) static HERMITIAN: KernelSource = KernelSource {
    per_size: Some(PerSize {
        of: |n, dtype, capacity| sources(FftMethod::Direct, n, dtype, capacity),
        examples: hermitian_examples,
    }),
    ..kernel_source!("fft/hermitian")
};

/// The source for any size. It contains the constants of float32 at `n = 777`.
pub(crate) static BLUESTEIN: KernelSource = KernelSource {
    per_size: Some(PerSize {
        of: |n, dtype, capacity| sources(FftMethod::Convolution, n, dtype, capacity),
        examples: bluestein_examples,
    }),
    ..kernel_source!("fft/bluestein")
};

impl FftPlan {
    /// Returns the lines that precede the source's text.
    fn header(&self) -> String {
        let real = if self.dtype == DType::F32 { "float" } else { "double" };
        let radices: Vec<String> = self.radices.iter().map(ToString::to_string).collect();
        let mut text = format!(
            "#define FFT_PLAN\ntypedef {real} Real;\ntypedef {real}2 Pair;\n\
             constexpr unsigned RADIX[] = {{{}}};\nconstexpr bool OVERLAP = {};\n",
            radices.join(", "),
            self.overlap
        );
        for (name, value) in [
            ("N", self.n),
            ("LENGTH", self.length),
            ("ROW_THREADS", self.row_threads),
            ("ROW_STRIDE", self.row_stride),
            ("COLUMNS", self.columns),
            ("COLUMN_THREADS", self.column_threads),
            ("COLUMN_STRIDE", self.column_stride),
            ("PITCH", self.pitch()),
        ] {
            // Writing to a string does not fail.
            let _ = writeln!(text, "constexpr unsigned {name} = {value};");
        }
        text
    }

    fn source_of_method(&self) -> &'static KernelSource {
        match self.method {
            FftMethod::Direct => &HERMITIAN,
            FftMethod::Convolution => &BLUESTEIN,
        }
    }

    /// Returns the sources of `fft_rows` and `fft_columns` with this plan's constants, so that they are compiled at the
    /// same time. Each, a few KiB, is made once and kept for the whole process.
    pub(crate) fn sources(&self) -> [&'static KernelSource; 2] {
        static MADE: Mutex<BTreeMap<String, &'static KernelSource>> = Mutex::new(BTreeMap::new());
        let plan = self.header();
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        ["ROWS", "COLUMNS"].map(|part| {
            let header = format!("#define FFT_{part}\n{plan}");
            *made.entry(format!("{:?} {header}", self.method)).or_insert_with(|| {
                let source = self.source_of_method();
                let name = format!("{}_{}_{}_{}-FFT_{part}", source.name, self.n, self.dtype, self.columns);
                let text = format!("{header}{}", source.text).leak();
                Box::leak(Box::new(KernelSource {
                    dtype: Some(self.dtype),
                    ..KernelSource::new(name.leak(), text)
                }))
            })
        })
    }
}

/// Returns the sources of plans with many radices, for compiling without a device. Plans that spill registers are left out:
/// in float64 those with radices above 31 on some chips, and a few others, such as N = 196 (8 bytes) and 435 (52 bytes). In
/// float32 a few do beyond N = 4096, such as 7200 (16 bytes) and 6448 (104 bytes).
fn hermitian_examples() -> Vec<&'static KernelSource> {
    let f32s = [
        1, 7, 16, 100, 135, 243, 442, 500, 512, 625, 1000, 1024, 1426, 2048, 2100, 2106, 2401, 2662, 3321,
        4096, 5000, 6000,
    ];
    let f64s = [
        15, 100, 224, 238, 442, 500, 512, 1000, 1024, 1240, 1276, 2048, 2106, 2250, 2662, 4096, 4800, 6000,
        7200,
    ];
    examples(FftMethod::Direct, &f32s, &f64s)
}

/// Returns the sources of plans of two to four stages and of every tile, for compiling without a device.
fn bluestein_examples() -> Vec<&'static KernelSource> {
    let sizes = [2, 101, 509, 777, 1537, 3001, 4093, 4097, 5003, 6007];
    examples(FftMethod::Convolution, &sizes, &sizes)
}

fn examples(method: FftMethod, f32s: &[usize], f64s: &[usize]) -> Vec<&'static KernelSource> {
    let of = |list: &[usize], dtype| -> Vec<_> {
        list.iter().filter_map(|&n| sources(method, n, dtype, Capacity::HOPPER)).flatten().collect()
    };
    [of(f32s, DType::F32), of(f64s, DType::F64)].concat()
}

fn sources(
    method: FftMethod,
    n: usize,
    dtype: DType,
    capacity: Capacity,
) -> Option<[&'static KernelSource; 2]> {
    FftPlan::new(method, n, dtype, capacity).ok().map(|plan| plan.sources())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_texts_contain_the_plans_of_their_defaults() {
        for plan in [
            FftPlan::new(FftMethod::Direct, 2048, DType::F32, Capacity::HOPPER),
            FftPlan::new(FftMethod::Convolution, 777, DType::F32, Capacity::HOPPER),
        ] {
            let plan = plan.unwrap();
            let text = plan.source_of_method().text;
            for line in plan.header().lines() {
                let is_in_text =
                    text.lines().any(|text| text.starts_with(line) || line == "#define FFT_PLAN");
                assert!(is_in_text, "{line}");
            }
        }
    }
}
