//! The charts of a report inside the page: titles and legends as text, plots as drawings whose colours follow the theme.

use gpubench_report::report::Report;
use gpubench_text::control::replaced;
use rayon::prelude::*;

use super::markup::{Element, Html, classed, element};
use crate::chart::frame::{Frame, LegendRow};
use crate::chart::{Chart, PageSection, page_charts, page_sample};

/// The charts, or that tables say it all; empty where nothing is measured.
pub(crate) fn charts(report: &Report) -> Html {
    let charts = page_charts(report);
    if charts.is_empty() && report.rows.iter().any(|row| row.execute.is_some()) {
        let text = "No op has two sizes to draw a line through; the tables have all figures.";
        return classed("p", "note").holding(text).into();
    }
    let of_section = |section: PageSection| {
        let (name, title, opens) = section.words();
        let found: Vec<&Chart> = charts.iter().filter(|chart| chart.kind().section() == section).collect();
        let Some(first) = found.first() else { return Html::default() };
        let gallery = classed("div", "gallery").with("data-charts", name);
        let gallery = gallery.holding_all(found.par_iter().map(|chart| figure(chart)).collect::<Vec<_>>());
        // The last caption says what points and bands are.
        let note = classed("p", "note").holding_all(first.frame().captions.last().map(String::as_str));
        let content = Html::from(gallery).and(note);
        match opens {
            true => {
                let summary = element("summary").holding(element("h3").holding(title));
                classed("details", "more-charts").holding(summary).holding(content).into()
            }
            false => Html::from(element("h3").holding(title)).and(content),
        }
    };
    PageSection::ALL.map(of_section).into_iter().collect()
}

fn figure(chart: &Chart) -> Element {
    let Frame { title, subtitle, legend, .. } = chart.frame();
    let caption = element("figcaption").holding(element("b").holding(title.as_str()));
    let subtitle = (!subtitle.is_empty()).then(|| classed("small", "subtitle").holding(subtitle.as_str()));
    let (keys, notes) = self::legend(legend);
    let plot = |(heading, svg): (&str, String)| {
        let label = if heading.is_empty() { title } else { heading };
        let image = classed("div", "drawing").with("role", "img").with("aria-label", label);
        // Texts in the drawing are escaped, but it may contain characters that HTML forbids.
        let image = image.holding(Html::trusted(replaced(&svg)));
        let heading = (!heading.is_empty()).then(|| element("h4").holding(heading));
        classed("div", "plot").holding_all(heading).holding(image)
    };
    let plots = classed("div", "plots").holding_all(chart.plots().into_iter().map(plot));
    let figure = classed("figure", "chart").holding(caption.holding_all(subtitle));
    figure.holding_all(keys).holding(plots).holding_all(notes)
}

/// The samples of a legend, by group, and its texts.
fn legend(rows: &[LegendRow]) -> (Option<Element>, Option<Element>) {
    let (mut keys, mut notes) = (vec![], vec![]);
    for group in rows.chunk_by(|_, next| !matches!(next, LegendRow::Heading(_))) {
        let (mut samples, mut lines, mut heading) = (vec![], vec![], None);
        for row in group {
            match row {
                LegendRow::Heading(text) => heading = Some(element("b").holding(text.as_str())),
                LegendRow::Entry(sample, text) => {
                    let sample = Html::trusted(page_sample(*sample));
                    samples.push(classed("span", "key").holding(sample).holding(text.as_str()));
                }
                LegendRow::Note(text) => lines.push(text.trim_start_matches('\u{a0}')),
            }
        }
        let part = element("div").holding_all(heading);
        notes.extend((!lines.is_empty()).then(|| {
            // A line that ends with a colon goes on in the next.
            part.clone().holding(" ").holding(lines.join("; ").replace(":; ", ": "))
        }));
        keys.extend((!samples.is_empty()).then(|| part.holding_all(samples)));
    }
    let keys = (!keys.is_empty()).then(|| classed("div", "legend").holding_all(keys));
    let notes = (!notes.is_empty()).then(|| classed("div", "chart-notes").holding_all(notes));
    (keys, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::ChartKind;
    use gpubench_report::report::example;

    #[test]
    fn every_chart_is_in_a_section_in_colours_that_follow_the_theme() {
        let report = example::with_peaks(example::full());
        let drawn = page_charts(&report);
        let html = charts(&report).into_string();
        for kind in [ChartKind::Overview, ChartKind::SpeedUp, ChartKind::Throughput, ChartKind::Roofline] {
            assert!(drawn.iter().any(|chart| chart.kind() == kind), "{kind:?}");
        }
        assert_eq!(html.matches("<figure").count(), drawn.len());
        let plots: usize = drawn.iter().map(|chart| chart.plots().len()).sum();
        assert_eq!(html.matches("class=\"drawing\"").count(), plots);
        let fixed: Vec<&str> = html.split("\"#").skip(1).map(|rest| &rest[..6]).collect();
        assert_eq!(fixed, [""; 0], "colours that no theme changes");
        let collides = html.contains(" id=\"") || html.contains("url(");
        assert!(!collides, "drawings must not share identifiers");
    }

    #[test]
    fn every_point_of_a_line_says_what_it_is_under_the_pointer() {
        let mut report = example::full();
        report.rows.iter_mut().for_each(|row| row.variant = row.variant.replace("openblas", "<openblas>"));
        let html = charts(&report).into_string();
        let notes: Vec<&str> =
            html.split("<title>").skip(1).map(|rest| rest.split("</title>").next().unwrap()).collect();
        assert!(notes.len() > 8 && notes.iter().all(|note| note.contains("N = ")), "{notes:?}");
        assert!(notes.iter().any(|note| note.contains("cpu/&lt;openblas&gt;")), "{notes:?}");
        assert!(notes.iter().any(|note| note.contains("x (") && note.contains(" against ")), "{notes:?}");
    }

    #[test]
    fn the_legend_is_text_with_its_groups_and_notes() {
        let html = charts(&example::with_peaks(example::full())).into_string();
        for expected in
            ["<b>CPU</b>", "openblas</span>", "<b>Measured peaks</b>", "<b>GPU faster from N</b> kernel: "]
        {
            assert!(html.contains(expected), "{expected}\n{html}");
        }
    }
}
