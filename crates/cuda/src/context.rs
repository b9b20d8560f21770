//! The CUDA context as the ops use it: memory, copies, compiled kernels, and libraries loaded on demand.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::sys::{CUdevice, CUresult};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits,
};
use gpubench_backend::host::user_cache;
use gpubench_backend::{DevicePhases, Finding, SetupCounts, TransferMemory};
use gpubench_report::data::{Element, Plain, Real, Values};
use half::slice::HalfFloatSliceExt;
use half::vec::HalfBitsVecExt;
use half::{bf16, f16};
use rustfft::num_complex::Complex;

use super::builder::{Builder, Built};
use super::device;
use super::ffi::completion::Completion;
use super::ffi::driver as ffi;
use super::ffi::pool::Pool;
use super::ffi::status::Status;
use super::kernels::KernelSource;
use super::loader::Loader;
use super::startup;
use super::transfer::TransferTimer;
use super::transfer_stats::{CopyDirection, TransferStats};
use crate::{CellError, Library, Result, driver};

/// A type of elements in device memory.
pub trait DeviceValue: Element {
    /// The type of the device's array: that of the elements, of the parts of complex ones, or of the bits of 16-bit ones.
    type Stored: DeviceRepr + ValidAsZeroBits + Plain + Default + Clone + 'static;
    /// Numbers of that type per element.
    const PARTS: usize;

    /// Returns elements as the device's array has them.
    fn stored(elements: &[Self]) -> &[Self::Stored];

    /// Returns the elements of a device's array.
    fn restored(stored: Vec<Self::Stored>) -> Vec<Self>;

    /// Returns the numbers of a device's array: of complex elements their parts.
    fn numbers(stored: Vec<Self::Stored>) -> Values {
        Self::into_values(Self::restored(stored))
    }
}

macro_rules! device_value {
    ($($t:ty)*) => {
        $(impl DeviceValue for $t {
            type Stored = $t;
            const PARTS: usize = 1;

            fn stored(elements: &[$t]) -> &[$t] {
                elements
            }

            fn restored(stored: Vec<$t>) -> Vec<$t> {
                stored
            }
        })*
    };
}

device_value!(f32 f64);

macro_rules! half_value {
    ($($t:ty)*) => {
        $(impl DeviceValue for $t {
            type Stored = u16;
            const PARTS: usize = 1;

            fn stored(elements: &[$t]) -> &[u16] {
                elements.reinterpret_cast()
            }

            fn restored(stored: Vec<u16>) -> Vec<$t> {
                stored.reinterpret_into()
            }
        })*
    };
}

half_value!(bf16 f16);

impl<T: DeviceElement> DeviceValue for Complex<T> {
    type Stored = T;
    const PARTS: usize = 2;

    fn stored(elements: &[Complex<T>]) -> &[T] {
        T::parts(elements)
    }

    fn restored(stored: Vec<T>) -> Vec<Complex<T>> {
        stored.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
    }

    fn numbers(stored: Vec<T>) -> Values {
        T::into_values(stored)
    }
}

/// An element type of kernels and libraries.
pub trait DeviceElement: Real + DeviceValue<Stored = Self> + DeviceRepr + ValidAsZeroBits {}

impl DeviceElement for f32 {}
impl DeviceElement for f64 {}

/// The context, its one stream, and the state that all jobs share. Cheap to clone.
#[derive(Clone)]
pub struct Cuda {
    /// The device's primary context.
    pub(crate) ctx: Arc<CudaContext>,
    /// The stream of all work. It is not the default stream.
    pub stream: Arc<CudaStream>,
    shared: Rc<ContextState>,
}

struct ContextState {
    device: CUdevice,
    replays: Cell<bool>,
    completion: OnceCell<Rc<Completion>>,
    single_uploads: Cell<bool>,
    counts: Cell<SetupCounts>,
    timer: TransferTimer,
    stats: RefCell<TransferStats>,
    pool: Option<Pool>,
    loader: RefCell<Loader>,
    builder: RefCell<Option<Rc<Builder>>>,
    modules: RefCell<HashMap<&'static str, Arc<CudaModule>>>,
    functions: RefCell<HashMap<(&'static str, String), CudaFunction>>,
}

impl Cuda {
    /// Opens a context on device `ordinal`; the driver must be loaded. Copies use the kinds of host memory of `memory`.
    pub(super) fn open(
        ordinal: usize,
        loader: Loader,
        elapsed: ffi::Elapsed,
        memory: TransferMemory,
    ) -> Result<Cuda> {
        let ctx = ffi::context(ordinal)
            .map_err(|error| startup::explain("cuDevicePrimaryCtxRetain", error.into()))?;
        let stream = ctx.new_stream().map_err(driver("cuStreamCreate"))?;
        let device = ctx.cu_device();
        let shared = ContextState {
            device,
            replays: Cell::new(true),
            completion: OnceCell::new(),
            single_uploads: Cell::new(false),
            counts: Cell::default(),
            timer: TransferTimer::new(&stream, elapsed, memory)?,
            stats: RefCell::default(),
            pool: Pool::open(&ctx)?,
            loader: RefCell::new(loader),
            builder: RefCell::default(),
            modules: RefCell::default(),
            functions: RefCell::default(),
        };
        Ok(Cuda { ctx, stream, shared: Rc::new(shared) })
    }

    /// Allocates `len` elements (at least one), all zero.
    pub fn alloc<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> Result<CudaSlice<T>> {
        self.count(|counts| counts.allocations += 1);
        self.stream.alloc_zeros(len.max(1)).map_err(|error| self.refused::<T>(len, error))
    }

    /// Allocates `len` elements (at least one) during an execution, which writes all of them before anything reads one.
    pub fn alloc_unset<T: DeviceRepr>(&self, len: usize) -> Result<CudaSlice<T>> {
        ffi::alloc_unset(&self.stream, len.max(1)).map_err(|error| self.refused::<T>(len, error))
    }

    /// Allocates `host.len()` elements (at least one) and copies `host` to them. The copy is repeated for the timing, except
    /// [with single uploads](Cuda::with_single_uploads).
    pub fn upload<T: DeviceRepr + Plain>(&self, host: &[T]) -> Result<CudaSlice<T>> {
        self.count(|counts| counts.allocations += 1);
        let allocated = ffi::alloc_unset(&self.stream, host.len().max(1));
        let mut slice = allocated.map_err(|error| self.refused::<T>(host.len(), error))?;
        if host.is_empty() {
            return Ok(slice);
        }
        let start = Instant::now();
        if self.shared.single_uploads.get() {
            self.stream.memcpy_htod(host, &mut slice).map_err(driver("cuMemcpyHtoDAsync"))?;
            self.synchronize()?;
        } else {
            let copies = self.shared.timer.upload(host, &mut slice)?;
            let bytes = size_of_val(host) as u64;
            self.shared.stats.borrow_mut().copied(CopyDirection::Upload, bytes, &copies);
        }
        self.shared.stats.borrow_mut().spent(start.elapsed().as_secs_f64());
        Ok(slice)
    }

    /// Waits for all earlier work and copies a slice to the host. The copy is repeated for the timing.
    pub fn download<T: DeviceRepr + Plain + Default>(&self, device: &CudaSlice<T>) -> Result<Vec<T>> {
        let mut host = vec![T::default(); device.len()];
        let start = Instant::now();
        let copies = self.shared.timer.download(device, &mut host)?;
        let mut stats = self.shared.stats.borrow_mut();
        stats.copied(CopyDirection::Download, device.num_bytes() as u64, &copies);
        stats.spent(start.elapsed().as_secs_f64());
        Ok(host)
    }

    /// Enqueues a copy of all of `from` to the start of `to`.
    pub fn copy<T: DeviceRepr>(&self, from: &CudaSlice<T>, to: &mut CudaSlice<T>) -> Result<()> {
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
    pub fn synchronize(&self) -> Result<()> {
        self.stream.synchronize().map_err(driver("cuStreamSynchronize"))
    }

    /// Returns the kernel `entry` of a source file. The module is compiled or read from the cache once.
    pub fn function(&self, source: &'static KernelSource, entry: &str) -> Result<CudaFunction> {
        self.shared.stats.borrow_mut().uses(source.name);
        let key = (source.name, entry.to_owned());
        if let Some(function) = self.shared.functions.borrow().get(&key) {
            return Ok(function.clone());
        }
        let module = self.module(source)?;
        let function = module.load_function(entry).map_err(driver("cuModuleGetFunction"))?;
        self.shared.functions.borrow_mut().insert(key, function.clone());
        Ok(function)
    }

    /// Compiles and loads a source file, unless that has been done already.
    pub(crate) fn module(&self, source: &'static KernelSource) -> Result<Arc<CudaModule>> {
        if let Some(module) = self.shared.modules.borrow().get(source.name) {
            return Ok(Arc::clone(module));
        }
        let start = Instant::now();
        let built = self.builder()?.build(source)?;
        Ok(self.keep(source, built, start))
    }

    /// Compiles and loads source files at the same time, except those that are loaded. The cell that needs a file reports
    /// its failure.
    ///
    /// # Errors
    /// There is no compiler for this device.
    pub fn compile_ahead(&self, sources: &[&'static KernelSource]) -> Result<()> {
        let mut start = Instant::now();
        let is_new = |source: &&&KernelSource| !self.shared.modules.borrow().contains_key(source.name);
        let new: Vec<_> = sources.iter().filter(is_new).copied().collect();
        for (source, built) in self.builder()?.build_all(new) {
            if let Ok(built) = built {
                self.keep(source, built, start);
                start = Instant::now();
            }
        }
        Ok(())
    }

    /// Keeps a module that took the time since `start`.
    fn keep(&self, source: &KernelSource, (module, compile): Built, start: Instant) -> Arc<CudaModule> {
        self.count(|counts| counts.compilations += 1);
        let mut stats = self.shared.stats.borrow_mut();
        stats.compiled(source.name, compile);
        stats.spent(start.elapsed().as_secs_f64());
        self.shared.modules.borrow_mut().insert(source.name, Arc::clone(&module));
        module
    }

    /// Returns the kernel builder. Direct calls to it count neither as set-up nor as compile time.
    pub(super) fn builder(&self) -> Result<Rc<Builder>> {
        if let Some(ready) = &*self.shared.builder.borrow() {
            return Ok(Rc::clone(ready));
        }
        let path = self.shared.loader.borrow_mut().require(Library::Nvrtc)?.path.clone();
        let chip = device::capability(self.shared.device);
        let chip = chip
            .ok_or_else(|| CellError::Failed("the driver does not report the compute capability".into()))?;
        let ready = Rc::new(Builder::new(&self.ctx, chip, path.as_deref())?);
        *self.shared.builder.borrow_mut() = Some(Rc::clone(&ready));
        Ok(ready)
    }

    /// Loads a library, or returns an error that says what is missing. Call it before any call into the library.
    pub fn require(&self, library: Library) -> Result<()> {
        self.shared.loader.borrow_mut().require(library)?;
        Ok(())
    }

    /// Checks that `bytes` more of device memory are available. Call it before the first allocation.
    pub fn reserve(&self, bytes: u128) -> Result<()> {
        if bytes > self.free_bytes()? {
            // Memory that earlier jobs freed is still in the pool; it counts as free after it is given back.
            self.release_unused_memory()?;
        }
        let free = self.free_bytes()?;
        if bytes > free {
            return Err(CellError::OutOfMemory { place: "device", needed: Some(bytes), free });
        }
        Ok(())
    }

    /// Returns the pool's unused memory to the system, after all work has ended.
    pub(super) fn release_unused_memory(&self) -> Result<()> {
        self.synchronize()?;
        self.shared.pool.as_ref().map_or(Ok(()), Pool::trim)
    }

    /// Returns the free bytes of device memory, without those in the pool.
    pub(super) fn free_bytes(&self) -> Result<u128> {
        let (free, _total) = self.ctx.mem_get_info().map_err(driver("cuMemGetInfo"))?;
        Ok(free as u128)
    }

    /// Returns whether jobs may launch the kernels of a [`Replay`](crate::ffi::replay::Replay) as a graph.
    pub(crate) fn replays(&self) -> bool {
        self.shared.replays.get()
    }

    /// Runs `act`, in which jobs launch the kernels of a [`Replay`](crate::ffi::replay::Replay) one by one.
    pub(crate) fn without_replays<T>(&self, act: impl FnOnce() -> T) -> T {
        during(&self.shared.replays, false, act)
    }

    /// Makes graphs end with the kernel of `completion`, from now on.
    pub(crate) fn end_graphs_with(&self, completion: &Rc<Completion>) {
        self.shared.completion.get_or_init(|| Rc::clone(completion));
    }

    pub(crate) fn completion(&self) -> Option<&Completion> {
        self.shared.completion.get().map(Rc::as_ref)
    }

    /// Counts a plan, a handle or a workspace that was created.
    pub fn count_plan(&self) {
        self.count(|counts| counts.plans += 1);
    }

    /// Starts to measure the peak of device memory in use, relative to the present use.
    pub(super) fn watch_memory(&self) -> Result<()> {
        self.synchronize()?;
        if let Some(pool) = &self.shared.pool {
            pool.watch();
        }
        Ok(())
    }

    /// Returns compile and copy times since the last call, and the peak of device memory since
    /// `watch_memory`.
    pub fn phases(&self) -> DevicePhases {
        let peak_device_bytes = self.shared.pool.as_ref().and_then(Pool::peak);
        DevicePhases { peak_device_bytes, ..self.shared.stats.borrow_mut().take() }
    }

    /// Runs `act`, in which uploads are made once and not timed.
    pub fn with_single_uploads<T>(&self, act: impl FnOnce() -> T) -> T {
        during(&self.shared.single_uploads, true, act)
    }

    /// Excludes host seconds from the time to plan the present job.
    pub fn exclude_from_plan(&self, seconds: f64) {
        self.shared.stats.borrow_mut().spent(seconds);
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

    /// Returns the files that a library may be loaded from, each with its size and modification time. Loads none.
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
        let status = Status::from(error);
        match self.free_bytes() {
            Ok(free) if status.is(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => {
                let needed = len as u128 * size_of::<T>() as u128;
                CellError::OutOfMemory { place: "device", needed: Some(needed), free }
            }
            _ => driver("cuMemAllocAsync")(status),
        }
    }
}

/// Runs `act` while `cell` has that value.
fn during<T>(cell: &Cell<bool>, value: bool, act: impl FnOnce() -> T) -> T {
    let before = cell.replace(value);
    let result = act();
    cell.set(before);
    result
}
