//! MOTChallenge text: one detection per line, `frame, id, left, top, width, height, confidence, …`, without a header. An id of -1 says that no one knows
//! who it is. In a file of truths (ids are given) a confidence of 0 says that the line does not count.

use super::{Frame, Tracks};
use crate::Result;
use crate::data::dataset::MAX_NODES;
use crate::data::table::{self, Row};
use crate::data::{malformed, number, shorten};
use ndarray::Array2;
use std::collections::BTreeMap;

const FORMAT: &str = "MOTChallenge text";
/// Frame, id and box.
const FEWEST_FIELDS: usize = 6;

/// Whether a text looks like one: its first line has six numbers or more.
#[must_use]
pub(crate) fn is_one(text: &str) -> bool {
    let first = table::rows(FORMAT, text).ok().and_then(|mut rows| rows.next()).and_then(Result::ok);
    first.is_some_and(|row| {
        row.fields.len() >= FEWEST_FIELDS && row.fields.iter().all(|word| word.parse::<f64>().is_ok())
    })
}

/// Reads detections or truths.
///
/// # Errors
/// [`Error::Malformed`](crate::Error::Malformed) with the line: too few fields, a number that is none, a box without a positive width and height.
///
/// ```
/// use homolog::data::tracks::read_mot;
/// let tracks = read_mot("1,-1,340.8,79.5,87.7,244.3,0.99,-1,-1,-1\n")?;
/// assert_eq!((tracks.frames()[0].number, tracks.frames()[0].boxes[[0, 3]]), (1, 244.3));
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read_mot(text: &str) -> Result<Tracks> {
    let mut frames: BTreeMap<i64, (Vec<f64>, Vec<Option<i64>>)> = BTreeMap::new();
    for row in table::rows(FORMAT, text)? {
        let Row { line, fields } = row?;
        if fields.len() < FEWEST_FIELDS {
            return malformed(
                FORMAT,
                line,
                format!("expected frame, id, left, top, width, height, found {} fields", fields.len()),
            );
        }
        let [frame, id] = [whole(FORMAT, line, &fields[0])?, whole(FORMAT, line, &fields[1])?];
        let id = (id >= 0).then_some(id);
        let is_left_out = id.is_some() && fields.get(6).is_some_and(|word| word.parse::<f64>() == Ok(0.0));
        let (boxes, ids) = frames.entry(frame).or_default();
        if is_left_out {
            continue;
        }
        for at in 2..FEWEST_FIELDS {
            let value = number(FORMAT, line, &fields[at])?;
            if at > 3 && value <= 0.0 {
                return malformed(FORMAT, line, format!("a box needs a positive width and height, found {value}"));
            }
            boxes.push(value);
        }
        ids.push(id);
        if ids.len() > MAX_NODES {
            return malformed(FORMAT, line, format!("frame {frame} has more than {MAX_NODES} detections"));
        }
    }
    let frame = |(number, (boxes, ids)): (i64, (Vec<f64>, Vec<Option<i64>>))| {
        let boxes = Array2::from_shape_fn((ids.len(), 4), |(row, column)| boxes[4 * row + column]);
        Frame { number, boxes, ids }
    };
    Tracks::new(frames.into_iter().map(frame).collect())
}

/// A whole number, which some write as `12.0`.
pub(super) fn whole(format: &'static str, line: usize, word: &str) -> Result<i64> {
    let of_float = |value: f64| (value.fract() == 0.0 && value.abs() < 1e15).then_some(value);
    match word.parse::<i64>() {
        Ok(value) => Ok(value),
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 1e15")]
        Err(_) => match word.parse::<f64>().ok().and_then(of_float) {
            Some(value) => Ok(value as i64),
            None => malformed(format, line, format!("\"{}\" is not a whole number", shorten(word))),
        },
    }
}
