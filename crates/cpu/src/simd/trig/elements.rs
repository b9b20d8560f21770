//! Applies a formula to slices, one cache line at a time.
//!
//! The largest argument of a chunk decides how its arguments are reduced. A chunk is first computed with the reduction
//! of the previous one, while its largest argument is found, and again if it needs another reduction: its results
//! depend only on its arguments.

use std::hint::black_box;
use std::marker::PhantomData;

use super::super::stream::{self, LINE};
use super::super::{Instructions, Number, Vector, WithVectors, with_vectors};
use super::functions::{Functions, Trig};

/// Elements per chunk; all of them pay for the largest argument.
const CHUNK: usize = 256;
/// Maximum vectors per line.
const VECTORS: usize = 4;

/// A function of `O` numbers, one method per kind of reduction.
pub(super) trait Formula<T: Trig, const O: usize> {
    /// For magnitudes up to [`Trig::NEAR`]. Must be `#[inline(always)]`, as the next.
    fn near<N: Number<Element = T>>(by: &Functions<N>, x: [N; O]) -> N;

    /// For magnitudes up to [`Trig::LIMIT`].
    fn in_range<N: Number<Element = T>>(by: &Functions<N>, x: [N; O]) -> N;

    /// For any magnitude, with the table entry of each argument.
    fn wide(by: &Functions<T>, x: [T; O], turns: [T::Turns; O]) -> T;

    /// Computes it with the standard library.
    fn standard(x: [T; O]) -> T;
}

/// `y = F(x)`, element by element, for slices of one length.
pub(super) fn apply<F: Formula<T, O>, T: Trig, const O: usize>(x: [&[T]; O], y: &mut [T]) {
    with_vectors(Elements::<F, T, O, false> { x, y, formula: PhantomData });
}

/// Computes the same with stores past the caches.
pub(super) fn apply_past_caches<F: Formula<T, O>, T: Trig, const O: usize>(x: [&[T]; O], y: &mut [T]) {
    let (head, y) = stream::aligned(y);
    let x = x.map(|x| x.split_at(head.len()));
    apply::<F, T, O>(x.map(|(of_head, _)| of_head), head);
    with_vectors(Elements::<F, T, O, true> { x: x.map(|(_, x)| x), y, formula: PhantomData });
    stream::fence();
}

/// `x = F(x)`, element by element.
pub(super) fn apply_in_place<F: Formula<T, 1>, T: Trig>(x: &mut [T]) {
    with_vectors(InPlace::<F, T> { x, formula: PhantomData });
}

#[derive(Clone, Copy, PartialEq)]
enum Reach {
    Near,
    InRange,
    Wide,
}

impl Reach {
    /// Chooses by the largest magnitude of a chunk. NaN is ignored: every reduction leaves it NaN.
    #[inline(always)]
    fn of<T: Trig>(largest: T) -> Self {
        if largest <= T::NEAR {
            Reach::Near
        } else if largest <= T::LIMIT {
            Reach::InRange
        } else {
            Reach::Wide
        }
    }
}

/// A formula and its arguments.
struct Elements<'a, F, T, const O: usize, const PAST_CACHES: bool> {
    x: [&'a [T]; O],
    y: &'a mut [T],
    formula: PhantomData<F>,
}

impl<F: Formula<T, O>, T: Trig, const O: usize, const PAST_CACHES: bool> WithVectors
    for Elements<'_, F, T, O, PAST_CACHES>
{
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self) {
        let by = &Functions::<T::In<I>>::new();
        let by = in_memory::<I, _>(by);
        let mut reach = Reach::Near;
        for (at, y) in self.y.chunks_mut(CHUNK).enumerate() {
            Self::chunk(by, part(self.x, at * CHUNK, y.len()), y, &mut reach);
        }
    }

    #[cold]
    fn run_portable(self) {
        for (at, y) in self.y.iter_mut().enumerate() {
            *y = F::standard(self.x.map(|x| x[at]));
        }
    }
}

/// A formula whose results replace its arguments.
struct InPlace<'a, F, T> {
    x: &'a mut [T],
    formula: PhantomData<F>,
}

impl<F: Formula<T, 1>, T: Trig> WithVectors for InPlace<'_, F, T> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self) {
        let by = &Functions::<T::In<I>>::new();
        let by = in_memory::<I, _>(by);
        for x in self.x.chunks_mut(CHUNK) {
            match Reach::of(largest::<T::In<I>>(x)) {
                Reach::Near => Self::vectors::<T::In<I>, true>(by, x),
                Reach::InRange => Self::vectors::<T::In<I>, false>(by, x),
                Reach::Wide => {
                    let mut arguments = [T::ZERO; CHUNK];
                    let arguments = &mut arguments[..x.len()];
                    arguments.copy_from_slice(x);
                    Elements::<F, T, 1, false>::one_by_one([arguments], x);
                }
            }
        }
    }

    #[cold]
    fn run_portable(self) {
        for x in self.x {
            *x = F::standard([*x]);
        }
    }
}

impl<F: Formula<T, 1>, T: Trig> InPlace<'_, F, T> {
    /// Computes arguments that are near zero or in range.
    #[inline(always)]
    fn vectors<V: Vector<Element = T>, const NEAR: bool>(by: &Functions<V>, x: &mut [T]) {
        let of = |x| if NEAR { F::near(by, [x]) } else { F::in_range(by, [x]) };
        let (body, tail) = x.split_at_mut(x.len() - x.len() % V::LANES);
        for x in body.chunks_exact_mut(V::LANES) {
            of(V::load(x)).store(x);
        }
        if !tail.is_empty() {
            let mut padded = [T::ZERO; LINE];
            padded[..tail.len()].copy_from_slice(tail);
            of(V::load(&padded)).store(&mut padded);
            tail.copy_from_slice(&padded[..tail.len()]);
        }
    }
}

impl<F: Formula<T, O>, T: Trig, const O: usize, const PAST_CACHES: bool> Elements<'_, F, T, O, PAST_CACHES> {
    /// Computes a chunk, first with the reduction of the previous one.
    #[inline(always)]
    fn chunk<V: Vector<Element = T>>(by: &Functions<V>, x: [&[T]; O], y: &mut [T], reach: &mut Reach) {
        let needed = Self::in_way(by, x, y, *reach);
        if needed != *reach {
            Self::in_way(by, x, y, needed);
            *reach = needed;
        }
    }

    /// Computes a chunk with this reduction, and returns the reduction that it needs.
    #[inline(always)]
    fn in_way<V: Vector<Element = T>>(by: &Functions<V>, x: [&[T]; O], y: &mut [T], reach: Reach) -> Reach {
        Reach::of(match reach {
            Reach::Near => Self::lines::<V, true>(by, x, y),
            Reach::InRange => Self::lines::<V, false>(by, x, y),
            Reach::Wide => {
                Self::one_by_one(x, y);
                let mut most = T::ZERO;
                for x in x {
                    most = largest::<V>(x).larger(most);
                }
                most
            }
        })
    }

    /// Computes a chunk of arguments of any size.
    #[inline(always)]
    fn one_by_one(x: [&[T]; O], y: &mut [T]) {
        let by = Functions::<T>::new();
        // Looked up in advance: most CPUs can only do one look-up after another.
        let mut turns = [[T::NO_TURNS; CHUNK]; O];
        for (turns, x) in turns.iter_mut().zip(x) {
            for (turns, x) in turns.iter_mut().zip(x) {
                *turns = x.turns();
            }
        }
        for (at, y) in y.iter_mut().enumerate() {
            *y = F::wide(&by, x.map(|x| x[at]), turns.each_ref().map(|turns| turns[at]));
        }
    }

    /// Computes a chunk of arguments that are near zero or in range, and returns the largest magnitude.
    #[inline(always)]
    fn lines<V: Vector<Element = T>, const NEAR: bool>(by: &Functions<V>, x: [&[T]; O], y: &mut [T]) -> T {
        let elements = LINE / size_of::<T>();
        let mut largest = V::splat(T::ZERO);
        let (body, tail) = y.split_at_mut(y.len() - y.len() % elements);
        for (at, y) in body.chunks_exact_mut(elements).enumerate() {
            let x = part(x, at * elements, elements);
            if PAST_CACHES {
                for x in x {
                    stream::prefetch(x);
                }
            }
            Self::line::<V, NEAR>(by, x, y, &mut largest);
        }
        if !tail.is_empty() {
            // A partial line, filled up with zeros.
            let mut padded = [[T::ZERO; LINE]; O];
            for (padded, x) in padded.iter_mut().zip(x) {
                padded[..tail.len()].copy_from_slice(&x[x.len() - tail.len()..]);
            }
            let mut line = [T::ZERO; LINE];
            let x = padded.each_ref().map(|padded| &padded[..elements]);
            Self::line::<V, NEAR>(by, x, &mut line[..elements], &mut largest);
            tail.copy_from_slice(&line[..tail.len()]);
        }
        largest_lane(largest)
    }

    /// Computes a line and updates the largest magnitudes. All its results are stored together: a line stored past the
    /// caches must not be stored in parts.
    #[inline(always)]
    fn line<V: Vector<Element = T>, const NEAR: bool>(
        by: &Functions<V>,
        of_line: [&[T]; O],
        y: &mut [T],
        largest: &mut V,
    ) {
        let mut results = [*largest; VECTORS];
        for (at, result) in results[..y.len() / V::LANES].iter_mut().enumerate() {
            let mut x = [*largest; O];
            for (x, of_line) in x.iter_mut().zip(of_line) {
                *x = V::load(&of_line[at * V::LANES..]);
                *largest = x.magnitude().larger(*largest);
            }
            *result = if NEAR { F::near(by, x) } else { F::in_range(by, x) };
        }
        for (result, y) in results.iter().zip(y.chunks_exact_mut(V::LANES)) {
            if PAST_CACHES { result.stream(y) } else { result.store(y) }
        }
    }
}

/// Hides constants from the compiler. It would broadcast each one that does not fit in a register from a single number
/// in every iteration, which competes with arithmetic.
#[inline(always)]
fn in_memory<I: Instructions, C>(constants: &C) -> &C {
    if I::FEW_REGISTERS { black_box(constants) } else { constants }
}

/// Returns `count` elements of each slice.
#[inline(always)]
fn part<T, const O: usize>(mut x: [&[T]; O], first: usize, count: usize) -> [&[T]; O] {
    for x in &mut x {
        *x = &x[first..first + count];
    }
    x
}

/// Returns the largest magnitude.
#[inline(always)]
fn largest<V: Vector<Element: Trig>>(x: &[V::Element]) -> V::Element {
    let vectors = x.chunks_exact(V::LANES);
    let mut of_rest = V::Element::ZERO;
    for x in vectors.remainder() {
        of_rest = x.magnitude().larger(of_rest);
    }
    let mut largest = V::splat(of_rest);
    for x in vectors {
        largest = V::load(x).magnitude().larger(largest);
    }
    largest_lane(largest)
}

#[inline(always)]
fn largest_lane<V: Vector<Element: Trig>>(vector: V) -> V::Element {
    let mut lanes = [V::Element::ZERO; LINE];
    vector.store(&mut lanes);
    let mut largest = V::Element::ZERO;
    for lane in &lanes[..V::LANES] {
        largest = lane.larger(largest);
    }
    largest
}
