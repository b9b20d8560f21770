//! Sine and cosine of slices, vectorised, right to 2 units of the last place for every input; knows no threads.
//!
//! There is no branch in the loops, so that the compiler vectorises them. Which way its arguments are reduced is decided
//! for a chunk: not at all, by a few products, or, beyond [`Trig::LIMIT`] or where one is NaN, by a longer way.

use self::trig::{cos, cos_near, cos_wide, sin, sin_near, sin_wide};
use super::simd::{Vectorized, vectorize};
use super::stream;

pub(super) use self::trig::Trig;

mod trig;
mod wide;

/// Elements whose arguments are tested together for their size: all of them pay for the largest.
const CHUNK: usize = 256;

/// How the arguments of a chunk are reduced.
enum Reach {
    Near,
    InRange,
    Wide,
}

impl Reach {
    /// For the largest magnitude of a chunk.
    #[inline(always)]
    fn of<T: Trig>(largest: T::Magnitude) -> Self {
        if largest <= T::NEAR.magnitude() {
            Reach::Near
        } else if largest <= T::LIMIT.magnitude() {
            Reach::InRange
        } else {
            Reach::Wide
        }
    }
}

#[inline(always)]
fn largest<T: Trig>(x: &[T]) -> T::Magnitude {
    let mut largest = T::Magnitude::default();
    for x in x {
        largest = largest.max(x.magnitude());
    }
    largest
}

/// What is looked up for each of at most [`CHUNK`] numbers: beforehand, since one look-up after the other is all that
/// most processors can do, and the loop around it would not be vectorised.
#[inline(always)]
fn looked_up<T: Trig>(x: &[T]) -> [T::Turns; CHUNK] {
    let mut turns = [T::NO_TURNS; CHUNK];
    for (turns, x) in turns.iter_mut().zip(x) {
        *turns = x.turns();
    }
    turns
}

struct Sines<'a, T> {
    x: &'a [T],
    y: &'a mut [T],
}

impl<T: Trig> Vectorized for Sines<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (x, y) in self.x.chunks(CHUNK).zip(self.y.chunks_mut(CHUNK)) {
            match Reach::of::<T>(largest(x)) {
                Reach::Near => {
                    for (x, y) in x.iter().zip(y) {
                        *y = sin_near(*x);
                    }
                }
                Reach::InRange => {
                    for (x, y) in x.iter().zip(y) {
                        *y = sin(*x);
                    }
                }
                Reach::Wide => {
                    for ((x, turns), y) in x.iter().zip(&looked_up(x)).zip(y) {
                        *y = sin_wide(*x, *turns);
                    }
                }
            }
        }
    }

    #[cold]
    fn run_portable(self) {
        for (x, y) in self.x.iter().zip(self.y) {
            *y = x.std_sin();
        }
    }
}

struct SinesInPlace<'a, T>(&'a mut [T]);

impl<T: Trig> Vectorized for SinesInPlace<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for x in self.0.chunks_mut(CHUNK) {
            match Reach::of::<T>(largest(x)) {
                Reach::Near => {
                    for x in x {
                        *x = sin_near(*x);
                    }
                }
                Reach::InRange => {
                    for x in x {
                        *x = sin(*x);
                    }
                }
                Reach::Wide => {
                    for (turns, x) in looked_up(x).iter().zip(x) {
                        *x = sin_wide(*x, *turns);
                    }
                }
            }
        }
    }

    #[cold]
    fn run_portable(self) {
        self.0.iter_mut().for_each(|x| *x = x.std_sin());
    }
}

struct Sums<'a, T> {
    a: &'a [T],
    b: &'a [T],
    y: &'a mut [T],
}

impl<T: Trig> Vectorized for Sums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let operands = self.a.chunks(CHUNK).zip(self.b.chunks(CHUNK));
        for ((a, b), y) in operands.zip(self.y.chunks_mut(CHUNK)) {
            let elements = a.iter().zip(b).zip(y);
            match Reach::of::<T>(largest(a).max(largest(b))) {
                Reach::Near => {
                    for ((a, b), y) in elements {
                        *y = a.fused(*b, sin_near(*a) + cos_near(*b));
                    }
                }
                Reach::InRange => {
                    for ((a, b), y) in elements {
                        *y = a.fused(*b, sin(*a) + cos(*b));
                    }
                }
                Reach::Wide => {
                    let turns = (looked_up(a), looked_up(b));
                    for (((a, b), y), (of_a, of_b)) in elements.zip(turns.0.iter().zip(&turns.1)) {
                        *y = a.fused(*b, sin_wide(*a, *of_a) + cos_wide(*b, *of_b));
                    }
                }
            }
        }
    }

    #[cold]
    fn run_portable(self) {
        for ((a, b), y) in self.a.iter().zip(self.b).zip(self.y) {
            *y = *a * *b + a.std_sin() + b.std_cos();
        }
    }
}

/// `y = sin(x)`, element by element; both of one length.
pub(super) fn sin_into<T: Trig>(x: &[T], y: &mut [T]) {
    vectorize(Sines { x, y });
}

/// `x = sin(x)`, element by element.
pub(super) fn sin_in_place<T: Trig>(x: &mut [T]) {
    vectorize(SinesInPlace(x));
}

/// `y = a * b + sin(a) + cos(b)`, element by element; all of one length.
pub(super) fn elementwise_into<T: Trig>(a: &[T], b: &[T], y: &mut [T]) {
    vectorize(Sums { a, b, y });
}

/// `y = sin(x)`, element by element, with stores that leave the caches aside; both of one length.
pub(super) fn sin_past_caches<T: Trig>(x: &[T], y: &mut [T]) {
    let (head, y) = stream::aligned(y);
    let (of_head, x) = x.split_at(head.len());
    sin_into(of_head, head);
    vectorize(PastCaches(Sines { x, y }));
}

/// As [`elementwise_into`], with stores that leave the caches aside.
pub(super) fn elementwise_past_caches<T: Trig>(a: &[T], b: &[T], y: &mut [T]) {
    let (head, y) = stream::aligned(y);
    let ((a_head, a), (b_head, b)) = (a.split_at(head.len()), b.split_at(head.len()));
    elementwise_into(a_head, b_head, head);
    vectorize(PastCaches(Sums { a, b, y }));
}

/// A kernel whose results leave the caches aside.
struct PastCaches<K>(K);

/// Elements computed in the first-level cache before they leave for memory: whole lines, and so few that the processor
/// reads operands meanwhile.
const PASSING: usize = CHUNK;

impl<T: Trig> Vectorized for PastCaches<Sines<'_, T>> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut passing = [T::ZERO; PASSING];
        for (x, y) in self.0.x.chunks(PASSING).zip(self.0.y.chunks_mut(PASSING)) {
            let passing = &mut passing[..y.len()];
            Sines { x, y: &mut *passing }.run();
            stream::copy(passing, y);
        }
        stream::fence();
    }

    fn run_portable(self) {
        self.0.run_portable();
    }
}

impl<T: Trig> Vectorized for PastCaches<Sums<'_, T>> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut passing = [T::ZERO; PASSING];
        let operands = self.0.a.chunks(PASSING).zip(self.0.b.chunks(PASSING));
        for ((a, b), y) in operands.zip(self.0.y.chunks_mut(PASSING)) {
            let passing = &mut passing[..y.len()];
            Sums { a, b, y: &mut *passing }.run();
            stream::copy(passing, y);
        }
        stream::fence();
    }

    fn run_portable(self) {
        self.0.run_portable();
    }
}

#[cfg(test)]
mod tests;
