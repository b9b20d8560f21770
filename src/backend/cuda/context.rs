//! The device's context as ops see it: counted memory, copies, compiled kernels, libraries on demand.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use cudarc::driver::sys::{CUdevice, CUresult};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits,
};
use cudarc::nvrtc::Ptx;

use super::cache::{self, Cache};
pub use super::failure::driver;
use super::ffi::driver as ffi;
use super::kernels::KernelSource;
pub use super::library::Library;
use super::loader::Loader;
use super::nvrtc::{Compiler, Target};
use crate::backend::{Finding, SetupCounts};
use crate::data::Real;
use crate::error::{CellError, Unavailable};

/// An element type that kernels and libraries work on.
pub trait Element: Real + DeviceRepr + ValidAsZeroBits {}

impl Element for f32 {}
impl Element for f64 {}

/// The context, its one stream, and what is shared by all jobs. Cheap to clone.
#[derive(Clone)]
pub struct Cuda {
    /// The device's primary context.
    pub ctx: Arc<CudaContext>,
    /// The stream of all work; not the default stream.
    pub stream: Arc<CudaStream>,
    shared: Rc<Shared>,
}

struct Shared {
    device: CUdevice,
    counts: Cell<SetupCounts>,
    loader: RefCell<Loader>,
    cache: Cache,
    compiler: RefCell<Option<(Compiler, String)>>,
    modules: RefCell<HashMap<&'static str, Arc<CudaModule>>>,
    functions: RefCell<HashMap<(&'static str, String), CudaFunction>>,
}

impl Cuda {
    /// Opens a context on the device of that ordinal. The driver has been loaded.
    pub(super) fn open(ordinal: usize, loader: Loader) -> Result<Cuda, CellError> {
        let ctx = ffi::context(ordinal).map_err(driver("cuDevicePrimaryCtxRetain"))?;
        let stream = ctx.new_stream().map_err(driver("cuStreamCreate"))?;
        let device = ctx.cu_device();
        if ctx.has_async_alloc() {
            ffi::keep_pool_memory(device).map_err(driver("cuMemPoolSetAttribute"))?;
        }
        let shared = Shared {
            device,
            counts: Cell::default(),
            loader: RefCell::new(loader),
            cache: Cache::of_user(&|name| std::env::var_os(name)),
            compiler: RefCell::default(),
            modules: RefCell::default(),
            functions: RefCell::default(),
        };
        Ok(Cuda { ctx, stream, shared: Rc::new(shared) })
    }

    /// Allocates `len` elements (at least one), all zero.
    pub fn alloc<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> Result<CudaSlice<T>, CellError> {
        self.count(|counts| counts.allocations += 1);
        self.stream.alloc_zeros(len.max(1)).map_err(|error| self.refused::<T>(len, error))
    }

    /// Allocates `host.len()` elements (at least one) and copies `host` there.
    pub fn upload<T: DeviceRepr>(&self, host: &[T]) -> Result<CudaSlice<T>, CellError> {
        self.count(|counts| counts.allocations += 1);
        let allocated = ffi::alloc_unset(&self.stream, host.len().max(1));
        let mut slice = allocated.map_err(|error| self.refused::<T>(host.len(), error))?;
        if !host.is_empty() {
            self.stream.memcpy_htod(host, &mut slice).map_err(driver("cuMemcpyHtoDAsync"))?;
        }
        Ok(slice)
    }

    /// Copies a slice to the host and waits for it, and so for all work before it.
    pub fn download<T: DeviceRepr + Clone + Default>(
        &self,
        device: &CudaSlice<T>,
    ) -> Result<Vec<T>, CellError> {
        let mut host = vec![T::default(); device.len()];
        self.stream.memcpy_dtoh(device, &mut host).map_err(driver("cuMemcpyDtoHAsync"))?;
        self.synchronize()?;
        Ok(host)
    }

    /// Enqueues a copy of all of `from` to the start of `to`.
    pub fn copy<T: DeviceRepr>(&self, from: &CudaSlice<T>, to: &mut CudaSlice<T>) -> Result<(), CellError> {
        if from.len() > to.len() {
            return Err(CellError::Failed(format!("copy of {} elements to {}", from.len(), to.len())));
        }
        self.stream.memcpy_dtod(from, to).map_err(driver("cuMemcpyDtoDAsync"))
    }

    /// Waits for all enqueued work.
    pub fn synchronize(&self) -> Result<(), CellError> {
        self.stream.synchronize().map_err(driver("cuStreamSynchronize"))
    }

    /// The kernel `entry` of a source file: compiled, or read from the cache, and loaded once.
    pub fn function(&self, source: &'static KernelSource, entry: &str) -> Result<CudaFunction, CellError> {
        let key = (source.name, entry.to_owned());
        if let Some(function) = self.shared.functions.borrow().get(&key) {
            return Ok(function.clone());
        }
        let module = self.module(source)?;
        let function = module.load_function(entry).map_err(driver("cuModuleGetFunction"))?;
        self.shared.functions.borrow_mut().insert(key, function.clone());
        Ok(function)
    }

    /// Compiles and loads a source file, unless that has been done.
    pub fn module(&self, source: &'static KernelSource) -> Result<Arc<CudaModule>, CellError> {
        if let Some(module) = self.shared.modules.borrow().get(source.name) {
            return Ok(Arc::clone(module));
        }
        let module = self.load(source)?;
        self.count(|counts| counts.compilations += 1);
        self.shared.modules.borrow_mut().insert(source.name, Arc::clone(&module));
        Ok(module)
    }

    fn load(&self, source: &'static KernelSource) -> Result<Arc<CudaModule>, CellError> {
        let (compiler, library) = self.compiler()?;
        let key = cache::key(source, &compiler, &library);
        if let Some(image) = self.shared.cache.get(&key) {
            match self.ctx.load_module(loadable(&compiler, image)) {
                Ok(module) => return Ok(module),
                Err(_) => self.shared.cache.remove(&key),
            }
        }
        let compiled = compiler.compile(source).map_err(CellError::Failed)?;
        self.shared.cache.put(&key, &compiled.image);
        self.ctx.load_module(loadable(&compiler, compiled.image)).map_err(driver("cuModuleLoadData"))
    }

    fn compiler(&self) -> Result<(Compiler, String), CellError> {
        if let Some(ready) = &*self.shared.compiler.borrow() {
            return Ok(ready.clone());
        }
        let path = self.shared.loader.borrow_mut().require(Library::Nvrtc)?.path.clone();
        let chip = super::device::capability(self.shared.device)
            .ok_or_else(|| CellError::Failed("the driver does not tell the compute capability".into()))?;
        let compiler = Compiler::new(chip).map_err(|reason| {
            Unavailable::new(
                reason,
                "install the NVRTC of a newer CUDA release: pip install -U nvidia-cuda-nvrtc",
            )
        })?;
        let ready = (compiler, cache::file_identity(path.as_deref()));
        *self.shared.compiler.borrow_mut() = Some(ready.clone());
        Ok(ready)
    }

    /// Loads a library, or says what is missing. Must succeed before any call into it.
    pub fn require(&self, library: Library) -> Result<(), CellError> {
        self.shared.loader.borrow_mut().require(library)?;
        Ok(())
    }

    /// Checks that `bytes` more of device memory can be had, before anything is allocated.
    pub fn reserve(&self, bytes: u128) -> Result<(), CellError> {
        if bytes > self.free_bytes()? && self.ctx.has_async_alloc() {
            // What earlier jobs freed still lies in the pool; it counts as free once it is given back.
            self.synchronize()?;
            ffi::trim_pool(self.shared.device).map_err(driver("cuMemPoolTrimTo"))?;
        }
        let free = self.free_bytes()?;
        if bytes > free {
            return Err(CellError::OutOfMemory { place: "device", needed: bytes, free });
        }
        Ok(())
    }

    fn free_bytes(&self) -> Result<u128, CellError> {
        let (free, _total) = self.ctx.mem_get_info().map_err(driver("cuMemGetInfo"))?;
        Ok(free as u128)
    }

    /// Notes that a plan, a handle or a workspace was created.
    pub fn count_plan(&self) {
        self.count(|counts| counts.plans += 1);
    }

    /// Multiprocessors of the device.
    pub fn multiprocessors(&self) -> u32 {
        use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as COUNT;
        ffi::attribute(self.shared.device, COUNT)
            .ok()
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(1)
    }

    pub(super) fn device(&self) -> CUdevice {
        self.shared.device
    }

    pub(super) fn counts(&self) -> SetupCounts {
        self.shared.counts.get()
    }

    pub(super) fn libraries(&self) -> Vec<Finding> {
        self.shared.loader.borrow().loaded()
    }

    fn count(&self, add: impl Fn(&mut SetupCounts)) {
        let mut counts = self.shared.counts.get();
        add(&mut counts);
        self.shared.counts.set(counts);
    }

    fn refused<T>(&self, len: usize, error: cudarc::driver::DriverError) -> CellError {
        match (error.0, self.free_bytes()) {
            (CUresult::CUDA_ERROR_OUT_OF_MEMORY, Ok(free)) => {
                let needed = len as u128 * size_of::<T>() as u128;
                CellError::OutOfMemory { place: "device", needed, free }
            }
            _ => driver("cuMemAllocAsync")(error),
        }
    }
}

fn loadable(compiler: &Compiler, image: Vec<u8>) -> Ptx {
    match compiler.target {
        Target::Cubin(_) => Ptx::from_binary(image),
        Target::Ptx(_) => {
            let text = image.split(|byte| *byte == 0).next().unwrap_or_default();
            Ptx::from_src(String::from_utf8_lossy(text))
        }
    }
}
