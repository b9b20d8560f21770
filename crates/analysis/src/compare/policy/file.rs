//! Reads policy files: TOML with defaults at the top, `[environment]` and `[[cell]]` tables.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, anyhow, bail, ensure};
use gpubench_report::case::{Cache, DType};
use gpubench_report::report::file::one_line;
use gpubench_text::size_filter::SizeFilter;
use gpubench_text::toml_reader::{self, Problem, Scalar, checked, line_of};
use gpubench_text::{limited, percent, words};
use serde::Deserialize;
use serde::de::{self, Deserializer};
use toml::Spanned;

use super::{CellTable, Limits, Policy};
use crate::compare::environment::{self, Severity};

/// Reads a policy file.
///
/// # Errors
/// Fails if it is unreadable or contains an unknown key or value; one line with the line number and the correction.
pub fn read(path: &Path) -> Result<Policy> {
    let name = path.display().to_string();
    let text = limited::text(path).map_err(|error| {
        anyhow!(
            "cannot read policy '{name}': {error}; name a TOML file (docs/compare-policy.md lists its keys)"
        )
    })?;
    parse(&name, &text)
}

/// Parses the text of a policy file; messages start with `name` and the line number.
///
/// # Errors
/// Fails as [`read`] does, except that nothing is unreadable.
pub fn parse(name: &str, text: &str) -> Result<Policy> {
    parsed(name, text).map_err(one_line)
}

fn parsed(name: &str, text: &str) -> Result<Policy> {
    let is_json = text.trim_start().starts_with('{');
    ensure!(!is_json, "{name}:1: this is JSON, and a policy is TOML: docs/compare-policy.md lists its keys");
    let file: PolicyFile = toml_reader::read(text).map_err(|error| {
        let mut problem = None;
        if let Problem::UnknownKey { key, .. } = &error.problem {
            let above = || format!("'{key}' applies to the whole comparison: write it above the first table");
            problem = WHOLE.contains(&key.as_str()).then(above);
        }
        let problem = problem.unwrap_or_else(|| error.to_string());
        anyhow!("{name}:{}: {problem}", error.line(text))
    })?;
    let tables = file.cell.into_iter().map(|table| {
        let origin = format!("{name}:{}", line_of(text, table.span().start));
        table.into_inner().checked(&origin).map_err(|error| anyhow!("{origin}: {error}"))
    });
    let PolicyFile { threshold, mean_threshold, variation_between_runs, error_growth, .. } = file;
    Ok(Policy {
        alpha: file.alpha.unwrap_or(Policy::default().alpha),
        accept_missing: file.accept_missing,
        accept_inconclusive: file.accept_inconclusive,
        cross_machine: file.cross_machine,
        defaults: Limits { threshold, mean_threshold, variation_between_runs, error_growth, ignored: None },
        cells: tables.collect::<Result<_>>()?,
        severities: file.environment,
    })
}

/// Keys that apply to the whole comparison.
const WHOLE: [&str; 4] = ["alpha", "accept-missing", "accept-inconclusive", "cross-machine"];

/// Keys that may be at the top and in tables of cells.
const LIMITS: [&str; 4] = ["threshold", "mean-threshold", "variation-between-runs", "error-growth"];

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct PolicyFile {
    #[serde(deserialize_with = "share")]
    threshold: Option<f64>,
    #[serde(deserialize_with = "share")]
    mean_threshold: Option<f64>,
    #[serde(deserialize_with = "share")]
    variation_between_runs: Option<f64>,
    #[serde(deserialize_with = "growth")]
    error_growth: Option<f64>,
    #[serde(deserialize_with = "chance")]
    alpha: Option<f64>,
    accept_missing: bool,
    accept_inconclusive: bool,
    cross_machine: bool,
    #[serde(deserialize_with = "severities")]
    environment: BTreeMap<String, Severity>,
    cell: Vec<Spanned<PolicyTable>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct PolicyTable {
    op: Option<String>,
    n: SizeFilter,
    dtype: Option<String>,
    backend: Option<String>,
    variant: Option<String>,
    cache: Option<String>,
    #[serde(deserialize_with = "share")]
    threshold: Option<f64>,
    #[serde(deserialize_with = "share")]
    mean_threshold: Option<f64>,
    #[serde(deserialize_with = "share")]
    variation_between_runs: Option<f64>,
    #[serde(deserialize_with = "growth")]
    error_growth: Option<f64>,
    ignore: Option<bool>,
}

impl PolicyTable {
    /// Checks that the table sets something and that its globs can match.
    fn checked(self, origin: &str) -> Result<CellTable> {
        let PolicyTable { threshold, mean_threshold, variation_between_runs, error_growth, ignore, .. } =
            self;
        let limits =
            Limits { threshold, mean_threshold, variation_between_runs, error_growth, ignored: ignore };
        ensure!(
            limits != Limits::default(),
            "this [[cell]] table sets nothing: give it threshold, mean-threshold, variation-between-runs, error-growth or ignore = true"
        );
        if let Some(pattern) = &self.dtype {
            words::matches_some("dtype", "dtype", pattern, DType::ALL.iter().map(|dtype| dtype.name()))?;
        }
        if let Some(pattern) = &self.cache {
            let states = Cache::ALL.iter().map(|cache| cache.name());
            words::matches_some("cache", "state of the caches", pattern, states)?;
        }
        let keys = ["op", "dtype", "backend", "variant", "cache"];
        let globs = keys.into_iter().zip([self.op, self.dtype, self.backend, self.variant, self.cache]);
        Ok(CellTable {
            globs: globs.filter_map(|(key, pattern)| Some((key, pattern?))).collect(),
            sizes: self.n,
            limits,
            origin: origin.to_owned(),
        })
    }
}

/// Reads a relative change >= 0 %.
fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |Scalar(text)| percent::parse_from_zero(&text))
}

/// Reads a factor by which an error may grow.
fn growth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |factor: f64| {
        ensure!(
            factor >= 1.0 && factor.is_finite(),
            "error-growth {factor} is not a factor >= 1, such as 4.0"
        );
        Ok(factor)
    })
}

/// Reads the probability of a false alarm.
fn chance<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |alpha: f64| {
        ensure!(alpha > 0.0 && alpha <= 0.5, "alpha {alpha} must be above 0 and at most 0.5, such as 0.01");
        Ok(alpha)
    })
}

/// Reads the `[environment]` table: the severity of each fact.
fn severities<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Severity>, D::Error> {
    let facts = BTreeMap::<FactName, SeverityName>::deserialize(deserializer)?;
    Ok(facts.into_iter().map(|(FactName(name), SeverityName(severity))| (name, severity)).collect())
}

/// The name of a known fact.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
struct FactName(String);

impl TryFrom<String> for FactName {
    type Error = anyhow::Error;

    fn try_from(name: String) -> Result<Self> {
        let facts = || environment::FACTS.iter().map(|fact| fact.name);
        if facts().any(|fact| fact == name) {
            return Ok(FactName(name));
        }
        if WHOLE.contains(&name.as_str()) || LIMITS.contains(&name.as_str()) {
            bail!("'{name}' is not a fact of the environment: write it above [environment]");
        }
        let hint = words::suggestion(&name, facts());
        bail!("unknown fact '{name}'{hint} (docs/compare-policy.md lists the facts)")
    }
}

struct SeverityName(Severity);

impl<'de> Deserialize<'de> for SeverityName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Scalar::deserialize(deserializer)?.0;
        let known = Severity::ALL.into_iter().find(|severity| severity.name() == word);
        let valid = Severity::ALL.map(Severity::name);
        known.map(SeverityName).ok_or_else(|| de::Error::custom(words::unknown("severity", &word, &valid)))
    }
}
