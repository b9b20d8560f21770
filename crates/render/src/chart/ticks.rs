//! Selects the labels of the x axis that have room.

use super::font::{Weight, width};
use super::plane::Plane;

/// Room between labels.
const APART: f64 = 14.0;

/// A text centred at `x`, under the x axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Below {
    pub x: f64,
    pub text: String,
}

/// The labels of the x axis: sizes that are almost one place share a label, others give way to their neighbours.
///
/// The first and the last size keep their labels.
pub(crate) fn below(plane: &Plane<'_>, em: f64) -> Vec<Below> {
    let wide = |text: &str| width(text, em, Weight::Regular);
    let apart = |left: &Below, right: &Below| {
        right.x - left.x > f64::midpoint(wide(&left.text), wide(&right.text)) + APART
    };
    let mut wanted: Vec<Below> = vec![];
    for tick in &plane.x.ticks {
        let x = plane.across(tick.value);
        let lone = wanted.last().is_some_and(|last| !last.text.contains(','));
        match wanted.last_mut().filter(|last| lone && x - last.x < 0.35 * wide(&tick.label)) {
            Some(last) => {
                *last = Below { x: f64::midpoint(last.x, x), text: format!("{}, {}", last.text, tick.label) }
            }
            None => wanted.push(Below { x, text: tick.label.clone() }),
        }
    }
    thinned(wanted, apart)
}

/// The labels at least `apart` from those kept before them and from the last, which is always kept.
pub(crate) fn thinned<T>(mut labels: Vec<T>, apart: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let Some(last) = labels.pop() else { return vec![] };
    let mut kept: Vec<T> = vec![];
    for label in labels {
        if kept.last().is_none_or(|before| apart(before, &label)) && apart(&label, &last) {
            kept.push(label);
        }
    }
    kept.push(last);
    kept
}
