//! The type of the formats of a trend.

use gpubench_model::format;
use gpubench_render::chart::Theme;

use crate::Trend;

/// A format of a trend; charts are drawn in a theme.
pub type Format = format::Format<Trend, Theme>;
