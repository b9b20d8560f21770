//! The style of variants: one colour and shape each, the same in all charts of a report.

use crate::palette::Role;
use gpubench_report::Side;
use gpubench_report::report::{Report, Row};

use super::geometry::SHAPES;
use super::series::{Stroke, Style};

/// Colours of each side, in the order in which they are given. The sides begin with different ones.
const CPU_HUES: [Role; 7] =
    [Role::Vermilion, Role::Orange, Role::Purple, Role::Ink, Role::Sky, Role::Green, Role::Blue];
const GPU_HUES: [Role; 7] =
    [Role::Blue, Role::Green, Role::Sky, Role::Ink, Role::Purple, Role::Orange, Role::Vermilion];

/// Variants of many ops, of gpubench's own backends, have the same colour in every report.
const KNOWN: [(Side, &str, Role); 5] = [
    (Side::Gpu, "auto", Role::Blue),
    (Side::Gpu, "cublas", Role::Green),
    (Side::Cpu, "openblas", Role::Vermilion),
    (Side::Cpu, "mkl", Role::Orange),
    (Side::Cpu, "faer", Role::Purple),
];

/// A variant of a backend, the ops that have it, and its style.
struct StyledVariant<'a> {
    side: Side,
    backend: &'a str,
    name: &'a str,
    ops: Vec<&'a str>,
    hue: Role,
    marker: usize,
}

/// The styles of every variant of some reports.
pub(crate) struct VariantStyles<'a>(Vec<StyledVariant<'a>>);

impl<'a> VariantStyles<'a> {
    /// Variants that share a chart differ in colour, and in shape as far as there are shapes; where a chart has more
    /// variants of a side than there are colours, in one of the two.
    pub(crate) fn of(reports: &[(&str, &'a Report)]) -> VariantStyles<'a> {
        let mut variants: Vec<StyledVariant<'a>> = vec![];
        for row in reports.iter().flat_map(|(_, report)| &report.rows) {
            let (backend, name, op) = (row.backend.as_str(), row.variant.as_str(), row.case.op.as_str());
            match variants.iter_mut().find(|known| known.is(backend, name)) {
                Some(known) if known.ops.contains(&op) => {}
                Some(known) => known.ops.push(op),
                None => {
                    let (side, ops, hue, marker) = (row.side, vec![op], Role::Ink, 0);
                    variants.push(StyledVariant { side, backend, name, ops, hue, marker });
                }
            }
        }
        // Stable: the known ones choose first, then the others in the order of the reports.
        variants.sort_by_key(|variant| variant.known_place().unwrap_or(KNOWN.len()));
        for index in 0..variants.len() {
            let (chosen, rest) = variants.split_at_mut(index);
            rest[0].choose(chosen);
        }
        VariantStyles(variants)
    }

    /// The style of a row's variant; `turn` shifts the shape, for the reports that share a chart.
    pub(crate) fn style(&self, row: &Row, turn: usize) -> Style {
        let found = self.0.iter().find(|known| known.is(&row.backend, &row.variant));
        let (hue, marker) = found.map_or((Role::Ink, 0), |found| (found.hue, found.marker));
        Style { hue, stroke: Stroke::of(row), marker: marker + turn, filled: row.side == Side::Gpu }
    }
}

impl StyledVariant<'_> {
    fn is(&self, backend: &str, name: &str) -> bool {
        self.backend == backend && self.name == name
    }

    fn known_place(&self) -> Option<usize> {
        let is_built_in = ["cpu", "cuda", "sim"].contains(&self.backend);
        KNOWN.iter().position(|(side, name, _)| is_built_in && *side == self.side && *name == self.name)
    }

    /// Chooses a colour and a shape that no variant in the same charts has; otherwise a pair that none of its side has.
    fn choose(&mut self, chosen: &[StyledVariant<'_>]) {
        let shares = |other: &&StyledVariant<'_>| self.ops.iter().any(|op| other.ops.contains(op));
        let all: Vec<&StyledVariant<'_>> = chosen.iter().filter(shares).collect();
        let own: Vec<&StyledVariant<'_>> =
            all.iter().copied().filter(|other| other.side == self.side).collect();
        let hues = if self.side == Side::Cpu { CPU_HUES } else { GPU_HUES };
        let known = self.known_place().map(|place| KNOWN[place].2);
        let order: Vec<Role> = known.into_iter().chain(hues).collect();
        let free = |taken: &[&StyledVariant<'_>]| {
            order.iter().copied().find(|hue| taken.iter().all(|other| other.hue != *hue))
        };
        let pairs = || (0..SHAPES).flat_map(|marker| hues.map(|hue| (hue, marker)));
        let is_free = |(hue, marker): &(Role, usize)| {
            own.iter().all(|other| (other.hue, other.marker) != (*hue, *marker))
        };
        (self.hue, self.marker) = match free(&all).or_else(|| free(&own)) {
            Some(hue) => {
                let marker = (0..SHAPES).find(|marker| own.iter().all(|other| other.marker != *marker));
                (hue, marker.unwrap_or(own.len() % SHAPES))
            }
            None => pairs().find(is_free).unwrap_or((hues[own.len() % hues.len()], own.len() % SHAPES)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_report::report::example::{self, measured};

    fn hue(styles: &VariantStyles<'_>, op: &str, backend: &str, variant: &str) -> Role {
        styles.style(&measured(op, 10, backend, variant, 1e-3), 0).hue
    }

    #[test]
    fn a_variant_has_one_colour_in_all_charts_unlike_its_neighbours() {
        let rows = [
            ("fft", "cpu", "realfft"),
            ("fft", "cpu", "mkl"),
            ("fft", "cuda", "r2c"),
            ("fft", "cuda", "auto"),
            ("matmul", "cpu", "openblas"),
            ("matmul", "cpu", "mkl"),
            ("matmul", "cuda", "auto"),
        ];
        let report = example::of(rows.map(|(op, backend, variant)| measured(op, 10, backend, variant, 1e-3)));
        let styles = VariantStyles::of(&[("", &report)]);
        assert_eq!(hue(&styles, "fft", "cpu", "mkl"), Role::Orange);
        assert_eq!(hue(&styles, "matmul", "cuda", "auto"), Role::Blue);
        let of_fft = rows[..4].iter().map(|(op, backend, variant)| hue(&styles, op, backend, variant));
        let of_fft: Vec<Role> = of_fft.collect();
        assert!((1..4).all(|index| !of_fft[..index].contains(&of_fft[index])), "{of_fft:?}");
    }

    #[test]
    fn variants_of_other_backends_leave_the_known_colours_to_gpubench_s_own() {
        let backends = ["torch", "jax", "cuda", "cupy"];
        let report = example::of(backends.map(|backend| measured("fft", 10, backend, "auto", 1e-3)));
        let styles = VariantStyles::of(&[("", &report)]);
        assert_eq!(hue(&styles, "fft", "cuda", "auto"), Role::Blue);
        let styles: Vec<Style> = report.rows.iter().map(|row| styles.style(row, 0)).collect();
        assert!(
            (1..4).all(|index| styles[..index].iter().all(|other| other.hue != styles[index].hue)),
            "{styles:?}"
        );
    }

    #[test]
    fn many_variants_of_one_side_all_differ() {
        let rows = (0..40).map(|index| measured("svd", 10, "cpu", &format!("v{index}"), 1e-3));
        let report = example::of(rows);
        let styles = VariantStyles::of(&[("", &report)]);
        let styles: Vec<Style> = report.rows.iter().map(|row| styles.style(row, 0)).collect();
        assert!((1..40).all(|index| !styles[..index].contains(&styles[index])), "{styles:?}");
    }
}
