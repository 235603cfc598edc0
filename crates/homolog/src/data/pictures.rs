//! Which picture belongs to a graph, how large it is, and where points are on it.
//!
//! **Convention.** Points that were found in a picture are in its pixels: x to the right, y **down** from the top edge. A TPS file counts y
//! up from the bottom edge; its reader turns the sign around (y counts down from the bottom edge: a mirror image would be another shape to
//! a matcher), and here the height of the picture is added, if there is one. That is a translation: no match depends on whether pictures
//! are found. The size of the picture stays with the graph, so that a TPS file can be written again.

use super::dataset::{DataSet, NamedGraph};
use super::read::Beside;
use super::{Format, Note};
use crate::Result;
use crate::graph::Graph;
use std::sync::Arc;

/// So much of a picture is asked for to find its size: first a little, then what photographs may have before it.
const BEGINNINGS: [usize; 2] = [1 << 10, 1 << 20];

/// The same data with pictures, their sizes, and points on them. What is missing or does not fit is noted.
pub(super) fn placed(data: DataSet, format: Format, beside: Beside<'_>, notes: &mut Vec<Note>) -> Result<DataSet> {
    let is_flat = |graph: &Graph| graph.points().is_some_and(|points| points.ncols() == 2);
    if !data.graphs().iter().any(|named| is_flat(&named.graph)) {
        return Ok(data);
    }
    let (mut absent, mut outside): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut graphs = Vec::with_capacity(data.graphs().len());
    for named in data.graphs() {
        let mut named_graph = named.clone();
        if is_flat(&named.graph) {
            let looked = names(named).into_iter().map(|name| (look(&name, beside), name));
            if let Some(((_, size), name)) = looked.into_iter().find(|((is_there, _), _)| *is_there) {
                named_graph.image = Some(name);
                if let (Some([width, height]), None) = (size, named.graph.image_size()) {
                    let up = if format == Format::Tps { height } else { 0.0 };
                    let moved = named.graph.with_moved_points(|points| {
                        let mut points = points.to_owned();
                        points.column_mut(1).mapv_inplace(|y| y + up);
                        points
                    })?;
                    named_graph.graph = Arc::new(moved.with_image_size(width, height)?);
                }
            } else {
                absent.extend(named.image.as_deref());
            }
            if is_outside(&named_graph.graph) {
                outside.push(&named.id);
            }
        }
        graphs.push(named_graph);
    }
    let short = |name: &&str| super::shorten(name);
    let from_bottom = format == Format::Tps;
    let no_picture = |first: &&str| Note::NoPicture { picture: short(first), others: absent.len() - 1, from_bottom };
    notes.extend(absent.first().map(no_picture));
    notes.extend(outside.first().map(|first| Note::OutsidePicture { graph: short(first), others: outside.len() - 1 }));
    DataSet::new(graphs, data.pairs().to_vec())
}

/// Where the picture of a graph may be: as the file says, as it is or without its folders; else `images/ID.png` (or .jpg, .jpeg), and in the
/// authors' folder `images/house.seq(N-1).png` for frame N.
fn names(named: &NamedGraph) -> Vec<String> {
    if let Some(image) = &named.image {
        let file = image.rsplit(['/', '\\']).next().unwrap_or(image);
        let mut names = vec![image.clone(), file.to_string(), format!("images/{file}")];
        names.dedup();
        return names;
    }
    // An id is a name, not a way to other folders.
    if named.id.contains(['/', '\\']) {
        return Vec::new();
    }
    let number: Option<usize> = named.id.parse().ok().filter(|&number| number > 0);
    let own = ["png", "jpg", "jpeg"].into_iter().map(|end| format!("images/{}.{end}", named.id));
    own.chain(number.map(|number| format!("images/house.seq{}.png", number - 1))).collect()
}

/// Whether a picture is there, and its size, if that can be told.
fn look(name: &str, beside: Beside<'_>) -> (bool, Option<[f64; 2]>) {
    let mut is_there = false;
    for most in BEGINNINGS {
        let Some(bytes) = beside(name, most) else { break };
        is_there = true;
        let size = size_of(&bytes);
        if size.is_some() || bytes.len() < most {
            return (true, size);
        }
    }
    (is_there, None)
}

/// Width and height of a PNG, JPEG or BMP picture, from its beginning.
fn size_of(bytes: &[u8]) -> Option<[f64; 2]> {
    let part = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).copied();
    let positive = |width: u32, height: u32| (width > 0 && height > 0).then(|| [f64::from(width), f64::from(height)]);
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return positive(u32::from_be_bytes(part(16)?), u32::from_be_bytes(part(20)?));
    }
    if bytes.starts_with(b"BM") {
        // A negative height means that rows are stored from the top.
        let height = i32::from_le_bytes(part(22)?).unsigned_abs();
        return positive(u32::from_le_bytes(part(18)?), height);
    }
    if !bytes.starts_with(b"\xff\xd8") {
        return None;
    }
    // Segments with their lengths; the first that begins a frame has the size.
    let mut at = 2;
    loop {
        let [mark, kind, high, low] = part(at)?;
        if mark != 0xff {
            return None;
        }
        match kind {
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            0xc0..=0xcf if ![0xc4, 0xc8, 0xcc].contains(&kind) => {
                let [a, b, c, d] = part(at + 5)?.map(u32::from);
                return positive(256 * c + d, 256 * a + b);
            }
            0xd9 | 0xda => return None,
            _ => at += 2 + usize::from(u16::from_be_bytes([high, low])),
        }
    }
}

/// Whether a point lies beyond the edges of the picture.
fn is_outside(graph: &Graph) -> bool {
    let Some((points, size)) = graph.points().zip(graph.image_size()) else { return false };
    points.rows().into_iter().any(|row| (0..2).any(|axis| !(0.0..=size[axis]).contains(&row[axis])))
}

#[cfg(test)]
mod tests {
    use super::size_of;

    #[test]
    fn the_size_is_found_in_the_beginning_of_a_picture() {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 2, 0x80, 0, 0, 1, 0xe0]].concat();
        assert_eq!(size_of(&png), Some([640.0, 480.0]));
        // Start, a comment of four bytes, a table, then the frame: precision, height, width.
        let jpeg = [b"\xff\xd8\xff\xfe\0\x06abcd\xff\xc4\0\x02\xff\xff\xc2\0\x11\x08".as_slice(), &[1, 0xe0, 2, 0x80]]
            .concat();
        assert_eq!(size_of(&jpeg), Some([640.0, 480.0]));
        let mut bmp = b"BM".to_vec();
        bmp.resize(18, 0);
        bmp.extend([640_i32, -480].iter().flat_map(|side| side.to_le_bytes()));
        assert_eq!(size_of(&bmp), Some([640.0, 480.0]));
        for whole in [png, jpeg, bmp] {
            for end in 0..whole.len() {
                assert_eq!(size_of(&whole[..end]), None, "cut off at {end}");
            }
        }
    }
}
