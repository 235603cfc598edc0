//! [`differing_frames`]: a few frames of a labelled take that differ most, to learn an atlas from.
//!
//! Two frames differ by the root mean square difference of the distances between markers that both have: rotation and place do not matter.
//! The first frame is the one with most markers, of these the middle one in time; each further one is the farthest from those chosen.
//! Frames with less than nine tenths of the markers of the first are not chosen.

use crate::graph::Graph;
use std::collections::BTreeMap;

/// Frames looked at, and pairs of markers measured.
const LOOKED_AT: usize = 2000;
const PAIRS: usize = 400;

/// The positions of `count` frames that differ, in order of time; all that have names if there are no more.
#[must_use]
pub fn differing_frames(frames: &[&Graph], count: usize) -> Vec<usize> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for name in frames.iter().filter_map(|frame| frame.names()).flatten().filter(|name| !name.is_empty()) {
        let next = numbers.len();
        numbers.entry(name).or_insert(next);
    }
    let places: Vec<Vec<Option<usize>>> = frames.iter().map(|frame| places(frame, &numbers)).collect();
    let seen = |at: usize| places[at].iter().flatten().count();
    let most = (0..frames.len()).map(seen).max().unwrap_or(0);
    let mut full: Vec<usize> = (0..frames.len()).filter(|&at| seen(at) > 0 && seen(at) * 10 >= most * 9).collect();
    if full.len() <= count {
        return full;
    }
    let step = full.len().div_ceil(LOOKED_AT);
    full = full.into_iter().step_by(step).collect();
    let markers = numbers.len();
    let all: Vec<[usize; 2]> = (0..markers).flat_map(|i| (0..i).map(move |j| [i, j])).collect();
    let pairs: Vec<[usize; 2]> = all.iter().copied().step_by(all.len().div_ceil(PAIRS).max(1)).collect();
    let lengths: Vec<Vec<Option<f64>>> = full.iter().map(|&at| lengths(frames[at], &places[at], &pairs)).collect();
    let best = full.iter().map(|&at| seen(at)).max().unwrap_or(0);
    let fullest: Vec<usize> = (0..full.len()).filter(|&at| seen(full[at]) == best).collect();
    let Some(&first) = fullest.get(fullest.len() / 2) else { return Vec::new() };
    let mut chosen = vec![first];
    let mut nearest: Vec<f64> = lengths.iter().map(|own| difference(own, &lengths[first])).collect();
    while chosen.len() < count.min(full.len()) {
        let farther = |best: usize, at: usize| if nearest[at] > nearest[best] { at } else { best };
        let next = (0..full.len()).fold(0, farther);
        chosen.push(next);
        let update =
            |(nearest, own): (&mut f64, &Vec<Option<f64>>)| *nearest = nearest.min(difference(own, &lengths[next]));
        nearest.iter_mut().zip(&lengths).for_each(update);
        nearest[next] = f64::NEG_INFINITY;
    }
    let mut chosen: Vec<usize> = chosen.into_iter().map(|at| full[at]).collect();
    chosen.sort_unstable();
    chosen
}

/// The point of each marker.
fn places(frame: &Graph, numbers: &BTreeMap<&str, usize>) -> Vec<Option<usize>> {
    let mut places = vec![None; numbers.len()];
    for (point, name) in frame.names().unwrap_or_default().iter().enumerate() {
        if let Some(&number) = numbers.get(name.as_str()) {
            places[number] = Some(point);
        }
    }
    places
}

fn lengths(frame: &Graph, places: &[Option<usize>], pairs: &[[usize; 2]]) -> Vec<Option<f64>> {
    let points = frame.points();
    let length = |&[i, j]: &[usize; 2]| {
        let (points, i, j) = (points.as_ref()?, places[i]?, places[j]?);
        let squares = points.row(i).iter().zip(points.row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        Some(squares.sqrt())
    };
    pairs.iter().map(length).collect()
}

fn difference(one: &[Option<f64>], other: &[Option<f64>]) -> f64 {
    let both = one.iter().zip(other).filter_map(|(a, b)| Some((a.as_ref()? - b.as_ref()?).powi(2)));
    let (sum, count) = both.fold((0.0, 0.0), |(sum, count), square| (sum + square, count + 1.0));
    if count > 0.0 { f64::sqrt(sum / count) } else { 0.0 }
}
