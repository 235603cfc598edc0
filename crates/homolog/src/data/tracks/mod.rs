//! [`Tracks`]: detections frame by frame, with the identity of each if it is known; pairs of frames to learn from.
//!
//! A detection in one frame matches the detection with the same identity in a later one. Those whose identity is not in the later frame leave, or
//! were missed; a detection without an identity is a false one: neither has a partner. The features of pairs are those of
//! [`box_features`]. Only frames with detections count, and a gap counts frames of the recording.

mod mot;
mod table;

pub(crate) use mot::is_one as is_mot;
pub use mot::read_mot;
pub(crate) use table::is_one as is_table;
pub use table::read_table;

use super::dataset::{DataSet, LabelledPair, NamedGraph};
use crate::features::{box_features, iou};
use crate::graph::Graph;
use crate::matching::{Compatibility, Constraint, Linear, Matcher, Matching};
use crate::{Error, Result};
use ndarray::{Array1, Array2};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A detection is one of a true object if their boxes overlap at least so much, as in the field's benchmarks.
const OVERLAP: f64 = 0.5;
/// The most frames between two of a pair.
pub(crate) const MAX_GAP: usize = 1000;

/// Detections of one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Its number in the recording.
    pub number: i64,
    /// One row (left, top, width, height) per detection.
    pub boxes: Array2<f64>,
    /// Who each is; `None` if it is no object, or not known.
    pub ids: Vec<Option<i64>>,
}

/// Detections, frame by frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tracks {
    frames: Vec<Frame>,
}

impl Tracks {
    /// Frames in the order of their numbers.
    ///
    /// # Errors
    /// Two frames of the same number; another number of identities than of boxes; an identity that is twice in a frame.
    pub fn new(mut frames: Vec<Frame>) -> Result<Self> {
        frames.sort_by_key(|frame| frame.number);
        if let Some(two) = frames.windows(2).find(|two| two[0].number == two[1].number) {
            return Err(Error::Repeated { what: "frames", name: two[0].number.to_string() });
        }
        for Frame { number, boxes, ids } in &frames {
            let at = |error| Error::At { place: format!("frame {number}"), error: Box::new(error) };
            if boxes.nrows() != ids.len() {
                return Err(at(Error::Size { what: "identities", expected: boxes.nrows(), found: ids.len() }));
            }
            let mut known: Vec<i64> = ids.iter().copied().flatten().collect();
            known.sort_unstable();
            if let Some(two) = known.windows(2).find(|two| two[0] == two[1]) {
                return Err(at(Error::Repeated { what: "identities", name: two[0].to_string() }));
            }
        }
        Ok(Self { frames })
    }

    /// The frames.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The same detections with the identities of the truth: in each frame true boxes are assigned to detections that overlap by a half or more, so that
    /// the sum of overlaps is largest.
    ///
    /// # Errors
    /// None in practice.
    pub fn joined(&self, truth: &Self) -> Result<Self> {
        let of: BTreeMap<i64, &Frame> = truth.frames.iter().map(|frame| (frame.number, frame)).collect();
        let mut frames = Vec::with_capacity(self.frames.len());
        for Frame { number, boxes, .. } in &self.frames {
            let mut ids = vec![None; boxes.nrows()];
            if let Some(truth) = of.get(number) {
                let score = |(i, k): (usize, usize)| match iou(boxes.row(i), truth.boxes.row(k)) {
                    overlap if overlap >= OVERLAP => overlap,
                    _ => f64::NEG_INFINITY,
                };
                let scores = Array2::from_shape_fn((boxes.nrows(), truth.boxes.nrows()), score);
                let mut problem = Compatibility::linear(scores);
                problem.unmatched = Some(Array1::zeros(boxes.nrows()));
                let solution = Linear::default().solve(&problem)?;
                solution.matching.pairs().for_each(|(i, k)| ids[i] = truth.ids[k]);
            }
            frames.push(Frame { number: *number, boxes: boxes.clone(), ids });
        }
        Self::new(frames)
    }

    /// Who matches whom in two frames: the right detection of each left one.
    ///
    /// # Errors
    /// None in practice: an identity is once in a frame.
    pub fn matching(left: &Frame, right: &Frame) -> Result<Matching> {
        let of: BTreeMap<i64, usize> = right.ids.iter().enumerate().filter_map(|(k, id)| Some(((*id)?, k))).collect();
        let partner = |id: &Option<i64>| id.as_ref().and_then(|id| of.get(id).copied());
        Matching::new(left.ids.iter().map(partner).collect(), right.ids.len(), Constraint::OneToOne)
    }

    /// Each frame with every later one that is at most `gap` frames away, as labelled pairs with the features of their boxes.
    ///
    /// # Errors
    /// A gap of 0, or of more than 1000; more pairs or detections than a data set may have.
    pub fn pairs(&self, gap: usize) -> Result<DataSet> {
        Error::unless_between("gap", gap as f64, 1.0, MAX_GAP as f64)?;
        let graph = |frame: &Frame| NamedGraph {
            id: format!("frame {}", frame.number),
            graph: Arc::new(Graph::new(frame.ids.len())),
            image: None,
        };
        let mut pairs = Vec::new();
        for (left, from) in self.frames.iter().enumerate() {
            let is_near = |to: &&Frame| to.number.saturating_sub(from.number) <= i64::try_from(gap).unwrap_or(i64::MAX);
            for (right, to) in (left + 1..).zip(self.frames[left + 1..].iter().take_while(is_near)) {
                let features = Some(Arc::new(box_features(from.boxes.view(), to.boxes.view(), None, None)?));
                let truth = Some(Self::matching(from, to)?);
                pairs.push(LabelledPair { features, ..LabelledPair::new(left, right, truth) });
            }
        }
        DataSet::new(self.frames.iter().map(graph).collect(), pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detections_get_the_identity_of_the_box_they_cover_and_pairs_know_who_leaves() {
        let truth =
            read_mot("1,7,0,0,10,20,1\n1,8,100,0,10,20,1\n2,7,2,0,10,20,1\n2,9,50,0,10,20,1\n2,5,0,0,9,9,0\n").unwrap();
        assert_eq!(truth.frames()[1].ids, [Some(7), Some(9)]);
        let detections =
            "1,-1,1,0,10,20,.9\n1,-1,40,50,10,20,.8\n1,-1,101,1,10,20,.7\n3,-1,0,0,5,5,1\n2,-1,3,0,10,20,.9\n";
        let joined = read_mot(detections).unwrap().joined(&truth).unwrap();
        let ids: Vec<_> = joined.frames().iter().map(|frame| frame.ids.clone()).collect();
        assert_eq!(ids, [vec![Some(7), None, Some(8)], vec![Some(7)], vec![None]]);
        let data = joined.pairs(1).unwrap();
        assert_eq!(data.pairs().len(), 2);
        assert_eq!(data.pairs()[0].truth.as_ref().unwrap().left_to_right(), [Some(0), None, None]);
        assert_eq!(data.pairs()[0].features.as_ref().unwrap().names().len(), 4);
        assert_eq!(joined.pairs(2).unwrap().pairs().len(), 3);
        assert!(joined.pairs(0).is_err());
    }
}
