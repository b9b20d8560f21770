//! Turns kernel sources into loaded modules: from the cache on disk, or by NVRTC. The context counts and keeps the
//! modules.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::{CudaContext, CudaModule};
use cudarc::nvrtc::Ptx;
use gpubench_backend::Compile;
use gpubench_backend::host::user_cache;
use rayon::prelude::*;

use super::cache::{self, KernelCache, Stored};
use super::kernels::{HEADERS, KernelSource};
use super::nvrtc::{Compiler, Target};
use crate::{CellError, Result, Unavailable, driver};

/// A loaded module with the times of compiling and loading it.
pub(crate) type Built = (Arc<CudaModule>, Compile);

/// A compiled source that is not loaded yet.
struct Compiled {
    image: Vec<u8>,
    compile_s: f64,
}

/// Compiles and loads the kernels of one device.
pub(crate) struct Builder {
    ctx: Arc<CudaContext>,
    cache: KernelCache,
    compiler: Compiler,
    /// Identifies the build of the compiler, for the cache key.
    library: String,
}

impl Builder {
    /// Makes a builder for a device of compute capability `chip`, such as 90. `nvrtc` is the file that NVRTC was
    /// loaded from.
    pub(crate) fn new(
        ctx: &Arc<CudaContext>,
        chip: i32,
        nvrtc: Option<&str>,
    ) -> Result<Builder, Unavailable> {
        let compiler = Compiler::new(chip).map_err(|reason| {
            Unavailable::new(
                reason,
                "install the NVRTC of a newer CUDA release: pip install -U nvidia-cuda-nvrtc",
            )
        })?;
        let cache = KernelCache::of_user(&|name| std::env::var_os(name));
        let library = nvrtc.map(|path| user_cache::file_identity(Path::new(path))).unwrap_or_default();
        Ok(Builder { ctx: Arc::clone(ctx), cache, compiler, library })
    }

    /// Loads a source's code from the cache on disk, or compiles it and stores the result there.
    pub(crate) fn build(&self, source: &KernelSource) -> Result<Built> {
        match self.load_cached(source) {
            Some(ready) => Ok(ready),
            None => self.finish(source, self.compile(source)?),
        }
    }

    /// Builds several sources. Those that are not in the cache on disk are compiled at the same time.
    pub(crate) fn build_all<'a>(
        &self,
        sources: impl IntoIterator<Item = &'a KernelSource>,
    ) -> Vec<(&'a KernelSource, Result<Built>)> {
        let found: Vec<_> = sources.into_iter().map(|source| (source, self.load_cached(source))).collect();
        let compiled: Vec<_> = found
            .into_par_iter()
            .map(|(source, ready)| (source, ready.ok_or_else(|| self.compile(source))))
            .collect();
        let finish = |(source, state): (_, Result<Built, Result<Compiled>>)| {
            (source, state.or_else(|compiled| self.finish(source, compiled?)))
        };
        compiled.into_iter().map(finish).collect()
    }

    fn compile(&self, source: &KernelSource) -> Result<Compiled> {
        let start = Instant::now();
        let image = self.compiler.compile(source.name, source.text).map_err(CellError::Failed)?.image;
        Ok(Compiled { image, compile_s: start.elapsed().as_secs_f64() })
    }

    /// Loads what was compiled, and stores it in the cache on disk.
    fn finish(&self, source: &KernelSource, Compiled { image, compile_s }: Compiled) -> Result<Built> {
        let start = Instant::now();
        let module = self.load(image.clone())?;
        let cold_s = compile_s + start.elapsed().as_secs_f64();
        self.cache.put(&self.key(source), &Stored { image, cold_s });
        // Load the new entry back from disk, so that a run that compiles also reports the time of a run that does
        // not.
        let again = self.load_cached(source);
        Ok(again.unwrap_or((module, Compile { cold_s: Some(cold_s), cached_s: None })))
    }

    /// Loads a source's code from the cache on disk. Removes an entry that the driver rejects.
    pub(crate) fn load_cached(&self, source: &KernelSource) -> Option<Built> {
        let key = self.key(source);
        let start = Instant::now();
        let Stored { image, cold_s } = self.cache.get(&key)?;
        let Ok(module) = self.load(image) else {
            self.cache.remove(&key);
            return None;
        };
        let cached_s = Some(start.elapsed().as_secs_f64());
        Some((module, Compile { cold_s: Some(cold_s), cached_s }))
    }

    /// Compiles and loads a source without the cache on disk. `serial` makes the text unique, because NVRTC has a
    /// cache of its own.
    pub(crate) fn build_uncached(&self, source: &KernelSource, serial: u64) -> Result<Arc<CudaModule>> {
        let text = format!("{}\n__device__ unsigned long long serial = {serial}ull;\n", source.text);
        self.load(self.compiler.compile(source.name, &text).map_err(CellError::Failed)?.image)
    }

    fn key(&self, source: &KernelSource) -> String {
        cache::key(source, &HEADERS, &self.compiler, &self.library)
    }

    fn load(&self, image: Vec<u8>) -> Result<Arc<CudaModule>> {
        let code = match self.compiler.target {
            Target::Cubin(_) => Ptx::from_binary(image),
            Target::Ptx(_) => {
                let text = image.split(|byte| *byte == 0).next().unwrap_or_default();
                Ptx::from_src(String::from_utf8_lossy(text))
            }
        };
        self.ctx.load_module(code).map_err(driver("cuModuleLoadData"))
    }
}
