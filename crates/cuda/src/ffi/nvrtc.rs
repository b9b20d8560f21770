//! Compiles source text to machine code with NVRTC. The caller must have loaded the library.
//!
//! API: <https://docs.nvidia.com/cuda/nvrtc/>.

use std::ffi::{CStr, CString, c_char, c_int};

use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};

use super::status::Status;

pub(crate) struct Compilation {
    /// CUBIN, or PTX if requested; empty if compilation failed.
    pub(crate) image: Vec<u8>,
    /// The compiler's messages.
    pub log: String,
    /// The reason for a failure.
    pub failure: Option<String>,
}

struct NvrtcProgram(nvrtcProgram);

impl Drop for NvrtcProgram {
    fn drop(&mut self) {
        // SAFETY: the program was created by NVRTC and is destroyed once.
        unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}

/// Returns NVRTC's major and minor version, and the architectures (such as 90) that it supports.
pub(crate) fn about() -> Result<([c_int; 2], Vec<c_int>), String> {
    let (mut major, mut minor, mut count) = (0, 0, 0);
    // SAFETY: all pointers are writable.
    check("nvrtcVersion", unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) })?;
    // SAFETY: as above.
    check("nvrtcGetNumSupportedArchs", unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut count) })?;
    let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: the array has as many entries as the library said it needs.
    check("nvrtcGetSupportedArchs", unsafe { sys::nvrtcGetSupportedArchs(archs.as_mut_ptr()) })?;
    Ok(([major, minor], archs))
}

/// Name, as in messages and `#include`, and text of a source or a header.
pub(crate) type SourceFile<'a> = [&'a str; 2];

/// Compiles `source`, which may include `headers`, with `options`: to PTX, or to machine code of one chip.
pub(crate) fn compile(
    source: SourceFile,
    headers: &[SourceFile],
    options: &[String],
    to_ptx: bool,
) -> Result<Compilation, String> {
    let strings = |file: &SourceFile| -> Result<[CString; 2], String> {
        let c = |text: &str| CString::new(text).map_err(|error| format!("{}: {error}", file[0]));
        Ok([c(file[0])?, c(file[1])?])
    };
    let [name, text] = strings(&source)?;
    let headers = headers.iter().map(strings).collect::<Result<Vec<_>, _>>()?;
    let c = |option: &String| CString::new(option.as_str()).map_err(|error| format!("{option}: {error}"));
    let options = options.iter().map(c).collect::<Result<Vec<_>, _>>()?;
    let option_pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let (header_names, header_texts): (Vec<*const c_char>, Vec<*const c_char>) =
        headers.iter().map(|[name, text]| (name.as_ptr(), text.as_ptr())).unzip();
    let header_count = c_int::try_from(headers.len()).map_err(|error| error.to_string())?;
    let mut program = NvrtcProgram(std::ptr::null_mut());
    // SAFETY: all strings end in NUL; the arrays of headers have `header_count` entries each.
    check("nvrtcCreateProgram", unsafe {
        sys::nvrtcCreateProgram(
            &raw mut program.0,
            text.as_ptr(),
            name.as_ptr(),
            header_count,
            header_texts.as_ptr(),
            header_names.as_ptr(),
        )
    })?;
    let count = c_int::try_from(options.len()).map_err(|error| error.to_string())?;
    // SAFETY: the program exists and the array holds `count` C strings.
    let result = unsafe { sys::nvrtcCompileProgram(program.0, count, option_pointers.as_ptr()) };
    let log = fetch("nvrtcGetProgramLog", &program, sys::nvrtcGetProgramLogSize, sys::nvrtcGetProgramLog)?;
    let log = text_of(log);
    if let Err(failure) = check("nvrtcCompileProgram", result) {
        return Ok(Compilation { image: vec![], log, failure: Some(failure) });
    }
    let image = if to_ptx {
        fetch("nvrtcGetPTX", &program, sys::nvrtcGetPTXSize, sys::nvrtcGetPTX)?
    } else {
        fetch("nvrtcGetCUBIN", &program, sys::nvrtcGetCUBINSize, sys::nvrtcGetCUBIN)?
    };
    Ok(Compilation { image, log, failure: None })
}

type Size = unsafe fn(nvrtcProgram, *mut usize) -> nvrtcResult;
type Get = unsafe fn(nvrtcProgram, *mut c_char) -> nvrtcResult;

fn fetch(name: &str, program: &NvrtcProgram, size: Size, get: Get) -> Result<Vec<u8>, String> {
    let mut length = 0;
    // SAFETY: the program exists and `length` is writable.
    check(name, unsafe { size(program.0, &raw mut length) })?;
    let mut bytes = vec![0u8; length];
    // SAFETY: the buffer has the length that the library said it needs.
    check(name, unsafe { get(program.0, bytes.as_mut_ptr().cast()) })?;
    Ok(bytes)
}

fn text_of(bytes: Vec<u8>) -> String {
    match CStr::from_bytes_until_nul(&bytes) {
        Ok(text) => text.to_string_lossy().trim().to_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).trim().to_owned(),
    }
}

fn check(call: &str, result: nvrtcResult) -> Result<(), String> {
    let status = Status::from(result);
    if status.is_success() { Ok(()) } else { Err(format!("{call}: {status}")) }
}
