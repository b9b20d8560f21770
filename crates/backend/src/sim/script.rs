//! Reads the script of the simulated device: its variants, and rules that set times, scatter and faults.

use std::borrow::Cow;
use std::path::Path;

use crate::{Accuracy, Peaks, Shapes, Side, Variant};
use anyhow::{Context, bail, ensure};
use gpubench_ops::{OPS, Op};
use gpubench_report::Origin;
use gpubench_report::case::{Cache, Case, DType};
use gpubench_report::data::hash::fnv1a;
use gpubench_report::report::file::one_line;
use gpubench_text::glob::glob;
use gpubench_text::limited;
use gpubench_text::toml_reader::{self, line_of};
use gpubench_text::words::matches_some;
use serde::Deserialize;
use toml::Spanned;

use super::law::Seconds;
use super::peaks::ScriptedPeaks;
use super::rule::{Behaviour, CellFault, CellRule, anything};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// Hash of the script's text.
    #[serde(skip)]
    pub hash: String,
    /// Seed of all random numbers.
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub start: ScriptedStart,
    /// Overhead of the device's timers.
    pub timer_overhead: Option<ScriptedOverhead>,
    /// Other processes that the device reports.
    #[serde(default)]
    pub others: Vec<String>,
    /// Reasons for throttled clocks that the device reports.
    #[serde(default)]
    pub throttled: Vec<String>,
    /// Simulated devices, numbered from 0; one with default settings where none is listed.
    #[serde(default, rename = "device")]
    devices: Vec<Spanned<Scripted>>,
    /// Peaks, where they do not follow from the times.
    peaks: Option<Spanned<ScriptedPeaks>>,
    #[serde(default, rename = "variant")]
    variants: Vec<Spanned<Named>>,
    #[serde(default, rename = "rule")]
    rules: Vec<Spanned<CellRule>>,
}

/// Name of a device that the script does not name, and the mark of one that it does.
pub(crate) const SIMULATED: &str = "simulated";

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ScriptedStart {
    /// Real time that the start takes.
    pub(crate) delay: Option<Seconds>,
    /// Fault in place of a start.
    pub outcome: Option<CellFault>,
    pub reason: Option<String>,
    pub fix: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Scripted {
    /// Factor on the times of variants on the GPU's side.
    pub factor: f64,
    pub name: String,
    /// Power limit that it reports, in watts.
    pub power_limit_w: Option<f64>,
    /// Bytes of page-locked host memory that all operands, or an answer, may have; `None` for any number.
    pub lockable_bytes: Option<u64>,
}

impl Default for Scripted {
    fn default() -> Self {
        Scripted { factor: 1.0, name: SIMULATED.into(), power_limit_w: None, lockable_bytes: None }
    }
}

/// Overhead of the device's timers, as scripted.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedOverhead {
    /// Two events with nothing between them.
    pub clock: Seconds,
    /// Two events around an empty kernel.
    pub(crate) empty_kernel: Seconds,
    /// Time that events add to the work between them.
    pub(crate) event_constant: Seconds,
}

/// A variant, for every op that `op` matches.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    #[serde(default = "anything")]
    op: String,
    #[serde(default)]
    ops: Vec<String>,
    side: Option<Side>,
    accuracy: Option<Accuracy>,
    origin: Option<Origin>,
    default: Option<bool>,
    dtypes: Option<Vec<DType>>,
    #[serde(default)]
    summary: String,
    library: Option<String>,
}

impl Script {
    /// Reads and checks a script; an error names the file, the place and what was expected.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Script> {
        let text = limited::text(path)
            .with_context(|| format!("cannot read {}; name a script for the sim backend", path.display()))?;
        Script::parse(&text)
            .with_context(|| format!("{} is not a valid script for the sim backend", path.display()))
    }

    /// Parses and checks the text of a script.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Script> {
        Script::parsed(text).map_err(one_line)
    }

    fn parsed(text: &str) -> anyhow::Result<Script> {
        let mut script: Script =
            toml_reader::read(text).map_err(|error| anyhow::anyhow!("line {}: {error}", error.line(text)))?;
        if script.variants.is_empty() {
            bail!("it has no [[variant]]");
        }
        let line = |byte: usize| format!("line {}", line_of(text, byte));
        for (at, named) in script.variants.iter().enumerate() {
            let earlier = script.variants[..at].iter().map(Spanned::get_ref);
            named.get_ref().check(earlier).with_context(|| line(named.span().start))?;
        }
        for device in &script.devices {
            let (factor, place) = (device.get_ref().factor, line(device.span().start));
            ensure!(factor.is_finite() && factor > 0.0, "{place}: factor must be above 0");
        }
        if let Some(peaks) = &script.peaks {
            peaks.get_ref().check().with_context(|| line(peaks.span().start))?;
        }
        let variants = script.variants();
        for rule in &script.rules {
            let checked = rule.get_ref().check().and_then(|()| rule.get_ref().check_matches(&variants));
            checked.with_context(|| line(rule.span().start))?;
        }
        script.hash = format!("{:016x}", fnv1a(0, text.as_bytes()));
        Ok(script)
    }

    /// Returns the number of devices, at least one.
    pub(crate) fn device_count(&self) -> u32 {
        u32::try_from(self.devices.len()).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the device of that number; `None` where there is none.
    pub(crate) fn device(&self, ordinal: u32) -> Option<Scripted> {
        let named = self.devices.get(usize::try_from(ordinal).ok()?).map(|device| device.get_ref().clone());
        named.or_else(|| (self.devices.is_empty() && ordinal == 0).then(Scripted::default))
    }

    /// Returns the variants, one for each op a `[[variant]]` matches, in the order of ops.
    pub(crate) fn variants(&self) -> Vec<Variant> {
        let of_op = |op: &'static &'static dyn Op| {
            let named = self.variants.iter().map(Spanned::get_ref);
            named.filter(move |named| named.does(op.name())).map(move |named| Variant {
                op: Cow::Borrowed(op.name()),
                name: Cow::Owned(named.name.clone()),
                summary: Cow::Owned(named.summary.clone()),
                side: named.side.unwrap_or(Side::Gpu),
                accuracy: named.accuracy.unwrap_or(Accuracy::Ieee),
                origin: named.origin,
                default: named.default.unwrap_or(true),
                dtypes: named.dtypes.clone().map_or(Cow::Borrowed(op.about().dtypes), Cow::Owned),
                shapes: Shapes::Any,
                library: named.library.clone().map(Cow::Owned),
            })
        };
        OPS.iter().flat_map(of_op).collect()
    }

    /// Returns the peaks that it names, completed by the rates of its variants.
    pub(crate) fn peaks(&self) -> Peaks {
        let named = self.peaks.as_ref().map(|named| named.get_ref().clone()).unwrap_or_default();
        let time_s = |variant: &Variant, case: &Case| self.behaviour(&variant.name, case, Cache::Cold).time_s;
        named.completed(&self.variants(), time_s)
    }

    pub(crate) fn peaks_outcome(&self) -> CellFault {
        self.peaks.as_ref().and_then(|named| named.get_ref().outcome).unwrap_or(CellFault::None)
    }

    /// Returns the behaviour of `variant` on `case`.
    pub(crate) fn behaviour(&self, variant: &str, case: &Case, cache: Cache) -> Behaviour {
        let rules = self.rules.iter().map(Spanned::get_ref);
        let rules: Vec<&CellRule> = rules.filter(|rule| rule.is_about(variant, case, cache)).collect();
        Behaviour::of(&rules, case)
    }
}

impl Named {
    /// Checks that its name is valid and unique per op, and that it matches an op.
    fn check<'a>(&self, mut earlier: impl Iterator<Item = &'a Named>) -> anyhow::Result<()> {
        let name = &self.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        ensure!(!name.is_empty(), "name is empty: use letters, digits, '.', '_' and '-'");
        ensure!(name.chars().all(plain), "name {name:?} may only contain letters, digits, '.', '_' and '-'");
        ensure!(
            self.dtypes.as_ref().is_none_or(|dtypes| !dtypes.is_empty()),
            "variant {name} has no dtype: name one, or omit dtypes for both"
        );
        let ops = || OPS.iter().map(|op| op.name());
        if self.ops.is_empty() {
            matches_some("op", "op", &self.op, ops())?;
        }
        self.ops.iter().try_for_each(|pattern| matches_some("ops", "op", pattern, ops()))?;
        let twice = earlier.find_map(|other| {
            let mut ops = ops().filter(|op| other.name == *name && other.does(op));
            ops.find(|op| self.does(op))
        });
        match twice {
            Some(op) => bail!("two variants of {op} are named {name}: give this one another name"),
            None => Ok(()),
        }
    }

    fn does(&self, op: &str) -> bool {
        if self.ops.is_empty() {
            glob(&self.op, op)
        } else {
            self.ops.iter().any(|pattern| glob(pattern, op))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(op: &str, n: u64) -> Case {
        Case::square(op, n, DType::F32, 1)
    }

    /// Returns the script of the variant `a`, followed by these keys and tables.
    fn of_one(rest: &str) -> Script {
        Script::parse(&format!("[[variant]]\nname = 'a'\n{rest}")).unwrap()
    }

    #[test]
    fn later_rules_override_earlier_ones_key_by_key() {
        let script = of_one("[[rule]]\ntime = '1ms'\nnoise = 0.1\n[[rule]]\nn = '100..'\ntime = '2ms'\n");
        assert_eq!(script.behaviour("a", &case("sin", 99), Cache::Cold).time_s, 1e-3);
        let large = script.behaviour("a", &case("sin", 100), Cache::Cold);
        assert_eq!((large.time_s, large.scatter.noise), (2e-3, 0.1));
    }

    #[test]
    fn a_script_has_one_device_or_those_it_names() {
        let one = of_one("");
        assert_eq!((one.device_count(), one.device(0).unwrap().factor), (1, 1.0));
        assert!(one.device(1).is_none());
        let two = of_one("[[device]]\n[[device]]\nfactor = 1.08\nname = 'x'\n");
        let second = two.device(1).unwrap();
        assert_eq!((two.device_count(), second.factor, second.name.as_str()), (2, 1.08, "x"));
        assert!(two.device(2).is_none());
    }

    #[test]
    fn a_law_grows_with_the_size() {
        let script = of_one("[[rule]]\ntime = { base = '1us', per_element = '2us', exponent = 2 }\n");
        let time = script.behaviour("a", &case("sin", 10), Cache::Hot).time_s;
        assert!((time - 201e-6).abs() < 1e-12, "{time}");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let refusal = |text: &str| format!("{:#}", Script::parse(text).unwrap_err());
        assert!(refusal("").contains("no [[variant]]"));
        for (rest, part) in [
            ("op = 'matmull'\n", "line 1: op = \"matmull\" matches no op: did you mean \"matmul\"?"),
            ("side = 'gup'\n", "line 3: unknown side 'gup': did you mean 'gpu'?"),
            ("dtypes = []\n", "line 1: variant a has no dtype"),
            ("sied = 'cpu'\n", "line 3: unknown key 'sied': did you mean 'side'?"),
            ("[[variant]]\nname = ''\n", "line 3: name is empty"),
            ("[[variant]]\nname = 'b c'\n", "line 3: name \"b c\" may only contain"),
            ("[[variant]]\nname = 'a'\nop = 'fft'\n", "line 3: two variants of fft are named a"),
            ("[start]\noutcome = 'crahs'\n", "line 4: unknown outcome 'crahs': did you mean 'crash'?"),
            ("[[device]]\nfactor = 0\n", "line 3: factor must be above 0"),
            ("[peaks]\nread = 0", "line 3: read must be a rate above 0"),
            (
                "[peaks]\nmatmul = { f23 = 1e12 }",
                "line 3: unknown matmul precision f23: choose from f32, f64",
            ),
            ("[peaks]\nupload = { pinned = 1e9 }", "line 4: the key 'pageable' is missing"),
            ("[rule]\nnoise = 0.1\n", "line 3: write [[rule]] with two brackets"),
            ("[[rule]]\ntime = '1 parsec'\n", "line 4: duration '1 parsec'"),
            ("[[rule]]\ntime = 0\n", "line 4: duration '0' is not above zero"),
            (
                "[[rule]]\ntime = { base = '1us', per_elemnt = '1us' }\n",
                "line 4: unknown key 'per_elemnt': did you mean 'per_element'?",
            ),
            ("[[rule]]\nnoise = -1.0\n", "line 3: noise must be"),
            ("[[rule]]\ndrift = -1\n", "line 3: drift must be"),
            ("[[rule]]\nanswer = 'worng'\n", "line 4: unknown answer 'worng': did you mean 'wrong'?"),
            ("[[rule]]\nafter = -1\n", "line 4: after must be a whole number, 0 or more, not -1"),
            ("[[rule]]\nn = '5..3'\n", "line 4: n = \"5..3\" is reversed"),
            ("[[rule]]\nn = 0\n", "line 4: n must be a size such as 100"),
            (
                "[[rule]]\nvariant = 'b*'\n",
                "line 3: variant = \"b*\" matches no variant of the script (valid: a)",
            ),
            ("op = 'sin'\n[[rule]]\nop = 'fft'\n", "line 4: no variant named * supports op fft"),
        ] {
            let error = refusal(&format!("[[variant]]\nname = 'a'\n{rest}"));
            assert!(error.contains(part), "{rest:?}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn the_shipped_example_is_a_script() {
        let script = Script::parse(include_str!("../../../../configs/sim-example.toml")).unwrap();
        assert!(script.variants().iter().any(|v| v.side == Side::Cpu));
        assert!(script.variants().iter().any(|v| v.side == Side::Gpu));
    }
}
