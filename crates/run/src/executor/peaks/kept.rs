//! Keeps measured peaks on disk, one file per backend, state of the backend and host. Without the files, the next run
//! measures again.

use std::path::Path;

use gpubench_backend::Peaks;
use gpubench_backend::host::processors;
use gpubench_backend::host::user_cache;
use gpubench_report::data::hash::fnv1a;
use gpubench_report::report::{Environment, Host, file};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Version of the measurement's method; kept peaks of another version are ignored.
const METHOD: u32 = 6;

/// Identifies kept peaks by everything they depend on.
pub(crate) struct Key {
    backend: String,
    state: Value,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Everything the peaks depend on; the file's name is only a hash of it.
    state: Value,
    peaks: Peaks,
}

impl Key {
    pub(crate) fn new(backend: &str, environment: &Environment, state: &Value) -> Key {
        // The load changes between runs, so it is not part of the key.
        let host = Host { load_average: None, ..environment.host.clone() };
        let state = json!({
            "method": METHOD,
            "backend": state,
            "build_profile": environment.build_profile,
            "host": host,
            "processors": processors::allowed(),
            "variables": environment.variables,
        });
        Key { backend: backend.into(), state }
    }

    /// Returns the kept peaks from `folder`; `None` where there are none, or none that are plausible.
    pub(crate) fn read(&self, folder: &Path) -> Option<Peaks> {
        let bytes = user_cache::read(&folder.join(self.name()))?;
        let Kept { state, peaks } = serde_json::from_slice(&bytes).ok()?;
        let dated = peaks.measured.parse::<jiff::Timestamp>().is_ok();
        let intact = state == self.state && dated && peaks.has_rates_alone();
        peaks.plausible().filter(|_| intact).map(|peaks| Peaks { cached: true, ..peaks })
    }

    /// Writes the peaks to `folder`. An error is ignored: the next run measures again.
    pub(crate) fn write(&self, folder: &Path, peaks: &Peaks) {
        let kept = Kept { state: self.state.clone(), peaks: peaks.clone() };
        if let Ok(bytes) = file::to_json(&kept) {
            let _ = user_cache::write(folder, &self.name(), &bytes);
        }
    }

    fn name(&self) -> String {
        let text = self.state.to_string();
        format!("{}-{:016x}{:016x}.json", self.backend, fnv1a(0, text.as_bytes()), fnv1a(1, text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        let host = Host { cpu: "some CPU".into(), cpu_quota: Some(1.5), threads: 2, ..Host::default() };
        Environment { host, build_profile: Some("release".into()), ..Environment::default() }
    }

    fn key() -> Key {
        Key::new("cuda", &environment(), &json!({ "name": "some GPU", "power_limit_w": 700.0 }))
    }

    fn peaks() -> Peaks {
        let measured = "2026-11-21T10:00:00Z".into();
        Peaks { read: Some(4.1e12), copy: Some(1.0 / 3.0), measured, ..Peaks::default() }
    }

    #[test]
    fn a_file_with_an_impossible_rate_no_date_or_another_state_is_none() {
        let folder = tempfile::tempdir().unwrap();
        for (rate, measured) in [(-1.0, "2026-11-21T10:00:00Z"), (0.0, "2026-11-21T10:00:00Z"), (1.0, "soon")]
        {
            let damaged = Peaks { copy: Some(rate), measured: measured.into(), ..peaks() };
            key().write(folder.path(), &damaged);
            assert_eq!(key().read(folder.path()), None, "{rate} {measured}");
        }
        let other = Key::new("cuda", &environment(), &json!({ "name": "another GPU" }));
        other.write(folder.path(), &peaks());
        std::fs::rename(folder.path().join(other.name()), folder.path().join(key().name())).unwrap();
        assert_eq!(key().read(folder.path()), None);
    }

    #[test]
    fn the_name_depends_on_the_host_and_backend_but_not_on_the_load() {
        let name = |change: fn(&mut Environment)| {
            let mut environment = environment();
            change(&mut environment);
            Key::new("cuda", &environment, &json!({ "name": "some GPU", "power_limit_w": 700.0 })).name()
        };
        assert_eq!(name(|e| e.host.load_average = Some(3.0)), key().name());
        let changes: [fn(&mut Environment); 6] = [
            |e| e.host.cpu = "another".into(),
            |e| e.host.threads = 3,
            |e| e.host.cpu_quota = None,
            |e| e.host.memory_bytes = 1,
            |e| drop(e.variables.insert("OMP_NUM_THREADS".into(), "1".into())),
            |e| e.build_profile = Some("debug".into()),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            assert_ne!(name(change), key().name(), "{index}");
        }
        assert_ne!(Key::new("cuda", &environment(), &Value::Null).name(), key().name());
        assert!(key().name().starts_with("cuda-"));
    }
}
