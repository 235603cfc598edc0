//! What the columns of a landmark table mean, from its header and the settings. Linear in the number of columns.

use super::super::table::Row;
use super::super::{malformed, shorten};
use super::{ATTRIBUTE, FORMAT, LandmarkTable};
use crate::{ColumnFault, Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Columns that may name the graph, in upper or lower case.
pub(crate) const GRAPH_COLUMNS: [&str; 5] = ["frame", "image", "specimen", "id", "object"];
/// Columns that may name the node, likewise. With a column `frame` or `image`, `id` or `object` also names the node: a table of tracks.
pub(crate) const LANDMARK_COLUMNS: [&str; 7] = ["landmark", "marker", "keypoint", "bodypart", "point", "node", "name"];

/// So many columns are listed in an error.
const MOST_LISTED: usize = 20;

pub(super) struct Columns {
    pub(super) layout: Layout,
}

pub(super) enum Layout {
    Long(Long),
    Wide(Wide),
}

/// One node per row.
#[derive(Default)]
pub(super) struct Long {
    pub(super) graph: Option<usize>,
    pub(super) landmark: Option<usize>,
    /// x, y and perhaps z; none in a table with only attributes.
    pub(super) coordinates: Vec<usize>,
    pub(super) attributes: Vec<(usize, String)>,
}

/// One graph per row.
pub(super) struct Wide {
    pub(super) graph: Option<usize>,
    /// Each landmark with its two or three columns.
    pub(super) landmarks: Vec<(String, Vec<usize>)>,
}

impl Layout {
    pub(super) fn graph(&self) -> Option<usize> {
        match self {
            Self::Long(long) => long.graph,
            Self::Wide(wide) => wide.graph,
        }
    }
}

/// A header being interpreted.
struct Header<'a> {
    line: usize,
    names: Vec<&'a str>,
    /// The position of each name, as written and in lower case (the first that has it).
    exact: BTreeMap<&'a str, usize>,
    small: BTreeMap<String, usize>,
    /// Columns that already have a meaning.
    taken: BTreeSet<usize>,
}

impl Columns {
    pub(super) fn new(settings: &LandmarkTable, row: &Row) -> Result<Self> {
        let mut header = Header::new(row)?;
        for name in &settings.ignored {
            header.take_named(name)?;
        }
        let mut attributes = Vec::new();
        for name in &settings.attributes {
            // A table that was written by this library has them under their full names.
            let full = format!("{ATTRIBUTE}{name}");
            let is_there = |column: &str| header.exact.contains_key(column);
            let column = if !is_there(name) && is_there(&full) { &full } else { name };
            attributes.push((header.take_named(column)?, name.clone()));
        }
        for (at, name) in header.names.iter().enumerate() {
            let attribute = name.strip_prefix(ATTRIBUTE).filter(|_| header.taken.insert(at));
            attributes.extend(attribute.map(|attribute| (at, attribute.to_string())));
        }
        let mut graph = settings.graph.as_ref().map(|name| header.take_named(name)).transpose()?;
        let mut landmark = settings.landmark.as_ref().map(|name| header.take_named(name)).transpose()?;
        let coordinates: Vec<usize> = ["x", "y", "z"].into_iter().filter_map(|name| header.take_usual(name)).collect();
        let [has_x, has_y] = ["x", "y"].map(|name| header.small.get(name).is_some_and(|at| coordinates.contains(at)));
        if coordinates.is_empty() {
            let landmarks = header.wide_landmarks();
            if !landmarks.is_empty() {
                return Self::wide(header, graph, landmarks, &attributes);
            }
        }
        if landmark.is_none() {
            landmark = LANDMARK_COLUMNS.into_iter().find_map(|name| header.take_usual(name));
        }
        if graph.is_none() {
            let (guessed, second) = header.guess_graph(landmark.is_none())?;
            graph = guessed;
            landmark = landmark.or(second);
        }
        if coordinates.is_empty() && attributes.is_empty() {
            return header.refuse(ColumnFault::Nothing { columns: header.list() });
        }
        let complete = has_x && has_y;
        if !(coordinates.is_empty() || complete) {
            let column = if has_x { "y" } else { "x" }.to_string();
            return header.refuse(ColumnFault::Absent { column, columns: header.list() });
        }
        header.refuse_unknown()?;
        Ok(Self { layout: Layout::Long(Long { graph, landmark, coordinates, attributes }) })
    }

    fn wide(
        mut header: Header<'_>,
        graph: Option<usize>,
        landmarks: Vec<(String, Vec<usize>)>,
        attributes: &[(usize, String)],
    ) -> Result<Self> {
        if let Some((_, name)) = attributes.first() {
            return header.refuse(ColumnFault::OfNoLandmark { column: name.clone() });
        }
        header.taken.extend(landmarks.iter().flat_map(|(_, columns)| columns));
        let mut graph = graph;
        if graph.is_none() {
            graph = header.guess_graph(false)?.0;
        }
        // The first column usually says what the row is about, whatever it is called.
        if graph.is_none() && header.taken.insert(0) {
            graph = Some(0);
        }
        header.refuse_unknown()?;
        Ok(Self { layout: Layout::Wide(Wide { graph, landmarks }) })
    }
}

impl<'a> Header<'a> {
    fn new(row: &'a Row) -> Result<Self> {
        let names: Vec<&str> = row.fields.iter().collect();
        let (mut exact, mut small) = (BTreeMap::new(), BTreeMap::new());
        for (at, &name) in names.iter().enumerate() {
            if name.is_empty() {
                return malformed(FORMAT, row.line, format!("column {} has no name", at + 1));
            }
            if exact.insert(name, at).is_some() {
                return malformed(FORMAT, row.line, format!("duplicate column {:?}", shorten(name)));
            }
            small.entry(name.to_ascii_lowercase()).or_insert(at);
        }
        Ok(Self { line: row.line, names, exact, small, taken: BTreeSet::new() })
    }

    fn refuse<T>(&self, fault: ColumnFault) -> Result<T> {
        Err(Error::Columns { format: FORMAT, line: self.line, fault })
    }

    /// The first names, each short enough for a message.
    fn list(&self) -> Vec<String> {
        self.names.iter().take(MOST_LISTED).map(|name| shorten(name)).collect()
    }

    /// A column that the settings name, exactly as written.
    fn take_named(&mut self, name: &str) -> Result<usize> {
        let Some(&at) = self.exact.get(name) else {
            return self.refuse(ColumnFault::Absent { column: name.to_string(), columns: self.list() });
        };
        if !self.taken.insert(at) {
            return self.refuse(ColumnFault::Twice { column: name.to_string() });
        }
        Ok(at)
    }

    /// A column by its usual name, in upper or lower case, if it exists and has no other meaning.
    fn take_usual(&mut self, name: &str) -> Option<usize> {
        let at = *self.small.get(name)?;
        self.taken.insert(at).then_some(at)
    }

    /// The column that names the graph, and the one that names the node if `tracks` and it is a table of tracks.
    fn guess_graph(&mut self, tracks: bool) -> Result<(Option<usize>, Option<usize>)> {
        let free = |name: &&str| self.small.get(*name).is_some_and(|at| !self.taken.contains(at));
        let found: Vec<&str> = GRAPH_COLUMNS.into_iter().filter(free).collect();
        match found[..] {
            [] => Ok((None, None)),
            [graph] => Ok((self.take_usual(graph), None)),
            [graph @ ("frame" | "image"), node @ ("id" | "object")] if tracks => {
                Ok((self.take_usual(graph), self.take_usual(node)))
            }
            _ => {
                // As the header has them.
                let column = |name: &str| self.small.get(name).map(|&at| self.names[at].to_string());
                self.refuse(ColumnFault::Ambiguous { columns: found.into_iter().filter_map(column).collect() })
            }
        }
    }

    fn refuse_unknown(&self) -> Result<()> {
        let Some(at) = (0..self.names.len()).find(|at| !self.taken.contains(at)) else { return Ok(()) };
        let name = self.names[at].to_lowercase();
        let mut known = GRAPH_COLUMNS.into_iter().chain(LANDMARK_COLUMNS);
        let meant = known.find(|known| !self.small.contains_key(*known) && is_one_slip(&name, known));
        self.refuse(ColumnFault::Unknown { column: shorten(self.names[at]), meant })
    }

    /// Landmarks with their own two or three columns: nose_x and nose_y, X1 and Y1.
    fn wide_landmarks(&self) -> Vec<(String, Vec<usize>)> {
        let mut order: Vec<String> = Vec::new();
        let mut columns: BTreeMap<String, [Option<usize>; 3]> = BTreeMap::new();
        for (at, name) in self.names.iter().enumerate().filter(|(at, _)| !self.taken.contains(at)) {
            let Some((landmark, axis)) = landmark_and_axis(name) else { continue };
            columns.entry(landmark.to_string()).or_insert_with(|| {
                order.push(landmark.to_string());
                [None; 3]
            })[axis] = Some(at);
        }
        let spatial = columns.values().any(|axes| axes[2].is_some());
        let complete = |landmark: String| {
            let axes = columns.get(&landmark)?;
            let found: Vec<usize> = axes.iter().take(if spatial { 3 } else { 2 }).copied().collect::<Option<_>>()?;
            Some((landmark, found))
        };
        order.into_iter().filter_map(complete).collect()
    }
}

/// nose_x, nose.x, "nose x", x_nose, X1: the landmark and 0, 1 or 2 for x, y or z.
fn landmark_and_axis(name: &str) -> Option<(&str, usize)> {
    let axis_of = |letter: char| "xyz".find(letter.to_ascii_lowercase());
    let is_separator = |letter: char| "_.- :".contains(letter);
    let (first, last) = (name.chars().next()?, name.chars().next_back()?);
    let stem = &name[..name.len() - last.len_utf8()];
    if let (Some(axis), true) = (axis_of(last), stem.ends_with(is_separator)) {
        let stem = &stem[..stem.len() - 1];
        return (!stem.is_empty()).then_some((stem, axis));
    }
    let (axis, rest) = (axis_of(first)?, &name[first.len_utf8()..]);
    let named = rest.strip_prefix(is_separator).filter(|rest| !rest.is_empty());
    let numbered = Some(rest).filter(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    named.or(numbered).map(|landmark| (landmark, axis))
}

/// Whether a word becomes the other if one letter is added, left out or changed, or two neighbours change places.
fn is_one_slip(one: &str, other: &str) -> bool {
    let [one, other]: [Vec<char>; 2] = [one, other].map(|word| word.chars().collect());
    let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let [one, other] = [&one[start..], &other[start..]];
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let [one, other] = [&one[..one.len() - end], &other[..other.len() - end]];
    let exchanged = one.len() == 2 && other.len() == 2 && one[0] == other[1] && one[1] == other[0];
    exchanged || one.len().max(other.len()) <= 1
}

#[cfg(test)]
mod tests {
    use super::{is_one_slip, landmark_and_axis};

    #[test]
    fn a_column_names_its_landmark_and_axis() {
        for (name, expected) in [
            ("nose_x", Some(("nose", 0))),
            ("left ear.Y", Some(("left ear", 1))),
            ("x_nose", Some(("nose", 0))),
            ("Z12", Some(("12", 2))),
            ("nose tip z", Some(("nose tip", 2))),
            ("x", None),
            ("_x", None),
            ("xylem", None),
            ("matrix", None),
            ("ß_x", Some(("ß", 0))),
            ("", None),
        ] {
            assert_eq!(landmark_and_axis(name), expected, "{name}");
        }
    }
    #[test]
    fn one_slip_of_the_pen_is_one_letter_or_two_neighbours() {
        for word in ["specimn", "specimens", "spceimen", "specimem", "specimen"] {
            assert!(is_one_slip(word, "specimen"), "{word}");
        }
        for word in ["species", "specim", "pecimens", "sepcimne", ""] {
            assert!(!is_one_slip(word, "specimen"), "{word}");
        }
    }
}
