//! The script of the simulated device: its variants, and rules that set times, scatter and faults.

use std::borrow::Cow;
use std::path::Path;

use anyhow::{Context, bail};
use serde::Deserialize;

use super::law::{Scatter, Seconds};
use super::rule::{Answer, Behaviour, Fault, Rule, anything};
use crate::backend::{Accuracy, Side, Variant};
use crate::case::{Case, DType};
use crate::glob::glob;
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
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
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
            glob(&self.op, op)
        } else {
            self.ops.iter().any(|pattern| glob(pattern, op))
        }
    }
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
    fn the_shipped_example_is_a_script() {
        let script = Script::parse(include_str!("../../../configs/sim-example.toml")).unwrap();
        assert!(script.variants().iter().any(|v| v.side == Side::Cpu));
        assert!(script.variants().iter().any(|v| v.side == Side::Gpu));
    }
}
