//! Two drawings of one chart, one a theme, as one drawing: what differs becomes a variable of the style. Knows no chart.

use std::fmt::Write;

/// What differs between the themes, over all drawings of a page.
#[derive(Default)]
pub struct Variables {
    /// The values in the light theme and in the dark one.
    pairs: Vec<(String, String)>,
}

impl Variables {
    /// One drawing for both themes; `None` where the two differ in more than colours and opacities.
    pub fn merged(&mut self, light: &str, dark: &str) -> Option<String> {
        let mut merged = String::with_capacity(light.len());
        let (mut ours, mut theirs) = (light.split('"'), dark.split('"'));
        loop {
            match (ours.next(), theirs.next()) {
                (None, None) => break,
                (Some(one), Some(other)) if one == other => merged.push_str(one),
                (Some(one), Some(other)) if is_look(one) && is_look(other) => {
                    let _ = write!(merged, "var(--chart-{})", self.place(one, other));
                }
                _ => return None,
            }
            merged.push('"');
        }
        merged.pop();
        // What is opaque anyway need not say so.
        Some(merged.replace(" opacity=\"1\"", ""))
    }

    fn place(&mut self, light: &str, dark: &str) -> usize {
        let known = self.pairs.iter().position(|pair| pair.0 == light && pair.1 == dark);
        known.unwrap_or_else(|| {
            self.pairs.push((light.to_owned(), dark.to_owned()));
            self.pairs.len() - 1
        })
    }

    /// The rules that give the variables their values: dark by the system or by choice, but never on paper.
    pub fn style(&self) -> String {
        let values = |dark: bool| {
            let mut text = String::new();
            for (index, pair) in self.pairs.iter().enumerate() {
                let _ = write!(text, "--chart-{index}:{};", if dark { &pair.1 } else { &pair.0 });
            }
            text
        };
        let (light, dark) = (values(false), values(true));
        format!(
            ":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=\"light\"]){{{dark}}}}}\
             @media screen{{:root[data-theme=\"dark\"]{{{dark}}}}}\n"
        )
    }
}

/// Whether an attribute's value is a colour or an opacity.
fn is_look(value: &str) -> bool {
    let digits = value.strip_prefix('#').unwrap_or(value);
    !digits.is_empty() && digits.len() <= 20 && digits.chars().all(|c| c.is_ascii_hexdigit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_becomes_a_variable_and_is_named_once() {
        let mut variables = Variables::default();
        let light = "<rect fill=\"#FFFFFF\" opacity=\"1\"/><path fill=\"#FFFFFF\" opacity=\"0.05\"/><text>a \" b</text>";
        let dark = "<rect fill=\"#14171C\" opacity=\"1\"/><path fill=\"#14171C\" opacity=\"0.09\"/><text>a \" b</text>";
        let merged = variables.merged(light, dark).unwrap();
        assert_eq!(
            merged,
            "<rect fill=\"var(--chart-0)\"/><path fill=\"var(--chart-0)\" opacity=\"var(--chart-1)\"/><text>a \" b</text>"
        );
        let style = variables.style();
        assert!(style.starts_with(":root{--chart-0:#FFFFFF;--chart-1:0.05;}"), "{style}");
        assert_eq!(style.matches("--chart-1:0.09;").count(), 2, "{style}");
    }

    #[test]
    fn drawings_of_different_things_are_not_merged() {
        let mut variables = Variables::default();
        for (light, dark) in [
            ("<a b=\"1\"/>", "<a b=\"1\" c=\"2\"/>"),
            ("<a b=\"red;}\"/>", "<a b=\"#000\"/>"),
            ("<a/>", "<b/>"),
        ] {
            assert_eq!(variables.merged(light, dark), None);
        }
        assert!(variables.pairs.is_empty());
    }
}
