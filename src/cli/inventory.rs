//! `gpubench list`: prints the registries as tables or JSON. Loads no library and starts no worker.

use crate::document::table::Table;
use crate::write::terminal::TerminalTable;
use anyhow::Result;
use serde::Serialize;

use crate::backend::external::ADAPTERS;
use crate::backend::{Accuracy, BACKENDS, Options, Origin, Side, Variant};
use crate::case::DType;
use crate::op::{OPS, Op};
use crate::settings::options::Ops;

/// Everything that can be named on the command line.
#[derive(Serialize)]
pub(crate) struct Inventory {
    ops: Vec<OpEntry>,
    backends: Vec<BackendEntry>,
    variants: Vec<VariantEntry>,
}

#[derive(Serialize)]
struct OpEntry {
    name: &'static str,
    summary: &'static str,
    default_sizes: &'static [u64],
    default_density: Option<f64>,
}

#[derive(Serialize)]
struct BackendEntry {
    name: &'static str,
    summary: &'static str,
}

#[derive(Serialize)]
struct VariantEntry {
    op: String,
    backend: &'static str,
    name: String,
    summary: String,
    side: Side,
    accuracy: Accuracy,
    origin: Origin,
    default: bool,
    dtypes: Vec<DType>,
}

impl Inventory {
    /// Lists the registries and the libraries in `options`, or only the part about `ops`. The variants of the simulated
    /// device depend on its script and are not listed.
    pub(crate) fn of_registries(options: &Options, ops: Option<&Ops>) -> Result<Inventory> {
        let is_listed =
            |op: &&'static dyn Op| ops.is_none_or(|ops| ops.0.iter().any(|name| name == op.name()));
        let listed: Vec<&'static dyn Op> = OPS.iter().copied().filter(is_listed).collect();
        let mut tables = Vec::new();
        for backend in BACKENDS.iter().filter(|backend| !backend.simulated) {
            let variants = (backend.variants)(options)?;
            tables.extend(variants.into_iter().map(|variant| (backend.name, variant)));
        }
        let of_op = |name: &'static str| tables.iter().filter(move |(_, variant)| variant.op == name);
        Ok(Inventory {
            ops: listed
                .iter()
                .map(|op| OpEntry {
                    name: op.name(),
                    summary: op.about().summary,
                    default_sizes: op.about().sizes,
                    default_density: op.default_density(),
                })
                .collect(),
            backends: BACKENDS
                .iter()
                .map(|backend| BackendEntry { name: backend.name, summary: backend.summary })
                .chain(
                    ADAPTERS
                        .iter()
                        .map(|adapter| BackendEntry { name: adapter.name, summary: adapter.summary }),
                )
                .collect(),
            variants: listed
                .iter()
                .flat_map(|op| of_op(op.name()))
                .map(|(backend, variant)| VariantEntry::new(backend, variant))
                .collect(),
        })
    }

    /// Returns the inventory as JSON.
    pub(crate) fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Returns the inventory as tables; with one op, a line about it and its variants.
    pub(crate) fn text(&self) -> String {
        let mut tables = match self.ops.as_slice() {
            [op] => format!("{}: {}\nDefault sizes: {}\n", op.name, op.summary, op.sizes()),
            _ => self.ops_and_backends(),
        };
        let mut variants = Table::listing(&["Op", "Variant", "", "Origin", "Precision", "Description"]);
        for variant in &self.variants {
            variants.row(variant.line());
        }
        if self.ops.len() == 1 {
            variants.remove_columns("Op");
        }
        tables.push_str(&format!("\n{}", variants.text_without_title(false)));
        tables
            + "\n* runs by default; --variants chooses others.\nThe simulated device takes its variants from its script (--sim FILE);\n\
               those of Python libraries are in docs/python.md, or: gpubench run --backends numpy --dry-run\n"
    }

    fn ops_and_backends(&self) -> String {
        let mut ops = Table::listing(&["Op", "Description", "Default sizes"]);
        for op in &self.ops {
            ops.row([op.name.to_owned(), op.summary.to_owned(), op.sizes()]);
        }
        let mut backends = Table::listing(&["Backend", "Description"]);
        for backend in &self.backends {
            backends.row([backend.name, backend.summary]);
        }
        format!("{}\n{}", ops.text_without_title(false), backends.text_without_title(false))
    }
}

impl OpEntry {
    /// Returns its default sizes and density, such as `512,1024 (density 0.01)`.
    fn sizes(&self) -> String {
        let sizes = self.default_sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        sizes + &self.default_density.map(|density| format!(" (density {density})")).unwrap_or_default()
    }
}

impl VariantEntry {
    fn new(backend: &'static str, variant: &Variant) -> VariantEntry {
        VariantEntry {
            op: variant.op.to_string(),
            backend,
            name: variant.name.to_string(),
            summary: variant.summary.to_string(),
            side: variant.side,
            accuracy: variant.accuracy,
            origin: variant.origin_in(backend),
            default: variant.default,
            dtypes: variant.dtypes.to_vec(),
        }
    }

    fn line(&self) -> Vec<String> {
        let dtypes: Vec<&str> = self.dtypes.iter().map(|dtype| dtype.name()).collect();
        let reduced = match self.accuracy {
            Accuracy::Ieee => "",
            Accuracy::Tf32 => " as tf32",
            Accuracy::F16 => " as f16",
            Accuracy::Bf16 => " as bf16",
            Accuracy::Emulated => " emulated",
        };
        vec![
            self.op.clone(),
            format!("{}/{}", self.backend, self.name),
            if self.default { "*".into() } else { String::new() },
            self.origin.name().into(),
            dtypes.join(",") + reduced,
            self.summary.clone(),
        ]
    }
}
