//! Copies a matrix within host memory (`transfer`), to compare with copies to a device, and computes x = sin(x) many times
//! over a matrix that stays in host memory (`transfer-loop`). Also measures an empty parallel region (`overhead`).

use gpubench_backend::{Job, Prepared};
use gpubench_ops::SINES;
use gpubench_report::data::{Operand, Real};
use rustfft::num_traits::Float;

use super::dense::{Matrices, like_first, on_one_thread, on_pool, view, view_mut};
use super::elementwise::sines;
use super::variants::{CpuVariant, JobRequest, PreparedJob, Scope, by_dtype, variant};
use crate::CellResult;
use crate::threads::{partition::Partition, wake};

/// The variants of `transfer`; none runs by default, because nothing crosses the bus.
pub(super) const VARIANTS: &[CpuVariant] =
    &[variant("memcpy", Scope::Further, "copy within host memory, all threads", by_dtype!(copied))];

/// The variants of `transfer-loop`.
pub(super) const LOOP_VARIANTS: &[CpuVariant] = &[
    variant("parallel", Scope::Default, "100 passes in place, libm's sine, all threads", by_dtype!(parallel)),
    variant("ndarray", Scope::Further, "ndarray mapv_inplace 100 times, libm, one thread", by_dtype!(mapped)),
];

/// The variants of `overhead`.
pub(super) const OVERHEAD_VARIANTS: &[CpuVariant] =
    &[variant("pool", Scope::Default, "N parallel regions without work, all threads", |request| {
        Ok(Prepared::new(EmptyRegions { count: request.case.n, done: 0 }))
    })];

/// Prepares a job that runs on all threads if the result, at first full of `fill`, is large enough.
fn on_all_threads<T: Real>(
    mut request: JobRequest<'_>,
    fill: T,
    compute: fn(&Partition, &[T], &mut [T]),
) -> PreparedJob {
    let matrices = like_first::<T, 1>(&mut request, fill)?;
    let pool = Partition::without_choice(matrices.results[0].len(), rayon::current_num_threads());
    on_pool(matrices, pool, (), None, move |pool, (), Matrices { inputs: [a], results, .. }| {
        compute(pool, a, &mut results[0]);
        Ok(())
    })
}

fn copied<T: Real>(request: JobRequest<'_>) -> PreparedJob {
    // No element has the value of the fill.
    on_all_threads(request, T::from_f64(-1.0), |pool, a, y| {
        pool.run(y, |part, y| y.copy_from_slice(&a[part]))
    })
}

/// The first pass reads the operand, which so stays unchanged. Every pass covers the whole matrix, as in a program
/// that reads each result.
fn parallel<T: Real + Float>(request: JobRequest<'_>) -> PreparedJob {
    on_all_threads(request, T::default(), |pool, a, x| {
        pool.run(x, |part, x| sines(&a[part], x));
        for _ in 1..SINES {
            pool.run(x, |_, x| x.iter_mut().for_each(|x| *x = x.sin()));
        }
    })
}

fn mapped<T: Real + Float>(request: JobRequest<'_>) -> PreparedJob {
    on_one_thread::<T, 1>(request, |[a], x| {
        let mut x = view_mut(x)?;
        x.assign(&view(a)?);
        (0..SINES).for_each(|_| x.mapv_inplace(T::sin));
        Ok(())
    })
}

struct EmptyRegions {
    count: u64,
    done: u64,
}

impl Job for EmptyRegions {
    fn wake_threads(&mut self) -> CellResult<()> {
        wake::pool(rayon::current_num_threads());
        Ok(())
    }

    fn execute(&mut self) -> CellResult<()> {
        self.done = 0;
        for _ in 0..self.count {
            // Returns when every thread of the pool has run it.
            rayon::broadcast(|_| {});
            self.done += 1;
        }
        Ok(())
    }

    fn answer(&mut self) -> CellResult<Vec<Operand>> {
        Ok(vec![Operand::dense(1, 1, vec![self.done as f64])])
    }
}
