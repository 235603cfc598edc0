//! Groups of weights that belong together: the sectors of one ring of a shape context, or the numbers of a position or of an image descriptor.
//! An attribute, a kind of edge and the price for staying unmatched each form a group of their own.

use super::{Comparison, Descriptor, FeatureMap};

/// The groups of the weights of a feature map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WeightGroups {
    /// The group of each weight, numbered from 0 in the order of the weights.
    pub(crate) of: Vec<usize>,
    /// Whether each weight is that of a squared difference of nodes.
    pub(crate) squares: Vec<bool>,
    /// Whether each weight is that of the squared difference of one attribute.
    pub(crate) columns: Vec<bool>,
}

impl FeatureMap {
    /// Which weights belong together, and which are those of squared differences of nodes.
    pub(crate) fn weight_groups(&self) -> WeightGroups {
        let of_nodes = |is: fn(&Descriptor) -> bool| {
            let node = self.node.iter().flat_map(|feature| {
                let is_square = matches!(feature.comparison, Comparison::NegativeSquare(_));
                std::iter::repeat_n(is_square && is(&feature.descriptor), feature.feature_count())
            });
            let mut weights: Vec<bool> = node.collect();
            weights.resize(self.dim(), false);
            weights
        };
        let columns = of_nodes(|descriptor| matches!(descriptor, Descriptor::Attributes(_)));
        WeightGroups { of: self.groups(), squares: of_nodes(|_| true), columns }
    }

    fn groups(&self) -> Vec<usize> {
        let (mut groups, mut next) = (Vec::with_capacity(self.dim()), 0);
        for feature in &self.node {
            let count = feature.feature_count();
            let together = match &feature.descriptor {
                Descriptor::Attributes(_) => 1,
                Descriptor::ShapeContext(context) => context.angular_bins.max(1),
                _ => count.max(1),
            };
            groups.extend((0..count).map(|number| next + number / together));
            next += count.div_ceil(together);
        }
        groups.extend(next..next + self.dim() - groups.len());
        groups
    }
}

#[cfg(test)]
mod tests {
    use crate::features::FeatureMap;
    use crate::graph::{Attributes, Graph};
    use ndarray::Array2;

    #[test]
    fn rings_attributes_and_kinds_of_edges_are_groups() {
        let points = Array2::from_shape_fn((5, 2), |(row, column)| (row * row + 3 * column) as f64);
        let numbers = Attributes::numbered(Array2::zeros((5, 2))).unwrap();
        let graph = Graph::from_points(points).unwrap().with_node_attributes(numbers).unwrap();
        let map = FeatureMap { unmatched: true, ..FeatureMap::named("quadratic", [&graph]).unwrap() };
        let super::WeightGroups { of: groups, squares, columns } = map.weight_groups();
        assert_eq!(groups.len(), map.dim());
        assert!(squares[..62].iter().all(|&is_square| is_square) && !squares[62..].contains(&true));
        assert!((0..map.dim()).all(|weight| columns[weight] == (weight == 60 || weight == 61)));
        assert_eq!(&groups[..60], (0..60).map(|bin| bin / 12).collect::<Vec<_>>());
        // Two attributes, three kinds of edges, the price.
        assert_eq!(&groups[60..], &[5, 6, 7, 8, 9, 10]);
    }
}
