//! numpy's `.npy` files, if they hold a matrix of numbers: floats of 2, 4 or 8 bytes, whole numbers of 1 to 8, or
//! truth values; of either byte order, in C or Fortran order.
//!
//! ```text
//! \x93NUMPY  major minor  length of header  {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }  the numbers
//! ```
//!
//! Everything becomes f64. Whole numbers beyond 2^53, which f64 cannot hold, are refused; NaN and infinities are read, and the
//! caller has to say what they mean. Objects (pickles), which would be code, are not read.

use super::shorten;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2, ShapeBuilder};

const MAGIC: &[u8] = b"\x93NUMPY";
/// numpy itself refuses longer headers.
const MAX_HEADER: usize = 10_000;
/// f64 holds every whole number up to this one.
const EXACT: u64 = 1 << 53;

/// Reads a matrix.
///
/// # Errors
/// Anything that is not a matrix of numbers in numpy's format: [`Error::Unreadable`] with the reason.
pub fn read(bytes: &[u8]) -> Result<Array2<f64>> {
    parse(bytes).map_err(|reason| Error::Unreadable { format: ".npy", reason })
}

type Parsed<T> = std::result::Result<T, String>;

fn parse(bytes: &[u8]) -> Parsed<Array2<f64>> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it does not begin as a file of numpy")?;
    let (&[major, _minor], rest) = rest.split_first_chunk().ok_or(SHORT)?;
    let (length, rest) = match major {
        1 => rest.split_first_chunk().map(|(&length, rest)| (usize::from(u16::from_le_bytes(length)), rest)),
        2 | 3 => rest.split_first_chunk().map(|(&length, rest)| (u32::from_le_bytes(length) as usize, rest)),
        _ => return Err(format!("version {major} of the format is not known")),
    }
    .ok_or(SHORT)?;
    if length > MAX_HEADER {
        return Err(format!("a header of {length} bytes is longer than {MAX_HEADER}"));
    }
    let (header, data) = rest.split_at_checked(length).ok_or(SHORT)?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is not text")?;
    let Header { kind, fortran, rows, columns } = Header::parse(header)?;
    super::check_cells(rows, columns).map_err(|error| error.to_string())?;
    let size = rows * columns * kind.width;
    if data.len() != size {
        return Err(format!("{rows} by {columns} numbers are {size} bytes, there are {}", data.len()));
    }
    let values = data.chunks_exact(kind.width).map(|chunk| kind.number(chunk)).collect::<Parsed<Vec<f64>>>()?;
    let shape = (rows, columns).set_f(fortran);
    let matrix = Array2::from_shape_vec(shape, values).map_err(|error| error.to_string())?;
    Ok(matrix.as_standard_layout().into_owned())
}

const SHORT: &str = "the file ends within its header";

/// How a number is stored.
#[derive(Clone, Copy)]
struct Kind {
    width: usize,
    sort: Sort,
    big_endian: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Float,
    Signed,
    Unsigned,
    Truth,
}

impl Kind {
    fn parse(word: &str) -> Parsed<Self> {
        let (sort, width) = match word.get(1..) {
            Some("f8") => (Sort::Float, 8),
            Some("f4") => (Sort::Float, 4),
            Some("f2") => (Sort::Float, 2),
            Some("i8") => (Sort::Signed, 8),
            Some("i4") => (Sort::Signed, 4),
            Some("i2") => (Sort::Signed, 2),
            Some("i1") => (Sort::Signed, 1),
            Some("u8") => (Sort::Unsigned, 8),
            Some("u4") => (Sort::Unsigned, 4),
            Some("u2") => (Sort::Unsigned, 2),
            Some("u1") => (Sort::Unsigned, 1),
            Some("b1") => (Sort::Truth, 1),
            _ => return Err(format!("numbers of type '{}' are not read; save them as float64", shorten(word))),
        };
        match word.as_bytes()[0] {
            b'<' => Ok(Self { width, sort, big_endian: false }),
            b'>' => Ok(Self { width, sort, big_endian: true }),
            // A single byte has no order.
            b'|' if width == 1 => Ok(Self { width, sort, big_endian: false }),
            _ => Err(format!("the byte order of '{}' is not known", shorten(word))),
        }
    }

    fn number(self, chunk: &[u8]) -> Parsed<f64> {
        let mut bytes = [0; 8];
        // Little-endian, with the number in the first `width` bytes.
        for (place, index) in (0..self.width).enumerate() {
            bytes[place] = chunk[if self.big_endian { self.width - 1 - index } else { index }];
        }
        let unsigned = u64::from_le_bytes(bytes);
        // The sign is in the highest bit of the given bytes, moved to that of eight and back.
        let unused = 64 - 8 * self.width;
        let signed = (unsigned << unused).cast_signed() >> unused;
        let [a, b, c, d, ..] = bytes;
        match (self.sort, self.width) {
            (Sort::Float, 8) => Ok(f64::from_le_bytes(bytes)),
            (Sort::Float, 4) => Ok(f64::from(f32::from_le_bytes([a, b, c, d]))),
            (Sort::Float, _) => Ok(half(u16::from_le_bytes([a, b]))),
            (Sort::Truth, _) if unsigned > 1 => Err(format!("the truth value {unsigned} is neither 0 nor 1")),
            (Sort::Signed, _) if signed.unsigned_abs() > EXACT => Err(inexact(signed)),
            (Sort::Signed, _) => Ok(signed as f64),
            (Sort::Unsigned | Sort::Truth, _) if unsigned > EXACT => Err(inexact(unsigned)),
            (Sort::Unsigned | Sort::Truth, _) => Ok(unsigned as f64),
        }
    }
}

fn inexact(whole: impl std::fmt::Display) -> String {
    format!("the whole number {whole} is not exact as a float64")
}

/// A float of two bytes: sign, five bits of exponent, ten of fraction (IEEE 754).
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2.0_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

struct Header {
    kind: Kind,
    fortran: bool,
    rows: usize,
    columns: usize,
}

impl Header {
    /// A dictionary as Python writes it, with the three keys in any order.
    fn parse(text: &str) -> Parsed<Self> {
        let inner = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let mut rest = inner.ok_or("the header is not a dictionary")?.trim();
        let (mut kind, mut fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest).ok_or("a key of the header is not a word in quotes")?;
            let after = after.trim_start().strip_prefix(':').ok_or("a key of the header has no value")?.trim_start();
            rest = match key {
                "descr" => {
                    let (word, after) = quoted(after).ok_or("the numbers have no simple type")?;
                    kind = Some(Kind::parse(word)?);
                    after
                }
                "fortran_order" => {
                    let words = [("True", true), ("False", false)];
                    let found = words.iter().find_map(|&(word, value)| Some((value, after.strip_prefix(word)?)));
                    let (value, after) = found.ok_or("fortran_order is neither True nor False")?;
                    fortran = Some(value);
                    after
                }
                "shape" => {
                    let (inner, after) =
                        after.strip_prefix('(').and_then(|text| text.split_once(')')).ok_or("the shape is no tuple")?;
                    shape = Some(sizes(inner)?);
                    after
                }
                _ => return Err(format!("the header has an unknown key '{}'", shorten(key))),
            };
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        let (Some(kind), Some(fortran), Some((rows, columns))) = (kind, fortran, shape) else {
            return Err("the header lacks descr, fortran_order or shape".into());
        };
        Ok(Self { kind, fortran, rows, columns })
    }
}

/// A word in quotes and what comes after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
    text[1..].split_once(quote)
}

fn sizes(inner: &str) -> Parsed<(usize, usize)> {
    let words: Vec<&str> = inner.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let &[rows, columns] = words.as_slice() else {
        return Err(format!("an array of {} dimensions is not a matrix", words.len()));
    };
    let size = |word: &str| word.parse().map_err(|_| format!("the size \"{}\" is not a whole number", shorten(word)));
    Ok((size(rows)?, size(columns)?))
}

/// Writes a matrix: little-endian float64 in C order, version 1.0 of the format.
#[must_use]
pub fn write(matrix: ArrayView2<'_, f64>) -> Vec<u8> {
    let (rows, columns) = matrix.dim();
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // The numbers start at a multiple of 64, preceded by a line feed.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    // A header with two numbers of at most 20 digits has fewer than 128 bytes.
    bytes.extend(u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(matrix.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}
