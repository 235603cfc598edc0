//! Tables of comma-separated values, row by row with their lines. Semicolons and tabs also separate: whichever the first line has most
//! of. Blanks around a field, empty lines and a byte order mark are ignored. Between semicolons numbers may have a decimal comma, as spreadsheets
//! write them in many countries.

use super::{malformed, shorten};
use crate::{Error, Result};
use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

/// The longest text of a table, in bytes; a longer one is refused unread.
pub(super) const MAX_TABLE_SIZE: usize = 256 << 20;

/// A row and its line in the text, from 1.
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) fields: StringRecord,
}

/// All rows of a text, including the header; all have the same number of fields.
pub(super) fn rows<'a>(format: &'static str, text: &'a str) -> Result<impl Iterator<Item = Result<Row>> + 'a> {
    if text.len() > MAX_TABLE_SIZE {
        return malformed(format, 1, format!("{} bytes are more than {MAX_TABLE_SIZE}", text.len()));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = ReaderBuilder::new();
    let delimiter = delimiter(text);
    builder.has_headers(false).delimiter(delimiter).trim(Trim::All);
    let mut reader = builder.from_reader(text.as_bytes());
    let mut marks = DecimalMarks::default();
    Ok(std::iter::from_fn(move || {
        let mut fields = StringRecord::new();
        match reader.read_record(&mut fields) {
            Ok(false) => None,
            Ok(true) => {
                let line = line_of(text, fields.position());
                let fields = if delimiter == b';' { marks.with_points(format, line, fields) } else { Ok(fields) };
                Some(fields.map(|fields| Row { line, fields }))
            }
            Err(error) => Some(Err(refused(format, text, &error))),
        }
    }))
}

/// Which decimal marks a table between semicolons had so far.
#[derive(Default)]
struct DecimalMarks {
    point: bool,
    comma: bool,
}

impl DecimalMarks {
    /// The row with decimal points. With both marks 1,234 could be either number, so such a table is refused.
    fn with_points(&mut self, format: &'static str, line: usize, fields: StringRecord) -> Result<StringRecord> {
        let is_number = |field: &str| field.parse::<f64>().is_ok();
        let with_point = |field: &str| Some(field.replacen(',', ".", 1)).filter(|number| is_number(number));
        let has_comma = |field: &str| field.contains(',') && with_point(field).is_some();
        self.point |= fields.iter().any(|field| field.contains('.') && is_number(field));
        let comma = fields.iter().find(|field| has_comma(field));
        self.comma |= comma.is_some();
        if self.point && self.comma {
            return malformed(format, line, "some numbers have a decimal point and some a decimal comma");
        }
        let Some(_) = comma else { return Ok(fields) };
        let plain = |field: &str| if has_comma(field) { with_point(field) } else { None };
        Ok(fields.iter().map(|field| plain(field).unwrap_or_else(|| field.to_string())).collect())
    }
}

fn delimiter(text: &str) -> u8 {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let count = |delimiter: u8| first.bytes().filter(|&byte| byte == delimiter).count();
    // The first among equals, so a table with one column is comma-separated.
    [b';', b'\t'].into_iter().fold(b',', |best, other| if count(other) > count(best) { other } else { best })
}

/// The line of a row, from 1. The reader reports the position of the empty lines before the row, if there are any.
fn line_of(text: &str, position: Option<&csv::Position>) -> usize {
    let Some(position) = position else { return 1 };
    let [line, start] = [position.line(), position.byte()].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let empty = rest.iter().take_while(|&&byte| byte == b'\n' || byte == b'\r').filter(|&&byte| byte == b'\n').count();
    line.saturating_add(empty)
}

fn refused(format: &'static str, text: &str, error: &csv::Error) -> Error {
    let line = line_of(text, error.position());
    let reason = match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("this row has {len} fields, the first has {expected_len}")
        }
        _ => error.to_string(),
    };
    Error::Malformed { format, line, reason }
}

/// Whether a field says that there is no value: empty, NA, NaN, N/A, null, in upper or lower case.
pub(super) fn is_missing(field: &str) -> bool {
    ["", "na", "nan", "n/a", "null"].iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// Writes rows of fields as comma-separated values.
pub(super) fn write<I, R>(format: &'static str, rows: I) -> Result<String>
where
    I: IntoIterator<Item = R>,
    R: IntoIterator<Item = String>,
{
    let failed = |line: usize, reason: String| Error::Malformed { format, line, reason };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (index, row) in rows.into_iter().enumerate() {
        writer.write_record(row).map_err(|error| failed(index + 1, error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(1, error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(1, error.to_string()))
}

/// Refuses a word that a table would not give back unchanged.
pub(super) fn writable(format: &'static str, what: &str, word: &str) -> Result<String> {
    if word.is_empty() || word.trim() != word {
        return malformed(format, 1, format!("{what} {:?} cannot be a field of a table", shorten(word)));
    }
    Ok(word.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(usize, Vec<String>)>> {
        rows("table", text)?
            .map(|row| row.map(|Row { line, fields }| (line, fields.iter().map(str::to_string).collect())))
            .collect()
    }

    #[test]
    fn fields_are_found_whatever_separates_them() {
        for text in ["a,b\n1,2\n", "\u{feff}a;b\r\n1;2", "a\tb\n\n 1 \t 2\n", "a ,\"b\"\n\"1\",2\n"] {
            let rows = read(text).unwrap();
            assert_eq!(rows.iter().map(|row| row.1.join("|")).collect::<Vec<_>>(), ["a|b", "1|2"], "{text:?}");
        }
        assert_eq!(read("a\n\n\nb\n").unwrap()[1].0, 4);
        assert_eq!(read("x,\"two\nlines\"\nb,c\n").unwrap()[1].0, 3);
        let commas = read("a;b\n-1,5;nose, tip\n2;,25e1\n").unwrap();
        assert_eq!(commas.iter().map(|row| row.1.join("|")).collect::<Vec<_>>(), ["a|b", "-1.5|nose, tip", "2|.25e1"]);
        let both = read("a;b\n1,5;2\n1.5;2\n").unwrap_err();
        assert_eq!(both.to_string(), "table, line 3: some numbers have a decimal point and some a decimal comma");
        for (text, line) in [("a,b\n1,2\n1\n", 3), ("a,b\r\n\r\n\r\n1\r\n", 4)] {
            let uneven = read(text).unwrap_err();
            assert_eq!(uneven.to_string(), format!("table, line {line}: this row has 1 fields, the first has 2"));
        }
    }
}
