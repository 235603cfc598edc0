//! A task that learns also from specimens without labels: they are graphs of the data set none of whose points has a name.

use super::{Task, is_named};
use crate::Result;
use crate::data::dataset::{DataSet, NamedGraph};
use crate::graph::Graph;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Task {
    /// The same task with more graphs to learn an atlas from. Names of their points are ignored; an id that is taken gets a number.
    ///
    /// # Errors
    /// As [`DataSet::new`].
    pub fn with_unlabelled(mut self, more: impl IntoIterator<Item = NamedGraph>) -> Result<Self> {
        let mut graphs = self.data.graphs().to_vec();
        let mut taken: BTreeSet<String> = graphs.iter().map(|named| named.id.clone()).collect();
        for named in more {
            let bare = vec![String::new(); named.graph.node_count()];
            let graph = Arc::new(Graph::clone(&named.graph).with_names(bare)?);
            let ids = (1_usize..).map(|at| if at == 1 { named.id.clone() } else { format!("{} ({at})", named.id) });
            let id = ids.into_iter().find(|id| taken.insert(id.clone())).unwrap_or_default();
            graphs.push(NamedGraph { id, graph, ..named });
            self.settings.unlabelled = true;
        }
        self.data = DataSet::new(graphs, self.data.pairs().to_vec())?;
        Ok(self)
    }

    /// The graphs none of whose points has a name.
    pub(super) fn unlabelled(&self) -> Vec<&Graph> {
        let graphs = self.data.graphs().iter().map(|named| &*named.graph);
        graphs.filter(|graph| !is_named(graph)).collect()
    }
}
