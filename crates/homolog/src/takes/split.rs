//! Tracks in which the evidence changes: two points came so close that motion took one for the other. Such a track is split.
//!
//! The names of the pieces of a track, most likely as a sequence if a change costs CHANGE (Viterbi); at each change the frame with the best
//! evidence for the one name before it and the other after it.

use super::body::{Body, Names};
use super::evidence::{Evidence, GHOST, PIECE, frames_of};
use super::points::Points;
use super::tracks::Track;

/// What a change of name inside a track costs.
const CHANGE: f64 = 12.0;

/// A track that was split: the frame in which the second part begins, and the positions of both parts in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) frame: usize,
    pub(super) before: usize,
    pub(super) after: usize,
}

/// Splits tracks. The first part keeps its position, further ones are added at the end.
pub(super) fn split(
    tracks: &mut Vec<Track>,
    evidence: &[Evidence],
    body: &Body,
    points: &Points,
    names: &Names,
) -> Vec<Split> {
    let mut splits = Vec::new();
    for (at, evidence) in evidence.iter().enumerate() {
        let whole = tracks[at].clone();
        let states = sequence(&evidence.pieces);
        let mut part = at;
        for piece in 1..states.len() {
            if states[piece] == states[piece - 1] {
                continue;
            }
            let middle = frames_of(&whole, piece).start;
            let range = middle.saturating_sub(PIECE).max(tracks[part].start + 1)..(middle + PIECE).min(whole.end());
            let value = |frame: usize, state: usize| match evidence.pieces[0].len() {
                ghost if state == ghost => GHOST,
                _ => body.evidence(points, names, frame, whole.point(frame), state),
            };
            let Some(frame) =
                best_change(range, |frame| (value(frame, states[piece - 1]), value(frame, states[piece])))
            else {
                continue;
            };
            let start = tracks[part].start;
            let rest = tracks[part].points.split_off(frame - start);
            tracks.push(Track { start: frame, points: rest });
            splits.push(Split { frame, before: part, after: tracks.len() - 1 });
            part = tracks.len() - 1;
        }
    }
    splits
}

/// The frame from which on the second value counts, such that the sum is largest.
fn best_change(range: std::ops::Range<usize>, values: impl Fn(usize) -> (f64, f64)) -> Option<usize> {
    let gains: Vec<f64> = range.clone().map(values).map(|(one, other)| other - one).collect();
    let total: f64 = gains.iter().sum();
    let (mut before, mut best) = (0.0, (f64::NEG_INFINITY, None));
    for (frame, gain) in range.zip(gains) {
        if total - before > best.0 {
            best = (total - before, Some(frame));
        }
        before += gain;
    }
    best.1
}

/// The most likely names of the pieces; the number of markers stands for none.
fn sequence(pieces: &[Vec<f64>]) -> Vec<usize> {
    let Some(first) = pieces.first() else { return Vec::new() };
    let row = |piece: &Vec<f64>| -> Vec<f64> { piece.iter().copied().chain([GHOST]).collect() };
    let mut score = row(first);
    let mut from: Vec<Vec<usize>> = Vec::with_capacity(pieces.len());
    for piece in &pieces[1..] {
        let best = (0..score.len()).fold(0, |best, state| if score[state] > score[best] { state } else { best });
        let change = score[best] - CHANGE;
        let own: Vec<usize> = (0..score.len()).map(|state| if score[state] >= change { state } else { best }).collect();
        let kept = |state: usize| if own[state] == state { score[state] } else { change };
        score = row(piece).iter().enumerate().map(|(state, value)| value + kept(state)).collect();
        from.push(own);
    }
    let mut state = (0..score.len()).fold(0, |best, state| if score[state] > score[best] { state } else { best });
    let mut states = vec![state];
    for own in from.iter().rev() {
        state = own[state];
        states.push(state);
    }
    states.reverse();
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// What a sequence is worth.
    fn value(pieces: &[Vec<f64>], states: &[usize]) -> f64 {
        let own: f64 = pieces.iter().zip(states).map(|(row, &state)| row.get(state).copied().unwrap_or(GHOST)).sum();
        own - CHANGE * states.windows(2).filter(|two| two[0] != two[1]).count() as f64
    }

    #[test]
    fn no_sequence_is_worth_more() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for _ in 0..200 {
            let pieces: Vec<Vec<f64>> =
                (0..5).map(|_| (0..2).map(|_| random.random_range(-20.0..20.0)).collect()).collect();
            let best = (0..3_usize.pow(5)).map(|code| {
                let states: Vec<usize> = (0..5).map(|at| code / 3_usize.pow(at) % 3).collect();
                value(&pieces, &states)
            });
            let best = best.fold(f64::NEG_INFINITY, f64::max);
            assert!((value(&pieces, &sequence(&pieces)) - best).abs() < 1e-9);
        }
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let values = |frame: usize| if frame < 17 { (5.0, -1.0) } else { (-1.0, 5.0) };
        assert_eq!(best_change(10..30, values), Some(17));
    }
}
