//! Many specimens at once: [`check`](check::check) lists what looks wrong in labelled ones; [`join`] gives the points of specimens without labels one
//! consistent naming; [`unlabelled`] improves an atlas by specimens without labels.

pub mod check;
mod gate;
pub mod join;
mod rounds;
mod takes;
mod told;
pub mod unlabelled;
