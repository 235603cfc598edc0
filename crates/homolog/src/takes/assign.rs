//! One name per track: the names that have most evidence in total, such that tracks that overlap in time never share one.
//!
//! Greedy by evidence, then improved by exchanges as long as they gain: a track takes another name, and those that had it take its old
//! name if that is free for them, or none.

use super::tracks::Track;

/// Rounds of exchanges; two to five are usual.
const SWEEPS: usize = 20;
/// In place of a track: no track has the name.
const FREE: usize = usize::MAX;

/// Which track has a name in a frame.
struct Taken {
    table: Vec<Vec<usize>>,
}

impl Taken {
    fn new(names: usize, frames: usize) -> Self {
        Self { table: vec![vec![FREE; frames]; names] }
    }

    fn set(&mut self, name: usize, track: &Track, whose: usize) {
        self.table[name][track.start..track.end()].fill(whose);
    }

    /// The tracks that have a name during another one, each once, in order of time.
    fn during(&self, name: usize, track: &Track) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for &whose in &self.table[name][track.start..track.end()] {
            if whose != FREE && found.last() != Some(&whose) {
                found.push(whose);
            }
        }
        found
    }
}

/// The name of each track, if it has one. Evidence at most 0 is none.
pub(super) fn assign(tracks: &[Track], evidence: &[&Vec<f64>], names: usize) -> Vec<Option<usize>> {
    let frames = tracks.iter().map(Track::end).max().unwrap_or(0);
    let mut taken = Taken::new(names, frames);
    let mut given: Vec<Option<usize>> = vec![None; tracks.len()];
    let mut order: Vec<(f64, usize, usize)> = Vec::new();
    for (track, row) in evidence.iter().enumerate() {
        order.extend(row.iter().enumerate().filter(|&(_, &e)| e > 0.0).map(|(name, &e)| (e, track, name)));
    }
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    for (_, track, name) in order {
        if given[track].is_none() && taken.during(name, &tracks[track]).is_empty() {
            given[track] = Some(name);
            taken.set(name, &tracks[track], track);
        }
    }
    for _ in 0..SWEEPS {
        let mut changed = false;
        for track in 0..tracks.len() {
            changed |= improve(track, tracks, evidence, &mut taken, &mut given);
        }
        if !changed {
            break;
        }
    }
    given
}

/// The best exchange of one track, if it gains.
fn improve(
    track: usize,
    tracks: &[Track],
    evidence: &[&Vec<f64>],
    taken: &mut Taken,
    given: &mut [Option<usize>],
) -> bool {
    let own = &tracks[track];
    let old = given[track];
    let before = old.map_or(0.0, |name| evidence[track][name]);
    let mut best = (1e-9, None, Vec::new());
    for name in 0..evidence[track].len() {
        let after = evidence[track][name];
        if old == Some(name) || after <= 0.0 {
            continue;
        }
        let others = taken.during(name, own);
        let mut gain = after - before;
        let mut moves = Vec::new();
        for &other in &others {
            gain -= evidence[other][name];
            let takes_old = old.filter(|&old| {
                evidence[other][old] > 0.0 && taken.during(old, &tracks[other]).iter().all(|&whose| whose == track)
            });
            gain += takes_old.map_or(0.0, |old| evidence[other][old]);
            moves.push((other, takes_old));
        }
        if gain > best.0 {
            best = (gain, Some(name), moves);
        }
    }
    let (_, Some(name), moves) = best else { return false };
    if let Some(old) = old {
        taken.set(old, own, FREE);
    }
    for &(other, _) in &moves {
        taken.set(name, &tracks[other], FREE);
        given[other] = None;
    }
    taken.set(name, own, track);
    given[track] = Some(name);
    for (other, takes_old) in moves {
        if let Some(old) = takes_old {
            taken.set(old, &tracks[other], other);
            given[other] = Some(old);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    fn overlap(a: &Track, b: &Track) -> bool {
        a.start < b.end() && b.start < a.end()
    }

    /// The total evidence, if no two tracks that overlap share a name.
    fn value(tracks: &[Track], evidence: &[&Vec<f64>], given: &[Option<usize>]) -> Option<f64> {
        for (i, name) in given.iter().enumerate().filter(|(_, name)| name.is_some()) {
            if (0..i).any(|j| given[j] == *name && overlap(&tracks[i], &tracks[j])) {
                return None;
            }
        }
        Some(given.iter().zip(evidence).filter_map(|(name, row)| name.map(|name| row[name])).sum())
    }

    #[test]
    fn names_are_never_shared_and_nearly_the_best() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let (mut found, mut possible) = (0.0, 0.0);
        for _ in 0..100 {
            let tracks: Vec<Track> = (0..6)
                .map(|_| Track { start: random.random_range(0..10), points: vec![0; random.random_range(1..8)] })
                .collect();
            let rows: Vec<Vec<f64>> =
                (0..6).map(|_| (0..3).map(|_| random.random_range(-5.0..10.0)).collect()).collect();
            let evidence: Vec<&Vec<f64>> = rows.iter().collect();
            found += value(&tracks, &evidence, &assign(&tracks, &evidence, 3)).expect("names are not shared");
            let all = (0..4_usize.pow(6)).filter_map(|code| {
                let given: Vec<Option<usize>> = (0..6).map(|at| (code / 4_usize.pow(at) % 4).checked_sub(1)).collect();
                value(&tracks, &evidence, &given)
            });
            possible += all.fold(f64::NEG_INFINITY, f64::max);
        }
        assert!(found > 0.97 * possible, "{found} of {possible}");
    }
}
