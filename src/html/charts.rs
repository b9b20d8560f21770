//! The charts of a report inside the page, drawn once for each theme; style sheets show the one that fits.

use super::markup::{Element, Html, classed, element, tame};
use crate::chart::{Theme, svg_fragments};
use crate::report::Report;

/// The charts; nothing where nothing can be drawn.
///
/// # Errors
/// A chart cannot be drawn.
pub fn charts(report: &Report) -> anyhow::Result<Html> {
    let (light, dark) = (svg_fragments(report, Theme::Light)?, svg_fragments(report, Theme::Dark)?);
    if light.is_empty() {
        return Ok(Html::new());
    }
    let figures = light.into_iter().zip(dark).map(|(light, dark)| {
        let frame = classed("div", "drawing")
            .with("tabindex", "0")
            .with("role", "region")
            .with("aria-label", &light.title);
        let frame = frame.holding(drawing("light", &light.title, light.svg)).holding(drawing(
            "dark",
            &light.title,
            dark.svg,
        ));
        classed("figure", "chart").holding(frame)
    });
    Ok(classed("div", "gallery").holding_all(figures).into())
}

fn drawing(theme: &str, title: &str, svg: String) -> Element {
    let image = element("div").with("class", theme).with("role", "img").with("aria-label", title);
    // Texts in it are escaped, but characters that no page may hold are kept.
    image.holding(Html::trusted(tame(&svg)))
}
