//! The compiled part of the Python package `homolog`: converts, calls the library, converts back. What a user sees is in `python/homolog`.

mod arrays;
mod atlas;
mod data;
mod errors;
mod graph;
mod join;
mod linear;
mod model;
mod pair_features;
mod pictures;
mod problem;
mod proof;
mod run;
mod shards;
mod sparse;
mod specimens;
mod tracks;
mod train;

/// The module `homolog._core`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    /// The version of the workspace: it is stated nowhere else.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "its name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::atlas::{explain_naming, name_points, name_take, train_atlas};
    #[pymodule_export]
    use crate::data::DataSet;
    #[pymodule_export]
    use crate::errors::MatchError;
    #[pymodule_export]
    use crate::graph::Graph;
    #[pymodule_export]
    use crate::join::join_specimens;
    #[pymodule_export]
    use crate::linear::{linear_sum_assignment, linear_sum_assignment_batch};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::pair_features::{PairFeatures, box_features, mahalanobis};
    #[pymodule_export]
    use crate::pictures::find_points;
    #[pymodule_export]
    use crate::problem::{Problem, Solution};
    #[pymodule_export]
    use crate::proof::{k_best, proof_in_words, verify};
    #[pymodule_export]
    use crate::shards::{ShardRun, answer_order, cut};
    #[pymodule_export]
    use crate::sparse::{Listed, solve_points};
    #[pymodule_export]
    use crate::specimens::check_specimens;
    #[pymodule_export]
    use crate::tracks::{read_track_table, read_tracks, tracks};
    #[pymodule_export]
    use crate::train::{Trained, run_task, train};
}
