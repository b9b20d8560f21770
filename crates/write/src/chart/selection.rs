//! The kinds of charts, and the choice among them.

use serde::{Serialize, Serializer};

/// A kind of chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// The speed-ups of all ops in small panels.
    Overview,
    /// Speed-ups against size.
    SpeedUp,
    /// Work per second against size, with the measured peaks.
    Throughput,
    /// Time against size.
    Time,
    /// Speed-ups by two dimensions of a shape.
    Grid,
    /// Cells under the peaks of their machine.
    Roofline,
}

impl ChartKind {
    /// Every kind, in the order in which their names are listed.
    pub const ALL: [ChartKind; 6] = [
        ChartKind::Overview,
        ChartKind::SpeedUp,
        ChartKind::Throughput,
        ChartKind::Time,
        ChartKind::Grid,
        ChartKind::Roofline,
    ];

    /// The name of the kind on the command line, with which the names of chart files begin.
    pub fn name(self) -> &'static str {
        match self {
            ChartKind::Overview => "overview",
            ChartKind::SpeedUp => "speedup",
            ChartKind::Throughput => "throughput",
            ChartKind::Time => "time",
            ChartKind::Grid => "grid",
            ChartKind::Roofline => "roofline",
        }
    }
}

/// The kinds of charts to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The overview, speed-ups, throughput and grids; times for ops without a throughput.
    #[default]
    Default,
    /// The kinds of [`ChartKind::ALL`] at whose index there is `true`.
    Named([bool; ChartKind::ALL.len()]),
}

impl Selection {
    /// Every kind.
    pub const ALL: Selection = Selection::Named([true; ChartKind::ALL.len()]);

    /// The kinds at these places of [`ChartKind::ALL`].
    pub fn of(places: impl IntoIterator<Item = usize>) -> Selection {
        let mut named = [false; ChartKind::ALL.len()];
        places.into_iter().for_each(|place| named[place] = true);
        Selection::Named(named)
    }

    /// Returns whether charts of a kind are drawn; of an op that `has_throughput` or not.
    pub(crate) fn draws(self, kind: ChartKind, has_throughput: bool) -> bool {
        match self {
            Selection::Default => match kind {
                ChartKind::Overview | ChartKind::SpeedUp | ChartKind::Throughput | ChartKind::Grid => true,
                ChartKind::Time => !has_throughput,
                ChartKind::Roofline => false,
            },
            Selection::Named(named) => named[kind as usize],
        }
    }
}

/// `"default"`, or the names of the kinds.
impl Serialize for Selection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Selection::Default => serializer.serialize_str("default"),
            Selection::Named(named) => {
                let kinds = ChartKind::ALL.into_iter().filter(|kind| named[*kind as usize]);
                serializer.collect_seq(kinds.map(ChartKind::name))
            }
        }
    }
}
