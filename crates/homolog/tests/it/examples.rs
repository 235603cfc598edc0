//! The examples run, and what they assert holds.

#[path = "../../examples/certified_quadratic.rs"]
mod certified_quadratic;
#[path = "../../examples/cost_matrix.rs"]
mod cost_matrix;
#[path = "../../examples/own_attributes.rs"]
mod own_attributes;
#[path = "../../examples/own_points.rs"]
mod own_points;
