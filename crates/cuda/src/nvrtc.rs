//! Compiles kernels for one chip with NVRTC: chooses the target and the options.

use super::ffi::nvrtc::{Compilation, SourceFile, about, compile as compile_text};
use super::kernels::{HEADERS, KernelSource};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Machine code for this compute capability, such as 90.
    Cubin(i32),
    /// PTX for this virtual architecture, which the driver translates for a newer chip.
    Ptx(i32),
}

impl Target {
    /// Returns the best target for a chip of compute capability `chip` among the architectures that NVRTC supports.
    ///
    /// Machine code of an older chip of the same generation runs; that of another generation does not.
    pub(crate) fn choose(chip: i32, supported: &[i32]) -> Option<Target> {
        let older = supported.iter().copied().filter(|arch| *arch <= chip);
        let same_generation = older.clone().filter(|arch| arch / 10 == chip / 10).max();
        same_generation.map(Target::Cubin).or_else(|| older.max().map(Target::Ptx))
    }

    pub(crate) fn option(&self) -> String {
        match self {
            Target::Cubin(arch) => format!("--gpu-architecture=sm_{arch}"),
            Target::Ptx(arch) => format!("--gpu-architecture=compute_{arch}"),
        }
    }
}

/// Options in addition to the target. Contraction to FMA is on, as in NVCC; fast math is off.
///
/// `--split-compile` would take 10 to 30 % less time, but with it NVRTC 13.0 makes other code, some with spilled
/// registers, while another thread compiles for another architecture, as `tests/kernels.rs` does.
const OPTIONS: &[&str] = &["--std=c++17", "--ptxas-options=-v"];

#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    pub(crate) target: Target,
    pub version: [i32; 2],
}

impl Compiler {
    /// Makes a compiler for compute capability `chip`, such as 90. NVRTC must be loaded.
    pub(crate) fn new(chip: i32) -> Result<Compiler, String> {
        let (version, supported) = about()?;
        let target = Target::choose(chip, &supported).ok_or_else(|| {
            let [major, minor] = version;
            format!("NVRTC {major}.{minor} cannot compile for compute capability {}.{}", chip / 10, chip % 10)
        })?;
        Ok(Compiler { target, version })
    }

    /// Returns every option, in the order passed to NVRTC.
    pub(crate) fn options(&self) -> Vec<String> {
        std::iter::once(self.target.option()).chain(OPTIONS.iter().map(|&option| option.to_owned())).collect()
    }

    /// Compiles the text of `kernels/NAME.cu`, or of the part NAME-PART, with the headers. An error contains the
    /// compiler's messages.
    pub(crate) fn compile(&self, name: &str, text: &str) -> Result<Compilation, String> {
        // The part's name is no part of the file's.
        let name = name.split('-').next().unwrap_or(name);
        // Sources include headers by their file names.
        let file_name =
            |header: &KernelSource| header.name.rsplit('/').next().map(|name| format!("{name}.cuh"));
        let names = HEADERS.each_ref().map(|header| file_name(header).unwrap_or_default());
        let headers: Vec<SourceFile> =
            HEADERS.iter().zip(&names).map(|(header, name)| [name.as_str(), header.text]).collect();
        let to_ptx = matches!(self.target, Target::Ptx(_));
        let output = compile_text([&format!("{name}.cu"), text], &headers, &self.options(), to_ptx)?;
        match &output.failure {
            Some(failure) => Err(format!("kernels/{name}.cu: {failure}: {}", output.log)),
            None => Ok(output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUDA_13: &[i32] = &[75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121];

    #[test]
    fn chips_get_machine_code_of_their_generation_new_ones_ptx_and_old_ones_nothing() {
        for (chip, target) in [
            (90, Some(Target::Cubin(90))),
            (105, Some(Target::Cubin(103))),
            (130, Some(Target::Ptx(121))),
            (70, None),
        ] {
            assert_eq!(Target::choose(chip, CUDA_13), target, "{chip}");
        }
    }
}
