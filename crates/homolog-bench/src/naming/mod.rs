//! How far naming by an atlas can be trusted: which points it names in specimens with missing and foreign points (`presence`), and how often
//! its lists of names hold the true one (`coverage`).

pub(crate) mod coverage;
mod fit;
pub(crate) mod presence;
mod sets;
