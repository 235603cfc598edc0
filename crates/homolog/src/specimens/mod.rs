//! Many specimens at once: [`check`](check::check) lists what looks wrong in labelled ones.

pub mod check;
