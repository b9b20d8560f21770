//! The device's context as ops see it: counted memory, copies, compiled kernels, libraries on demand.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute, CUresult};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits,
};

use super::builder::Builder;
pub(crate) use super::failure::driver;
use super::ffi::driver as ffi;
use super::kernels::KernelSource;
pub(crate) use super::library::Library;
use gpubench_backend::{DevicePhases, Finding, HostMemory, SetupCounts};
use gpubench_host::user_cache;
use gpubench_model::data::Real;
use gpubench_model::error::CellError;

use super::loader::Loader;
use super::meters::{Direction, Meters};
use super::pool::Pool;
use super::transfer::Mover;

/// An element type that kernels and libraries work on.
pub(crate) trait Element: Real + DeviceRepr + ValidAsZeroBits {}

impl Element for f32 {}
impl Element for f64 {}

/// The context, its one stream, and what is shared by all jobs. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Cuda {
    /// The device's primary context.
    pub(crate) ctx: Arc<CudaContext>,
    /// The stream of all work; not the default stream.
    pub stream: Arc<CudaStream>,
    shared: Rc<Shared>,
}

struct Shared {
    device: CUdevice,
    counts: Cell<SetupCounts>,
    mover: Mover,
    meters: RefCell<Meters>,
    pool: Option<Pool>,
    loader: RefCell<Loader>,
    builder: RefCell<Option<Rc<Builder>>>,
    modules: RefCell<HashMap<&'static str, Arc<CudaModule>>>,
    functions: RefCell<HashMap<(&'static str, String), CudaFunction>>,
}

impl Cuda {
    /// Opens a context on the device of that ordinal. The driver has been loaded. Copies are from and to host
    /// `memory` of that kind.
    pub(super) fn open(
        ordinal: usize,
        loader: Loader,
        elapsed: ffi::Elapsed,
        memory: HostMemory,
    ) -> Result<Cuda, CellError> {
        let ctx = ffi::context(ordinal).map_err(driver("cuDevicePrimaryCtxRetain"))?;
        let stream = ctx.new_stream().map_err(driver("cuStreamCreate"))?;
        let device = ctx.cu_device();
        let shared = Shared {
            device,
            counts: Cell::default(),
            mover: Mover::new(&stream, elapsed, memory)?,
            meters: RefCell::new(Meters::new(memory)),
            pool: Pool::open(&ctx)?,
            loader: RefCell::new(loader),
            builder: RefCell::default(),
            modules: RefCell::default(),
            functions: RefCell::default(),
        };
        Ok(Cuda { ctx, stream, shared: Rc::new(shared) })
    }

    /// Allocates `len` elements (at least one), all zero.
    pub(crate) fn alloc<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        len: usize,
    ) -> Result<CudaSlice<T>, CellError> {
        self.count(|counts| counts.allocations += 1);
        self.stream.alloc_zeros(len.max(1)).map_err(|error| self.refused::<T>(len, error))
    }

    /// Allocates `host.len()` elements (at least one) and copies `host` there, several times over for the clocks.
    pub(crate) fn upload<T: DeviceRepr>(&self, host: &[T]) -> Result<CudaSlice<T>, CellError> {
        self.count(|counts| counts.allocations += 1);
        let allocated = ffi::alloc_unset(&self.stream, host.len().max(1));
        let mut slice = allocated.map_err(|error| self.refused::<T>(host.len(), error))?;
        if !host.is_empty() {
            let start = Instant::now();
            let copies = self.shared.mover.upload(host, &mut slice)?;
            let mut meters = self.shared.meters.borrow_mut();
            meters.copied(Direction::Up, size_of_val(host) as u64, &copies);
            meters.spent(start.elapsed().as_secs_f64());
        }
        Ok(slice)
    }

    /// Waits for all earlier work and copies a slice to the host, several times over for the clocks.
    pub(crate) fn download<T: DeviceRepr + Clone + Default>(
        &self,
        device: &CudaSlice<T>,
    ) -> Result<Vec<T>, CellError> {
        let mut host = vec![T::default(); device.len()];
        let start = Instant::now();
        let copies = self.shared.mover.download(device, &mut host)?;
        let mut meters = self.shared.meters.borrow_mut();
        meters.copied(Direction::Down, device.num_bytes() as u64, &copies);
        meters.spent(start.elapsed().as_secs_f64());
        Ok(host)
    }

    /// Enqueues a copy of all of `from` to the start of `to`.
    pub(crate) fn copy<T: DeviceRepr>(
        &self,
        from: &CudaSlice<T>,
        to: &mut CudaSlice<T>,
    ) -> Result<(), CellError> {
        if from.len() > to.len() {
            return Err(CellError::Failed(format!(
                "cannot copy {} elements into an array of {}",
                from.len(),
                to.len()
            )));
        }
        self.stream.memcpy_dtod(from, to).map_err(driver("cuMemcpyDtoDAsync"))
    }

    /// Waits for all enqueued work.
    pub(crate) fn synchronize(&self) -> Result<(), CellError> {
        self.stream.synchronize().map_err(driver("cuStreamSynchronize"))
    }

    /// The kernel `entry` of a source file: compiled, or read from the cache, and loaded once.
    pub(crate) fn function(
        &self,
        source: &'static KernelSource,
        entry: &str,
    ) -> Result<CudaFunction, CellError> {
        self.shared.meters.borrow_mut().uses(source.name);
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
    pub(crate) fn module(&self, source: &'static KernelSource) -> Result<Arc<CudaModule>, CellError> {
        if let Some(module) = self.shared.modules.borrow().get(source.name) {
            return Ok(Arc::clone(module));
        }
        let start = Instant::now();
        let (module, compile) = self.builder()?.build(source)?;
        self.count(|counts| counts.compilations += 1);
        let mut meters = self.shared.meters.borrow_mut();
        meters.compiled(source.name, compile);
        meters.spent(start.elapsed().as_secs_f64());
        self.shared.modules.borrow_mut().insert(source.name, Arc::clone(&module));
        Ok(module)
    }

    /// What compiles and loads kernels. What it is asked to do directly counts neither as set-up nor as compiling.
    pub(super) fn builder(&self) -> Result<Rc<Builder>, CellError> {
        if let Some(ready) = &*self.shared.builder.borrow() {
            return Ok(Rc::clone(ready));
        }
        let path = self.shared.loader.borrow_mut().require(Library::Nvrtc)?.path.clone();
        let chip = self
            .capability()
            .ok_or_else(|| CellError::Failed("the driver does not report the compute capability".into()))?;
        let ready = Rc::new(Builder::new(&self.ctx, chip, path.as_deref())?);
        *self.shared.builder.borrow_mut() = Some(Rc::clone(&ready));
        Ok(ready)
    }

    /// Loads a library, or says what is missing. Must succeed before any call into it.
    pub(crate) fn require(&self, library: Library) -> Result<(), CellError> {
        self.shared.loader.borrow_mut().require(library)?;
        Ok(())
    }

    /// Checks that `bytes` more of device memory can be had, before anything is allocated.
    pub(crate) fn reserve(&self, bytes: u128) -> Result<(), CellError> {
        if bytes > self.free_bytes()? {
            // What earlier jobs freed still lies in the pool; it counts as free once it is given back.
            self.give_back()?;
        }
        let free = self.free_bytes()?;
        if bytes > free {
            return Err(CellError::OutOfMemory { place: "device", needed: bytes, free });
        }
        Ok(())
    }

    /// Gives back what the pool holds and nobody uses, once all work has ended.
    pub(super) fn give_back(&self) -> Result<(), CellError> {
        self.synchronize()?;
        self.shared.pool.as_ref().map_or(Ok(()), Pool::trim)
    }

    /// Bytes of device memory that can be had, without those that the pool holds.
    pub(super) fn free_bytes(&self) -> Result<u128, CellError> {
        let (free, _total) = self.ctx.mem_get_info().map_err(driver("cuMemGetInfo"))?;
        Ok(free as u128)
    }

    /// Notes that a plan, a handle or a workspace was created.
    pub(crate) fn count_plan(&self) {
        self.count(|counts| counts.plans += 1);
    }

    pub(crate) fn multiprocessors(&self) -> u32 {
        self.figure(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap_or(1)
    }

    /// Compute capability, such as 90; `None` where the driver does not tell.
    pub(crate) fn capability(&self) -> Option<i32> {
        super::device::capability(self.shared.device)
    }

    /// Bytes of shared memory that one block can have when it asks for them.
    pub(crate) fn shared_memory_per_block(&self) -> u32 {
        const EVERY_DEVICE: u32 = 48 << 10;
        self.figure(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN).unwrap_or(EVERY_DEVICE)
    }

    /// Bytes of the L2 cache; `None` where the driver does not tell.
    pub(crate) fn l2_bytes(&self) -> Option<usize> {
        let bytes = self.figure(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
        bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes as usize)
    }

    /// An attribute of the device that is no negative number; `None` where the driver does not tell.
    pub(crate) fn figure(&self, attribute: Attribute) -> Option<u32> {
        ffi::attribute(self.shared.device, attribute).ok().and_then(|figure| u32::try_from(figure).ok())
    }

    /// Whether the blocks of a launch can be sure to be resident all at once.
    pub(crate) fn launches_cooperatively(&self) -> bool {
        self.figure(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == Some(1)
    }

    /// Begins to watch how much device memory is in use, from what is now.
    pub(super) fn watch_memory(&self) -> Result<(), CellError> {
        self.synchronize()?;
        if let Some(pool) = &self.shared.pool {
            pool.watch();
        }
        Ok(())
    }

    /// Compiling and copies since the last call, and the most device memory in use since [`Cuda::watch_memory`].
    pub(super) fn phases(&self) -> DevicePhases {
        let peak_device_bytes = self.shared.pool.as_ref().and_then(Pool::peak);
        DevicePhases { peak_device_bytes, ..self.shared.meters.borrow_mut().take() }
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

    /// The files that a library may be loaded from, with what tells a changed one; loads none.
    pub(super) fn candidates(&self, library: Library) -> Vec<String> {
        let files = self.shared.loader.borrow().candidates(library).into_iter();
        files.map(|path| format!("{} {}", path.display(), user_cache::file_identity(&path))).collect()
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
