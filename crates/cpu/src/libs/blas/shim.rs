//! Defines the LAPACK symbols as jumps through a table, which is filled with the routines of the library found at run
//! time.
//!
//! ndarray-linalg refers to LAPACK by extern symbols, which some library must define when the program is
//! linked. Defining them here lets the program be built, and run, on a machine without LAPACK. Each symbol
//! is a naked function that jumps to its entry of [`TABLE`] and touches no register that carries an
//! argument, so that it fits every signature. Julia's libblastrampoline works the same way.

use std::arch::naked_asm;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The address of a LAPACK routine; the table forgets its signature.
pub(crate) type LapackAddress = unsafe extern "C" fn();

static TABLE: [AtomicPtr<()>; SYMBOLS.len()] =
    [const { AtomicPtr::new(missing as extern "C" fn() -> ! as *mut ()) }; SYMBOLS.len()];

/// Points the symbols, in the order of [`SYMBOLS`], at a provider's routines; `None` is one it lacks.
pub(crate) fn fill(entries: &[Option<LapackAddress>]) {
    assert_eq!(entries.len(), SYMBOLS.len());
    for (slot, entry) in TABLE.iter().zip(entries) {
        let target = entry.map_or(missing as extern "C" fn() -> ! as *mut (), |entry| entry as *mut ());
        slot.store(target, Ordering::Release);
    }
}

/// Aborts the process: the called routine has no provider. The modules that call LAPACK prevent this.
#[expect(clippy::print_stderr, reason = "the process ends here; nothing else can carry the message")]
extern "C" fn missing() -> ! {
    eprintln!("gpubench: a LAPACK routine was called that the loaded BLAS library does not have");
    eprintln!("install a complete OpenBLAS: sudo apt-get install libopenblas0-pthread");
    std::process::abort()
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($symbol:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $symbol() {
            naked_asm!(
                "jmp qword ptr [rip + {table} + {offset}]",
                table = sym TABLE,
                offset = const TableIndex::$symbol as usize * size_of::<LapackAddress>(),
            )
        }
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($symbol:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $symbol() {
            naked_asm!(
                "adrp x16, {table}",
                "add x16, x16, :lo12:{table}",
                "ldr x16, [x16, #{offset}]",
                "br x16",
                table = sym TABLE,
                offset = const TableIndex::$symbol as usize * size_of::<LapackAddress>(),
            )
        }
    };
}

macro_rules! symbols {
    ($($symbol:ident)*) => {
        /// The symbols, each at its entry of the table.
        pub(crate) const SYMBOLS: &[&str] = &[$(stringify!($symbol)),*];

        #[expect(non_camel_case_types, reason = "spelt as the symbols")]
        enum TableIndex { $($symbol),* }

        $(jump!($symbol);)*
    };
}

// The symbols that lax 0.18.1 leaves undefined (`nm -u`); the linker reports a missing one.
symbols! {
    cgecon_ cgeev_ cgelqf_ cgelsd_ cgeqrf_ cgesdd_ cgesvd_ cgetrf_ cgetri_ cgetrs_ cggev_ cgtcon_
    cgttrf_ cgttrs_ cheev_ chegv_ chetrf_ chetri_ chetrs_ clange_ cpotrf_ cpotri_ cpotrs_ ctrtrs_
    cunglq_ cungqr_ dgecon_ dgeev_ dgelqf_ dgelsd_ dgeqrf_ dgesdd_ dgesvd_ dgetrf_ dgetri_ dgetrs_
    dggev_ dgtcon_ dgttrf_ dgttrs_ dlange_ dorglq_ dorgqr_ dpotrf_ dpotri_ dpotrs_ dsyev_ dsygv_
    dsytrf_ dsytri_ dsytrs_ dtrtrs_ sgecon_ sgeev_ sgelqf_ sgelsd_ sgeqrf_ sgesdd_ sgesvd_ sgetrf_
    sgetri_ sgetrs_ sggev_ sgtcon_ sgttrf_ sgttrs_ slange_ sorglq_ sorgqr_ spotrf_ spotri_ spotrs_
    ssyev_ ssygv_ ssytrf_ ssytri_ ssytrs_ strtrs_ zgecon_ zgeev_ zgelqf_ zgelsd_ zgeqrf_ zgesdd_
    zgesvd_ zgetrf_ zgetri_ zgetrs_ zggev_ zgtcon_ zgttrf_ zgttrs_ zheev_ zhegv_ zhetrf_ zhetri_
    zhetrs_ zlange_ zpotrf_ zpotri_ zpotrs_ ztrtrs_ zunglq_ zungqr_
}
