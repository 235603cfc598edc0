//! Landmark tables, with a header: one landmark per row, or one specimen per row.
//!
//! ```text
//! frame,landmark,x,y          specimen,nose_x,nose_y,chin_x,chin_y
//! 1,nose,208.7,341.1          anna,208.7,341.1,154.1,257.5
//! ```
//!
//! The columns may be in any order. One of frame, image, specimen, id and object says which graph a row belongs to; without it the whole table is one
//! graph. One of landmark, marker, keypoint, bodypart, point, node and name names the node; without it the nodes have no names, and where it
//! is empty the node is unnamed. `z` makes the points spatial. A column
//! `attribute:NAME`, or one that the settings name, is a node attribute; a table may have only attributes. Other columns are refused
//! unless the settings ignore them: a typing mistake in a header should not lose data. A landmark whose coordinates are all missing
//! (empty, NA, NaN) was not seen: it is not a node of that graph.
//!
//! Graphs and nodes keep the order of their first appearance. A table has no edges, context points or pictures; those are not written.

mod columns;
mod rows;
mod write;

pub(super) use write::write;

use super::dataset::NamedGraph;
use super::{malformed, table};
use crate::Result;
use columns::{Columns, Layout};
use serde::{Deserialize, Serialize};

const FORMAT: &str = "landmark table";
/// Precedes the name of an attribute that would be read as something else.
const ATTRIBUTE: &str = "attribute:";

/// What the columns of a table mean. The default recognises the usual names, in upper or lower case.
///
/// ```
/// use homolog::data::landmarks::LandmarkTable;
/// let graphs = LandmarkTable::default().read("frame,landmark,x,y\n7,nose,1,2\n7,chin,3,4\n8,chin,5,6\n", "faces")?;
/// assert_eq!((graphs[0].id.as_str(), graphs[1].id.as_str()), ("7", "8"));
/// assert_eq!(graphs[0].graph.names().unwrap(), ["nose", "chin"]);
/// let wide = LandmarkTable::default().read("specimen,nose_x,nose_y,chin_x,chin_y\n7,1,2,3,4\n8,NA,NA,5,6\n", "faces")?;
/// assert_eq!(wide, graphs);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LandmarkTable {
    /// The column that names the graph; `None` means frame, image, specimen, id or object, if there is one.
    pub graph: Option<String>,
    /// The column that names the node; `None` means landmark, marker, keypoint, bodypart, point, node or name, if there is one.
    pub landmark: Option<String>,
    /// Columns that become node attributes.
    pub attributes: Vec<String>,
    /// Columns to ignore.
    pub ignored: Vec<String>,
}

/// How the columns of a table were interpreted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Understood {
    /// The column that names the graph.
    pub graph: Option<String>,
    /// The column that names the node.
    pub landmark: Option<String>,
    /// Whether a row is a whole specimen, with two or three columns for each landmark.
    pub wide: bool,
}

impl LandmarkTable {
    /// Reads the graphs of a table. A table that does not say which graph its rows belong to is one graph with this id.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed) with the line and the reason: a column missing, unknown or repeated; a
    /// coordinate that is not a finite number; a landmark that is in a graph twice.
    pub fn read(&self, text: &str, id: &str) -> Result<Vec<NamedGraph>> {
        let mut rows = table::rows(FORMAT, text)?;
        let Some(header) = rows.next().transpose()? else { return malformed(FORMAT, 1, "there is no header") };
        match Columns::new(self, &header)?.layout {
            Layout::Long(long) => rows::read_long(&long, rows, id),
            Layout::Wide(wide) => rows::read_wide(&wide, rows),
        }
    }

    /// How the columns of a table are interpreted: worth telling the user when it is a guess.
    ///
    /// # Errors
    /// A header that is refused.
    pub fn understand(&self, text: &str) -> Result<Understood> {
        let Some(header) = table::rows(FORMAT, text)?.next().transpose()? else {
            return malformed(FORMAT, 1, "there is no header");
        };
        let columns = Columns::new(self, &header)?;
        let name = |at: usize| header.fields[at].to_string();
        let landmark = match &columns.layout {
            Layout::Long(long) => long.landmark.map(name),
            Layout::Wide(_) => None,
        };
        let wide = matches!(columns.layout, Layout::Wide(_));
        Ok(Understood { graph: columns.layout.graph().map(name), landmark, wide })
    }
}
