//! Reads clocks, power, temperatures, throttle reasons and other processes of a device from NVML.
//!
//! NVML is the library behind `nvidia-smi` (<https://docs.nvidia.com/deploy/nvml-api/>). A value that it does not
//! report is left empty.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use gpubench_backend::Conditions;
use gpubench_backend::host::process;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::enums::device::SampleValue;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::structs::device::FieldId;
use nvml_wrapper::sys_exports::field_id::NVML_FI_DEV_MEMORY_TEMP;
use nvml_wrapper::{Device, Nvml};
use serde_json::{Value, json};

use super::ffi::driver as ffi;
use super::startup;

/// The library, initialised once per process. Devices borrow it for the rest of the process.
static NVML: OnceLock<Result<Nvml, String>> = OnceLock::new();

/// Process ids under which NVML lists this process. In a container they can be those of the host's namespace.
static OWN_PIDS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Longest process name to ask NVML for, in bytes.
const LONGEST_NAME: usize = 256;

/// Opens NVML by its name, or from the folder of the driver's library, as under WSL.
fn library(driver: Option<&Path>) -> Result<&'static Nvml, String> {
    let open = || {
        let missing = match Nvml::init() {
            Err(error @ NvmlError::LibloadingError(_)) => error,
            other => return other.map_err(|error| error.to_string()),
        };
        let next_to_driver = driver.map(|driver| driver.with_file_name("libnvidia-ml.so.1"));
        match next_to_driver.filter(|path| path.exists()) {
            Some(path) => {
                Nvml::builder().lib_path(path.as_os_str()).init().map_err(|error| error.to_string())
            }
            None => Err(missing.to_string()),
        }
    };
    NVML.get_or_init(open).as_ref().map_err(Clone::clone)
}

/// The processes on the device before this process opened a context. A process that appears afterwards is this one.
pub(crate) struct ProcessSnapshot {
    monitor: Monitor,
    before: BTreeSet<u32>,
    /// Locked while the context is opened, because two new contexts could not be distinguished.
    ours: MutexGuard<'static, BTreeSet<u32>>,
}

impl ProcessSnapshot {
    /// Lists the processes on the device `ordinal`. `driver` is the file of the driver's library, where known.
    pub(crate) fn before(ordinal: u32, driver: Option<&Path>) -> ProcessSnapshot {
        let ours = OWN_PIDS.lock().unwrap_or_else(PoisonError::into_inner);
        let monitor = Monitor::open(ordinal, driver);
        ProcessSnapshot { before: monitor.pids(), monitor, ours }
    }

    /// Lists the processes again, after the context has been opened.
    pub(crate) fn after(mut self) -> Monitor {
        let own = std::process::id();
        let after = self.monitor.pids();
        let same_pid_namespace = after.contains(&own);
        self.ours.extend(own_entries(&self.before, &after, own));
        Monitor { same_pid_namespace, ..self.monitor }
    }
}

/// Returns the entries that belong to this process: its own id if it is listed, otherwise all entries that appeared
/// while it opened its context, which are then ids of another namespace.
fn own_entries(before: &BTreeSet<u32>, after: &BTreeSet<u32>, own: u32) -> BTreeSet<u32> {
    if after.contains(&own) {
        return BTreeSet::from([own]);
    }
    after.difference(before).copied().collect()
}

pub(crate) struct Monitor {
    device: Result<(&'static Nvml, Device<'static>), String>,
    /// Whether NVML's process ids are those of this process's namespace.
    same_pid_namespace: bool,
}

impl Monitor {
    /// Finds the device by its PCI address, because `CUDA_VISIBLE_DEVICES` renumbers only CUDA's devices.
    fn open(ordinal: u32, driver: Option<&Path>) -> Monitor {
        let find = || {
            let nvml = library(driver)?;
            let devices = startup::devices().map_err(|problem| problem.reason)?;
            let device = devices.get(ordinal as usize).ok_or("no such device")?;
            let address = ffi::pci_bus_id(*device).map_err(|status| format!("PCI address: {status}"))?;
            let device = nvml.device_by_pci_bus_id(address).map_err(|error| error.to_string())?;
            Ok((nvml, device))
        };
        Monitor { device: find(), same_pid_namespace: false }
    }

    /// Returns NVML's version, or the reason why NVML is unavailable.
    pub(crate) fn version(&self) -> String {
        match &self.device {
            Ok((nvml, _)) => nvml.sys_nvml_version().unwrap_or_else(|_| "unknown version".into()),
            Err(reason) => format!("not available: {reason}"),
        }
    }

    /// Returns the device settings that limit its speed, by name. Settings that NVML does not report are left out.
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        let Ok((_, device)) = &self.device else { return vec![] };
        let settings = [
            ("power_limit_w", device.enforced_power_limit().ok().map(|mw| json!(f64::from(mw) / 1e3))),
            ("sm_clock_default_mhz", device.default_applications_clock(Clock::SM).ok().map(|mhz| json!(mhz))),
            ("sm_clock_max_mhz", device.max_clock_info(Clock::SM).ok().map(|mhz| json!(mhz))),
            ("persistence_mode", device.is_in_persistent_mode().ok().map(|on| json!(on))),
            ("mig_mode", device.mig_mode().ok().map(|mode| json!(mode.current != 0))),
        ];
        settings.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Reads the present conditions: six single values and two process lists. The driver answers without work on the
    /// device.
    pub(crate) fn conditions(&self) -> Conditions {
        let Ok((_, device)) = &self.device else { return Conditions::default() };
        let clock = |clock| device.clock_info(clock).ok().map(f64::from);
        Conditions {
            sm_mhz: clock(Clock::SM),
            memory_mhz: clock(Clock::Memory),
            power_w: device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
            temperature_c: device.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
            throttle: device.current_throttle_reasons().map(reasons).unwrap_or_default(),
            others: self.others(),
            memory_temperature_c: memory_temperature(device),
            load_average: None,
        }
    }

    fn pids(&self) -> BTreeSet<u32> {
        let Ok((_, device)) = &self.device else { return BTreeSet::new() };
        let compute = device.running_compute_processes().unwrap_or_default();
        let graphics = device.running_graphics_processes().unwrap_or_default();
        compute.into_iter().chain(graphics).map(|process| process.pid).collect()
    }

    /// Names the processes on the device other than this one and its siblings: those are workers of other backends, which
    /// are stopped while this one measures.
    fn others(&self) -> Vec<String> {
        let ours = OWN_PIDS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_worker = |pid: u32| self.same_pid_namespace && process::is_sibling(pid);
        let others = self.pids().into_iter().filter(|pid| !ours.contains(pid) && !is_worker(*pid));
        others.map(|pid| format!("{} ({pid})", self.name(pid))).collect()
    }

    fn name(&self, pid: u32) -> String {
        let of_system = || std::fs::read_to_string(format!("/proc/{pid}/comm")).ok();
        let of_nvml = || {
            let (nvml, _) = self.device.as_ref().ok()?;
            nvml.sys_process_name(pid, LONGEST_NAME).ok()
        };
        let comm = self.same_pid_namespace.then(of_system).flatten().map(|name| name.trim().to_owned());
        comm.unwrap_or_else(|| program(&of_nvml().unwrap_or_default()))
    }
}

/// Returns the memory temperature in degrees Celsius. Hot memory is refreshed more often, which costs bandwidth.
fn memory_temperature(device: &Device<'_>) -> Option<f64> {
    let values = device.field_values_for(&[FieldId(NVML_FI_DEV_MEMORY_TEMP)]).ok()?;
    match values.into_iter().next()?.ok()?.value.ok()? {
        SampleValue::U32(degrees) => Some(f64::from(degrees)),
        _ => None,
    }
}

/// Returns the program of a command line or path: its file name, without arguments.
fn program(command: &str) -> String {
    let path = command.split_whitespace().next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    if name.is_empty() { "unknown process".into() } else { name.into() }
}

/// Names the reasons for throttled clocks. Idleness is no reason, because an idle device lowers its clocks itself.
fn reasons(bits: ThrottleReasons) -> Vec<String> {
    const WORDS: [(ThrottleReasons, &str); 8] = [
        (ThrottleReasons::SW_POWER_CAP, "power limit"),
        (ThrottleReasons::SW_THERMAL_SLOWDOWN, "thermal (software)"),
        (ThrottleReasons::HW_THERMAL_SLOWDOWN, "thermal (hardware)"),
        (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
        (ThrottleReasons::HW_SLOWDOWN, "hardware slowdown"),
        (ThrottleReasons::SYNC_BOOST, "sync boost"),
        (ThrottleReasons::APPLICATIONS_CLOCKS_SETTING, "clocks set by the user"),
        (ThrottleReasons::DISPLAY_CLOCK_SETTING, "display clocks"),
    ];
    WORDS.iter().filter(|(bit, _)| bits.contains(*bit)).map(|(_, words)| (*words).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_throttle_reason_has_a_name_and_idleness_is_not_one() {
        assert!(reasons(ThrottleReasons::NONE).is_empty());
        assert!(reasons(ThrottleReasons::GPU_IDLE).is_empty());
        let all = ThrottleReasons::all() - ThrottleReasons::GPU_IDLE;
        for bit in all.iter() {
            assert_eq!(reasons(bit).len(), 1, "{bit:?}");
        }
        let both =
            ThrottleReasons::SW_POWER_CAP | ThrottleReasons::HW_THERMAL_SLOWDOWN | ThrottleReasons::GPU_IDLE;
        assert_eq!(reasons(both), ["power limit", "thermal (hardware)"]);
    }

    #[test]
    fn if_the_own_id_is_listed_only_it_is_ours() {
        let (before, after) = (BTreeSet::from([5]), BTreeSet::from([5, 7, 42]));
        assert_eq!(own_entries(&before, &after, 42), BTreeSet::from([42]));
        let already = BTreeSet::from([5, 42]);
        assert_eq!(own_entries(&already, &already, 42), BTreeSet::from([42]));
    }

    #[test]
    fn in_another_namespace_the_entry_that_appeared_is_ours() {
        let before = BTreeSet::from([5]);
        assert_eq!(own_entries(&before, &BTreeSet::from([5, 900]), 42), BTreeSet::from([900]));
        assert_eq!(own_entries(&before, &before, 42), BTreeSet::new());
    }

    #[test]
    fn processes_are_named_by_their_program() {
        assert_eq!(program("python3"), "python3");
        assert_eq!(program("/usr/bin/python3 train.py --fast"), "python3");
        assert_eq!(program(""), "unknown process");
    }

    #[test]
    fn without_the_library_only_the_reason_is_reported() {
        let monitor = Monitor { device: Err("no library".into()), same_pid_namespace: false };
        assert_eq!(monitor.conditions(), Conditions::default());
        assert_eq!(monitor.version(), "not available: no library");
        assert!(monitor.settings().is_empty());
    }
}
