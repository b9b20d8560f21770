//! Makes the report's entries about backends from the workers' states. Workers that differ in their library share one.

use gpubench_backend::Finding;
use gpubench_backend::WorkerId;
use gpubench_report::report::BackendState;

/// Returns one entry per backend and number of threads, in the order of the workers.
///
/// The description of the machine comes from the worker without a library, or otherwise from the first that could start.
pub(crate) fn merge<'a>(
    workers: impl Iterator<Item = (&'a WorkerId, &'a BackendState)>,
) -> Vec<BackendState> {
    let mut merged: Vec<(&WorkerId, BackendState)> = vec![];
    for (id, state) in workers {
        let Some((chosen, entry)) = merged.iter_mut().find(|(_, entry)| entry.name == state.name) else {
            merged.push((id, state.clone()));
            continue;
        };
        let peaks = entry.peaks.take().or_else(|| state.peaks.clone());
        let libraries = std::mem::take(&mut entry.libraries);
        if (state.available, id.library.is_none()) > (entry.available, chosen.library.is_none()) {
            (*chosen, *entry) = (id, state.clone());
        }
        (entry.peaks, entry.libraries) = (peaks, libraries);
        add_libraries(entry, state.libraries.clone());
    }
    merged.into_iter().map(|(_, entry)| entry).collect()
}

/// Adds libraries to an entry, replacing earlier findings of the same libraries.
pub(crate) fn add_libraries(entry: &mut BackendState, libraries: Vec<Finding>) {
    for library in libraries {
        let is_same = |known: &&mut Finding| (&known.name, &known.path) == (&library.name, &library.path);
        match entry.libraries.iter_mut().find(is_same) {
            Some(known) => *known = library,
            None => entry.libraries.push(library),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(name: &str, version: &str) -> Finding {
        Finding {
            name: name.into(),
            path: Some(format!("/lib/{name}")),
            version: Some(version.into()),
            ..Finding::default()
        }
    }

    fn worker(threads: Option<usize>, name: Option<&str>, available: bool) -> (WorkerId, BackendState) {
        let id = WorkerId { threads, library: name.map(str::to_owned), ..WorkerId::of_backend("cpu") };
        let state = BackendState {
            name: id.report_name(),
            available,
            reason: (!available).then(|| "no such library".into()),
            description: serde_json::json!({ "said by": name }),
            libraries: name.map(|name| library(name, "1")).into_iter().collect(),
            ..BackendState::default()
        };
        (id, state)
    }

    fn merged(workers: &[(WorkerId, BackendState)]) -> Vec<BackendState> {
        merge(workers.iter().map(|(id, state)| (id, state)))
    }

    #[test]
    fn workers_of_several_libraries_are_one_entry_and_fewer_threads_another() {
        let workers = [(None, Some("x")), (Some(1), Some("x")), (None, None), (None, Some("y"))];
        let entries = merged(&workers.map(|(threads, name)| worker(threads, name, true)));
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["cpu", "cpu@1"]);
        assert_eq!(entries[0].libraries, [library("x", "1"), library("y", "1")]);
        assert!(entries[0].description["said by"].is_null(), "by the worker without a library");
        assert_eq!(entries[1].description["said by"], "x");
    }

    #[test]
    fn a_library_that_cannot_start_does_not_speak_for_the_backend() {
        let [missing, found] = [worker(None, Some("x"), false), worker(None, Some("y"), true)];
        for order in [[missing.clone(), found.clone()], [found, missing.clone()]] {
            let entries = merged(&order);
            assert_eq!(entries.len(), 1);
            assert!(entries[0].available && entries[0].reason.is_none(), "{entries:?}");
        }
        assert!(!merged(&[missing])[0].available);
    }

    #[test]
    fn a_library_is_listed_once_as_it_was_described_last() {
        let (_, mut entry) = worker(None, Some("x"), true);
        add_libraries(&mut entry, vec![library("x", "2"), library("y", "1")]);
        assert_eq!(entry.libraries, [library("x", "2"), library("y", "1")]);
    }
}
