//! Finds the devices that CUDA shows, and explains why it does not start: the known cause of each status, and the next step.

use cudarc::driver::sys::{CUdevice, CUresult};
use gpubench_report::error::Unavailable;
use gpubench_text::cut;

use super::ffi::driver as ffi;
use super::ffi::status::Status;

/// More devices than any machine has: a driver that reports more is broken.
const MAX_DEVICES: i32 = 1024;

/// Variable of CUDA with the devices that programs see.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// Number of characters of a variable's value that a message shows.
const MAX_SHOWN: usize = 80;

/// Cause and next step of the statuses with which CUDA refuses to start, after cuda.h and NVIDIA's deployment guides.
const CAUSES: &[(CUresult, &str, &str)] = &[
    (
        CUresult::CUDA_ERROR_OUT_OF_MEMORY,
        "there is no memory for a CUDA context: other programs fill the device, or a limit on address space is too low",
        "end the programs that `nvidia-smi` lists, or run `ulimit -v unlimited` first",
    ),
    (
        CUresult::CUDA_ERROR_STUB_LIBRARY,
        "the first libcuda.so found is the toolkit's stub, not the NVIDIA driver",
        "remove the folder `stubs` from LD_LIBRARY_PATH",
    ),
    (
        CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
        "the kernel module of the NVIDIA driver is too old for its libcuda.so.1",
        "update the NVIDIA driver and reboot",
    ),
    (
        CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE,
        "another program has the GPU for itself, or its compute mode is Prohibited",
        "end the program that `nvidia-smi` lists, or share the GPU: sudo nvidia-smi -c DEFAULT",
    ),
    (
        CUresult::CUDA_ERROR_INVALID_DEVICE,
        "a GPU that was chosen is not valid, as in MIG mode without an instance",
        "choose a GPU or MIG instance that `nvidia-smi -L` lists by CUDA_VISIBLE_DEVICES",
    ),
    (
        CUresult::CUDA_ERROR_DEVICE_NOT_LICENSED,
        "the virtual GPU has no licence",
        "get one for this machine (`nvidia-smi -q` shows License Status), then restart nvidia-gridd",
    ),
    (
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        "the GPU's memory had an error that ECC could not correct",
        "reset the GPU (sudo nvidia-smi -r) or reboot; replace it if `nvidia-smi -q -d ECC` shows more errors",
    ),
    (
        CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
        "an NVLink connection had an error that could not be corrected",
        "reset the GPUs (sudo nvidia-smi -r) or reboot; `nvidia-smi nvlink -e` counts the errors",
    ),
    (
        CUresult::CUDA_ERROR_OPERATING_SYSTEM,
        "a call of the operating system failed, often because /dev/nvidia-uvm is missing or cannot be opened",
        "load the module with `sudo modprobe nvidia-uvm`, or start the container with --gpus all",
    ),
    (
        CUresult::CUDA_ERROR_NOT_PERMITTED,
        "this user or container may not use the GPU",
        "check the permissions of /dev/nvidia*, or start the container with --gpus all",
    ),
    (
        CUresult::CUDA_ERROR_NOT_SUPPORTED,
        "the GPU does not support CUDA on this system, as a virtual GPU without unified memory does not",
        "enable unified memory for the virtual GPU, or ask who administers its host",
    ),
    (
        CUresult::CUDA_ERROR_SYSTEM_NOT_READY,
        "the system is not ready for CUDA: on machines with NVSwitch the fabric manager does not run",
        "sudo systemctl start nvidia-fabricmanager (of the driver's version); `nvidia-smi -q` shows the state of Fabric",
    ),
    (
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
        "libcuda.so.1 and the kernel module are of different driver versions, as after an update",
        "reboot, or unload the nvidia modules and load them again; in a container, use the host's libcuda.so.1",
    ),
    (
        CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
        "libcuda.so.1 is of CUDA's forward-compatibility package, which this GPU does not support",
        "remove the folder `compat` from LD_LIBRARY_PATH and /etc/ld.so.conf.d, or update the NVIDIA driver",
    ),
    (
        CUresult::CUDA_ERROR_MPS_CONNECTION_FAILED,
        "the CUDA Multi-Process Service (MPS) does not accept connections",
        "start it with `nvidia-cuda-mps-control -d` and the same CUDA_MPS_PIPE_DIRECTORY, or set that to an empty folder",
    ),
    (
        CUresult::CUDA_ERROR_MPS_RPC_FAILURE,
        "the server of the CUDA Multi-Process Service (MPS) does not answer",
        "restart MPS: echo quit | nvidia-cuda-mps-control; nvidia-cuda-mps-control -d",
    ),
    (
        CUresult::CUDA_ERROR_MPS_SERVER_NOT_READY,
        "the server of the CUDA Multi-Process Service (MPS) is starting, or recovers from a fault",
        "try again in a minute; if that fails: echo quit | nvidia-cuda-mps-control; nvidia-cuda-mps-control -d",
    ),
    (
        CUresult::CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,
        "the CUDA Multi-Process Service (MPS) has as many clients as it allows",
        "end other programs that use the GPU",
    ),
    (
        CUresult::CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
        "the CUDA Multi-Process Service (MPS) has as many connections to the GPU as it allows",
        "end other programs that use the GPU, or lower their CUDA_DEVICE_MAX_CONNECTIONS",
    ),
    (
        CUresult::CUDA_ERROR_MPS_CLIENT_TERMINATED,
        "the CUDA Multi-Process Service (MPS) ended this client",
        "run again; the log of MPS says which client had the fault",
    ),
    (
        CUresult::CUDA_ERROR_UNKNOWN,
        "the nvidia-uvm module is in a bad state, as after a suspend, or /dev/nvidia* cannot be opened",
        "reload it (sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm) or reboot; check the permissions of /dev/nvidia*",
    ),
];

/// Explains a status that a call of the start returned.
pub(crate) fn explain(call: &str, status: Status) -> Unavailable {
    if status.is(CUresult::CUDA_ERROR_NO_DEVICE) {
        return no_device(&|name| std::env::var(name).ok());
    }
    let known = CAUSES.iter().find(|(code, ..)| status.is(*code));
    let (cause, fix) = known.map_or(
        (
            "CUDA found no usable device",
            "see whether `nvidia-smi` works; if not, reboot or reinstall the NVIDIA driver, or run without cuda: --backends cpu",
        ),
        |(_, cause, fix)| (*cause, *fix),
    );
    Unavailable::new(format!("{cause} ({call}: {status})"), fix)
}

/// Explains that CUDA shows no device: a variable hides all, or there is none.
fn no_device(variable: &dyn Fn(&str) -> Option<String>) -> Unavailable {
    if let Some(value) = variable(VISIBLE)
        // The first GPU has index 0, so a list that begins with it hides none where there is one.
        && value.split(',').next().is_none_or(|first| first.trim() != "0")
    {
        return Unavailable::new(
            format!("{VISIBLE} is '{}' and hides all GPUs", cut::shortened(&value, MAX_SHOWN)),
            format!("unset {VISIBLE}, or set it to indices or UUIDs that `nvidia-smi -L` lists"),
        );
    }
    // Variable of NVIDIA's container runtime.
    const OF_CONTAINER: &str = "NVIDIA_VISIBLE_DEVICES";
    if let Some(value) = variable(OF_CONTAINER).filter(|value| ["", "none", "void"].contains(&value.trim())) {
        return Unavailable::new(
            format!("{OF_CONTAINER} is '{value}', so this container has no GPU"),
            format!("start the container with --gpus all, or with {OF_CONTAINER}=all"),
        );
    }
    Unavailable::new(
        "this machine has no CUDA device",
        "check that `nvidia-smi` lists a GPU, or run without cuda: --backends cpu",
    )
}

/// Starts CUDA and returns the devices that it shows: at least one. The driver must be loaded.
pub(crate) fn devices() -> Result<Vec<CUdevice>, Unavailable> {
    ffi::init().map_err(|status| explain("cuInit", status))?;
    let count = ffi::device_count().map_err(|status| explain("cuDeviceGetCount", status))?;
    if !(0..=MAX_DEVICES).contains(&count) {
        let reason = format!("the NVIDIA driver reports {count} devices, which cannot be");
        return Err(Unavailable::new(
            reason,
            "reinstall the NVIDIA driver, or run without cuda: --backends cpu",
        ));
    }
    if count == 0 {
        return Err(no_device(&|name| std::env::var(name).ok()));
    }
    let all: Result<Vec<_>, _> = (0..count).map(ffi::device).collect();
    all.map_err(|status| explain("cuDeviceGet", status))
}

/// Starts CUDA and checks that the device of that number exists.
pub(crate) fn choose_device(ordinal: u32) -> Result<u32, Unavailable> {
    let count = devices()?.len();
    if (ordinal as usize) < count {
        return Ok(ordinal);
    }
    let shown = match std::env::var(VISIBLE) {
        Ok(value) => format!("{VISIBLE} is '{}' and shows {count}", cut::shortened(&value, MAX_SHOWN)),
        Err(_) => format!("this machine has {count}"),
    };
    let fix = match count {
        1 => "use --device 0".into(),
        _ => format!("choose one from 0 to {}, such as --device 0", count - 1),
    };
    Err(Unavailable::new(format!("there is no CUDA device {ordinal}: {shown}, numbered from 0"), fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_cause_has_a_step_of_its_own() {
        for (code, cause, fix) in CAUSES {
            let found = explain("cuInit", Status::from(*code));
            assert_eq!(found.reason, format!("{cause} (cuInit: {})", Status::from(*code)));
            assert_eq!(found.fix.as_deref(), Some(*fix));
            assert!(!fix.contains("lists a GPU"), "{fix}");
        }
    }

    #[test]
    fn a_variable_that_hides_all_gpus_is_named_with_its_value() {
        let of = |name: &'static str, value: &'static str| {
            no_device(&|asked| (asked == name).then(|| value.to_owned())).reason
        };
        for value in ["-1", "", "7", "GPU-00000000-0000-0000-0000-000000000000", "NoDevFiles", "-1,0"] {
            assert_eq!(of(VISIBLE, value), format!("{VISIBLE} is '{value}' and hides all GPUs"));
        }
        for value in ["0", " 0,1", "0,-1"] {
            assert_eq!(of(VISIBLE, value), "this machine has no CUDA device", "{value}");
        }
        assert!(of("NVIDIA_VISIBLE_DEVICES", "none").contains("so this container has no GPU"));
        assert_eq!(of("NVIDIA_VISIBLE_DEVICES", "all"), "this machine has no CUDA device");
        assert!(of(VISIBLE, Box::leak("é".repeat(5000).into_boxed_str())).len() < 300);
    }
}
