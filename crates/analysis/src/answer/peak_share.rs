//! Words for a row's share of the measured peak, which `gpubench_ops` computes.

pub use gpubench_ops::peak_share::{BoundBy, Share, bandwidth, limit, peaks, precision, share};
use gpubench_text::percent;

/// The meaning of a share of the peak, for legends.
pub const MEANING: &str = "achieved bandwidth or FLOP rate over the peak rate measured here, of whichever limits the op; not \
                           how busy the chip is";

/// The reasons for a share above 100 %, for legends.
pub const ABOVE_PEAK: &str = "the peak was measured at a slower moment, or caches helped";

/// Share above which the rate that was measured is no peak: peaks and times vary by a few per cent.
pub const ABOVE: f64 = 1.05;

/// Words for a share of the peak.
pub trait ShareWords {
    /// The share for tables: `92%`, `3.1%`, `<0.1%`; `>100%` where what was measured is no peak.
    fn text(self) -> String;
    /// The share for sentences: `92 %`, `more than 100 %`.
    fn in_words(self) -> String;
    /// The resource: `memory`, `arithmetic`, `arithmetic in f64`.
    fn resource(self) -> String;
    /// The rate of the resource, as it follows `peak`: `bandwidth`, `FLOP rate`, `FLOP rate in f64`.
    fn rate(self) -> String;
}

impl ShareWords for Share {
    fn text(self) -> String {
        if self.share > ABOVE { ">100%".into() } else { percent::above_tenth(self.share) }
    }

    fn in_words(self) -> String {
        if self.share > ABOVE { "more than 100 %".into() } else { percent::in_words(self.share) }
    }

    fn resource(self) -> String {
        let name = match self.bound_by {
            BoundBy::Memory => "memory",
            BoundBy::Arithmetic => "arithmetic",
            BoundBy::Bus => "bus",
        };
        with_type(self, name)
    }

    fn rate(self) -> String {
        let name = match self.bound_by {
            BoundBy::Memory => "bandwidth",
            BoundBy::Arithmetic => "FLOP rate",
            BoundBy::Bus => "bus bandwidth",
        };
        with_type(self, name)
    }
}

fn with_type(share: Share, text: &str) -> String {
    share.rate_of.map_or_else(|| text.into(), |of| format!("{text} in {of}"))
}
