//! Every CPU variant takes its operands instead of copying them, and lends them unchanged.

use gpubench_model::data::Operand;
use gpubench_ops::{self as op, Checked};

use super::{for_each_variant, title, with_stack};

#[test]
fn every_variant_takes_its_operands_and_lends_them_with_the_answer() {
    with_stack(|| {
        for_each_variant(|_, job, case, variant, inputs| {
            for _ in 0..2 {
                job.reset().unwrap();
                job.execute().unwrap();
                let mut lent: Option<[Vec<Operand>; 2]> = None;
                job.lend(&mut |now| {
                    lent = Some([now.operands.unwrap_or_default().to_vec(), now.answer.to_vec()]);
                })
                .unwrap();
                let [operands, answer] = lent.unwrap();
                assert_eq!(operands, inputs, "{}", title(variant));
                assert_eq!(answer, job.answer().unwrap(), "{} shows another answer", title(variant));
                // Running sums in float32 are not right at this size.
                if title(variant) != "reduction/ndarray" {
                    let op = op::find(&case.op).unwrap();
                    let checked = op.check(case, inputs, &answer, variant.accuracy.rounding(case.dtype));
                    assert!(checked.as_ref().is_ok_and(Checked::is_right), "{}: {checked:?}", title(variant));
                }
            }
        });
    });
}
