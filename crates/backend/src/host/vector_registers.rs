//! Clears the upper halves of the vector registers, which hand-written routines of libraries may leave in use.
//!
//! While they are in use, code compiled for SSE is many times slower on some CPUs: on a Xeon with AVX-512, a sine and a
//! cosine of libm took 117 ns instead of 6. By the calling convention a routine clears them before it returns (System V ABI
//! for x86-64, section 3.2.1), and a program that obeys it should not be timed after one that does not.

/// Clears them on the calling thread and on every thread of its rayon pool, or of the global pool.
pub fn clear_on_all_threads() {
    rayon::broadcast(|_| clear());
    clear();
}

/// Clears them on the calling thread.
#[cfg(target_arch = "x86_64")]
pub fn clear() {
    #[target_feature(enable = "avx")]
    fn clear_upper_halves() {
        std::arch::x86_64::_mm256_zeroupper();
    }
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the CPU has AVX. The instruction changes upper halves alone, in which no value lives between statements.
        unsafe { clear_upper_halves() }
    }
}

/// Other CPUs have no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub fn clear() {}

/// Returns whether upper halves are in use on the calling thread; `None` where the CPU does not report it.
///
/// `XGETBV` with ECX = 1 returns the state components in use; bit 2 is that of the upper halves (Intel, Software Developer's
/// Manual, volume 1, section 13.6).
#[cfg(target_arch = "x86_64")]
pub fn are_in_use() -> Option<bool> {
    use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    #[target_feature(enable = "xsave")]
    fn in_use() -> bool {
        // SAFETY: the caller has made sure that the CPU takes ECX = 1.
        unsafe { _xgetbv(1) & 0b100 != 0 }
    }
    #[allow(unused_unsafe, reason = "CPUID became a safe function after the oldest supported compiler")]
    // SAFETY: every x86-64 CPU has CPUID; leaf 13 is asked for where leaf 0 says that it exists.
    let reports = unsafe { __cpuid(0).eax >= 13 && __cpuid_count(13, 1).eax & 0b100 != 0 };
    // SAFETY: the CPU has XGETBV with ECX = 1, by bit 2 of EAX of leaf 13 (volume 2A), and XSAVE, of which it is a part.
    reports.then(|| unsafe { in_use() })
}

/// Other CPUs do not report it.
#[cfg(not(target_arch = "x86_64"))]
pub fn are_in_use() -> Option<bool> {
    None
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn registers_in_use_are_reported_until_they_are_cleared() {
        if !std::arch::is_x86_feature_detected!("avx2") || are_in_use().is_none() {
            return;
        }
        // SAFETY: the CPU has AVX2, and the register is declared as changed.
        unsafe { std::arch::asm!("vpcmpeqd ymm15, ymm15, ymm15", out("ymm15") _) };
        assert_eq!(are_in_use(), Some(true));
        clear();
        assert_eq!(are_in_use(), Some(false));
    }
}
