//! How certain each pair of a matching is: how much the total score falls if the pair is forbidden, and where its left node goes then.
//!
//! One problem is solved for each matched pair, on all cores: n times the cost of one answer.

use super::{Compatibility, Matcher, Solution, Status, Workspace};
use crate::{Control, Result};
use rayon::prelude::*;

/// What happens without a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// The left node of the pair.
    pub left: usize,
    /// How much less the best matching without the pair scores; infinite where no such matching matches as many nodes as it must.
    pub margin: f64,
    /// Where the left node goes then; `None`: it stays unmatched.
    pub runner_up: Option<usize>,
    /// Whether both matchings are proven optimal, which makes the margin exact.
    pub proven: bool,
}

/// The margins of all matched pairs of a solution, in order of left node.
///
/// # Errors
/// As the matcher.
///
/// ```
/// use homolog::Control;
/// use homolog::matching::{Compatibility, Linear, Matcher, Workspace, margins};
/// let problem = Compatibility::linear(ndarray::array![[5.0, 3.0, 0.0], [4.0, 1.0, 0.0]]);
/// let solution = Linear::default().solve(&problem, &mut Workspace::new())?;
/// let margins = margins(&problem, &solution, &Linear::default(), &Control::new())?;
/// // 3 + 4; without the first pair 5 + 1, without the second 5 + 1 as well.
/// assert_eq!(margins.iter().map(|margin| margin.margin).collect::<Vec<_>>(), [1.0, 1.0]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn margins(
    problem: &Compatibility,
    solution: &Solution,
    matcher: &dyn Matcher,
    control: &Control,
) -> Result<Vec<Margin>> {
    let must = |left: usize| problem.unmatched_score(left) == f64::NEG_INFINITY;
    let size = |solution: &Solution| solution.matching.pairs().filter(|&(left, _)| must(left)).count();
    let pairs: Vec<(usize, usize)> = solution.matching.pairs().collect();
    let margin = |work: &mut Workspace, (left, right): (usize, usize)| -> Result<Margin> {
        let mut without = problem.clone();
        without.node[[left, right]] = f64::NEG_INFINITY;
        let other = matcher.solve(&without, work)?;
        let comparable = size(&other) == size(solution);
        Ok(Margin {
            left,
            margin: if comparable { solution.score - other.score } else { f64::INFINITY },
            runner_up: other.matching.right_of(left),
            proven: solution.status == Status::Optimal && other.status == Status::Optimal,
        })
    };
    pairs.into_par_iter().map_init(|| Workspace::with_control(control), margin).collect()
}
