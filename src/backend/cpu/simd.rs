//! Runs a kernel compiled for the widest vectors and the bit instructions of the present processor; knows no arithmetic.

/// A kernel whose code the compiler vectorises for the instructions of the function it is inlined into.
pub(super) trait Vectorized: Sized {
    /// What it returns.
    type Output;

    /// The kernel, where fused multiply-add is an instruction. Must be `#[inline(always)]`.
    fn run(self) -> Self::Output;

    /// The kernel on other processors, where a fused multiply-add would be a slow library call.
    fn run_portable(self) -> Self::Output;
}

/// Runs `kernel` with AVX-512, AVX2 or NEON where the processor has them.
pub(super) fn vectorize<K: Vectorized>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        let counts_bits = is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        if counts_bits && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            // SAFETY: the processor has the features (AVX-512F implies AVX2 and FMA).
            return unsafe { with_avx512(kernel) };
        }
        if counts_bits && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the features.
            return unsafe { with_avx2(kernel) };
        }
    }
    if cfg!(target_arch = "aarch64") { kernel.run() } else { kernel.run_portable() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx2,fma,popcnt,bmi1,bmi2")]
fn with_avx512<K: Vectorized>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
fn with_avx2<K: Vectorized>(kernel: K) -> K::Output {
    kernel.run()
}
