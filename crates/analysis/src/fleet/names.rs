//! Names the members of a fleet by host and device, with a distinguishing part if these are ambiguous.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use gpubench_report::report::Report;
use gpubench_text::control::{collapsed, is_invisible};
use gpubench_text::cut::start;
use gpubench_text::grouped::{distinct, grouped};

use super::identity::{MAX_CHARS, bus_address, host_name, member_name, with_suffix};

/// Returns the existing names, or those of host and device. Equal ones are distinguished by the first that differs of the
/// GPU's bus address (jobs that see one GPU each all number it 0), the start of the run, a number.
pub(crate) fn names(reports: &[(Option<&str>, &Report)]) -> Vec<String> {
    let plain = reports.iter().map(|(name, report)| name.map_or_else(|| member_name(report), str::to_owned));
    let plain: Vec<String> = plain.collect();
    let mut names = plain.clone();
    for (name, group) in grouped(plain.iter().enumerate().map(|(index, name)| (name, index))) {
        let by_address = |report: &Report| {
            // The address replaces the ambiguous number: `node17 GPU 0` becomes `node17 GPU 41:00.0`.
            let stem = if *name == member_name(report) { host_name(report) } else { name.clone() };
            Some(with_suffix(&stem, &format!(" GPU {}", bus_address(report)?)))
        };
        let by_time = |report: &Report| {
            let started = collapsed(&report.environment.started);
            Some(with_suffix(name, &format!(", {}", started.get(..19)?.replace('T', " "))))
        };
        let of_group = |rule: &dyn Fn(&Report) -> Option<String>| {
            let names = group.iter().map(|&index| rule(reports[index].1)).collect::<Option<Vec<String>>>();
            names.filter(|names| group.len() > 1 && distinct(names).len() == names.len())
        };
        let unique = of_group(&by_address).or_else(|| of_group(&by_time));
        group.iter().zip(unique.into_iter().flatten()).for_each(|(&index, unique)| names[index] = unique);
    }
    numbered(&names)
}

/// Appends a number to each name that an earlier one has used.
pub(crate) fn numbered(names: &[String]) -> Vec<String> {
    let mut used: HashSet<String> = HashSet::new();
    let unique = |name: &String| {
        let with_number = (2..).map(|number| with_suffix(name, &format!(" ({number})")));
        let candidates = std::iter::once(name.clone()).chain(with_number);
        let mut free =
            candidates.filter(|free| !used.contains(free) && (free == name || !names.contains(free)));
        let free = free.next().unwrap_or_default();
        used.insert(free.clone());
        free
    };
    names.iter().map(unique).collect()
}

/// Rejects names that are empty, too long, contain invisible characters, or occur twice.
pub(crate) fn check<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let mut used = HashSet::new();
    for name in names {
        let shown = start(name, MAX_CHARS);
        ensure!(!name.trim().is_empty(), "a member has no name: give each one, such as 'node17 GPU 0'");
        ensure!(
            !name.chars().any(is_invisible) && name.chars().count() <= MAX_CHARS,
            "{shown:?} is not a valid member name: use at most {MAX_CHARS} visible characters, without line breaks"
        );
        ensure!(used.insert(name), "two members are named {shown:?}: give each member its own name");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example;
    use proptest::prelude::*;

    fn on(host: &str, address: Option<&str>, started: &str) -> Report {
        let mut report = example::full();
        report.environment.host.name = host.into();
        report.environment.started = started.into();
        if let Some(address) = address {
            report.environment.backends[1].description["pci_bus_id"] = address.into();
        }
        report
    }

    fn of(reports: &[Report]) -> Vec<String> {
        names(&reports.iter().map(|report| (None, report)).collect::<Vec<_>>())
    }

    const DAY: &str = "2026-11-21T10:00:00Z";

    #[test]
    fn gpus_that_all_call_themselves_0_are_distinguished_by_their_address() {
        let reports =
            [on("a", Some("0000:41:00.0"), DAY), on("a", Some("0000:C1:00.0"), DAY), on("b", None, DAY)];
        assert_eq!(of(&reports), ["a GPU 41:00.0", "a GPU c1:00.0", "b GPU 0"]);
    }

    #[test]
    fn runs_of_one_gpu_are_distinguished_by_time_then_number() {
        let address = Some("0000:41:00.0");
        let times = [on("a", address, DAY), on("a", address, "2026-11-21T11:30:00Z")];
        assert_eq!(of(&times), ["a GPU 0, 2026-11-21 10:00:00", "a GPU 0, 2026-11-21 11:30:00"]);
        assert_eq!(of(&[times[0].clone(), times[0].clone()]), ["a GPU 0", "a GPU 0 (2)"]);
    }

    #[test]
    fn names_that_say_nothing_or_break_lines_are_refused() {
        for (names, part) in [
            (&["a", ""][..], "has no name"),
            (&["a\nb"], "without line breaks"),
            (&["a\u{202e}b"], "visible characters"),
            (&["a", "b", "a"], "two members are named \"a\""),
        ] {
            assert!(
                check(names.iter().copied()).is_err_and(|error| error.to_string().contains(part)),
                "{names:?}"
            );
        }
        assert!(check(["node17 GPU 0", "ü"]).is_ok());
    }

    #[test]
    fn a_name_that_is_too_long_keeps_its_suffix() {
        let host = "h".repeat(100);
        let reports = [on(&host, Some("0000:41:00.0"), DAY), on(&host, Some("0000:C1:00.0"), DAY)];
        for (name, end) in of(&reports).iter().zip([" GPU 41:00.0", " GPU c1:00.0"]) {
            assert!(name.len() == MAX_CHARS && name.ends_with(end), "{name}");
        }
        let twice = of(&[reports[0].clone(), reports[0].clone()]);
        assert!(twice[0].ends_with("... GPU 0") && twice[1].ends_with("... (2)"), "{twice:?}");
    }

    proptest! {
        #[test]
        fn the_names_of_any_hosts_pass_the_check(
            hosts in prop::collection::vec(("(a{75}|[ab]|.{0,100}|\\PC)", prop::option::of(".{0,60}"), "(.{0,30}|2026-11-2[12]T10:00:00Z)"), 1..6),
        ) {
            let reports: Vec<Report> =
                hosts.iter().map(|(host, address, started)| on(host, address.as_deref(), started)).collect();
            let names = of(&reports);
            let checked = check(names.iter().map(String::as_str));
            prop_assert!(checked.is_ok(), "{:?}: {:?}", names, checked);
        }
    }
}
