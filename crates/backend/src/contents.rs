//! Describes the memory of a job that is checked: operands, which no execution may change, and the answer, which every
//! execution must write completely. Also fingerprints, spoils and replaces memory on the host.

use std::marker::PhantomData;

use gpubench_report::data::{Plain, bytes_mut, fingerprint};
use gpubench_report::error::CellError;

/// Byte that fills a spoiled answer: NaN in floating point, -1 in integers.
pub const SPOILED: u8 = 0xFF;

/// A range of a job's memory.
#[derive(Debug)]
pub enum Memory<'a> {
    /// On the host.
    Host(&'a mut [u8]),
    /// On a device.
    Device(Span, PhantomData<&'a mut ()>),
}

/// A range of a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The device's address.
    pub address: u64,
    /// Length.
    pub bytes: usize,
}

/// The memory that a job shows. A job that shows no answer has it downloaded and judged instead.
#[derive(Debug, Default)]
pub struct Contents<'a> {
    /// Elements of operands as executions read them, or as a reset copies them, each with the operand's number. Those
    /// of a sparse operand are its values.
    pub operands: Vec<(usize, Memory<'a>)>,
    /// Further memory that no execution may change: the structure of sparse operands, converted operands.
    pub fixed: Vec<Memory<'a>>,
    /// Memory that every execution writes completely.
    pub answer: Vec<Memory<'a>>,
    /// True if a reset fills the answer's memory with an operand, so that it cannot be spoiled after the reset.
    pub in_place: bool,
}

impl<'a> Contents<'a> {
    /// Operands numbered from 0, and the answer.
    pub fn new<const O: usize, const A: usize>(operands: [Memory<'a>; O], answer: [Memory<'a>; A]) -> Self {
        let operands = operands.into_iter().enumerate().collect();
        Contents { operands, answer: answer.into(), ..Contents::default() }
    }

    /// Returns whether the answer's memory can show what an execution writes; not if it is empty.
    pub fn shows_answer(&self) -> bool {
        self.answer.iter().any(|memory| match memory {
            Memory::Host(bytes) => !bytes.is_empty(),
            Memory::Device(span, _) => span.bytes > 0,
        })
    }

    /// Adds memory that no execution may change.
    pub fn with_fixed<const F: usize>(self, fixed: [Memory<'a>; F]) -> Self {
        Contents { fixed: fixed.into(), ..self }
    }
}

/// Returns the memory of numbers on the host.
pub fn host<T: Plain>(numbers: &mut [T]) -> Memory<'_> {
    Memory::Host(bytes_mut(numbers))
}

/// Fingerprints of a job's contents, comparable only with others of the same job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprints {
    /// Fingerprint of all memory that no execution may change.
    pub operands: u64,
    /// Fingerprint of the answer; `None` where the job shows none.
    pub answer: Option<u64>,
}

/// Joins the fingerprints of several ranges, in order.
pub fn join(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, fingerprint::join)
}

/// Returns the fingerprints of contents on the host.
///
/// # Errors
/// Some are on a device.
pub fn fingerprints(contents: &Contents<'_>) -> Result<Fingerprints, CellError> {
    let of = |memory: &Memory<'_>| match memory {
        Memory::Host(bytes) => Ok(fingerprint::of_bytes(bytes)),
        Memory::Device(..) => Err(elsewhere()),
    };
    let unchanged = contents.operands.iter().map(|(_, memory)| memory).chain(&contents.fixed);
    let operands = unchanged.map(of).collect::<Result<Vec<_>, _>>()?;
    let answer = contents.answer.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    Ok(Fingerprints { operands: join(operands), answer: (!answer.is_empty()).then(|| join(answer)) })
}

/// Overwrites the answer, on the host, with [`SPOILED`] bytes, unless a reset has filled it with an operand.
///
/// # Errors
/// It is on a device.
pub fn spoil(contents: &mut Contents<'_>) -> Result<(), CellError> {
    change_answer(contents, |bytes| bytes.fill(SPOILED))
}

/// Changes the memory of the answer, on the host, unless a reset has filled it with an operand.
fn change_answer(contents: &mut Contents<'_>, change: impl Fn(&mut [u8])) -> Result<(), CellError> {
    let is_shown = !contents.in_place;
    contents.answer.iter_mut().filter(|_| is_shown).try_for_each(|memory| on_host(memory).map(&change))
}

/// Minimum and maximum number of marks in one range of memory, as far as it has words.
const MARKS: [usize; 2] = [256, 1024];
/// Words per mark between these limits: one page of memory.
const WORDS_PER_MARK: usize = 512;

/// Overwrites some 64-bit words of the answer, on the host, with [`SPOILED`] bytes, unless a reset has filled it with
/// an operand. The words are evenly spaced; `turn` moves them, so that each call marks others. Takes microseconds where
/// [`spoil`] takes as long as writing the answer.
///
/// # Errors
/// It is on a device.
pub fn mark(contents: &mut Contents<'_>, turn: usize) -> Result<(), CellError> {
    change_answer(contents, |bytes| {
        let (words, rest) = bytes.as_chunks_mut::<8>();
        let marks = (words.len() / WORDS_PER_MARK).clamp(MARKS[0], MARKS[1]);
        let step = words.len().div_ceil(marks).max(1);
        words.iter_mut().skip(turn % step).step_by(step).for_each(|word| word.fill(SPOILED));
        rest.fill(SPOILED);
    })
}

/// Writes `new` at byte `offset` of operand number `operand`, on the host, and returns the old bytes; `None` where the
/// job does not show the operand.
///
/// # Errors
/// The operand is on a device, or ends before.
pub fn replace(
    contents: &mut Contents<'_>,
    (operand, offset): (usize, usize),
    new: &[u8],
) -> Result<Option<Vec<u8>>, CellError> {
    let Some((_, memory)) = contents.operands.iter_mut().find(|(number, _)| *number == operand) else {
        return Ok(None);
    };
    let place =
        on_host(memory)?.get_mut(offset..offset + new.len()).ok_or_else(|| beyond(operand, offset))?;
    let old = place.to_vec();
    place.copy_from_slice(new);
    Ok(Some(old))
}

/// Returns the error of an offset past the end of an operand.
pub fn beyond(operand: usize, offset: usize) -> CellError {
    CellError::Failed(format!("operand {operand} has no byte {offset}; please report this bug"))
}

fn on_host<'b>(memory: &'b mut Memory<'_>) -> Result<&'b mut [u8], CellError> {
    match memory {
        Memory::Host(bytes) => Ok(bytes),
        Memory::Device(..) => Err(elsewhere()),
    }
}

fn elsewhere() -> CellError {
    CellError::Failed("a backend without a device was given device memory; please report this bug".into())
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;

    #[test]
    fn one_changed_byte_changes_the_fingerprint_of_its_part_alone() {
        let (mut a, mut fixed, mut y) = ([1.0f32, 2.0, 3.0], [0i32, 1], [Complex::new(1.0f64, 0.0)]);
        let mut seen = |change: fn(&mut [f32; 3], &mut [i32; 2], &mut [Complex<f64>; 1])| {
            change(&mut a, &mut fixed, &mut y);
            let contents = Contents::new([host(&mut a)], [host(&mut y)]).with_fixed([host(&mut fixed)]);
            fingerprints(&contents).unwrap()
        };
        let before = seen(|_, _, _| {});
        let operand = seen(|a, _, _| a[2] = 3.5);
        assert!(operand.operands != before.operands && operand.answer == before.answer);
        let structure = seen(|_, fixed, _| fixed[0] = 1);
        assert_ne!(structure.operands, operand.operands);
        let answer = seen(|_, _, y| y[0].im = -0.0);
        assert!(answer.operands == structure.operands && answer.answer != before.answer);
    }

    #[test]
    fn a_spoiled_answer_is_not_a_number_and_an_operand_in_its_place_is_kept() {
        let (mut y, mut x) = ([1.0f32; 5], [1.0f64; 2]);
        spoil(&mut Contents::new([], [host(&mut y)])).unwrap();
        spoil(&mut Contents { in_place: true, ..Contents::new([], [host(&mut x)]) }).unwrap();
        assert!(y.iter().all(|y| y.is_nan()) && x == [1.0; 2]);
    }

    #[test]
    fn a_replaced_element_can_be_put_back() {
        let mut a = [1.0f32, 2.0, 3.0];
        let new = 9.0f32.to_ne_bytes();
        let old = replace(&mut Contents::new([host(&mut a)], []), (0, 4), &new).unwrap().unwrap();
        assert_eq!((old, a), (2.0f32.to_ne_bytes().to_vec(), [1.0, 9.0, 3.0]));
        assert!(replace(&mut Contents::new([host(&mut a)], []), (1, 0), &new).unwrap().is_none());
        assert!(replace(&mut Contents::new([host(&mut a)], []), (0, 12), &new).is_err());
    }

    #[test]
    fn marks_are_few_and_reach_every_word_in_turn() {
        let mut y = vec![0u64; 600_000];
        let marked = |y: &[u64]| y.iter().filter(|word| **word == u64::MAX).count();
        mark(&mut Contents::new([], [host(&mut y)]), 0).unwrap();
        assert!((900..=1024).contains(&marked(&y)), "{}", marked(&y));
        for turn in 1..700 {
            mark(&mut Contents::new([], [host(&mut y)]), turn).unwrap();
        }
        assert_eq!(marked(&y), y.len());
        let mut small = [1.0f32, 2.0, 3.0];
        mark(&mut Contents { in_place: true, ..Contents::new([], [host(&mut small)]) }, 0).unwrap();
        assert_eq!(small, [1.0, 2.0, 3.0], "a reset has put an operand there");
        mark(&mut Contents::new([], [host(&mut small)]), 0).unwrap();
        assert!(small.iter().all(|value| value.is_nan()));
        mark(&mut Contents::new([], [host::<f32>(&mut [])]), 3).unwrap();
    }
}
