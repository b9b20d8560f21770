//! Identifiers of cells for other programs: unique within a comparison and stable between comparisons.

use std::collections::HashMap;

use gpubench_report::case::{Cell, density_text};

use gpubench_analysis::compare::{Change, Comparison};

/// Returns the names of a comparison's cells, in its order: `matmul/N=4096/f32/cuda/cublas/cold`, with `density=0.05`
/// `matrix=bcsstk13@1f3a5c7e90b2d4f6` or
/// `shape=4096x512xN` after the element type.
///
/// Cells that would share a name get their seed appended.
pub(super) fn names(comparison: &Comparison) -> Vec<String> {
    let short: Vec<String> = comparison.cells.iter().map(name).collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in &short {
        *uses.entry(name).or_default() += 1;
    }
    let unique = short.iter().zip(&comparison.cells).map(|(name, change)| match uses[name.as_str()] {
        1 => name.clone(),
        _ => format!("{name}/seed={}", change.cell().case.seed),
    });
    unique.collect()
}

fn name(change: &Change) -> String {
    let Cell { case, backend, variant, cache } = change.cell();
    let of_shape = case.shape.as_ref().map(|shape| format!("/shape={}", shape.to_string().replace(' ', "-")));
    let of_entries = match (&case.matrix, case.density) {
        (Some(matrix), _) => format!("/matrix={matrix}"),
        (None, Some(density)) => format!("/density={}", density_text(density)),
        (None, None) => String::new(),
    };
    let family = of_shape.unwrap_or_default() + &of_entries;
    format!("{}/N={}/{}{family}/{backend}/{variant}/{cache}", case.op, case.n, case.dtype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::compare::example;

    #[test]
    fn names_say_the_case_and_where_it_ran() {
        let names = names(&example::full());
        assert_eq!(names[0], "spgemm/N=512/f32/density=0.01/cuda/hash/cold");
        assert_eq!(names[2], "matmul/N=4096/f32/cuda/cublas/cold");
    }

    #[test]
    fn cells_of_one_name_are_distinguished() {
        let mut comparison = example::full();
        comparison.cells = vec![comparison.cells[2].clone(); 2];
        comparison.cells[1].subject.cell.case.seed = 7;
        let names = names(&comparison);
        let name = "matmul/N=4096/f32/cuda/cublas/cold";
        assert_eq!(names, ["1", "7"].map(|seed| format!("{name}/seed={seed}")));
    }
}
