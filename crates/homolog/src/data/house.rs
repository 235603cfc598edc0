//! The files that the paper's authors released for the CMU house sequence, one frame at a time: `label/houseN` has a landmark on each
//! line (x and y, the same landmark on the same line of every frame), `houseNNN.adj` the edges as a matrix of 0 and 1.
//!
//! Frame N, counted from 1, becomes the graph "N" with nodes called "0", "1", ...; its picture is `images/house.seq(N-1).png`. So the
//! names give the matches between any two frames.

use super::dataset::NamedGraph;
use super::{malformed, number};
use crate::graph::{Direction, Graph};
use crate::{Error, Result};
use ndarray::Array2;
use std::sync::Arc;

const LABELS: &str = "house labels";
const ADJACENCY: &str = "house adjacency";
/// Width and height of the pictures, in pixels.
const IMAGE_SIZE: [f64; 2] = [576.0, 384.0];

/// Reads a frame from the text of its label file and, if its edges are wanted, that of its adjacency file.
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason; a frame 0.
///
/// ```
/// let frame = homolog::data::house::read_frame(1, "  2.0e+002  3.4e+002\r\n  1.5e+002  2.5e+002\r\n", Some("0 1\n1 0\n"))?;
/// assert_eq!((frame.id.as_str(), frame.image.as_deref()), ("1", Some("images/house.seq0.png")));
/// assert_eq!(frame.graph.points().unwrap()[[0, 0]], 200.0);
/// assert_eq!(frame.graph.edges().len(), 2);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read_frame(number: usize, labels: &str, adjacency: Option<&str>) -> Result<NamedGraph> {
    if number == 0 {
        return malformed(LABELS, 1, "frames are counted from 1");
    }
    let rows = rows(LABELS, labels)?;
    if let Some((line, row)) = rows.iter().find(|(_, row)| row.len() != 2) {
        return malformed(LABELS, *line, format!("a landmark needs x and y, found {} numbers", row.len()));
    }
    let count = rows.len();
    let points = Array2::from_shape_fn((count, 2), |(node, axis)| rows[node].1[axis]);
    let names = (0..count).map(|node| node.to_string()).collect();
    let mut graph = Graph::from_points(points)?.with_names(names)?.with_image_size(IMAGE_SIZE[0], IMAGE_SIZE[1])?;
    if let Some(text) = adjacency {
        graph = graph.with_edges(edges(text, count)?, Direction::Directed)?;
    }
    let image = format!("images/house.seq{}.png", number - 1);
    Ok(NamedGraph { id: number.to_string(), graph: Arc::new(graph), image: Some(image) })
}

/// The number of the frame that a label file is for: 7 for "house7".
#[must_use]
pub fn frame_number(file_name: &str) -> Option<usize> {
    file_name.strip_prefix("house")?.parse().ok().filter(|&number| number > 0)
}

/// The numbers of each line that has any.
fn rows(format: &'static str, text: &str) -> Result<Vec<(usize, Vec<f64>)>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(index, line): (usize, &str)| {
        let words = line.split_whitespace().map(|word| number(format, index + 1, word));
        Ok((index + 1, words.collect::<Result<Vec<f64>>>()?))
    };
    lines.map(row).collect()
}

fn edges(text: &str, count: usize) -> Result<Vec<[usize; 2]>> {
    let rows = rows(ADJACENCY, text)?;
    if rows.len() != count {
        let line = rows.last().map_or(1, |&(line, _)| line);
        return malformed(ADJACENCY, line, format!("there are {} rows for {count} landmarks", rows.len()));
    }
    if let Some((line, row)) = rows.iter().find(|(_, row)| row.len() != count) {
        return malformed(ADJACENCY, *line, format!("this row has {} numbers for {count} landmarks", row.len()));
    }
    let mut edges = Vec::new();
    for (i, (line, row)) in rows.iter().enumerate() {
        for (j, &value) in row.iter().enumerate() {
            if value != 0.0 && value != 1.0 {
                return malformed(ADJACENCY, *line, format!("{value} is neither 0 nor 1"));
            }
            if value != rows[j].1[i] {
                return malformed(ADJACENCY, *line, format!("landmarks {i} and {j} are joined one way only"));
            }
            if value == 1.0 && i == j {
                return Err(Error::SelfLoop { node: i });
            }
            if value == 1.0 {
                edges.push([i, j]);
            }
        }
    }
    Ok(edges)
}
