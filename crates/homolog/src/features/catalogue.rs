//! [`catalogue`]: everything a feature map can be made of, with a line and an example for each. The program's list of features and
//! `docs/features.md` are generated from it, so neither can omit anything.

use super::{
    Comparison, Descriptor, Difference, EdgeAttributes, EdgeKind, EdgeProduct, EdgeRanks, FeatureMap, FeatureSet,
    ImageDescriptor, ImagePoints, NodeAttributes, Scale, Turns,
};
use crate::geometry::{Complete, Delaunay, EdgeRule, Nearest, Within};
use serde::Serialize;

/// A chapter: entries of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chapter {
    /// What they are.
    pub title: &'static str,
    /// Where they go in the settings.
    pub about: &'static str,
    /// The entries.
    pub entries: Vec<Entry>,
}

/// One building block of a feature map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its name in settings.
    pub name: String,
    /// What it is and when to use it, in one line.
    pub help: &'static str,
    /// How it is written, with all its settings.
    pub example: String,
}

/// All chapters.
#[must_use]
pub fn catalogue() -> Vec<Chapter> {
    vec![
        sets(),
        descriptors(),
        comparisons(),
        pair_features(),
        edge_features(),
        differences(),
        edge_rules(),
        scales(),
        poses(),
    ]
}

/// As in a settings file. Everything here can be serialised, so the default is never used.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn columns() -> Vec<String> {
    vec!["size".to_string(), "colour".to_string()]
}

fn sets() -> Chapter {
    let entry = |set: FeatureSet| Entry {
        name: set.name().to_string(),
        help: set.help(),
        example: format!("--features {}", set.name()),
    };
    Chapter {
        title: "Sets",
        about: "By name; made for the data: attributes that all graphs have are used, except by the paper's. Without --features, train tries \
                those that fit; --features atlas learns to name landmarks instead.",
        entries: FeatureSet::ALL.into_iter().map(entry).collect(),
    }
}

fn descriptors() -> Chapter {
    let help = |descriptor: &Descriptor| match descriptor {
        Descriptor::ShapeContext(_) => {
            "how a point sees the others, in a grid of sectors and rings; softness 0 is the paper's"
        }
        Descriptor::Position(_) => "the coordinates themselves, for specimens that are already aligned",
        Descriptor::Attributes(_) => "the node's own numbers, by name",
        Descriptor::Image(_) => {
            "what a picture shows around the point: brightness (patch) or which way it changes (gradients)"
        }
    };
    let own = |descriptor: Descriptor| match descriptor {
        Descriptor::Attributes(_) => Descriptor::Attributes(NodeAttributes { columns: columns() }),
        other => other,
    };
    let images = ImageDescriptor::all().into_iter().map(|of| Descriptor::Image(ImagePoints { of }));
    let all = Descriptor::all().into_iter().map(own);
    let entry = |descriptor: Descriptor| Entry {
        name: descriptor.name().to_string(),
        help: help(&descriptor),
        example: format!("{{\"descriptor\":{}}}", json(&descriptor)),
    };
    Chapter {
        title: "Node descriptors",
        about: "In \"node\": numbers that describe each node, compared between the graphs.",
        entries: all.chain(images).map(entry).collect(),
    }
}

fn comparisons() -> Chapter {
    let entry = |comparison: Comparison| {
        let (name, help) = match comparison {
            Comparison::NegativeSquare(_) => ("negative-square", "-(a - b)² for each number: learns best"),
            Comparison::Decay(_) => ("decay", "exp(-((a - b) / width)²) for each number: forgiving to outliers"),
            Comparison::WholeDecay(_) => {
                ("whole-decay", "exp(-(|a - b| / width)²), one feature: matching without learning")
            }
            Comparison::InnerProduct(_) => {
                ("inner-product", "the sum of a b, one feature: for numbers made to be multiplied")
            }
        };
        Entry { name: name.to_string(), help, example: format!("\"comparison\":{}", json(&comparison)) }
    };
    Chapter {
        title: "Comparisons",
        about: "Beside a descriptor: how the numbers of two nodes become features. Widths are in spreads of the numbers.",
        entries: Comparison::all().into_iter().map(entry).collect(),
    }
}

fn pair_features() -> Chapter {
    let example = vec!["iou".to_string(), "cosine".to_string()];
    Chapter {
        title: "Features of pairs",
        about: "In \"pair\": numbers that come with every pair of graphs, one per pair of nodes. A small number means alike, unless the training \
                pairs show the opposite.",
        entries: vec![Entry {
            name: "pair".to_string(),
            help: "by name: overlaps, distances, likenesses",
            example: format!("\"pair\":{}", json(&example)),
        }],
    }
}

fn edge_features() -> Chapter {
    let help = |kind: &EdgeKind| match kind {
        EdgeKind::Adjacency(_) => "1 if both edges exist: the paper's",
        EdgeKind::Lengths(_) => "how far the lengths of two edges agree",
        EdgeKind::Directions(_) => "how far their directions agree, for small rotations; form cosine or negative-angle",
        EdgeKind::Attributes(_) => "how far the edges' own numbers agree, by name",
        EdgeKind::Product(_) => "the sum of products of the edges' own numbers: for numbers made to be multiplied",
        EdgeKind::Ranks(_) => "the product of ranks of the edges' own numbers: for weights, whatever their unit",
    };
    let own = |kind: EdgeKind| match kind {
        EdgeKind::Attributes(own) => {
            EdgeKind::Attributes(EdgeAttributes { columns: vec!["weight".to_string()], ..own })
        }
        EdgeKind::Product(_) => EdgeKind::Product(EdgeProduct { columns: vec!["weight".to_string()] }),
        EdgeKind::Ranks(_) => EdgeKind::Ranks(EdgeRanks { columns: vec!["weight".to_string()] }),
        other => other,
    };
    let entry = |kind: EdgeKind| Entry { name: kind.name().to_string(), help: help(&kind), example: json(&kind) };
    Chapter {
        title: "Edge features",
        about: "In \"edge\": what is compared if two edges are matched. Without edge features the problem is linear.",
        entries: EdgeKind::all().into_iter().map(own).map(entry).collect(),
    }
}

fn differences() -> Chapter {
    let entry = |difference: Difference| {
        let (name, help) = match difference {
            Difference::NegativeSquare => ("negative-square", "-(a - b)²; quick"),
            Difference::NegativeAbsolute => ("negative-absolute", "-|a - b|: forgiving to outliers; slower"),
            Difference::Decay { .. } => ("decay", "exp(-((a - b) / width)²): edges that agree are a gain; slower"),
            Difference::Product => {
                ("product", "a b: flows and distances, as in Koopmans and Beckmann's problem; quick")
            }
        };
        Entry { name: name.to_string(), help, example: format!("\"difference\":{}", json(&difference)) }
    };
    let all = [
        Difference::NegativeSquare,
        Difference::NegativeAbsolute,
        Difference::Decay { width: 0.15 },
        Difference::Product,
    ];
    Chapter {
        title: "Differences",
        about: "In edge features of lengths and attributes: how two numbers are compared.",
        entries: all.map(entry).to_vec(),
    }
}

fn edge_rules() -> Chapter {
    let entry = |rule: EdgeRule| {
        let (name, help) = match rule {
            EdgeRule::Delaunay(_) => ("delaunay", "the Delaunay triangulation; points in the plane"),
            EdgeRule::Nearest(_) => ("nearest", "each point to its nearest; in the plane and in space"),
            EdgeRule::Within(_) => ("within", "all pairs at most so far apart, in the unit of the points"),
            EdgeRule::Complete(_) => ("complete", "all pairs"),
        };
        Entry { name: name.to_string(), help, example: format!("\"edge_rule\":{}", json(&rule)) }
    };
    let all = [
        EdgeRule::Delaunay(Delaunay {}),
        EdgeRule::Nearest(Nearest::default()),
        EdgeRule::Within(Within { radius: 50.0 }),
        EdgeRule::Complete(Complete {}),
    ];
    Chapter {
        title: "Edge rules",
        about: "In \"edge_rule\": which edges are drawn between the points; without one the graphs' own edges count.",
        entries: all.map(entry).to_vec(),
    }
}

fn scales() -> Chapter {
    let entry = |(name, help, scale): (&str, &'static str, Scale)| Entry {
        name: name.to_string(),
        help,
        example: format!("\"scale\":{}", json(&scale)),
    };
    let all = [
        ("by-spread", "in units of their spread in the training pairs, which the model file keeps", Scale::BySpread),
        ("as-is", "as they are: the paper's", Scale::AsIs),
    ];
    Chapter {
        title: "Scales",
        about: "In \"scale\": the unit in which numbers are compared.",
        entries: all.map(entry).to_vec(),
    }
}

fn poses() -> Chapter {
    let entry = |turns: Turns| {
        let help = match turns {
            Turns::AsGiven => "no rotation: all graphs are oriented alike",
            Turns::Tilted => "rotated by up to 45° either way",
            Turns::Any => "any rotation",
        };
        let example = format!("\"pose\":{{\"turns\":{},\"mirror\":false}}", json(&turns));
        Entry { name: turns.name().to_string(), help, example }
    };
    Chapter {
        title: "Poses",
        about: "In \"pose\": allowed rotation between graphs; every match searches for the best one.",
        entries: Turns::ALL.map(entry).to_vec(),
    }
}

impl FeatureMap {
    /// The image descriptors among the features, in order: what a program has to compute from the pictures
    /// ([`describe_points`](super::describe_points)) and give to the graphs as node attributes.
    #[must_use]
    pub fn image_descriptors(&self) -> Vec<ImageDescriptor> {
        let image = |descriptor: &Descriptor| match descriptor {
            Descriptor::Image(image) => Some(image.of),
            _ => None,
        };
        self.node.iter().filter_map(|feature| image(&feature.descriptor)).collect()
    }
}
