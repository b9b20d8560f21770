//! Cases of every shape: right answers pass far below the bound, and mistakes that only shapes make possible do not pass.

use gpubench_report::data::generator::Stream;
use gpubench_report::data::{Csr, Dense};
use gpubench_report::shape::{BATCH, Shape};

use super::formats::{TF32, in_format};
use super::*;
use crate::fft::Transforms;
use crate::matmul::Products;

/// A case of a shape as a report writes it.
fn shaped(op: &str, shape: &str, dtype: DType) -> Case {
    let shape: Shape = serde_json::from_str(shape).unwrap();
    let density = the(op).default_density().map(|_| 0.3);
    Case { shape: Some(shape.clone()), density, ..Case::square(op, shape.largest(), dtype, 42) }
}

/// Returns shapes of an op that takes any: extents up to `most` drawn evenly on a scale of logarithms, by names that the op has.
fn drawn(op: &dyn Op, count: u64, most: f64) -> Vec<String> {
    let stream = Stream::new(7, 0);
    let about = op.about();
    let mut drawn = (0u64..).map(|index| stream.uniform::<f64>(index));
    let mut extent = |most: f64| most.powf(drawn.next().unwrap()).round();
    let mut shape = || {
        // An op with axes that a shape may lack has more elements with each.
        let (count, most) = match about.dimensions.len() - about.needed {
            0 => (about.needed, most),
            axes => (about.needed + extent(axes as f64 + 1.0) as usize - 1, most.min(40.0)),
        };
        let named = about.dimensions[..count].iter();
        let mut parts: Vec<String> = named.map(|name| format!("\"{name}\":{}", extent(most))).collect();
        for name in about.further {
            parts.push(match *name {
                "layout" => format!("\"layout\":\"{}\"", ["nn", "nt", "tn", "tt"][extent(4.0) as usize - 1]),
                "axis" => format!("\"axis\":{}", extent(6.0) as u64 % 2),
                name => format!("\"{name}\":{}", extent(6.0)),
            });
        }
        format!("{{{}}}", parts.join(","))
    };
    (0..count).map(|_| shape()).collect()
}

fn shaped_ops() -> impl Iterator<Item = &'static dyn Op> {
    OPS.iter().copied().filter(|op| !op.about().dimensions.is_empty())
}

#[test]
fn right_answers_of_any_shape_are_far_below_the_bound() {
    for op in shaped_ops() {
        for shape in drawn(op, 40, 90.0) {
            for &dtype in op.about().dtypes {
                let case = shaped(op.name(), &shape, dtype);
                let inputs = op.inputs(&case);
                let checked = check(&case, &inputs, &plain_answer(&case, &inputs));
                assert!(checked.value <= 0.5 * checked.bound && !checked.coarse, "{case}: {checked:?}");
            }
        }
    }
}

#[test]
fn a_square_shape_has_the_work_bytes_and_operands_of_its_size() {
    for op in shaped_ops() {
        let dimensions = op.about().square().iter().map(|name| format!("\"{name}\":12"));
        let text = format!("{{{}}}", dimensions.collect::<Vec<_>>().join(","));
        let shaped = shaped(op.name(), &text, DType::F32);
        let square = Case { shape: None, ..shaped.clone() };
        assert_eq!(op.inputs(&shaped), op.inputs(&square), "{shaped}");
        assert_eq!(
            (op.work(&shaped), op.footprint(&shaped)),
            (op.work(&square), op.footprint(&square)),
            "{shaped}"
        );
        assert_eq!(op.read_bytes(&shaped), op.read_bytes(&square), "{shaped}");
    }
}

#[test]
fn footprints_of_any_shape_are_those_of_operands_and_answer_and_do_not_overflow() {
    for op in shaped_ops() {
        for shape in drawn(op, 20, 30.0) {
            let case = Case { density: None, ..shaped(op.name(), &shape, DType::F64) };
            let inputs = op.inputs(&case);
            let answer = plain_answer(&case, &inputs);
            let structure = |operand: &Operand| match operand {
                Operand::Csr(csr) => 4 * (csr.indptr.len() + csr.indices.len()) as u128,
                Operand::Dense(_) => 0,
            };
            let bytes = |operand: &Operand| u128::from(operand.values().bytes()) + structure(operand);
            let bytes: u128 = inputs.iter().chain(&answer).map(bytes).sum();
            assert_eq!(op.footprint(&case), bytes, "{case}");
        }
        let names = op.about().dimensions.iter().chain(op.about().further);
        let names = names.filter(|name| !["layout", "axis"].contains(name));
        let largest = names.map(|name| format!("\"{name}\":{}", u64::MAX)).collect::<Vec<_>>().join(",");
        assert_eq!(
            op.footprint(&shaped(op.name(), &format!("{{{largest}}}"), DType::F64)),
            u128::MAX,
            "{}",
            op.name()
        );
    }
}

/// Asserts that what `change` makes of a right answer is wrong.
fn rejects(case: &Case, what: &str, change: impl Fn(&Case, &[Operand]) -> Vec<Operand>) {
    let inputs = the(&case.op).inputs(case);
    let checked = check(case, &inputs, &change(case, &inputs));
    assert!(!checked.is_right(), "{case}: {what} passes with {checked:?}");
}

#[test]
fn the_mistakes_of_batches_and_layouts_are_wrong() {
    for &dtype in DType::ALL {
        let has_type = |op: &str| types_of(op).any(|of_op| of_op == dtype);
        for (op, shape) in [
            ("matmul", r#"{"m":24,"n":24,"k":24,"batch":5,"layout":"nt"}"#),
            ("matmul", r#"{"m":300,"n":1,"k":64,"batch":3}"#),
            ("solve", r#"{"n":32,"rhs":3,"batch":5}"#),
            ("svd", r#"{"m":40,"n":8,"batch":4}"#),
            ("fft", r#"{"nx":64,"batch":5}"#),
            ("fft", r#"{"nx":6,"ny":9,"batch":3}"#),
            ("fft", r#"{"nx":4,"ny":6,"nz":10,"batch":2}"#),
        ] {
            if !has_type(op) {
                continue;
            }
            let case = shaped(op, shape, dtype);
            // The last matrix keeps the answer of an earlier call.
            rejects(&case, "one stale matrix", |case, inputs| {
                let mut answer = plain_answer(case, inputs);
                let other = Case { seed: 43, ..case.clone() };
                let stale = plain_answer(&other, &the(&case.op).inputs(&other));
                for (part, stale) in answer.iter_mut().zip(&stale) {
                    let (stale, len) = (values_of(stale), values_of(stale).len());
                    let first = len - len / case.extent(BATCH) as usize;
                    (first..len).for_each(|index| alter(part, index, |_| stale[index]));
                }
                answer
            });
            // Every matrix has the answer of the first, as with a stride of zero.
            rejects(&case, "a stride of zero", |case, inputs| {
                let mut answer = plain_answer(case, inputs);
                for part in &mut answer {
                    let values = values_of(part);
                    let each = values.len() / case.extent(BATCH) as usize;
                    change_all(part, |index, _| values[index % each]);
                }
                answer
            });
        }
        for (asked, taken) in [
            // One axis is left out, as in a transform of each plane or row; extents in another order; a batch for an axis.
            (r#"{"nx":4,"ny":6,"nz":10}"#, r#"{"nx":6,"ny":10,"batch":4}"#),
            (r#"{"nx":4,"ny":6,"nz":10}"#, r#"{"nx":6,"ny":4,"nz":10}"#),
            (r#"{"nx":10,"ny":12}"#, r#"{"nx":12,"batch":10}"#),
            (r#"{"nx":12,"batch":10}"#, r#"{"nx":10,"ny":12}"#),
            (r#"{"nx":120}"#, r#"{"nx":12,"batch":10}"#),
        ] {
            if !has_type("fft") {
                continue;
            }
            rejects(&shaped("fft", asked, dtype), "another transform", |case, inputs| {
                let mut answer =
                    plain_answer(&Case { shape: serde_json::from_str(taken).ok(), ..case.clone() }, inputs);
                if let Operand::Dense(dense) = &mut answer[0] {
                    let cols = Transforms::of(case).cols;
                    (dense.rows, dense.cols) = (dense.values.len() / cols, cols);
                }
                answer
            });
        }
        let layouts = r#"{"m":24,"n":24,"k":24,"batch":5,"layout":"#;
        for (asked, taken) in [("nt", "nn"), ("tn", "nn"), ("tt", "nt"), ("nt", "tn")] {
            let case = shaped("matmul", &format!("{layouts}\"{asked}\"}}"), dtype);
            rejects(&case, "another layout", |case, inputs| {
                let shape = serde_json::from_str(&format!("{layouts}\"{taken}\"}}")).ok();
                plain_answer(&Case { shape, ..case.clone() }, inputs)
            });
        }
    }
}

#[test]
fn sparse_answers_of_another_shape_or_with_a_column_too_many_are_wrong() {
    for dtype in [DType::F32, DType::F64] {
        let product = shaped("spgemm", r#"{"m":9,"n":14,"k":20}"#, dtype);
        let [a, b] = &the("spgemm").inputs(&product)[..] else { panic!("{product}") };
        assert_eq!(
            [a, b].map(|part| part.as_csr().map(|csr| (csr.rows, csr.cols)).unwrap()),
            [(9, 20), (20, 14)]
        );
        let inputs = the("spgemm").inputs(&product);
        let right = plain_answer(&product, &inputs);
        let judged = |change: &dyn Fn(&mut Csr)| {
            let mut answer = right.clone();
            if let Operand::Csr(csr) = &mut answer[0] {
                change(csr);
            }
            the("spgemm").check(&product, &inputs, &answer, ieee(dtype))
        };
        assert!(judged(&|_| ()).unwrap().is_right());
        // Transposed, or of another number of columns or rows.
        assert!(judged(&|csr| (csr.rows, csr.cols) = (csr.cols, csr.rows)).is_err());
        assert!(judged(&|csr| csr.cols = 20).is_err());
        assert!(judged(&|csr| csr.rows = 20).is_err());
        // Column 14 is one of A, and none of C.
        let beyond = judged(&|csr| csr.indices[0] = 14).unwrap();
        assert!(beyond.fault.is_some_and(|fault| fault.contains("outside the matrix")), "{beyond:?}");
        rejects(&product, "columns moved by one", |case, inputs| {
            let mut answer = plain_answer(case, inputs);
            if let Operand::Csr(csr) = &mut answer[0] {
                csr.indices.iter_mut().for_each(|column| *column = (*column + 1) % 14);
            }
            answer
        });
        let vector = shaped("spmv", r#"{"m":9,"n":14}"#, dtype);
        let inputs = the("spmv").inputs(&vector);
        let right = plain_answer(&vector, &inputs);
        assert!(check(&vector, &inputs, &right).is_right());
        for len in [14, 8] {
            let answer = [Operand::dense(len, 1, vec![0.0f64; len])];
            assert!(the("spmv").check(&vector, &inputs, &answer, ieee(dtype)).is_err(), "{len}");
        }
        let row = match &right[0] {
            Operand::Dense(dense) => Operand::Dense(Dense { rows: 1, cols: 9, ..dense.clone() }),
            other => other.clone(),
        };
        assert!(the("spmv").check(&vector, &inputs, &[row], ieee(dtype)).is_err(), "a row for a column");
    }
}

#[test]
fn operands_of_fewer_bits_are_found_in_products_of_any_shape() {
    for shape in drawn(the("matmul"), 40, 90.0) {
        let case = shaped("matmul", &shape, DType::F64);
        let inputs = the("matmul").inputs(&case);
        let checked = check(&case, &inputs, &plain_answer(&case, &in_format(&inputs, TF32)));
        assert!(!checked.is_right(), "{case}: {checked:?}");
    }
}

#[test]
fn products_have_factors_by_their_layout() {
    let case = shaped("matmul", r#"{"m":2,"n":3,"k":4,"batch":5,"layout":"tn"}"#, DType::F32);
    let products = Products::of(&case);
    assert_eq!((products.stored, products.lens(), products.side()), ([[4, 2], [4, 3]], [8, 12, 6], 3));
    let [a, b] = [vec![0.0; 40], (0..60).map(f64::from).collect()];
    assert_eq!(products.factors(4, [&a, &b])[1][0], 48.0);
}
