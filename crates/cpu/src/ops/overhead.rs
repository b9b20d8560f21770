//! Measures the overhead of an empty parallel region on all threads.

use gpubench_backend::{Job, Prepared};
use gpubench_report::case::Case;
use gpubench_report::data::Operand;
use gpubench_report::error::CellError;

use super::variants::{CpuVariant, variant};
use crate::threads::wake;

pub(super) const VARIANTS: &[CpuVariant] =
    &[variant("overhead", "pool", "N parallel regions without work, all threads", true, pool)];

struct EmptyRegions {
    count: u64,
    done: u64,
}

fn pool(_: usize, case: &Case, _: &mut [Operand]) -> Result<Box<Prepared>, CellError> {
    Ok(Prepared::new(EmptyRegions { count: case.n, done: 0 }))
}

impl Job for EmptyRegions {
    fn wake_threads(&mut self) -> Result<(), CellError> {
        wake::pool(rayon::current_num_threads());
        Ok(())
    }

    fn execute(&mut self) -> Result<(), CellError> {
        self.done = 0;
        for _ in 0..self.count {
            // Returns when every thread of the pool has run it.
            rayon::broadcast(|_| {});
            self.done += 1;
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<Vec<Operand>, CellError> {
        Ok(vec![Operand::dense(1, 1, vec![self.done as f64])])
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::answer_of;
    use gpubench_report::case::DType;

    use super::*;

    #[test]
    fn as_many_regions_are_entered_as_were_asked_for() {
        for n in [1, 2, 100] {
            let answer = answer_of("overhead", "pool", n, DType::F32, &[]);
            assert_eq!(answer, [Operand::dense(1, 1, vec![n as f64])]);
        }
    }
}
