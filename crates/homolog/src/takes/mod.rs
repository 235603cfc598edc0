//! Takes: the frames of a recording named as a whole ([`Atlas::name_take`]), far faster and more surely than one by one.
//!
//! 1. Points are linked from frame to frame by motion alone, if that is clear (`tracks`).
//! 2. The atlas names a few key frames; every track collects votes there (`votes`).
//! 3. Each track gets one name, such that tracks that overlap in time never share one (`assign`). So names are consistent over time.
//! 4. From these names the take teaches the body: distances between markers, and how well each holds (`body`). These say better than
//!    the atlas, and for every frame, which name a track should have (`evidence`); 3 and 4 are repeated until nothing changes. An atlas
//!    of a single frame is enough, and it may be of another person.
//! 5. A set of names that is wrong throughout agrees with itself: the body is compared with the atlas (`anchor`). Names that the atlas
//!    contradicts are removed and found again; the new ones are kept if the take becomes more likely.
//! 6. Frames that are still badly explained are named by the atlas as well, and tracks in which the evidence changes are split (`split`).
//! 7. Confidences, doubtful stretches and swaps (`doubt`); labels that the take came with and that are wrong (`labels`).
//!
//! A gap stays a gap; a point that no marker explains has no name; a marker that comes back gets its name back, because its distances say
//! so.

mod anchor;
mod assign;
mod body;
mod doubt;
mod evidence;
mod labels;
mod pick;
mod points;
mod split;
mod tracks;
mod votes;
mod words;

pub(crate) use labels::Mislabelled;
pub use pick::differing_frames;
pub use words::{NamedLabel, NamedTake};

use crate::atlas::{Atlas, Naming};
use crate::graph::Graph;
use crate::matching::{Compatibility, MAX_CELLS};
use crate::{Control, Error, Report, Result};
use anchor::Anchor;
use body::{Body, Lengths, Names};
use doubt::Judged;
use evidence::{Evidence, Known};
use points::Points;
use split::Split;
use tracks::Track;

/// Rounds of naming and measuring.
const ROUNDS: usize = 10;
/// Rounds of looking again at names that the atlas contradicts.
const SECOND_LOOKS: usize = 3;
/// A name with less evidence than this is weak.
const WEAK: f64 = 4.0;
/// Frames with this many badly explained points are named by the atlas.
const TROUBLE: usize = 2;

/// The names of the points of a take.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TakeNaming {
    /// For each frame, for each of its points: its name, or `None` if it has none.
    pub frames: Vec<Vec<Option<TakeCall>>>,
    /// Stretches in which a name is less than 90 % sure.
    pub doubts: Vec<Doubt>,
    /// Where the name of a point changed.
    pub swaps: Vec<Swap>,
    /// How many frames were named by the atlas.
    pub key_frames: usize,
    /// Whether all of it was done; otherwise interrupted.
    pub complete: bool,
}

impl TakeNaming {
    /// The names of the points of a frame, empty if a point has none: what [`Graph::with_names`] takes.
    #[must_use]
    pub fn names(&self, atlas: &Atlas, frame: usize) -> Vec<String> {
        let name = |call: &Option<TakeCall>| call.as_ref().map(|call| atlas.landmarks[call.marker].name.clone());
        self.frames[frame].iter().map(|call| name(call).unwrap_or_default()).collect()
    }
}

/// The name of a point in a frame.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TakeCall {
    /// The marker, by position in the atlas.
    pub marker: usize,
    /// How certain that is, from 0 to 1.
    pub confidence: f64,
    /// The marker that the point would be otherwise; `None` if none.
    pub runner_up: Option<usize>,
}

/// Frames in which a marker is doubtful.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Doubt {
    /// The marker, by position in the atlas.
    pub marker: usize,
    /// The marker that its point might be; `None` if it might be none.
    pub or: Option<usize>,
    /// The first frame, from 0.
    pub first: usize,
    /// The last frame.
    pub last: usize,
    /// The least confidence in between.
    pub confidence: f64,
}

/// A point that changed its name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swap {
    /// The frame from which on it has another name, from 0.
    pub frame: usize,
    /// The name it had, by position in the atlas.
    pub marker: usize,
    /// The name it has then; `None` if none.
    pub other: Option<usize>,
}

impl Atlas {
    /// Refuses what is too large before anything is computed.
    fn check_take(&self, frames: &[&Graph]) -> Result<()> {
        let markers = self.landmarks.len();
        let cells = frames.len().saturating_mul(markers);
        if cells > MAX_CELLS {
            let what = "frames times landmarks of a take";
            return Err(Error::TooLarge { what, limit: MAX_CELLS, found: cells });
        }
        frames.iter().try_for_each(|frame| Compatibility::check_size(markers, frame.node_count()))
    }

    /// Names the frames of a take, in order of time. If interrupted, all frames are named by what is known by then.
    ///
    /// # Errors
    /// As [`Self::name_with`], for any frame; a take that is too long; [`Error::Interrupted`] before the points of frames were linked.
    pub fn name_take(&self, frames: &[&Graph], weights: &[f64], control: &Control) -> Result<TakeNaming> {
        self.check_take(frames)?;
        let points = Points::new(frames, self.dimension)?;
        let tracks = tracks::link(&points, control)?;
        let mut keys = votes::key_frames(&tracks, points.len());
        let mut namer = votes::KeyNamer::new(self, weights, frames);
        let mut named = namer.name(&keys, &control.part(0, 2))?;
        let mut solver = Solver::new(&points, tracks, self, control);
        solver.solve(&named);
        let trouble = doubt::troubled(&solver.judged(), WEAK);
        let mut further: Vec<usize> =
            (0..points.len()).filter(|&frame| trouble[frame] >= TROUBLE && !keys.contains(&frame)).collect();
        further.sort_by_key(|&frame| (std::cmp::Reverse(trouble[frame]), frame));
        further.truncate(votes::most_keys(points.len()));
        if !further.is_empty() && !control.interrupted() {
            named.extend(namer.name(&further, &control.part(1, 2))?);
            keys.extend(further);
            solver.solve(&named);
        }
        if !control.interrupted() {
            solver.split();
            solver.solve(&named);
        }
        control.report(&Report::new("named", points.len(), Some(points.len())));
        let judged = solver.judged();
        let calls = judged.calls();
        Ok(TakeNaming {
            doubts: doubt::doubts(&calls),
            swaps: judged.swaps(&solver.splits, &calls),
            frames: calls,
            key_frames: named.len(),
            complete: !control.interrupted(),
        })
    }
}

/// A take whose tracks are being named.
struct Solver<'a> {
    points: &'a Points,
    tracks: Vec<Track>,
    splits: Vec<Split>,
    /// The edges of the atlas.
    lengths: Lengths,
    markers: usize,
    size: f64,
    given: Vec<Option<usize>>,
    evidence: Vec<Evidence>,
    body: Option<Body>,
    /// Whether there are names to return to if it is told to stop.
    has_names: bool,
    control: &'a Control,
}

impl<'a> Solver<'a> {
    fn new(points: &'a Points, tracks: Vec<Track>, atlas: &Atlas, control: &'a Control) -> Self {
        let (size, markers, lengths) = (points.size(), atlas.landmarks.len(), anchor::lengths(atlas));
        Self {
            points,
            tracks,
            splits: Vec::new(),
            lengths,
            markers,
            size,
            given: Vec::new(),
            evidence: Vec::new(),
            body: None,
            has_names: false,
            control,
        }
    }

    /// Names the tracks from the votes alone, and from the names that they have; the more likely names stay. If interrupted, names that
    /// they have stay.
    fn solve(&mut self, named: &[(usize, Naming)]) {
        if self.is_weighed() && self.control.interrupted() {
            return;
        }
        let votes = votes::votes(&self.tracks, named, self.markers);
        let kept = (!self.given.is_empty()).then(|| {
            let value = self.improve(votes.clone());
            (value, self.given.clone(), std::mem::take(&mut self.evidence), self.body.take())
        });
        self.has_names = kept.is_some();
        self.given = assign::assign(&self.tracks, &votes.iter().collect::<Vec<_>>(), self.markers);
        let value = self.improve(votes);
        let is_cut = !self.is_weighed() || self.control.interrupted();
        if let Some((_, given, evidence, body)) = kept.filter(|kept| is_cut || kept.0 >= value) {
            (self.given, self.evidence, self.body) = (given, evidence, body);
        }
    }

    /// Improves the names by votes and distances until nothing changes, and compares them with the atlas. How likely the take is then.
    fn improve(&mut self, mut votes: Vec<Vec<f64>>) -> f64 {
        self.settle(&votes);
        let names = self.anchor().map(|anchor| anchor.renamed()).unwrap_or_default();
        if names.iter().enumerate().any(|(old, &new)| old != new) {
            self.given.iter_mut().flatten().for_each(|name| *name = names[*name]);
            for row in &mut votes {
                let old = row.clone();
                old.iter().zip(&names).for_each(|(&vote, &new)| row[new] = vote);
            }
            self.settle(&votes);
        }
        for _ in 0..SECOND_LOOKS {
            if !self.look_again(&mut votes) {
                break;
            }
        }
        self.value(&votes)
    }

    /// Forgets the names of suspects and finds them again from the others and the atlas's lengths. Kept if the take becomes more likely.
    fn look_again(&mut self, votes: &mut Vec<Vec<f64>>) -> bool {
        let Some(anchor) = self.anchor().filter(|_| !self.control.interrupted()) else { return false };
        let suspects = anchor.suspects();
        if suspects.is_empty() {
            return false;
        }
        let (before, old_votes) = (self.value(votes), votes.clone());
        let (given, evidence) = (self.given.clone(), self.evidence.clone());
        votes.iter_mut().for_each(|row| suspects.iter().for_each(|&marker| row[marker] = 0.0));
        for name in &mut self.given {
            *name = name.filter(|marker| !suspects.contains(marker));
        }
        let body = self.body.take();
        self.settle(votes);
        if !self.control.interrupted() && self.value(votes) > before {
            return true;
        }
        (self.given, self.evidence, self.body, *votes) = (given, evidence, body, old_votes);
        false
    }

    /// How likely the take is under the distances that it taught, and these under the atlas.
    fn value(&self, votes: &[Vec<f64>]) -> f64 {
        let of = |((name, evidence), votes): ((&Option<usize>, &Evidence), &Vec<f64>)| {
            name.map(|name| evidence.total[name] - votes[name])
        };
        let own: f64 = self.given.iter().zip(&self.evidence).zip(votes).filter_map(of).sum();
        own + self.anchor().map_or(0.0, |anchor| anchor.fits().iter().sum::<f64>() / 2.0)
    }

    fn anchor(&self) -> Option<Anchor<'_>> {
        Anchor::new(self.body.as_ref()?, &self.lengths, self.markers)
    }

    /// Measures and names until nothing changes.
    fn settle(&mut self, votes: &[Vec<f64>]) {
        for _ in 0..ROUNDS {
            let may_stop = self.has_names || self.is_weighed();
            let stops = || may_stop && self.control.interrupted();
            if stops() {
                break;
            }
            let names = self.names();
            let fleeting = evidence::fleeting(&self.tracks, &self.given);
            let body = Body::measure(self.points, &names, &self.lengths, self.markers, self.size);
            let known = Known { body: &body, points: self.points, names: &names, fleeting };
            let Some(evidence) = evidence::weigh(&known, &self.tracks, votes, &stops) else { break };
            (self.evidence, self.body) = (evidence, Some(body));
            let totals: Vec<&Vec<f64>> = self.evidence.iter().map(|evidence| &evidence.total).collect();
            let given = assign::assign(&self.tracks, &totals, self.markers);
            let same = given == self.given;
            self.given = given;
            if same || self.control.interrupted() {
                break;
            }
        }
    }

    /// Whether there is evidence for all tracks.
    fn is_weighed(&self) -> bool {
        !self.tracks.is_empty() && self.evidence.len() == self.tracks.len()
    }

    fn split(&mut self) {
        let names = self.names();
        let Some(body) = &self.body else { return };
        self.splits = split::split(&mut self.tracks, &self.evidence, body, self.points, &names);
        // The new tracks are weighed in any case.
        self.evidence.clear();
        self.has_names = false;
        // In the order in which they were added.
        self.splits.iter().for_each(|split| self.given.push(self.given[split.before]));
    }

    fn names(&self) -> Names {
        let mut names = vec![vec![None; self.markers]; self.points.len()];
        for (track, name) in self.tracks.iter().zip(&self.given) {
            if let Some(name) = *name {
                (track.start..track.end()).for_each(|frame| names[frame][name] = Some(track.point(frame)));
            }
        }
        names
    }

    fn judged(&self) -> Judged<'_> {
        let Self { points, tracks, given, evidence, markers, .. } = self;
        let fits = self.anchor().map(|anchor| anchor.fits());
        Judged { points, tracks, given, evidence, markers: *markers, fits }
    }
}
