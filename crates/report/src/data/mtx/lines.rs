//! Reads the lines of a file in the Matrix Market format, whose messages name file and line.

use std::io::BufRead;

use gpubench_text::control::single_line;
use gpubench_text::limited;

/// Most bytes of text.
pub(super) const MAX_BYTES: u64 = 1 << 34;

/// The lines of a file, with their numbers.
pub(super) struct NumberedLines<'a, R> {
    name: &'a str,
    text: R,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
}

impl<'a, R: BufRead> NumberedLines<'a, R> {
    pub(super) fn of(name: &'a str, text: R) -> Self {
        NumberedLines { name, text, line: vec![], number: 0, bytes: 0 }
    }

    /// Returns the first line.
    pub(super) fn first(&mut self) -> Result<String, String> {
        self.read()?;
        self.number = 1;
        Ok(self.text())
    }

    /// Refuses the line.
    pub(super) fn fail<T>(&self, message: impl AsRef<str>) -> Result<T, String> {
        Err(format!("{}:{}: {}", self.name, self.number, single_line(message.as_ref())))
    }

    /// Reads the next line; false at the end of the file.
    fn read(&mut self) -> Result<bool, String> {
        let read = limited::line(&mut self.text, &mut self.line, limited::BY_HAND);
        read.map_err(|error| format!("{}: {}", self.name, single_line(&error.to_string())))?;
        self.bytes += self.line.len() as u64;
        if self.bytes > MAX_BYTES {
            return Err(format!("{}: more than {} GiB of text", self.name, MAX_BYTES >> 30));
        }
        self.number += u64::from(!self.line.is_empty());
        Ok(!self.line.is_empty())
    }

    /// Returns the text of the line.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.line).trim().to_owned()
    }

    /// Moves to the next line that is neither blank nor a comment; false at the end of the file.
    pub(super) fn next(&mut self) -> Result<bool, String> {
        while self.read()? {
            let start = self.line.trim_ascii_start();
            if !start.is_empty() && start[0] != b'%' {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves to the next line that is neither blank nor a comment.
    pub(super) fn expect(&mut self, what: impl Fn() -> String) -> Result<(), String> {
        if self.next()? { Ok(()) } else { self.fail(format!("the file ends before {}", what())) }
    }

    /// Returns the numbers of the line.
    pub(super) fn numbers<const K: usize>(&self) -> Result<[f64; K], String> {
        let mut numbers = [0.0; K];
        let mut words = self.line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        for number in &mut numbers {
            let word = words.next().and_then(|word| std::str::from_utf8(word).ok());
            let Some(parsed) = word.and_then(|word| word.parse().ok()) else { return self.no_numbers(K) };
            *number = parsed;
        }
        if words.next().is_some() { self.no_numbers(K) } else { Ok(numbers) }
    }

    /// Says why the line has not `expected` numbers.
    fn no_numbers<T>(&self, expected: usize) -> Result<T, String> {
        let text = self.text();
        let count = text.split_ascii_whitespace().count();
        if count != expected {
            return self.fail(format!("{count} numbers instead of {expected}"));
        }
        self.fail(format!("'{}' is no list of numbers", text.chars().take(60).collect::<String>()))
    }
}
