//! Text about nodes as numbers: an attribute "kind" with the texts "city" and "town" becomes the columns "kind=city" and "kind=town", 1 for
//! the nodes that have the text and 0 for all others.
//!
//! Another graph may have other texts: a column "kind=port" that it lacks is 0 for all of its nodes, as long as it has any column "kind=...".

use super::Attributes;
use crate::Result;
use ndarray::Array2;
use std::collections::{BTreeMap, BTreeSet};

/// More different texts than this are names, not kinds.
pub(crate) const MOST_LEVELS: usize = 64;

/// What became of the text of nodes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Levels {
    /// A column per text, in their order.
    Columns(Attributes),
    /// They are left out: this many different ones, of as many nodes that have any.
    TooMany(usize, usize),
    /// No node has any.
    Nothing,
}

impl Levels {
    /// Of an attribute, one text per node; an empty one counts as none. All different ones are left out, too: they are names.
    pub(crate) fn of(name: &str, texts: &[impl AsRef<str>]) -> Result<Self> {
        let own = || texts.iter().map(|text| text.as_ref().trim());
        let levels: BTreeSet<&str> = own().filter(|text| !text.is_empty()).collect();
        let known = own().filter(|text| !text.is_empty()).count();
        if levels.is_empty() {
            return Ok(Self::Nothing);
        }
        if levels.len() > MOST_LEVELS || (levels.len() == known && known > 2) {
            return Ok(Self::TooMany(levels.len(), known));
        }
        let place: BTreeMap<&str, usize> = levels.iter().enumerate().map(|(at, &level)| (level, at)).collect();
        let mut values = Array2::zeros((texts.len(), levels.len()));
        own().enumerate().for_each(|(node, text)| {
            if let Some(&at) = place.get(text) {
                values[[node, at]] = 1.0;
            }
        });
        Ok(Self::Columns(Attributes::new(levels.iter().map(|level| format!("{name}={level}")).collect(), values)?))
    }
}

/// The attribute that a column says one text of, with the equals sign: "kind=" for "kind=city".
pub(crate) fn text_attribute(column: &str) -> Option<&str> {
    column.find('=').filter(|&at| at > 0).map(|at| &column[..=at])
}

/// How many attributes these columns are about: each text attribute is one.
pub(crate) fn count_attributes(columns: &[String]) -> usize {
    let texts: BTreeSet<&str> = columns.iter().filter_map(|column| text_attribute(column)).collect();
    columns.iter().filter(|column| text_attribute(column).is_none()).count() + texts.len()
}

/// Keeps those of the columns in common that a further graph also has, and adds its texts of attributes that both have.
pub(crate) fn keep_common(common: &mut Vec<String>, own: &[String]) {
    let texts = |names: &[String]| -> BTreeSet<String> {
        names.iter().filter_map(|name| text_attribute(name)).map(str::to_string).collect()
    };
    let shared: BTreeSet<String> = texts(common).intersection(&texts(own)).cloned().collect();
    let is_shared = |name: &String| text_attribute(name).is_some_and(|attribute| shared.contains(attribute));
    common.retain(|name| own.contains(name) || is_shared(name));
    let more: Vec<String> = own.iter().filter(|name| is_shared(name) && !common.contains(name)).cloned().collect();
    common.extend(more);
}

/// The columns to compare, and those of text attributes with too many different texts in all graphs together.
pub(crate) fn without_names(columns: &[String]) -> (Vec<String>, Vec<String>) {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    columns
        .iter()
        .filter_map(|name| text_attribute(name))
        .for_each(|attribute| *count.entry(attribute).or_default() += 1);
    let is_fine = |name: &&String| text_attribute(name).is_none_or(|attribute| count[attribute] <= MOST_LEVELS);
    columns.iter().cloned().partition(|name| is_fine(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn texts_become_columns_unless_they_are_names() {
        let Levels::Columns(found) = Levels::of("kind", &["town", "city", "", "town"]).unwrap() else { panic!("few") };
        assert_eq!(found.names(), ["kind=city", "kind=town"]);
        assert_eq!(found.values(), ndarray::array![[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]);
        assert_eq!(Levels::of("name", &["a", "b", "c"]).unwrap(), Levels::TooMany(3, 3));
        assert_eq!(Levels::of("name", &["", " "]).unwrap(), Levels::Nothing);
        let many: Vec<String> = (0..200).map(|at| (at % 65).to_string()).collect();
        assert_eq!(Levels::of("kind", &many).unwrap(), Levels::TooMany(65, 200));
        assert!(matches!(Levels::of("kind", &[&many[..64], &many[..64]].concat()).unwrap(), Levels::Columns(_)));
    }

    #[test]
    fn graphs_with_other_texts_have_them_in_common() {
        let mut common = columns(&["size", "kind=a", "kind=b", "state=x"]);
        keep_common(&mut common, &columns(&["kind=b", "kind=c", "size", "colour=x"]));
        assert_eq!(common, ["size", "kind=a", "kind=b", "kind=c"]);
        assert_eq!(count_attributes(&common), 2);
        let many: Vec<String> = (0..65).map(|at| format!("kind={at}")).chain(columns(&["size", "=", "of=1"])).collect();
        let (used, left_out) = without_names(&many);
        assert_eq!((used, left_out.len()), (columns(&["size", "=", "of=1"]), 65));
    }
}
