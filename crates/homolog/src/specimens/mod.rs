//! Many specimens at once: [`join`] gives the points of specimens without labels one consistent naming; [`unlabelled`] improves an atlas by
//! specimens without labels.

pub mod join;
mod rounds;
pub mod unlabelled;
