//! `gpubench list`: prints the registries as tables or JSON. Loads no library and starts no worker.

use crate::write::terminal::hanging_within;
use anyhow::{Result, bail};
use serde::Serialize;

use crate::backend::external::ADAPTERS;
use crate::backend::{Accuracy, BACKENDS, Options, Origin, Side, Variant};
use crate::case::DType;
use crate::op::{About, OPS, Op};
use crate::settings::names::is_file;
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
    /// The dimensions of a shape, such as `m x n x k (batch, layout)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<String>,
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
    /// Lists the registries and the libraries in `options`, or only the part about the named `ops`. The variants of the simulated
    /// device depend on its script and are not listed.
    pub(crate) fn of_registries(options: &Options, ops: &[Ops]) -> Result<Inventory> {
        if let Some(file) = ops.iter().flat_map(|ops| &ops.0).find(|name| is_file(name)) {
            bail!(
                "list names gpubench's own operations; for those of a file: gpubench run --ops {file} --dry-run"
            );
        }
        let is_named = |op: &dyn Op| ops.iter().flat_map(|ops| &ops.0).any(|name| name == op.name());
        let is_listed = |op: &&'static dyn Op| ops.is_empty() || is_named(*op);
        let listed: Vec<&'static dyn Op> = OPS.iter().copied().filter(is_listed).collect();
        let mut tables = Vec::new();
        for backend in BACKENDS.iter().filter(|backend| !backend.simulated) {
            let variants = (backend.variants)(options)?;
            tables.extend(variants.into_iter().map(|variant| (backend.name, variant)));
        }
        let of_op = |name: &'static str| tables.iter().filter(move |(_, variant)| variant.op == name);
        let op_entry = |op: &&'static dyn Op| OpEntry {
            name: op.name(),
            summary: op.about().summary,
            default_sizes: op.about().sizes,
            default_density: op.default_density(),
            shape: shape(&op.about()),
        };
        let own = BACKENDS.iter().map(|backend| (backend.name, backend.summary));
        let backends = own.chain(ADAPTERS.iter().map(|adapter| (adapter.name, adapter.summary)));
        let variants = listed.iter().flat_map(|op| of_op(op.name()));
        Ok(Inventory {
            ops: listed.iter().map(op_entry).collect(),
            backends: backends.map(|(name, summary)| BackendEntry { name, summary }).collect(),
            variants: variants.map(|(backend, variant)| VariantEntry::new(backend, variant)).collect(),
        })
    }

    /// Returns the inventory as JSON.
    pub(crate) fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Returns the inventory as a block per op, with its variants, after the backends where all ops are listed. Lines have at most
    /// `width` columns.
    pub(crate) fn text(&self, width: usize) -> String {
        let wrapped = |text: &str| hanging_within(width, text, 0) + "\n";
        let mut blocks = vec![];
        if self.ops.len() == OPS.len() {
            let rows = self.backends.iter().map(|backend| vec![backend.name.into(), backend.summary.into()]);
            blocks.push(listing(&["Backend", "Description"], rows, width));
        }
        for op in &self.ops {
            let about = wrapped(&format!("{}: {}", op.name, op.summary));
            let shape = op.shape.iter().map(|shape| wrapped(&format!("Shape: {shape}"))).collect::<String>();
            let sizes = wrapped(&format!("Default sizes: {}", op.sizes())) + &shape;
            let variants = self.variants.iter().filter(|variant| variant.op == op.name);
            let headings = ["Variant", "", "Origin", "Precision", "Description"];
            let variants = listing(&headings, variants.map(VariantEntry::line), width);
            blocks.push(format!("{about}{sizes}\n{variants}"));
        }
        let notes = [
            "* runs by default; --variants chooses others.",
            "The simulated device takes its variants from its script (--sim FILE); those of Python libraries are in \
             docs/python.md, or: gpubench run --backends numpy --dry-run",
        ];
        blocks.push(notes.map(wrapped).concat());
        blocks.join("\n")
    }
}

/// Least columns for a description next to the other fields; with fewer it goes below them.
const MIN_DESCRIPTION: usize = 24;

/// Aligns the fields of rows below their headings. The last one is broken into lines of at most `width` columns.
fn listing(headings: &[&str], rows: impl Iterator<Item = Vec<String>>, width: usize) -> String {
    let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let keys = rows.first().map_or(0, |row| row.len() - 1);
    let widths: Vec<usize> = (0..keys).map(widest).collect();
    let offset = widths.iter().map(|width| width + 2).sum::<usize>();
    let is_next = offset + MIN_DESCRIPTION <= width;
    let mut text = String::new();
    for row in &rows {
        let fields = row.iter().zip(&widths);
        let fields = fields.map(|(field, width)| format!("{field:<width$}  ")).collect::<String>();
        let indent = if is_next { offset } else { 4 };
        let description = hanging_within(width, &row[keys], indent);
        let line_of_keys = fields.trim_end();
        let line = if is_next {
            format!("{fields}{description}")
        } else if line_of_keys.chars().count() <= width {
            format!("{line_of_keys}\n{:indent$}{description}", "")
        } else {
            format!("{}\n{:indent$}{description}", hanging_within(width, line_of_keys, indent), "")
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

impl OpEntry {
    /// Returns its default sizes and density, such as `512,1024 (density 0.01)`.
    fn sizes(&self) -> String {
        let sizes = self.default_sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        sizes + &self.default_density.map(|density| format!(" (density {density})")).unwrap_or_default()
    }
}

/// Returns the dimensions of an op's shapes, and what they may have besides: `m x n x k (batch, layout)`.
fn shape(about: &About) -> Option<String> {
    let further =
        if about.further.is_empty() { String::new() } else { format!(" ({})", about.further.join(", ")) };
    (!about.dimensions.is_empty()).then(|| about.dimensions.join(" x ") + &further)
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
            format!("{}/{}", self.backend, self.name),
            if self.default { "*".into() } else { String::new() },
            self.origin.name().into(),
            dtypes.join(",") + reduced,
            self.summary.clone(),
        ]
    }
}
