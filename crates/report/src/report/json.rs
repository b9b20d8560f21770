//! Formats JSON with indented objects and arrays on one line.

use std::io::{self, Write};

use serde_json::ser::{Formatter, PrettyFormatter};

/// Indents the members of objects by two spaces a level; arrays add no level, so samples take one line.
#[derive(Default)]
pub(crate) struct ReportFormatter(PrettyFormatter<'static>);

impl Formatter for ReportFormatter {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    #[test]
    fn objects_are_indented_and_arrays_stay_on_one_line() {
        let value = serde_json::json!({"a": [1, 2.5], "b": {}, "c": [{"d": 1}, {}]});
        let mut bytes = Vec::new();
        let formatter = super::ReportFormatter::default();
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter)).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, "{\n  \"a\": [1, 2.5],\n  \"b\": {},\n  \"c\": [{\n    \"d\": 1\n  }, {}]\n}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
