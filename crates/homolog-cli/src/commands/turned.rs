//! A word where a model that takes graphs as given is shown graphs that look turned.

use crate::progress::note;
use anyhow::Result;
use homolog::Control;
use homolog::graph::Pair;
use homolog::model::Model;

/// Trying turns of pairs with no more cells than this takes no time that anybody would notice; fewer where edges count.
const QUICK_CELLS: usize = 40_000;
const QUICK_CELLS_WITH_EDGES: usize = 2_500;

/// Says on standard error that a pair matches better turned, where it does and the model does not try.
pub(super) fn note_for(model: &Model, pair: &Pair, control: &Control) -> Result<()> {
    let quick = if model.features.edge.is_empty() { QUICK_CELLS } else { QUICK_CELLS_WITH_EDGES };
    let is_quick = pair.left.node_count() * pair.right.node_count() <= quick;
    if model.atlas().is_some() || !model.features.sees_turns() || !is_quick || !pair.given.is_empty() {
        return Ok(());
    }
    if let Some(turn) = model.better_turn(pair, control)? {
        note(&format!(
            "the left graph matches better turned by {turn:.0}°; a model trained with --pose any turns graphs"
        ));
    }
    Ok(())
}
