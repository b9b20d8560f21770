//! The script of the simulated device: its variants, and rules that set times, scatter and faults.

use std::borrow::Cow;
use std::path::Path;

use anyhow::{Context, bail};
use serde::Deserialize;

use super::law::{Law, Scatter, Seconds};
use crate::backend::{Accuracy, Side, Variant};
use crate::case::{Case, DType};
use crate::op::OPS;

/// A whole script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Fixes all chances.
    #[serde(default)]
    pub seed: u64,
    /// How the device starts.
    #[serde(default)]
    pub start: Start,
    #[serde(default, rename = "variant")]
    variants: Vec<Named>,
    #[serde(default, rename = "rule")]
    rules: Vec<Rule>,
}

/// How the device starts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Start {
    /// How long it really takes.
    pub delay: Option<Seconds>,
    /// What happens instead of a start.
    pub outcome: Option<Fault>,
    /// Why it is unavailable.
    pub reason: Option<String>,
    /// What would fix it.
    pub fix: Option<String>,
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
    #[serde(default = "gpu")]
    side: Side,
    #[serde(default = "ieee")]
    accuracy: Accuracy,
    #[serde(default = "yes")]
    default: bool,
    #[serde(default = "every_dtype")]
    dtypes: Vec<DType>,
    #[serde(default)]
    summary: String,
}

/// What matching cells do. Of two rules that set the same key the later one counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    #[serde(default = "anything")]
    variant: String,
    #[serde(default = "anything")]
    op: String,
    #[serde(default = "anything")]
    dtype: String,
    #[serde(default)]
    n: Sizes,
    time: Option<Law>,
    noise: Option<f64>,
    drift: Option<f64>,
    outliers: Option<f64>,
    outlier_factor: Option<f64>,
    answer: Option<Answer>,
    outcome: Option<Fault>,
    after: Option<u64>,
    allocates: Option<bool>,
}

/// Sizes a rule is about: one, or a text such as `"100..2000"`, `"512.."`, `"..100"` or a glob.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a size such as 100, or a text such as \"100..2000\" or \"1*\"")]
enum Sizes {
    One(u64),
    Text(String),
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes::Text(anything())
    }
}

impl Sizes {
    fn contains(&self, n: u64) -> bool {
        match self {
            Sizes::One(size) => *size == n,
            Sizes::Text(text) => match text.split_once("..") {
                Some((low, high)) => {
                    let bound =
                        |text: &str, open| if text.is_empty() { Some(open) } else { text.parse().ok() };
                    bound(low, 0).is_some_and(|low| low <= n)
                        && bound(high, u64::MAX).is_some_and(|high| n <= high)
                }
                None => matches(text, &n.to_string()),
            },
        }
    }
}

/// Whether answers are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The reference's answer.
    Right,
    /// The same with one entry changed.
    Wrong,
}

/// What a cell does instead of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// No fault: takes back what an earlier rule said.
    None,
    /// The process aborts.
    Crash,
    /// The call never returns.
    Hang,
    /// The call reports an error.
    Fail,
    /// The variant is missing.
    Unavailable,
    /// The code panics.
    Panic,
    /// The device is lost.
    DeviceLost,
    /// The device has too little memory.
    OutOfMemory,
}

/// What one cell does, from all rules that match it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behaviour {
    /// Time of one execution, in seconds, before scatter.
    pub time_s: f64,
    /// Scatter around it.
    pub scatter: Scatter,
    /// Whether the answer is right.
    pub answer: Answer,
    /// What it does instead of its work.
    pub fault: Fault,
    /// Executions before the fault.
    pub after: u64,
    /// Whether each execution counts an allocation.
    pub allocates: bool,
}

impl Script {
    /// Reads and checks a script; an error names the file, the place and what was expected.
    pub fn read(path: &Path) -> anyhow::Result<Script> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Script::parse(&text).with_context(|| format!("{} is no script of the sim backend", path.display()))
    }

    /// Parses and checks the text of a script.
    pub fn parse(text: &str) -> anyhow::Result<Script> {
        let script: Script = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            anyhow::anyhow!("line {line}: {}", error.message().replace('\n', " "))
        })?;
        if script.variants.is_empty() {
            bail!("it names no [[variant]]");
        }
        for named in &script.variants {
            if !OPS.iter().any(|op| named.does(op.name())) {
                bail!("variant {} matches no op; `gpubench list` names them", named.name);
            }
        }
        script.rules.iter().try_for_each(Rule::check)?;
        Ok(script)
    }

    /// The variants, one for each op a `[[variant]]` matches, in the order of ops.
    pub fn variants(&self) -> Vec<Variant> {
        let of_op = |op: &'static str| {
            self.variants.iter().filter(move |named| named.does(op)).map(move |named| Variant {
                op: Cow::Borrowed(op),
                name: Cow::Owned(named.name.clone()),
                summary: Cow::Owned(named.summary.clone()),
                side: named.side,
                accuracy: named.accuracy,
                default: named.default,
                dtypes: Cow::Owned(named.dtypes.clone()),
            })
        };
        OPS.iter().flat_map(|op| of_op(op.name())).collect()
    }

    /// What `variant` does on `case`. A cell that no rule gives a time takes 100 µs.
    pub fn behaviour(&self, variant: &str, case: &Case) -> Behaviour {
        let scatter = Scatter { noise: 0.0, drift: 0.0, outliers: 0.0, outlier_factor: 5.0 };
        let mut behaviour = Behaviour {
            time_s: 100e-6,
            scatter,
            answer: Answer::Right,
            fault: Fault::None,
            after: 0,
            allocates: false,
        };
        for rule in self.rules.iter().filter(|rule| rule.is_about(variant, case)) {
            rule.apply(case, &mut behaviour);
        }
        behaviour
    }
}

impl Named {
    fn does(&self, op: &str) -> bool {
        if self.ops.is_empty() {
            matches(&self.op, op)
        } else {
            self.ops.iter().any(|glob| matches(glob, op))
        }
    }
}

impl Rule {
    fn check(&self) -> anyhow::Result<()> {
        for (key, value) in
            [("noise", self.noise), ("outliers", self.outliers), ("outlier_factor", self.outlier_factor)]
        {
            if value.is_some_and(|v| !(v.is_finite() && v >= 0.0)) {
                bail!("{key} must be a number from 0 on");
            }
        }
        if self.drift.is_some_and(|drift| !drift.is_finite()) {
            bail!("drift must be a finite number");
        }
        Ok(())
    }

    fn is_about(&self, variant: &str, case: &Case) -> bool {
        matches(&self.variant, variant)
            && matches(&self.op, &case.op)
            && matches(&self.dtype, case.dtype.name())
            && self.n.contains(case.n)
    }

    fn apply(&self, case: &Case, behaviour: &mut Behaviour) {
        fn set<T: Copy>(place: &mut T, value: Option<T>) {
            *place = value.unwrap_or(*place);
        }
        set(&mut behaviour.time_s, self.time.map(|law| law.at(case.n)));
        set(&mut behaviour.scatter.noise, self.noise);
        set(&mut behaviour.scatter.drift, self.drift);
        set(&mut behaviour.scatter.outliers, self.outliers);
        set(&mut behaviour.scatter.outlier_factor, self.outlier_factor);
        set(&mut behaviour.answer, self.answer);
        set(&mut behaviour.fault, self.outcome);
        set(&mut behaviour.after, self.after);
        set(&mut behaviour.allocates, self.allocates);
    }
}

/// Whether `text` matches `pattern`, in which `*` stands for any characters and `?` for one.
fn matches(pattern: &str, text: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => text.is_empty(),
        Some('*') => text
            .char_indices()
            .map(|(i, _)| i)
            .chain([text.len()])
            .any(|i| matches(rest.as_str(), &text[i..])),
        Some(first) => {
            let mut left = text.chars();
            left.next().is_some_and(|c| c == first || first == '?') && matches(rest.as_str(), left.as_str())
        }
    }
}

fn anything() -> String {
    "*".into()
}

fn gpu() -> Side {
    Side::Gpu
}

fn ieee() -> Accuracy {
    Accuracy::Ieee
}

fn yes() -> bool {
    true
}

fn every_dtype() -> Vec<DType> {
    DType::ALL.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(op: &str, n: u64) -> Case {
        Case { op: op.into(), n, dtype: DType::F32, density: None, seed: 1 }
    }

    #[test]
    fn later_rules_override_earlier_ones_key_by_key() {
        let script = Script::parse(
            "[[variant]]\nname = 'a'\n[[rule]]\ntime = '1ms'\nnoise = 0.1\n[[rule]]\nn = '100..'\ntime = '2ms'\n",
        );
        let script = script.unwrap();
        assert_eq!(script.behaviour("a", &case("sin", 99)).time_s, 1e-3);
        let large = script.behaviour("a", &case("sin", 100));
        assert_eq!((large.time_s, large.scatter.noise), (2e-3, 0.1));
    }

    #[test]
    fn a_law_grows_with_the_size() {
        let text =
            "[[variant]]\nname='a'\n[[rule]]\ntime = { base = '1us', per_element = '2us', exponent = 2 }\n";
        let time = Script::parse(text).unwrap().behaviour("a", &case("sin", 10)).time_s;
        assert!((time - 201e-6).abs() < 1e-12, "{time}");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, part) in [
            ("", "no [[variant]]"),
            ("[[variant]]\nname = 'a'\nop = 'matmull'\n", "matches no op"),
            ("[[variant]]\nname = 'a'\n[[rule]]\ntim = '1ms'\n", "line 4: unknown field `tim`"),
            ("[[variant]]\nname = 'a'\n[[rule]]\ntime = '1 parsec'\n", "line 4"),
            ("[[variant]]\nname = 'a'\n[[rule]]\nnoise = -1.0\n", "noise must be"),
            ("[[variant]]\nname = 'a'\n[[rule]]\noutcome = 'explode'\n", "explode"),
        ] {
            let error = format!("{:#}", Script::parse(text).unwrap_err());
            assert!(error.contains(part), "{text:?}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn globs_and_sizes_match_what_they_say() {
        assert!(
            matches("open*", "openblas")
                && matches("*", "")
                && matches("f?2", "f32")
                && !matches("f?", "f32")
        );
        assert!(Sizes::Text("..100".into()).contains(100) && !Sizes::Text("..100".into()).contains(101));
        assert!(Sizes::One(7).contains(7) && Sizes::Text("1*".into()).contains(128));
        assert!(!Sizes::Text("a..b".into()).contains(5));
    }

    #[test]
    fn the_shipped_example_is_a_script() {
        let script = Script::parse(include_str!("../../../configs/sim-example.toml")).unwrap();
        assert!(script.variants().iter().any(|v| v.side == Side::Cpu));
        assert!(script.variants().iter().any(|v| v.side == Side::Gpu));
    }
}
