//! Any number of pairs, matched in order on all cores; answers are handed over as they come, and the memory does not grow with their number.

use super::{Matched, Model, Prepared};
use crate::graph::{Graph, Pair};
use crate::matching::{Restrictions, Workspace};
use crate::{Control, Error};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// So many pairs of nodes are matched before any answer is handed over, or one pair of graphs per thread if edges count: enough to keep all cores
/// busy, little enough to wait for.
const CELLS: usize = 1 << 18;

/// Two graphs of a list, by position.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairOf {
    /// The left graph.
    pub left: usize,
    /// The right graph.
    pub right: usize,
    /// Seeds and forbidden pairs.
    pub given: Restrictions,
}

impl PairOf {
    /// Two graphs without seeds or forbidden pairs.
    #[must_use]
    pub fn new(left: usize, right: usize) -> Self {
        Self { left, right, given: Restrictions::default() }
    }

    /// The graphs of some pairs, each once (the same `Arc` is the same graph), and where in that list each pair's are.
    #[must_use]
    pub fn list(pairs: &[Pair]) -> (Vec<Arc<Graph>>, Vec<Self>) {
        let (mut graphs, mut places) = (Vec::new(), BTreeMap::new());
        let mut place = |graph: &Arc<Graph>| {
            *places.entry(Arc::as_ptr(graph)).or_insert_with(|| {
                graphs.push(Arc::clone(graph));
                graphs.len() - 1
            })
        };
        let of = |pair: &Pair| Self { left: place(&pair.left), right: place(&pair.right), given: pair.given.clone() };
        let list = pairs.iter().map(of).collect();
        (graphs, list)
    }
}

impl Model {
    /// Matches pairs of prepared graphs on all cores: `make` turns each match into an answer there, and `take` gets the answers in the order of
    /// the pairs, until it says stop or the control does. `each` gives the control of one pair, such as its time limit. The answers do not
    /// depend on the number of threads. How many were taken.
    ///
    /// # Errors
    /// Graphs that do not exist; as [`Self::match_prepared`], `make` and `take`. What came before the error has been taken.
    pub fn match_all<T: Send, E: From<Error> + Send>(
        &self,
        graphs: &[Prepared],
        pairs: impl IntoIterator<Item = PairOf>,
        (control, each): (&Control, &(dyn Fn() -> Control + Sync)),
        make: impl Fn(&PairOf, Matched<'_>) -> std::result::Result<T, E> + Sync,
        mut take: impl FnMut(T) -> std::result::Result<ControlFlow<()>, E>,
    ) -> std::result::Result<usize, E> {
        let of = |index: usize| {
            graphs.get(index).ok_or(Error::OutOfRange { what: "graphs of a pair", index, count: graphs.len() })
        };
        let one = |work: &mut Workspace, pair: &PairOf| -> std::result::Result<Option<T>, E> {
            if control.interrupted() {
                return Ok(None);
            }
            work.set_control(&each());
            let matched = self.match_prepared(of(pair.left)?, of(pair.right)?, &pair.given, work)?;
            let answer = make(pair, matched)?;
            // What was interrupted is not the answer that it would have been.
            Ok((!control.interrupted()).then_some(answer))
        };
        let (mut pairs, mut taken) = (pairs.into_iter(), 0);
        let threads = rayon::current_num_threads();
        let largest = graphs.iter().map(|graph| graph.graph().node_count()).max().unwrap_or(0).max(1);
        let size = if self.features.edge.is_empty() { CELLS / (largest * largest) } else { 0 }.clamp(threads, 256.max(threads));
        let mut chunk: Vec<PairOf> = Vec::with_capacity(size);
        loop {
            chunk.clear();
            chunk.extend(pairs.by_ref().take(size));
            if chunk.is_empty() {
                return Ok(taken);
            }
            let answers: Vec<_> =
                chunk.par_iter().map_init(Workspace::new, one).collect();
            for answer in answers {
                let Some(answer) = answer? else { return Ok(taken) };
                taken += 1;
                if take(answer)?.is_break() {
                    return Ok(taken);
                }
            }
        }
    }
}
