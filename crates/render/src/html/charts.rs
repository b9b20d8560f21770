//! The charts of a report inside the page, each a drawing whose colours follow the theme.

use gpubench_model::report::Report;
use gpubench_text::control::replaced;

use super::markup::{Element, Html, classed, element};
use super::table::scrolling;
use crate::chart::{Fragment, Topic, svg_fragments};

/// The groups of charts: their topic, their name in the style, and their heading.
const GROUPS: [(Topic, &str, &str); 4] = [
    (Topic::Overview, "overview", "All ops"),
    (Topic::Sizes, "time", "Time and speed-up by size"),
    (Topic::Phases, "phases", "Where the time of a call goes"),
    (Topic::Roofline, "roofline", "Share of the machine's peaks"),
];

/// The charts; empty where nothing can be drawn.
pub(crate) fn charts(report: &Report) -> anyhow::Result<Html> {
    let fragments = svg_fragments(report)?;
    let group = |(topic, name, title): (Topic, &str, &str)| {
        let found: Vec<Element> =
            fragments.iter().filter(|fragment| fragment.topic == topic).map(chart).collect();
        if found.is_empty() {
            return Html::new();
        }
        let gallery = classed("div", "gallery").with("data-charts", name);
        Html::from(element("h3").holding(title)).and(gallery.holding_all(found))
    };
    Ok(GROUPS.map(group).into_iter().collect())
}

fn chart(Fragment { title, svg, .. }: &Fragment) -> Element {
    let image = element("div").with("role", "img").with("aria-label", title);
    // Texts in the drawing are escaped, but it may contain characters that HTML forbids.
    let image = image.holding(Html::trusted(replaced(svg)));
    classed("figure", "chart").holding(scrolling("drawing", title).holding(image))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;

    #[test]
    fn every_chart_is_in_a_group_in_colours_that_follow_the_theme() {
        let report = example::with_peaks(example::full());
        let drawn = svg_fragments(&report).unwrap();
        let html = charts(&report).unwrap().into_string();
        assert!(drawn.iter().any(|chart| chart.name == "overview"));
        assert!(drawn.iter().any(|chart| chart.name.starts_with("roofline-")));
        assert_eq!(html.matches("<figure").count(), drawn.len());
        assert_eq!(html.matches("<svg").count(), drawn.len());
        let fixed: Vec<&str> = html.split("\"#").skip(1).map(|rest| &rest[..6]).collect();
        assert_eq!(fixed, [""; 0], "colours that no theme changes");
        let collides = html.contains(" id=\"") || html.contains("url(");
        assert!(!collides, "drawings must not share identifiers");
    }
}
