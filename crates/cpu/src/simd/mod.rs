//! Runs a kernel with the widest vectors and the bit instructions of this CPU.

pub(crate) use self::number::{Number, Vector};

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod number;
pub(crate) mod stream;
pub(crate) mod trig;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// A set of instructions, identified by its vectors. Only this module can name one, so a kernel gets it only if the
/// CPU has the instructions.
pub(crate) trait Instructions {
    /// Whether the constants of a formula hardly fit in the registers.
    const FEW_REGISTERS: bool;
    type F32: Vector<Element = f32>;
    type F64: Vector<Element = f64>;
}

pub(crate) trait WithVectors: Sized {
    type Output;

    /// The kernel. It and everything it calls with vectors must be `#[inline(always)]`.
    fn run<I: Instructions>(self) -> Self::Output;

    /// The kernel on other CPUs, where a fused multiply-add would be a slow library call.
    fn run_portable(self) -> Self::Output;
}

/// A kernel whose code the compiler vectorises for the instructions of the function it is inlined into.
pub(crate) trait Vectorized: Sized {
    type Output;

    /// The kernel, where fused multiply-add is an instruction. Must be `#[inline(always)]`.
    fn run(self) -> Self::Output;

    /// The kernel on other CPUs, where a fused multiply-add would be a slow library call.
    fn run_portable(self) -> Self::Output;
}

/// Runs `kernel` with the vectors of AVX-512, AVX2 or NEON if the CPU has them.
pub(crate) fn with_vectors<K: WithVectors>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        let counts_bits = is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        if counts_bits && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            // SAFETY: the CPU has the features (AVX-512F implies AVX2 and FMA).
            return unsafe { with_avx512(kernel) };
        }
        if counts_bits && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the CPU has the features.
            return unsafe { with_avx2(kernel) };
        }
        kernel.run_portable()
    }
    #[cfg(target_arch = "aarch64")]
    {
        kernel.run::<aarch64::Neon>()
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        kernel.run_portable()
    }
}

/// Runs `kernel` compiled for AVX-512, AVX2 or NEON if the CPU has them.
pub(crate) fn vectorize<K: Vectorized>(kernel: K) -> K::Output {
    with_vectors(ByCompiler(kernel))
}

struct ByCompiler<K>(K);

impl<K: Vectorized> WithVectors for ByCompiler<K> {
    type Output = K::Output;

    #[inline(always)]
    fn run<I: Instructions>(self) -> K::Output {
        self.0.run()
    }

    fn run_portable(self) -> K::Output {
        self.0.run_portable()
    }
}

/// Returns the widest vector instructions of the CPU that gpubench uses.
pub fn widest() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            "avx512"
        } else if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            "avx2+fma"
        } else {
            "sse2"
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        if cfg!(target_arch = "aarch64") { "neon" } else { "scalar" }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx2,fma,popcnt,bmi1,bmi2")]
fn with_avx512<K: WithVectors>(kernel: K) -> K::Output {
    kernel.run::<x86_64::Avx512>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
fn with_avx2<K: WithVectors>(kernel: K) -> K::Output {
    kernel.run::<x86_64::Avx2>()
}
