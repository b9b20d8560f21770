//! The loop over all elements on the CPU, without a launch per element.

use super::cpu_variant::CpuVariant;
use super::entry::{by_dtype, variant};
use super::sin::{parallel, serial};

/// The variants of `sin` that compute all elements in one loop.
pub(super) const VARIANTS: &[CpuVariant] = &[
    variant("host-loop", "parallel", "vectorised sine, all threads", true, by_dtype!(parallel)),
    variant("host-loop", "serial", "vectorised sine, one thread", false, by_dtype!(serial)),
];

#[cfg(test)]
mod tests {
    use crate::tests::{TEST_SIDES, answer_of};
    use gpubench_model::case::DType;
    use gpubench_model::data::Operand;
    use gpubench_model::data::generator::Stream;

    use super::*;

    #[test]
    fn both_loops_take_the_same_sines_as_the_op_sin() {
        for kernel in VARIANTS {
            for n in TEST_SIDES {
                let a = [Operand::dense(n, n, Stream::new(1, 0).uniforms::<f32>(n * n))];
                let sines = answer_of("sin", "parallel", n, DType::F32, &a);
                assert_eq!(answer_of("host-loop", &kernel.variant.name, n, DType::F32, &a), sines);
            }
        }
    }
}
