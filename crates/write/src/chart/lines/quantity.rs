//! The quantities on the y axis of charts by variant: time, or work per second.

use gpubench_ops::peak_share::{bandwidth, limit, peaks, precision};
use gpubench_ops::{self as op, Limit};
use gpubench_report::Accuracy;
use gpubench_report::case::{Case, DType};
use gpubench_report::report::quantity::three_digits;
use gpubench_report::report::{Report, Row};

use crate::chart::axis::{Axis, plain, time_label};
use crate::chart::roofline::precision_words;
use crate::chart::text::{self, Caption};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Seconds by the host's clock, for both sides.
    Time,
    /// FLOP per second.
    Flops,
    /// Bytes per second.
    Bytes,
}

/// Operations per byte at an op's largest default size, above which arithmetic limits it on any machine of today, and
/// below which memory does.
const BALANCE: f64 = 10.0;

/// Units of rates.
const GIGA: f64 = 1e9;

impl Quantity {
    /// The unit of an op's throughput: that of the resource which limits it at large sizes; `None` where latency does, and where
    /// no work is known.
    pub(crate) fn throughput(op: &str, rows: &[&Row]) -> Option<Quantity> {
        let work = match op::find(op) {
            Some(op) => {
                let about = op.about();
                let n = about.sizes.last().copied().unwrap_or(1);
                let case = Case { density: about.density, ..Case::square(about.name, n, DType::F32, 0) };
                op.work(&case)
            }
            None => rows.iter().max_by_key(|row| row.case.n)?.work,
        };
        match limit(op) {
            // An operation of the user's own may not say its work.
            _ if work.flop.max(work.bytes) <= 0.0 => None,
            Limit::Latency => None,
            Limit::Bus => Some(Quantity::Bytes),
            Limit::Read | Limit::ReadAndWrite if work.flop > BALANCE * work.bytes => Some(Quantity::Flops),
            Limit::Read | Limit::ReadAndWrite => Some(Quantity::Bytes),
        }
    }

    /// The median and its interval; `None` where a logarithmic axis cannot show them.
    pub(crate) fn of(self, row: &Row) -> Option<[f64; 3]> {
        let execute = row.execute.as_ref()?;
        let rate = |work: f64| {
            let [low, high] = execute.ci95_s;
            [execute.median_s, high, low].map(|seconds| work / seconds / GIGA)
        };
        let [value, low, high] = match self {
            Quantity::Time => {
                let [low, high] = execute.host_ci95_s.unwrap_or([execute.host_median_s; 2]);
                [execute.host_median_s, low, high]
            }
            Quantity::Flops => rate(row.work.flop),
            Quantity::Bytes => rate(row.work.bytes),
        };
        let usable = |figure: f64| figure.is_finite() && figure > 0.0;
        let or_value = |figure| if usable(figure) { figure } else { value };
        usable(value).then(|| [value, or_value(low), or_value(high)])
    }

    /// The measured peaks of this quantity for a row, each with its arithmetic: that of the row, then float64 units where these
    /// are faster and may compute the same.
    pub(crate) fn peaks(self, report: &Report, row: &Row) -> Vec<(f64, &'static str)> {
        let Some(peaks) = peaks(report, &row.backend) else { return vec![] };
        let limit = limit(&row.case.op);
        let bus = || [peaks.upload, peaks.download].into_iter().flatten().map(|rates| rates.pinned);
        let of = |name: &'static str| Some((*peaks.matmul.get(name)?, name));
        let found = match self {
            Quantity::Time => vec![],
            Quantity::Flops if row.accuracy == Accuracy::Emulated => vec![],
            Quantity::Flops => {
                let own = of(precision(row));
                let wider = of(DType::F64.name()).filter(|_| row.accuracy == Accuracy::Ieee);
                let wider = wider.filter(|wider| own.is_none_or(|own| wider.0 > own.0));
                own.into_iter().chain(wider).collect()
            }
            Quantity::Bytes if limit == Limit::Bus => vec![(bus().fold(0.0, f64::max), "")],
            Quantity::Bytes => bandwidth(&peaks, limit).into_iter().map(|rate| (rate, "")).collect(),
        };
        let in_units = found.into_iter().map(|(rate, name)| (rate / GIGA, name));
        in_units.filter(|(rate, _)| rate.is_finite() && *rate > 0.0).collect()
    }

    fn unit(self) -> &'static str {
        match self {
            Quantity::Time => "s",
            Quantity::Flops => "GFLOP/s",
            Quantity::Bytes => "GB/s",
        }
    }

    /// A peak in words: `GPU float32 50900 GFLOP/s`, `CPU 210 GB/s`.
    pub(crate) fn peak_text(self, side: &str, (peak, precision): (f64, &str)) -> String {
        let precision = if precision.is_empty() { "" } else { precision_words(precision) };
        let parts = [side, precision, &three_digits(peak), self.unit()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn axis(self, values: &[f64]) -> Axis {
        match self {
            Quantity::Time => {
                Axis::decades("Median time by the host's clock (log scale)", values, time_label)
            }
            _ => Axis::decades(&format!("{} (log scale)", self.unit()), values, plain),
        }
    }

    pub(crate) fn caption(self) -> Caption {
        if self == Quantity::Time { text::TIME } else { text::THROUGHPUT }
    }

    /// The question that the chart answers, after the op.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Quantity::Time => "time by size",
            Quantity::Flops | Quantity::Bytes => "throughput by size",
        }
    }

    /// The way in which the figures are measured, for the subtitle.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Quantity::Time => "GPU: data on the device, launch and wait included",
            Quantity::Flops => "usual number of operations over the median time by each side's own clock",
            Quantity::Bytes => "minimum bytes to move over the median time by each side's own clock",
        }
    }
}
