//! A data set's text as serde reads and writes it: a graph, a pair, a reference to a node. Nothing here has been checked to fit together.

use super::shape::{Capped, Columns, Number, Points};
use super::{MAX_EDGES, MAX_LISTED_PAIRS, MAX_NODES};
use crate::data::Split;
use crate::matching::Constraint;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The head that says what a file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Format {
    pub(super) kind: String,
    pub(super) version: u32,
}

/// A graph as it is written.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphRecord {
    pub(super) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) nodes: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) points: Option<Points>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) names: Option<Capped<String, MAX_NODES>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attributes: Option<Columns>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) context: Option<Points>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) edges: Option<Capped<[NodeRef; 2], MAX_EDGES>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) directed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) edge_attributes: Option<Columns>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) image: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) image_size: Option<[Number; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<Number>,
}

/// A pair as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairRecord {
    pub(super) left: String,
    pub(super) right: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) matches: Option<Matches>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) constraint: Option<Constraint>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unknown: Vec<NodeRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) seeds: Vec<[NodeRef; 2]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) forbidden: Vec<[NodeRef; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) features: Option<PairFeaturesRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) split: Option<Split>,
}

/// Features of pairs as they are written: a list of pairs of nodes, or all of them row by row, and a number for each in every column.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairFeaturesRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pairs: Option<Capped<[NodeRef; 2], MAX_LISTED_PAIRS>>,
    pub(super) columns: Columns,
}

/// The matches of a pair, if they are written.
#[derive(Debug)]
pub(super) enum Matches {
    /// Not known, although the graphs may share names.
    Unknown,
    /// Left node, right node; a left node without a right one is unmatched.
    Listed(Vec<(NodeRef, Option<NodeRef>)>),
}

/// A node, by its number or its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeRef {
    Index(usize),
    Name(String),
}

impl<'de> Deserialize<'de> for NodeRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;
        impl Visitor<'_> for NodeVisitor {
            type Value = NodeRef;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the number of a node, from 0, or its name")
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<NodeRef, E> {
                usize::try_from(value)
                    .map(NodeRef::Index)
                    .map_err(|_| E::custom(format_args!("there is no node {value}")))
            }
            fn visit_str<E>(self, value: &str) -> Result<NodeRef, E> {
                Ok(NodeRef::Name(value.to_string()))
            }
        }
        deserializer.deserialize_any(NodeVisitor)
    }
}

impl Serialize for NodeRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Index(index) => index.serialize(serializer),
            Self::Name(name) => name.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Matches {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MatchesVisitor;
        impl<'de> Visitor<'de> for MatchesVisitor {
            type Value = Matches;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of [left, right], or \"unknown\"")
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Matches, E> {
                if value == "unknown" {
                    return Ok(Matches::Unknown);
                }
                Err(E::invalid_value(serde::de::Unexpected::Str(value), &self))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Matches, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = seq.next_element()? {
                    list.push(element);
                }
                Ok(Matches::Listed(list))
            }
        }
        deserializer.deserialize_any(MatchesVisitor)
    }
}

impl Serialize for Matches {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unknown => serializer.serialize_str("unknown"),
            Self::Listed(list) => list.serialize(serializer),
        }
    }
}
