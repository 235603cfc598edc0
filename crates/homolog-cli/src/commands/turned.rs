//! A note if a model that takes graphs as given is shown graphs that look rotated.

use crate::progress::{is_quiet, is_verbose, note};
use anyhow::Result;
use homolog::Control;
use homolog::matching::Workspace;
use homolog::model::{Matched, Model, Prepared};

/// Trying rotations of pairs with no more cells than this takes no time that anybody would notice.
const QUICK_CELLS: usize = 2_500;

/// Says on standard error that a pair matches better rotated, if it does and the model does not try. Large pairs are tried with --verbose
/// only.
pub(super) fn note_for(model: &Model, graphs: [&Prepared; 2], matched: &Matched<'_>, control: &Control) -> Result<()> {
    let cells: usize = graphs.iter().map(|graph| graph.graph().node_count()).product();
    if is_quiet() || !is_verbose() && cells > QUICK_CELLS {
        return Ok(());
    }
    let mut work = Workspace::with_control(control);
    if let Some(turn) = model.better_rotation(graphs, matched, &mut work)? {
        note(&format!(
            "the left graph matches better rotated by {turn:.0}°; a model trained with --pose any rotates graphs"
        ));
    }
    Ok(())
}
