//! Replies of a worker, and the file of an answer.

use gpubench::backend::protocol::{Array, Reply};
use gpubench::executor::judge::answer_file;
use gpubench::worker::output::replies;

use super::{Formats, check_refusal};

/// Most bytes that an answer may have here.
const MOST_BYTES: u128 = 1 << 20;

/// Reads a stream of replies. The file of each answer is the bytes after it.
pub fn read(bytes: &[u8], _: Formats) {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    for reply in replies(bytes).map(|received| received.reply) {
        let _ = lines.next();
        match reply {
            Ok(Reply::Answered(answered)) => {
                let rest: Vec<u8> = lines.clone().flatten().copied().collect();
                read_answer(&rest, &answered.arrays);
            }
            Ok(_) => {}
            Err(reason) => check_refusal(&reason),
        }
    }
}

/// Reads an answer from files that begin with `bytes`: from one of exactly that length, and from one of the length that its
/// arrays have.
fn read_answer(bytes: &[u8], arrays: &[Array]) {
    let of_array = |array: &Array| {
        array.shape.iter().try_fold(array.dtype.bytes(), |bytes, length| bytes.checked_mul(*length))
    };
    let whole = arrays.iter().map(of_array).try_fold(0, |sum: u64, bytes| sum.checked_add(bytes?));
    let lengths = [Some(bytes.len() as u64), whole];
    for length in lengths.into_iter().flatten() {
        let padded = std::io::Read::chain(bytes, std::io::repeat(0));
        let mut file = std::io::Read::take(padded, length);
        match answer_file::parse(&mut file, length, arrays, 3, MOST_BYTES) {
            Ok(operands) => assert!(operands.iter().all(|operand| operand.bytes() <= length)),
            Err(reason) => check_refusal(&reason),
        }
    }
}
