//! Any number of pairs, matched in order on all cores; answers are handed over as they come, and the memory does not grow with their number.

use super::{Matched, Model, Prepared};
use crate::graph::{Graph, Pair, PairFeatures};
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
    /// Features of pairs.
    pub features: Option<Arc<PairFeatures>>,
}

impl PairOf {
    /// Two graphs without seeds or forbidden pairs.
    #[must_use]
    pub fn new(left: usize, right: usize) -> Self {
        Self { left, right, ..Self::default() }
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
        let of = |pair: &Pair| {
            let (given, features) = (pair.given.clone(), pair.features.clone());
            Self { left: place(&pair.left), right: place(&pair.right), given, features }
        };
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
        take: impl FnMut(T) -> std::result::Result<ControlFlow<()>, E>,
    ) -> std::result::Result<usize, E> {
        let of = |index: usize| {
            graphs.get(index).ok_or(Error::OutOfRange { what: "graphs of a pair", index, count: graphs.len() })
        };
        let one = |work: &mut Workspace, pair: &PairOf| -> std::result::Result<Option<T>, E> {
            if control.interrupted() {
                return Ok(None);
            }
            work.set_control(&each());
            let matched = self.match_prepared(of(pair.left)?, of(pair.right)?, pair, work)?;
            let answer = make(pair, matched)?;
            // What was interrupted is not the answer that it would have been.
            Ok((!control.interrupted()).then_some(answer))
        };
        let threads = rayon::current_num_threads();
        let largest = graphs.iter().map(|graph| graph.graph().node_count()).max().unwrap_or(0).max(1);
        let size = if self.features.edge.is_empty() { CELLS / (largest * largest) } else { 0 }
            .clamp(threads, 256.max(threads));
        in_order(pairs, size, Workspace::new, one, take)
    }
}

/// Does one thing for every item, `size` items at a time on all cores, and hands the results over in the order of the items: until one has
/// none, or `take` says stop. How many were taken.
///
/// # Errors
/// As `one` and `take`. What came before the error has been taken.
pub fn in_order<I: Send + Sync, W, T: Send, E: Send>(
    items: impl IntoIterator<Item = I>,
    size: usize,
    start: impl Fn() -> W + Sync + Send,
    one: impl Fn(&mut W, &I) -> std::result::Result<Option<T>, E> + Sync + Send,
    mut take: impl FnMut(T) -> std::result::Result<ControlFlow<()>, E>,
) -> std::result::Result<usize, E> {
    let (mut items, mut taken) = (items.into_iter(), 0);
    let mut chunk: Vec<I> = Vec::with_capacity(size);
    loop {
        chunk.clear();
        chunk.extend(items.by_ref().take(size.max(1)));
        if chunk.is_empty() {
            return Ok(taken);
        }
        let answers: Vec<_> = chunk.par_iter().map_init(&start, &one).collect();
        for answer in answers {
            let Some(answer) = answer? else { return Ok(taken) };
            taken += 1;
            if take(answer)?.is_break() {
                return Ok(taken);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{COUNTS, FeatureMap};
    use crate::labelling::{LabelledPart, review};
    use crate::matching::{Linear, Method};
    use ndarray::Array2;

    fn graphs(count: usize) -> Vec<Arc<Graph>> {
        let points =
            |seed: usize| Array2::from_shape_fn((6, 2), |(i, axis)| ((7 * i + 3 * axis + seed * i * i) % 11) as f64);
        (0..count).map(|seed| Arc::new(Graph::from_points(points(seed)).unwrap())).collect()
    }

    fn model() -> Model {
        Model::unlearned(FeatureMap::paper_linear(), Method::Linear(Linear::default())).unwrap()
    }

    /// Described and built by what `work` does, all on one thread.
    fn counted(work: impl FnOnce() + Send) -> [usize; 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| {
            COUNTS.set([0; 2]);
            work();
            COUNTS.get()
        })
    }

    #[test]
    fn sixty_six_pairs_of_twelve_graphs_describe_twelve_graphs() {
        let (graphs, model) = (graphs(12), model());
        let each = (0..12).flat_map(|left| (left + 1..12).map(move |right| (left, right)));
        let pairs: Vec<Pair> =
            each.clone().map(|(left, right)| Pair::new(graphs[left].clone(), graphs[right].clone())).collect();
        let mut scores = Vec::new();
        let counts = counted(|| {
            let (graphs, places) = PairOf::list(&pairs);
            let prepared = model.prepare(&graphs, &Control::new()).unwrap();
            let make = |_: &PairOf, matched: Matched<'_>| Ok::<_, Error>(matched.solution.score);
            let take = |score: f64| {
                scores.push(score);
                Ok(ControlFlow::Continue(()))
            };
            let controls: (&Control, &(dyn Fn() -> Control + Sync)) = (&Control::new(), &Control::new);
            assert_eq!(model.match_all(&prepared, places, controls, make, take), Ok(66));
        });
        assert_eq!(counts, [12, 66]);
        let alone: Vec<f64> = pairs.iter().map(|pair| model.solve(pair).unwrap().score).collect();
        assert_eq!(scores, alone);
        let parts: Vec<LabelledPart> = each.map(|(left, right)| LabelledPart { left, right, known: vec![] }).collect();
        assert_eq!(
            counted(|| drop(
                review(&model, &model.prepare(&graphs, &Control::new()).unwrap(), &parts, &Control::new()).unwrap()
            )),
            [12, 66]
        );
    }

    #[test]
    fn a_match_with_margins_and_reasons_builds_one_problem() {
        let (graphs, model) = (graphs(2), model());
        let pair = Pair::new(graphs[0].clone(), graphs[1].clone());
        let counts = counted(|| {
            let matched = model.match_pair(&pair, &mut Workspace::new()).unwrap();
            assert_eq!(matched.shares().unwrap().len(), 6);
            assert_eq!(matched.margins(&Control::new()).unwrap().len(), 6);
            assert_eq!(matched.explain(&Control::new()).unwrap().matches.len(), 6);
        });
        assert_eq!(counts, [2, 1]);
    }

    #[test]
    fn answers_come_in_order_and_end_when_told() {
        let (graphs, model) = (graphs(5), model());
        let prepared = model.prepare(&graphs, &Control::new()).unwrap();
        let pairs = || (0..1000).map(|at| PairOf::new(at % 5, (at + 1) % 5));
        let of = |threads: usize, most: usize| {
            let mut taken = Vec::new();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let make = |of: &PairOf, matched: Matched<'_>| Ok::<_, Error>((of.left, matched.solution.score));
            let count = pool.install(|| {
                let take = |answer| {
                    taken.push(answer);
                    Ok(if taken.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                };
                model.match_all(&prepared, pairs(), (&Control::new(), &Control::new), make, take)
            });
            assert_eq!(count, Ok(taken.len()));
            taken
        };
        let all = of(1, usize::MAX);
        assert_eq!(all.len(), 1000);
        assert!(all.iter().enumerate().all(|(at, (left, _))| *left == at % 5));
        assert_eq!(of(3, usize::MAX), all);
        assert_eq!(of(2, 300), all[..300]);
    }
}
