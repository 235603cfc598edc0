//! [`Rotation`]: how the left graph may be rotated relative to the right one. Shape contexts and directions change with every rotation, so data
//! that are not all oriented alike are matched by trying rotations of the left points:
//!
//!   best rotation R = argmax over R of max over y of score(y; R · left, right)
//!
//! first over evenly spread rotations (in the plane 15° apart; in space the 60 of an icosahedron, with no rotation more than 45° from one), then
//! from the three best by the rotation that best maps the matched points onto each other (Procrustes), as long as the score rises. The graph as
//! given is tried first and wins ties. If the truth is known, as in training, it determines the rotation.
//!
//! Features that do not depend on rotation, such as lengths and attributes, are not affected. Solves 24 (plane, any) to 60 (space, any) problems
//! and a few more; twice as many with mirror images.

use crate::geometry::Similarity;
use crate::graph::{Graph, Pair};
use crate::matching::{Matching, Solution};
use crate::{Control, Error, Result};
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_4, PI};
use std::sync::Arc;

/// How the left graph may be rotated relative to the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rotation {
    /// How far.
    pub turns: Turns,
    /// Whether mirror images count as the same.
    pub mirror: bool,
}

/// How far a graph may be rotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// Not at all: all data are oriented alike.
    #[default]
    AsGiven,
    /// Up to 45° either way.
    Tilted,
    /// By any angle.
    Any,
}

impl Turns {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AsGiven, Self::Tilted, Self::Any];

    /// The name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AsGiven => "as-given",
            Self::Tilted => "tilted",
            Self::Any => "any",
        }
    }
}

/// A left graph rotated by more than this, in degrees, is rotated too far for features that depend on rotation.
pub(crate) const FAR_TURN: f64 = 30.0;
/// Steps between the rotations tried in the plane.
const STEP: f64 = PI / 12.0;
/// How many of the best rotations are refined, and how often each at most.
const REFINED: usize = 3;
const ROUNDS: usize = 5;

impl Rotation {
    /// Whether no rotations are tried.
    #[must_use]
    pub fn is_as_given(self) -> bool {
        self.turns == Turns::AsGiven && !self.mirror
    }

    /// The pair with its left graph rotated to match best, by the score of what `solve` finds; and that solution. If the control asks to
    /// stop, the best of the rotations tried by then.
    ///
    /// # Errors
    /// Graphs without points, or with points of different dimensions; what `solve` refuses.
    pub fn best(
        self,
        pair: &Pair,
        control: &Control,
        mut solve: impl FnMut(&Pair) -> Result<Solution>,
    ) -> Result<(Pair, Solution)> {
        if self.is_as_given() {
            let solution = solve(pair)?;
            return Ok((pair.clone(), solution));
        }
        let dimension = Self::dimension(pair)?;
        let mut tried = Vec::new();
        for turn in self.candidates(dimension) {
            let turned = turned(pair, &turn)?;
            match solve(&turned) {
                Err(Error::Interrupted) if !tried.is_empty() => break,
                solution => tried.push((turn, turned, solution?)),
            }
            if control.interrupted() {
                break;
            }
        }
        // The sort is stable: "as given" comes first and stays first among equals.
        tried.sort_by(|a, b| b.2.score.total_cmp(&a.2.score));
        tried.truncate(REFINED);
        let mut best: Option<(Pair, Solution)> = None;
        for (mut turn, mut at, mut solution) in tried {
            for _ in 0..ROUNDS {
                if control.interrupted() {
                    break;
                }
                let Some(more) = turn_between(&at, &solution.matching, false)? else { break };
                let next = more.dot(&turn);
                if self.turns == Turns::Tilted && angle(&proper(&next)) > FRAC_PI_4 + STEP / 2.0 {
                    break;
                }
                let next_pair = turned(pair, &next)?;
                let found = match solve(&next_pair) {
                    Err(Error::Interrupted) => break,
                    found => found?,
                };
                if found.score <= solution.score {
                    break;
                }
                (turn, at, solution) = (next, next_pair, found);
            }
            if best.as_ref().is_none_or(|(_, best)| solution.score > best.score) {
                best = Some((at, solution));
            }
        }
        best.ok_or(Error::Missing { what: "rotations", needed_by: "pose" })
    }

    /// The pair with its left graph rotated according to a known matching; unchanged if nothing may be rotated or fewer than three nodes are
    /// matched.
    ///
    /// # Errors
    /// Graphs without points, or with points of different dimensions.
    pub fn known(self, pair: &Pair, truth: &Matching) -> Result<Pair> {
        if self.is_as_given() {
            return Ok(pair.clone());
        }
        Self::dimension(pair)?;
        match turn_between(pair, truth, self.mirror)? {
            Some(turn) => turned(pair, &turn),
            None => Ok(pair.clone()),
        }
    }

    fn dimension(pair: &Pair) -> Result<usize> {
        let (left, right) = (pair.left.need_points("pose")?, pair.right.need_points("pose")?);
        let (expected, found) = (left.ncols(), right.ncols());
        if expected != found {
            return Err(Error::Size { what: "coordinates of a point, for pose", expected, found });
        }
        Ok(expected)
    }

    /// The rotations to try, "as given" first.
    fn candidates(self, dimension: usize) -> Vec<Array2<f64>> {
        let mut turns: Vec<Array2<f64>> = match (self.turns, dimension) {
            (Turns::AsGiven, _) => vec![Array2::eye(dimension)],
            (Turns::Tilted, 2) => [0, 1, -1, 2, -2, 3, -3].map(|step| in_plane(STEP * f64::from(step))).to_vec(),
            (Turns::Any, 2) => (0..24).map(|step| in_plane(STEP * f64::from(step))).collect(),
            (Turns::Tilted, _) => tilts(),
            (Turns::Any, _) => icosahedral(),
        };
        if self.mirror {
            let mut mirror = Array2::eye(dimension);
            mirror[[0, 0]] = -1.0;
            turns.extend(turns.clone().iter().map(|turn| turn.dot(&mirror)));
        }
        turns
    }
}

/// By how many degrees the left graph of a matched pair is rotated relative to the right one; `None` if fewer than three nodes are matched
/// or a graph has no points.
///
/// # Errors
/// Points of different dimensions.
pub fn turn_of(pair: &Pair, matching: &Matching) -> Result<Option<f64>> {
    if pair.left.points().is_none() || pair.right.points().is_none() {
        return Ok(None);
    }
    Ok(turn_between(pair, matching, false)?.map(|turn| angle(&turn).to_degrees()))
}

/// Whether the graphs of a matched pair are oriented alike up to an angle in degrees: as given, their matched points agree nearly as well
/// as when rotated or mirrored in the best way. With means subtracted and R the best rotation, Σ <a, b> is at least cos(angle) of Σ <R a, b>. A
/// thin object rolled about its axis counts as alike, since few points show the roll. So do pairs with fewer than three matched nodes or no points.
///
/// # Errors
/// Points of different dimensions.
pub fn lies_within(angle: f64, pair: &Pair, matching: &Matching) -> Result<bool> {
    if pair.left.points().is_none() || pair.right.points().is_none() {
        return Ok(true);
    }
    let Some(turn) = turn_between(pair, matching, true)? else { return Ok(true) };
    let (from, to): (Vec<usize>, Vec<usize>) = matching.pairs().unzip();
    let centred = |graph: &Graph, nodes: &[usize]| -> Result<Array2<f64>> {
        let points = graph.need_points("pose")?.select(Axis(0), nodes);
        let middle = points.mean_axis(Axis(0));
        Ok(middle.map_or_else(|| points.clone(), |middle| &points - &middle))
    };
    let (left, right) = (centred(&pair.left, &from)?, centred(&pair.right, &to)?);
    let [as_given, turned] = [(&left * &right).sum(), (&left.dot(&turn.t()) * &right).sum()];
    Ok(as_given >= angle.to_radians().cos() * turned)
}

/// The rotation that best maps matched left points onto their partners, after subtracting the mean of each.
fn turn_between(pair: &Pair, matching: &Matching, mirror: bool) -> Result<Option<Array2<f64>>> {
    let (from, to): (Vec<usize>, Vec<usize>) = matching.pairs().unzip();
    if from.len() < 3 {
        return Ok(None);
    }
    let left = pair.left.need_points("pose")?.select(Axis(0), &from);
    let right = pair.right.need_points("pose")?.select(Axis(0), &to);
    Ok(Some(Similarity::fit(left.view(), right.view(), None, mirror)?.rotation))
}

/// The pair with its left points, and the context points they see, rotated about the centre of the left points.
fn turned(pair: &Pair, turn: &Array2<f64>) -> Result<Pair> {
    if *turn == Array2::<f64>::eye(turn.nrows()) {
        return Ok(pair.clone());
    }
    Ok(Pair { left: Arc::new(turned_graph(&pair.left, turn)?), ..pair.clone() })
}

fn turned_graph(graph: &Graph, turn: &Array2<f64>) -> Result<Graph> {
    let points = graph.need_points("pose")?;
    let Some(middle) = points.mean_axis(Axis(0)) else { return Ok(graph.clone()) };
    graph.with_moved_points(|points| (&points - &middle).dot(&turn.t()) + &middle)
}

/// The angle of a rotation: its trace is 2 cos in the plane, 1 + 2 cos in space.
fn angle(rotation: &Array2<f64>) -> f64 {
    let trace = rotation.diag().sum();
    let cosine = if rotation.nrows() == 2 { trace / 2.0 } else { (trace - 1.0) / 2.0 };
    cosine.clamp(-1.0, 1.0).acos()
}

/// A rotation without its reflection.
fn proper(turn: &Array2<f64>) -> Array2<f64> {
    let (d, n) = (turn, turn.nrows());
    let determinant = if n == 2 {
        d[[0, 0]] * d[[1, 1]] - d[[0, 1]] * d[[1, 0]]
    } else {
        let minor = |a: usize, b: usize| d[[1, a]] * d[[2, b]] - d[[1, b]] * d[[2, a]];
        d[[0, 0]] * minor(1, 2) - d[[0, 1]] * minor(0, 2) + d[[0, 2]] * minor(0, 1)
    };
    let mut proper = turn.clone();
    if determinant < 0.0 {
        proper.column_mut(0).mapv_inplace(|x| -x);
    }
    proper
}

fn in_plane(angle: f64) -> Array2<f64> {
    let (sine, cosine) = angle.sin_cos();
    ndarray::array![[cosine, -sine], [sine, cosine]]
}

/// The rotation of a unit quaternion.
fn of_quaternion([w, x, y, z]: [f64; 4]) -> Array2<f64> {
    ndarray::array![
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// The 60 rotations of an icosahedron, the identity first: the 120 icosians, of which q and -q are the same rotation.
fn icosahedral() -> Vec<Array2<f64>> {
    let golden = f64::midpoint(1.0, 5.0_f64.sqrt());
    let mut all = vec![[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let sign = |bits: u8, bit: u8| if bits >> bit & 1 == 1 { -0.5 } else { 0.5 };
    all.extend((0..8).map(|bits| [0.5, sign(bits, 0), sign(bits, 1), sign(bits, 2)]));
    // Even permutations of (golden, 1, 1 / golden, 0) / 2 with all signs.
    let places = [
        [0, 1, 2, 3],
        [0, 2, 3, 1],
        [0, 3, 1, 2],
        [1, 0, 3, 2],
        [1, 2, 0, 3],
        [1, 3, 2, 0],
        [2, 0, 1, 3],
        [2, 1, 3, 0],
        [2, 3, 0, 1],
        [3, 0, 2, 1],
        [3, 1, 0, 2],
        [3, 2, 1, 0],
    ];
    for place in places {
        for bits in 0..8 {
            let parts = [sign(bits, 0) * golden, sign(bits, 1), sign(bits, 2) / golden, 0.0];
            let mut quaternion = [0.0; 4];
            (0..4).for_each(|at| quaternion[place[at]] = parts[at]);
            // One of q and -q: the one whose first nonzero part is positive.
            if quaternion.iter().find(|&&part| part != 0.0).is_some_and(|&part| part > 0.0) {
                all.push(quaternion);
            }
        }
    }
    all.into_iter().map(of_quaternion).collect()
}

/// As given, and 30° about each of the twelve corners of an icosahedron.
fn tilts() -> Vec<Array2<f64>> {
    let golden = f64::midpoint(1.0, 5.0_f64.sqrt());
    let length = golden.hypot(1.0);
    let mut turns = vec![Array2::eye(3)];
    let (sine, cosine) = STEP.sin_cos();
    for (a, b) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
        let (a, b) = (sine * a / length, sine * b / length);
        turns.extend([[cosine, 0.0, a, b], [cosine, a, b, 0.0], [cosine, b, 0.0, a]].map(of_quaternion));
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turns_of_an_icosahedron_are_sixty_and_leave_no_turn_far() {
        let turns = icosahedral();
        assert_eq!(turns.len(), 60);
        for (n, turn) in turns.iter().enumerate() {
            assert!((turn.dot(&turn.t()) - Array2::<f64>::eye(3)).iter().all(|x| x.abs() < 1e-12));
            assert_eq!(proper(turn), *turn);
            // All different: at least 72 degrees apart.
            for other in &turns[..n] {
                assert!(angle(&turn.dot(&other.t())) > 1.2, "{n}");
            }
        }
        for step in 0..2000 {
            let random = |k: u64| ((step * 7919 + k * 104_729) % 1009) as f64 / 504.5 - 1.0;
            let quaternion = [random(1), random(2), random(3), random(4)];
            let length = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 1e-6 {
                let turn = of_quaternion(quaternion.map(|x| x / length));
                let nearest = turns.iter().map(|other| angle(&turn.dot(&other.t()))).fold(f64::INFINITY, f64::min);
                assert!(nearest.to_degrees() < 44.6);
            }
        }
        assert_eq!(tilts().len(), 13);
        assert!(tilts().iter().skip(1).all(|turn| (angle(turn).to_degrees() - 30.0).abs() < 1e-9));
    }
}
