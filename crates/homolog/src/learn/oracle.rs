//! [`Oracle`]: what answers the question for the most violated constraint in training.

use crate::matching::LpRelaxation;
use serde::{Deserialize, Serialize};

/// Where the planes of training come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Oracle {
    /// The matcher that training is given. What it learns is proven only where the matcher proves its answers.
    #[default]
    Search,
    /// The linear relaxation: soft matchings in place of matchings. The risk is then an upper bound on the mean slack, and objective
    /// and bound are proven of it whatever the graphs. Training then asks the matcher nothing. `gap` and `tolerance` hold for the
    /// first evaluation; later ones are as precise as the gap between objective and bound needs.
    Relaxation(LpRelaxation),
}
