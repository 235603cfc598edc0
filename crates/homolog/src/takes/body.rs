//! The body: how far apart markers are, and how much that varies over the take. Bones do not change their length.
//!
//! For markers i, j the median m and the spread s (from the median absolute deviation) of their distance over frames in which both are
//! named. The evidence that a point p is marker i, in bits of natural logarithm, is what its distances to named markers say, those that
//! hold best first:
//!
//!   ℓ(p, i) = (3 / k) Σ_j log((1 - ε) W N(|x_p - x_j|; m_ij, s_ij) + ε)        k markers, at most 8; W: the width of the background
//!
//! Three distances fix a point, so k of them count as three. A distance that is wrong altogether, because x_j has the wrong name, costs
//! no more than log ε.

use super::points::{Points, distance, median};

/// Markers whose distances are looked at.
const NEIGHBOURS: usize = 8;
/// Of these many, the first that are present in a frame.
const LISTED: usize = 16;
/// The chance that a distance tells nothing.
const OUTLIER: f64 = 0.05;
/// The same if the take never showed it: the atlas cannot tell whether it holds while limbs move.
const UNKNOWN: f64 = 0.5;
/// At most this many frames are measured.
const MEASURED: usize = 400;
/// The spread is at least this share of the size of the body.
const LEAST_SPREAD: f64 = 0.004;
/// Spreads from few frames are worth little: as if this many more had this share of the distance.
const PRIOR_FRAMES: f64 = 3.0;
const PRIOR_SPREAD: f64 = 0.15;

/// Which point has which name, in every frame: `of[frame][name]`.
pub(super) type Names = Vec<Vec<Option<usize>>>;

/// The lengths of the edges of an atlas.
pub(super) type Lengths = Vec<([usize; 2], f64)>;

/// The distance of two markers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bone {
    pub(super) mean: f64,
    pub(super) spread: f64,
    /// Whether the take showed it; otherwise it is the atlas's.
    pub(super) is_seen: bool,
}

/// The distances of a body.
#[derive(Debug)]
pub(super) struct Body {
    bones: Vec<Vec<Option<Bone>>>,
    /// For each marker those whose distance holds best, best first.
    neighbours: Vec<Vec<usize>>,
    /// The width of the background.
    pub(super) width: f64,
}

impl Body {
    /// Measures the named markers of a take. Distances that were never seen are those of the atlas (`known`), in the take's size.
    pub(super) fn measure(points: &Points, names: &Names, known: &Lengths, count: usize, size: f64) -> Self {
        let step = points.len().div_ceil(MEASURED).max(1);
        let mut lengths: Vec<Vec<f64>> = vec![Vec::new(); count * count];
        for frame in (0..points.len()).step_by(step) {
            let of = &names[frame];
            for i in 0..count {
                let Some(p) = of[i] else { continue };
                for j in 0..i {
                    let Some(q) = of[j] else { continue };
                    lengths[i * count + j].push(distance(points.place(frame, p), points.place(frame, q)));
                }
            }
        }
        let mut bones: Vec<Vec<Option<Bone>>> = vec![vec![None; count]; count];
        for i in 0..count {
            for j in 0..i {
                let bone = bone(&mut lengths[i * count + j], LEAST_SPREAD * size);
                bones[i][j] = bone;
                bones[j][i] = bone;
            }
        }
        let ratio = |&([i, j], length): &([usize; 2], f64)| Some(bones[i][j].as_ref()?.mean / length);
        let mut ratios: Vec<f64> = known.iter().filter_map(ratio).filter(|ratio| ratio.is_finite()).collect();
        if let Some(ratio) = median(&mut ratios) {
            for &([i, j], length) in known {
                if bones[i][j].is_some() {
                    continue;
                }
                let mean = ratio * length;
                let spread = (PRIOR_SPREAD * mean).hypot(LEAST_SPREAD * size);
                let bone = Bone { mean, spread, is_seen: false };
                (bones[i][j], bones[j][i]) = (Some(bone), Some(bone));
            }
        }
        let neighbours = (0..count)
            .map(|i| {
                let mut own: Vec<(f64, usize)> =
                    (0..count).filter_map(|j| Some((bones[i][j].as_ref()?.spread, j))).collect();
                own.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                own.into_iter().take(LISTED).map(|(_, j)| j).collect()
            })
            .collect();
        Self { bones, neighbours, width: 3.0 * size }
    }

    /// The distance of two markers, if it was ever seen.
    pub(super) fn bone(&self, i: usize, j: usize) -> Option<Bone> {
        self.bones[i][j]
    }

    /// The evidence that a point is a marker, given the names of the others in its frame; 0 if nothing is known.
    pub(super) fn evidence(&self, points: &Points, names: &Names, frame: usize, point: usize, marker: usize) -> f64 {
        let place = points.place(frame, point);
        let (mut sum, mut count) = (0.0, 0);
        for &j in &self.neighbours[marker] {
            let Some(other) = names[frame][j].filter(|&other| other != point) else { continue };
            let Some(bone) = &self.bones[marker][j] else { continue };
            let off = distance(place, points.place(frame, other)) - bone.mean;
            let outlier = if bone.is_seen { OUTLIER } else { UNKNOWN };
            sum += log_mixture(off, bone.spread, self.width, outlier);
            count += 1;
            if count == NEIGHBOURS {
                break;
            }
        }
        if count > 3 { sum * 3.0 / count as f64 } else { sum }
    }
}

/// log((1 - ε) W N(off; 0, spread) + ε)
pub(super) fn log_density(off: f64, spread: f64, width: f64) -> f64 {
    log_mixture(off, spread, width, OUTLIER)
}

fn log_mixture(off: f64, spread: f64, width: f64, outlier: f64) -> f64 {
    let z = off / spread;
    let density = (-0.5 * z * z).exp() / (spread * std::f64::consts::TAU.sqrt());
    ((1.0 - outlier) * width * density + outlier).ln()
}

fn bone(lengths: &mut [f64], least: f64) -> Option<Bone> {
    let mean = median(lengths)?;
    lengths.iter_mut().for_each(|length| *length = (*length - mean).abs());
    let spread = 1.4826 * median(lengths)?;
    let (n, usual) = (lengths.len() as f64, PRIOR_SPREAD * mean);
    let variance = (n * spread * spread + PRIOR_FRAMES * usual * usual) / (n + PRIOR_FRAMES);
    Some(Bone { mean, spread: (variance + least * least).sqrt(), is_seen: true })
}
