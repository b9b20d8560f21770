//! Runs a kernel with the widest vectors and the bit instructions of this CPU.

/// A kernel whose code the compiler vectorises for the instructions of the function it is inlined into.
pub(crate) trait Vectorized: Sized {
    type Output;

    /// The kernel, where fused multiply-add is an instruction. It and everything it calls must be `#[inline(always)]`.
    fn run(self) -> Self::Output;

    /// The kernel on other CPUs, where a fused multiply-add would be a slow library call.
    fn run_portable(self) -> Self::Output {
        self.run()
    }
}

/// Runs `kernel` compiled for AVX-512, AVX2 or NEON if the CPU has them.
pub(crate) fn vectorize<K: Vectorized>(kernel: K) -> K::Output {
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
    #[cfg(not(target_arch = "x86_64"))]
    {
        // Every AArch64 CPU has NEON.
        if cfg!(target_arch = "aarch64") { kernel.run() } else { kernel.run_portable() }
    }
}

/// Returns the widest vector instructions of the CPU that gpubench uses.
pub fn widest() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            "avx512"
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
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
fn with_avx512<K: Vectorized>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
fn with_avx2<K: Vectorized>(kernel: K) -> K::Output {
    kernel.run()
}
