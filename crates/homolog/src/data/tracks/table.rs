//! A table of tracks: one detection per row, as TrackMate, laptrack and py-motmetrics write them.
//!
//! Columns, in capitals or not: `frame` (or frameid), `track_id` (or trackid, id; empty or negative: no object), and either boxes as `x, y, width,
//! height` (or w, h) with x, y the corner, or centres as `x, y` (or position_x, position_y) with a `radius`, if there is one. Others are ignored.
//! Rows of words below the header, TrackMate's names and units, are left out. If nothing says how large detections are, all are as large as the
//! median distance of a detection to the nearest other one of its frame.

use super::mot::whole;
use super::{Frame, Tracks};
use crate::data::dataset::MAX_NODES;
use crate::data::table::{self, Row, is_missing};
use crate::data::{malformed, number};
use crate::{Error, Result};
use csv::StringRecord;
use ndarray::Array2;
use std::collections::BTreeMap;

const FORMAT: &str = "table of tracks";
/// Detections whose nearest neighbour is looked for, if nothing says how large they are.
const MOST_LOOKED_AT: usize = 2000;

/// Boxes and identities of a frame.
type Detections = (Vec<[f64; 4]>, Vec<Option<i64>>);

/// Where the columns are.
struct Columns {
    frame: usize,
    id: usize,
    place: [usize; 2],
    size: Option<[usize; 2]>,
    radius: Option<usize>,
}

impl Columns {
    /// The name of a column that is missing, if one is.
    fn of(header: &StringRecord) -> std::result::Result<Self, &'static str> {
        let find = |names: &[&'static str]| {
            names.iter().find_map(|name| header.iter().position(|word| word.eq_ignore_ascii_case(name)))
        };
        let needed = |names: &[&'static str]| find(names).ok_or(names[0]);
        Ok(Self {
            frame: needed(&["frame", "frameid"])?,
            id: needed(&["track_id", "trackid", "id"])?,
            place: [needed(&["x", "position_x"])?, needed(&["y", "position_y"])?],
            size: find(&["width", "w"]).zip(find(&["height", "h"])).map(|(width, height)| [width, height]),
            radius: find(&["radius"]),
        })
    }
}

/// Whether a text looks like one: its header has a frame, an identity and a place, and no landmark. An `id` may also be a landmark's name,
/// unless detections have a size.
#[must_use]
pub(crate) fn is_one(text: &str) -> bool {
    let first = table::rows(FORMAT, text).ok().and_then(|mut rows| rows.next()).and_then(Result::ok);
    let Some(Row { fields, .. }) = first else { return false };
    let has = |name: &str| fields.iter().any(|word| word.eq_ignore_ascii_case(name));
    let is_clear =
        |columns: &Columns| columns.size.is_some() || columns.radius.is_some() || has("track_id") || has("trackid");
    Columns::of(&fields).is_ok_and(|columns| is_clear(&columns)) && !has("landmark")
}

/// Reads a table of tracks. `size` is the width and height of detections of which only the centre is known.
///
/// # Errors
/// [`Error::Malformed`] with the line: a column that is missing, a number that is none, a box without a positive width and height; nothing that
/// says how large detections are.
///
/// ```
/// use homolog::data::tracks::read_table;
/// let tracks = read_table("frame,track_id,x,y,radius\n0,5,10,20,2\n0,,30,20,2\n1,5,11,20,2\n", None)?;
/// assert_eq!(tracks.frames()[0].ids, [Some(5), None]);
/// assert_eq!(tracks.frames()[0].boxes.row(0).to_vec(), [8.0, 18.0, 4.0, 4.0]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read_table(text: &str, size: Option<f64>) -> Result<Tracks> {
    size.map_or(Ok(()), |size| Error::unless_positive("size", size))?;
    let mut rows = table::rows(FORMAT, text)?;
    let Some(header) = rows.next().transpose()? else { return malformed(FORMAT, 1, "it is empty") };
    let columns = match Columns::of(&header.fields) {
        Ok(columns) => columns,
        Err(missing) => return malformed(FORMAT, header.line, format!("there is no column \"{missing}\"")),
    };
    let mut frames: BTreeMap<i64, Detections> = BTreeMap::new();
    for row in rows {
        let Row { line, fields } = row?;
        if frames.is_empty() && fields[columns.frame].parse::<f64>().is_err() {
            continue;
        }
        let number = |at: usize| number(FORMAT, line, &fields[at]);
        let frame = whole(FORMAT, line, &fields[columns.frame])?;
        let id = Some(&fields[columns.id]).filter(|word| !is_missing(word));
        let id = id.map(|word| whole(FORMAT, line, word)).transpose()?.filter(|&id| id >= 0);
        let [x, y] = [number(columns.place[0])?, number(columns.place[1])?];
        let found = match (columns.size, columns.radius) {
            (Some([width, height]), _) => [x, y, number(width)?, number(height)?],
            (None, Some(radius)) => centred([x, y], 2.0 * number(radius)?),
            // Until their size is known.
            (None, None) => [x, y, 1.0, 1.0],
        };
        if let Some(side) = found[2..].iter().find(|side| **side <= 0.0) {
            return malformed(FORMAT, line, format!("a box needs a positive width and height, found {side}"));
        }
        let (boxes, ids) = frames.entry(frame).or_default();
        boxes.push(found);
        ids.push(id);
        if ids.len() > MAX_NODES {
            return malformed(FORMAT, line, format!("frame {frame} has more than {MAX_NODES} detections"));
        }
    }
    if frames.is_empty() {
        return malformed(FORMAT, header.line, "there are no detections");
    }
    if columns.size.is_none() && columns.radius.is_none() {
        let Some(side) = size.or_else(|| usual_distance(&frames)) else {
            return malformed(FORMAT, header.line, "nothing says how large detections are: add a column radius");
        };
        let all = frames.values_mut().flat_map(|(boxes, _)| boxes);
        all.for_each(|own| *own = centred([own[0], own[1]], side));
    }
    let frame = |(number, (boxes, ids)): (i64, Detections)| Frame {
        number,
        boxes: Array2::from_shape_fn((ids.len(), 4), |(row, column)| boxes[row][column]),
        ids,
    };
    Tracks::new(frames.into_iter().map(frame).collect())
}

/// The square around a centre.
fn centred([x, y]: [f64; 2], side: f64) -> [f64; 4] {
    [x - side / 2.0, y - side / 2.0, side, side]
}

/// The median distance to the nearest other detection of the same frame; `None` if no frame has two, or all coincide. Of many detections, some
/// thousands are looked at.
fn usual_distance(frames: &BTreeMap<i64, Detections>) -> Option<f64> {
    let all: Vec<(&[[f64; 4]], usize)> =
        frames.values().flat_map(|(boxes, _)| (0..boxes.len()).map(move |at| (boxes.as_slice(), at))).collect();
    let mut nearest = Vec::new();
    for &(boxes, at) in
        all.iter().step_by(all.len().div_ceil(MOST_LOOKED_AT).max(1)).filter(|(boxes, _)| boxes.len() > 1)
    {
        let others = boxes.iter().enumerate().filter(|(other, _)| *other != at);
        let apart = others.map(|(_, other)| (boxes[at][0] - other[0]).hypot(boxes[at][1] - other[1]));
        nearest.push(apart.fold(f64::INFINITY, f64::min));
    }
    nearest.sort_by(f64::total_cmp);
    let middle = nearest.len() / 2;
    let upper = *nearest.get(middle)?;
    let usual = if nearest.len() % 2 == 0 { f64::midpoint(nearest[middle - 1], upper) } else { upper };
    (usual > 0.0).then_some(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_other_programs_are_read() {
        let trackmate = "LABEL,TRACK_ID,FRAME,POSITION_X,POSITION_Y,RADIUS\nLabel,Track ID,Frame,X,Y,Radius\nLabel,Track ID,Frame,X,Y,R\n,,,(micron),(micron),(micron)\nID1,0,0,1,1,2\nID2,,0,5,5,2\nID3,0,1,1.5,1,2\n";
        let motion = "FrameId,Id,X,Y,Width,Height,Confidence\n1,3,5,5,2,4,1\n2,3,6,5,2,4,1\n";
        let plain = "frame,track_id,x,y\n1,7,0,0\n1,8,9,0\n2,8,8,0\n2,7,1,0\n";
        assert!([trackmate, motion, plain].iter().all(|text| is_one(text)));
        let others = ["frame,landmark,x,y\n1,nose,0,0\n", "frame,x,y\n1,0,0\n", "frame,id,x,y\n1,7,0,0\n"];
        assert!(!others.iter().any(|text| is_one(text)));
        let tracks = read_table(trackmate, None).unwrap();
        assert_eq!(tracks.frames()[0].ids, [Some(0), None]);
        assert_eq!(tracks.frames()[0].boxes.row(0).to_vec(), [-1.0, -1.0, 4.0, 4.0]);
        assert_eq!(read_table(motion, None).unwrap().frames()[0].boxes.row(0).to_vec(), [5.0, 5.0, 2.0, 4.0]);
        let tracks = read_table(plain, None).unwrap();
        assert_eq!(tracks.frames()[0].boxes.row(0).to_vec(), [-4.0, -4.0, 8.0, 8.0]);
        assert_eq!(tracks.pairs(1).unwrap().pairs()[0].truth.as_ref().unwrap().left_to_right(), [Some(1), Some(0)]);
        assert_eq!(read_table(plain, Some(2.0)).unwrap().frames()[0].boxes.row(0).to_vec(), [-1.0, -1.0, 2.0, 2.0]);
    }

    #[test]
    fn mistakes_are_said_with_their_line() {
        let wrong = [
            ("frame,x,y\n1,0,0\n", 1, "track_id"),
            ("frame,id,x,y\n1,2,left,0\n", 2, "left"),
            ("frame,id,x,y\n1,1,0,0\n1.5,1,2,0\n", 3, "whole number"),
            ("frame,id,x,y,w,h\n1,1,0,0,0,3\n", 2, "positive"),
            ("frame,id,x,y\n", 1, "no detections"),
            ("frame,id,x,y\n1,1,0,0\n2,1,3,0\n", 1, "how large"),
        ];
        for (text, line, reason) in wrong {
            let Err(Error::Malformed { line: found, reason: said, .. }) = read_table(text, None) else {
                panic!("{text} was read")
            };
            assert!(found == line && said.contains(reason), "line {found}: {said}");
        }
    }
}
