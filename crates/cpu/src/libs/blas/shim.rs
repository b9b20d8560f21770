//! Defines LAPACK's symbols, to which ndarray-linalg links, so that the program is built, and runs, without LAPACK.
//!
//! The symbols of gesvd are naked functions that jump to the library found at run time and touch no register that carries
//! an argument, so that they fit every signature, as those of Julia's libblastrampoline. Nothing calls the others.

use std::arch::naked_asm;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The address of a LAPACK routine, without its signature.
pub(super) type LapackAddress = unsafe extern "C" fn();

/// The targets of sgesvd and dgesvd.
static TARGETS: [AtomicPtr<()>; 2] =
    [const { AtomicPtr::new(missing as extern "C" fn() -> ! as *mut ()) }; 2];

/// Makes sgesvd and dgesvd jump to these routines.
pub(super) fn point_at(routines: [LapackAddress; 2]) {
    for (target, routine) in TARGETS.iter().zip(routines) {
        target.store(routine as *mut (), Ordering::Release);
    }
}

/// Aborts the process: the called routine has no provider. The modules that call LAPACK prevent this.
#[expect(clippy::print_stderr, reason = "the process ends here; nothing else can carry the message")]
extern "C" fn missing() -> ! {
    eprintln!("gpubench: a LAPACK routine was called that no loaded library provides");
    std::process::abort()
}

macro_rules! jump {
    ($symbol:ident, $index:literal) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $symbol() {
            #[cfg(target_arch = "x86_64")]
            naked_asm!(
                "jmp qword ptr [rip + {targets} + {offset}]",
                targets = sym TARGETS,
                offset = const $index * size_of::<LapackAddress>(),
            );
            #[cfg(target_arch = "aarch64")]
            naked_asm!(
                "adrp x16, {targets}",
                "add x16, x16, :lo12:{targets}",
                "ldr x16, [x16, #{offset}]",
                "br x16",
                targets = sym TARGETS,
                offset = const $index * size_of::<LapackAddress>(),
            )
        }
    };
}

jump!(sgesvd_, 0);
jump!(dgesvd_, 1);

macro_rules! unused {
    ($($symbol:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $symbol() {
                missing()
            }
        )*
    };
}

// The further symbols that lax 0.18.1 leaves undefined (`nm -u`); the linker reports a missing one.
unused! {
    cgecon_ cgeev_ cgelqf_ cgelsd_ cgeqrf_ cgesdd_ cgesvd_ cgetrf_ cgetri_ cgetrs_ cggev_ cgtcon_
    cgttrf_ cgttrs_ cheev_ chegv_ chetrf_ chetri_ chetrs_ clange_ cpotrf_ cpotri_ cpotrs_ ctrtrs_
    cunglq_ cungqr_ dgecon_ dgeev_ dgelqf_ dgelsd_ dgeqrf_ dgesdd_ dgetrf_ dgetri_ dgetrs_ dggev_
    dgtcon_ dgttrf_ dgttrs_ dlange_ dorglq_ dorgqr_ dpotrf_ dpotri_ dpotrs_ dsyev_ dsygv_ dsytrf_
    dsytri_ dsytrs_ dtrtrs_ sgecon_ sgeev_ sgelqf_ sgelsd_ sgeqrf_ sgesdd_ sgetrf_ sgetri_ sgetrs_
    sggev_ sgtcon_ sgttrf_ sgttrs_ slange_ sorglq_ sorgqr_ spotrf_ spotri_ spotrs_ ssyev_ ssygv_
    ssytrf_ ssytri_ ssytrs_ strtrs_ zgecon_ zgeev_ zgelqf_ zgelsd_ zgeqrf_ zgesdd_ zgesvd_ zgetrf_
    zgetri_ zgetrs_ zggev_ zgtcon_ zgttrf_ zgttrs_ zheev_ zhegv_ zhetrf_ zhetri_ zhetrs_ zlange_
    zpotrf_ zpotri_ zpotrs_ ztrtrs_ zunglq_ zungqr_
}
