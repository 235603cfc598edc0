//! [`near_costs`]: points that are near each other, as the list of pairs that may be matched. With points a_i and b_k,
//!
//!   cost_ik = |a_i - b_k|,  or its square,
//!
//! for near pairs only; all others are forbidden. Time and memory are those of the near pairs.

use crate::Result;
use crate::geometry::{Near, near_pairs};
use crate::matching::{Sense, Sparse};
use ndarray::ArrayView2;

/// The problem of matching points to near points at the least total distance, or square of it. As many left points as possible are matched, unless
/// [`Sparse::with_unmatched`] gives a price.
///
/// # Errors
/// Points that are not finite, or of different dimensions; a gate below 0.
///
/// ```
/// use homolog::features::near_costs;
/// use homolog::geometry::Near;
/// use homolog::matching::{Linear, Matcher};
/// use ndarray::array;
/// let (a, b) = (array![[0.0, 0.0], [5.0, 5.0], [9.0, 0.0]], array![[5.0, 4.0], [0.0, 1.0]]);
/// let problem = near_costs(a.view(), b.view(), Near { within: 2.0, nearest: None }, false)?;
/// let solution = Linear::default().solve(&problem)?;
/// assert_eq!(solution.matching.left_to_right(), [Some(1), Some(0), None]);
/// assert_eq!(solution.score, -2.0);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn near_costs(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>, near: Near, squared: bool) -> Result<Sparse> {
    let mut pairs = near_pairs(left, right, near)?;
    if squared {
        for (.., distance) in &mut pairs {
            *distance *= *distance;
        }
    }
    Sparse::from_pairs(left.nrows(), right.nrows(), pairs, Sense::Minimize)
}
