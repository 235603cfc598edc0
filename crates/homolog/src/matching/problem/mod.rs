//! The problem that every matcher solves, and what it answers.

mod compatibility;
mod differences;
mod edge_gradient;
mod edge_list;
mod edge_term;
mod edges_kept;
mod form;
mod mapping;
mod precise;
mod reorder;
mod restrictions;
mod right_prices;
mod sense;
mod solution;
mod verify;

pub use compatibility::Compatibility;
pub use edge_list::EdgeList;
pub use edge_term::EdgeTerm;
pub use edges_kept::EdgesKept;
pub use form::{Form, Problem};
pub use mapping::{Constraint, Matching};
pub use reorder::RightOrder;
pub use restrictions::Restrictions;
pub use sense::Sense;
pub use solution::{Certificate, Shortage, Solution, Status};
pub use verify::verify;

pub(crate) use compatibility::MAX_CELLS;
pub(super) use compatibility::check_cells;
pub(super) use differences::{Differences, PART};
pub(super) use edge_gradient::GradientBuffers;
pub(super) use form::score_of;
pub(super) use precise::{Precise, is_sum_positive, two_sum};
pub(super) use right_prices::FoldedPrices;
pub(super) use verify::{ByRow, Proof};
