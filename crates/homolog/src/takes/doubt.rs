//! How certain the names are, which stretches are doubtful, and where names changed.
//!
//! For a piece of a track that is called i, each other answer has a margin: what the evidence would lose. Another name j that is free loses
//! e_i - e_j; one that a track u has at the time means that the two exchange names, and loses that of both; no name loses e_i - GHOST:
//!
//!   confidence = 1 / (1 + Σ exp(-margin / T)),   e = evidence of the piece + a share of that of the whole track
//!
//! One more answer is that the name is wrong throughout: it loses half of what the lengths of the atlas say for the marker (`anchor`); the
//! other half is that of the other ends.

use super::evidence::{Evidence, GHOST, PIECE, fleeting, frames_of, piece_of};
use super::points::{Place, Points, squared_distance};
use super::split::Split;
use super::tracks::Track;
use super::{Doubt, Swap, TakeCall};

/// How much of a margin is a factor of e: evidence is not independent.
const TEMPERATURE: f64 = 2.0;
/// The whole track counts as at most this many pieces.
const POOLED: f64 = 3.0;
/// Names less sure than this are doubtful.
pub(super) const SURE: f64 = 0.9;
/// A name that goes on elsewhere although another point is this many times nearer is a swap, unless both sides are this certain.
const NEARER: f64 = 2.0;
const CERTAIN: f64 = 0.95;
/// Doubtful stretches no further apart than this are one.
const JOINED: usize = 5;

/// Tracks with their names and what speaks for them.
pub(super) struct Judged<'a> {
    pub(super) points: &'a Points,
    pub(super) tracks: &'a [Track],
    pub(super) given: &'a [Option<usize>],
    pub(super) evidence: &'a [Evidence],
    pub(super) markers: usize,
    /// What the lengths of the atlas say for each marker, if that is known.
    pub(super) fits: Option<Vec<f64>>,
}

impl Judged<'_> {
    /// Which track has which name in a frame.
    fn holders(&self) -> Vec<Vec<Option<usize>>> {
        let mut holders = vec![vec![None; self.markers]; self.points.len()];
        for (at, (track, name)) in self.tracks.iter().zip(self.given).enumerate() {
            if let Some(name) = *name {
                holders[track.start..track.end()].iter_mut().for_each(|frame| frame[name] = Some(at));
            }
        }
        holders
    }

    /// The name of each point of each frame, with its confidence.
    pub(super) fn calls(&self) -> Vec<Vec<Option<TakeCall>>> {
        let holders = self.holders();
        let worth = |track: &Track| POOLED.min(track.points.len() as f64 / PIECE as f64);
        let mean = |(evidence, track): (&Evidence, &Track)| -> Vec<f64> {
            let weight = worth(track) / evidence.pieces.len() as f64;
            (0..self.markers)
                .map(|marker| weight * evidence.pieces.iter().map(|row| row[marker]).sum::<f64>())
                .collect()
        };
        let pooled: Vec<Vec<f64>> = self.evidence.iter().zip(self.tracks).map(mean).collect();
        let fleeting = fleeting(self.tracks, self.given);
        let value = |track: usize, frame: usize, marker: usize| {
            let piece = piece_of(&self.tracks[track], frame);
            self.evidence[track].pieces[piece][marker] + pooled[track][marker]
        };
        let mut calls: Vec<Vec<Option<TakeCall>>> =
            self.points.frames.iter().map(|frame| vec![None; frame.len()]).collect();
        for (at, (track, name)) in self.tracks.iter().zip(self.given).enumerate() {
            let Some(marker) = *name else { continue };
            for piece in 0..self.evidence[at].pieces.len() {
                let frames = frames_of(track, piece);
                let frame = frames.start + frames.len() / 2;
                let own = value(at, frame, marker);
                let none = own - GHOST * (1.0 + worth(track)) - fleeting / track.points.len() as f64;
                let throughout = self.fits.as_ref().map_or(0.0, |fits| (-fits[marker] / (2.0 * TEMPERATURE)).exp());
                let (mut sum, mut nearest) = ((-none / TEMPERATURE).exp() + throughout, (none, None));
                for other in (0..self.markers).filter(|&other| other != marker) {
                    let mut margin = own - value(at, frame, other);
                    if let Some(holder) = holders[frame][other] {
                        margin += value(holder, frame, other) - value(holder, frame, marker);
                    }
                    sum += (-margin / TEMPERATURE).exp();
                    if margin < nearest.0 {
                        nearest = (margin, Some(other));
                    }
                }
                let call = TakeCall { marker, confidence: 1.0 / (1.0 + sum), runner_up: nearest.1 };
                for frame in frames {
                    calls[frame][track.point(frame)] = Some(call.clone());
                }
            }
        }
        calls
    }

    /// Places where a name goes on at another point than motion says, in order.
    pub(super) fn swaps(&self, splits: &[Split], calls: &[Vec<Option<TakeCall>>]) -> Vec<Swap> {
        let mut swaps: Vec<Swap> = Vec::new();
        for split in splits {
            let (before, after) = (self.given[split.before], self.given[split.after]);
            if let Some(marker) = before.filter(|_| before != after) {
                swaps.push(Swap { frame: split.frame, marker, other: after });
            }
        }
        let holders = self.holders();
        for (at, track) in self.tracks.iter().enumerate() {
            let Some(marker) = self.given[at] else { continue };
            let Some(next) = holders.get(track.end()).and_then(|frame| frame[marker]) else { continue };
            if splits.iter().any(|split| split.before == at) {
                continue;
            }
            let unsure = |frame: usize, track: &Track| {
                let call = calls[frame][track.point(frame)].as_ref();
                call.is_none_or(|call| call.confidence < CERTAIN)
            };
            let end = track.end();
            let Some((nearest, expected)) = self.expected(track) else { continue };
            let own = self.tracks[next].point(end);
            let off = |point: usize| squared_distance(self.points.place(end, point), expected);
            let jumps = own != nearest && off(own) > NEARER * NEARER * off(nearest);
            if jumps && (unsure(end - 1, track) || unsure(end, &self.tracks[next])) {
                let holds = |holder: &Option<usize>| holder.is_some_and(|at| self.tracks[at].point(end) == nearest);
                swaps.push(Swap { frame: end, marker, other: holders[end].iter().position(holds) });
            }
        }
        swaps.sort_by_key(|swap| (swap.frame, swap.marker));
        swaps.dedup();
        swaps
    }

    /// The point after the end of a track that is nearest to where it should be, and that place.
    fn expected(&self, track: &Track) -> Option<(usize, Place)> {
        let end = track.end();
        let last = self.points.place(end - 1, track.point(end - 1));
        let before = if track.points.len() > 1 { self.points.place(end - 2, track.point(end - 2)) } else { last };
        let expected = [0, 1, 2].map(|axis| 2.0 * last[axis] - before[axis]);
        let places = self.points.frames.get(end)?.iter().enumerate();
        places
            .min_by(|a, b| squared_distance(*a.1, expected).total_cmp(&squared_distance(*b.1, expected)))
            .map(|(at, _)| (at, expected))
    }
}

/// Stretches of frames in which a marker is doubtful, in order of the first frame.
pub(super) fn doubts(calls: &[Vec<Option<TakeCall>>]) -> Vec<Doubt> {
    let mut open: Vec<Doubt> = Vec::new();
    let mut closed: Vec<Doubt> = Vec::new();
    for (frame, calls) in calls.iter().enumerate() {
        for call in calls.iter().flatten().filter(|call| call.confidence < SURE) {
            let same = |doubt: &&mut Doubt| doubt.marker == call.marker && doubt.or == call.runner_up;
            match open.iter_mut().find(same) {
                Some(doubt) => {
                    doubt.last = frame;
                    doubt.confidence = doubt.confidence.min(call.confidence);
                }
                None => open.push(Doubt {
                    marker: call.marker,
                    or: call.runner_up,
                    first: frame,
                    last: frame,
                    confidence: call.confidence,
                }),
            }
        }
        let (ended, going): (Vec<Doubt>, Vec<Doubt>) = open.into_iter().partition(|doubt| doubt.last + JOINED < frame);
        closed.extend(ended);
        open = going;
    }
    closed.extend(open);
    closed.sort_by_key(|doubt| (doubt.first, doubt.marker, doubt.or));
    closed
}

/// How many points of each frame are badly explained: those with a weak name, and if less than half have one, those without.
pub(super) fn troubled(judged: &Judged<'_>, weak: f64) -> Vec<usize> {
    let frames = &judged.points.frames;
    let (mut trouble, mut named) = (vec![0; frames.len()], vec![0; frames.len()]);
    for ((track, name), evidence) in judged.tracks.iter().zip(judged.given).zip(judged.evidence) {
        let Some(name) = *name else { continue };
        for frame in track.start..track.end() {
            named[frame] += 1;
            trouble[frame] += usize::from(evidence.pieces[piece_of(track, frame)][name] < weak);
        }
    }
    for ((trouble, named), frame) in trouble.iter_mut().zip(named).zip(frames) {
        let expected = frame.len().min(judged.markers);
        *trouble += if 2 * named < expected { expected - named } else { 0 };
    }
    trouble
}
