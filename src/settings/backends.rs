//! Checks the names of backends. `--external` adds names, so a list is checked after the whole command line is read.

use anyhow::{Result, anyhow, ensure};

use super::options::{Backends, SweepOptions};
use super::{OpSweep, names};
use crate::backend::external::NamedCommand;

/// The valid names of backends in a run: those of [`names::backend_names`], then the programs of `--external`.
pub struct BackendNames {
    names: Vec<String>,
    /// Number of names before the programs of `--external`.
    own: usize,
}

impl BackendNames {
    /// Returns the names of gpubench and those of `programs`, which may not be names that mean something else.
    pub fn with(programs: &[NamedCommand]) -> Result<BackendNames> {
        let mut names: Vec<String> = names::backend_names().into_iter().map(str::to_owned).collect();
        let own = names.len();
        for NamedCommand { name, .. } in programs {
            ensure!(
                !names.contains(name),
                "--external: there is a backend named {name} already: choose another name"
            );
            ensure!(
                name != names::ALL,
                "--external: {name} means the default backends in --backends: choose another name"
            );
            names.push(name.clone());
        }
        Ok(BackendNames { names, own })
    }

    /// Checks the lists of backends of one source, the command line or a `file`, and puts their names in the order of the valid ones, each
    /// once. The message about an empty list or an unknown name begins with the file or the option.
    pub fn check(&self, source: &mut SweepOptions, file: Option<&str>) -> Result<()> {
        let valid: Vec<&str> = self.names.iter().map(String::as_str).collect();
        for (option, list) in [("--backends", &mut source.backends), ("--require", &mut source.require)] {
            let Some(Backends(list)) = list else { continue };
            *list = names::backends(&list.join(","), &valid)
                .map_err(|error| anyhow!("{}: {error}", file.unwrap_or(option)))?;
        }
        Ok(())
    }

    /// Adds each program of `--external` that no sweep names to every sweep.
    pub fn add_unnamed(&self, sweeps: &mut [OpSweep]) {
        let is_named = |name: &String| sweeps.iter().any(|sweep| sweep.backends.contains(name));
        let unnamed: Vec<String> =
            self.names[self.own..].iter().filter(|name| !is_named(name)).cloned().collect();
        sweeps.iter_mut().for_each(|sweep| sweep.backends.extend_from_slice(&unnamed));
    }

    /// Returns the names that a sweep has, in the order of the valid ones.
    pub fn used(self, sweeps: &[OpSweep]) -> Vec<String> {
        let is_used = |name: &String| sweeps.iter().any(|sweep| sweep.backends.contains(name));
        self.names.into_iter().filter(is_used).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(programs: &[&str]) -> Result<BackendNames> {
        let programs: Vec<NamedCommand> =
            programs.iter().map(|name| format!("{name}=true").parse().unwrap()).collect();
        BackendNames::with(&programs)
    }

    /// Returns the names of `--backends`, or the message that refuses them.
    fn checked(text: &str, programs: &[&str]) -> Result<String, String> {
        let mut source = SweepOptions { backends: text.parse().ok(), ..SweepOptions::default() };
        names(programs).unwrap().check(&mut source, None).map_err(|error| error.to_string())?;
        Ok(source.backends.map(|list| list.0.join(",")).unwrap_or_default())
    }

    #[test]
    fn declared_names_are_valid_in_any_order_and_come_last() {
        for (text, expected) in [
            ("mine,cuda", "cuda,mine"),
            ("cpu, other ,mine,mine", "cpu,mine,other"),
            ("mine", "mine"),
            ("all,mine", "cpu,cuda,mine"),
            ("all", "cpu,cuda"),
        ] {
            assert_eq!(checked(text, &["mine", "other"]).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_and_all_valid_ones() {
        for (text, expected) in [
            ("cpu,mien", "--backends: unknown backend 'mien': did you mean 'mine'? (valid: cpu, cuda, "),
            ("gpu", "--backends: unknown backend 'gpu': did you mean 'cuda'? (valid: cpu, "),
            ("zzz", "--backends: unknown backend 'zzz' (valid: cpu, "),
            (",", "--backends: name at least one backend (valid: cpu, "),
        ] {
            let message = checked(text, &["mine", "other"]).unwrap_err();
            assert!(message.starts_with(expected) && message.ends_with(", mine, other)"), "{message}");
        }
        assert!(checked("mine", &[]).is_err_and(|message| !message.contains("mine, ")));
    }

    #[test]
    fn a_program_needs_a_name_of_its_own() {
        for (programs, expected) in [
            (&["cpu"][..], "named cpu already"),
            (&["numpy"], "named numpy already"),
            (&["mine", "mine"], "named mine already"),
            (&["all"], "all means the default backends"),
        ] {
            let message = names(programs).map_or_else(|error| error.to_string(), |_| String::new());
            assert!(message.contains(expected), "{message}");
        }
    }
}
