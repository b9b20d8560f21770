//! The charts of a report inside the page, each a drawing whose colours follow the theme.

use gpubench_model::report::Report;

use crate::chart::{Fragment, svg_fragments};
use gpubench_text::control::replaced;

use super::markup::{Element, Html, classed, element};

/// Charts that stand together: what the names of theirs begin with, and what they show.
const GROUPS: [(&[&str], &str); 4] = [
    (&["overview"], "All ops"),
    (&["time-", "speedup-"], "Time and speed-up by size"),
    (&["phases-"], "Where the time of a call goes"),
    (&["roofline-"], "How near to the limits of the machine"),
];

/// The charts; nothing where nothing can be drawn.
///
/// # Errors
/// A chart cannot be drawn.
pub(crate) fn charts(report: &Report) -> anyhow::Result<Html> {
    let fragments = svg_fragments(report)?;
    let group = |(beginnings, title): (&[&str], &str)| {
        let belongs = |name: &str| beginnings.iter().any(|beginning| name.starts_with(beginning));
        let found: Vec<Element> =
            fragments.iter().filter(|fragment| belongs(&fragment.name)).map(chart).collect();
        if found.is_empty() {
            return Html::new();
        }
        let gallery = classed("div", "gallery").with("data-charts", beginnings[0].trim_end_matches('-'));
        Html::from(element("h3").holding(title)).and(gallery.holding_all(found))
    };
    Ok(GROUPS.map(group).into_iter().collect())
}

/// One chart in its frame.
fn chart(Fragment { title, svg, .. }: &Fragment) -> Element {
    let image = element("div").with("role", "img").with("aria-label", title);
    // Texts in it are escaped, but characters that no page may hold are kept.
    let image = image.holding(Html::trusted(replaced(svg)));
    let frame =
        classed("div", "drawing").with("tabindex", "0").with("role", "region").with("aria-label", title);
    classed("figure", "chart").holding(frame.holding(image))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_model::report::example;

    #[test]
    fn every_chart_stands_in_a_group_in_colours_that_follow_the_theme() {
        let mut report = example::full();
        report.environment.backends[1].ceilings = Some(example::ceilings());
        let drawn = svg_fragments(&report).unwrap();
        let html = charts(&report).unwrap().into_string();
        assert!(drawn.iter().any(|chart| chart.name == "overview"));
        assert!(drawn.iter().any(|chart| chart.name.starts_with("roofline-")));
        assert_eq!(html.matches("<figure").count(), drawn.len());
        assert_eq!(html.matches("<svg").count(), drawn.len());
        let fixed: Vec<&str> = html.split("\"#").skip(1).map(|rest| &rest[..6]).collect();
        assert_eq!(fixed, [""; 0], "colours that no theme changes");
        assert!(
            !html.contains(" id=\"") && !html.contains("url("),
            "drawings share nothing, so none can collide"
        );
    }
}
