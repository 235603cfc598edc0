//! Feature maps as settings: files, names of weights, and what is refused with which words.

use crate::made;

use homolog::Error;
use homolog::features::{Descriptor, EdgeKind, FeatureMap, Scale};
use homolog::graph::Graph;
use homolog::matching::{Constraint, Matching};
use made::{feature_map, graph, instance, rng};
use ndarray::{Array2, array};
use std::sync::Arc;

#[test]
fn feature_maps_survive_a_settings_file() {
    for seed in 0..100 {
        let map = feature_map(&mut rng(4000 + seed));
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<FeatureMap>(&text).unwrap(), map, "{text}");
        let names = map.names();
        assert_eq!(names.len(), map.dim());
        assert_eq!(map.unlearned_weights().len(), map.dim());
        if map.scale == Scale::AsIs {
            assert_eq!(map.unlearned_weights(), vec![1.0; map.dim()]);
        }
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len(), "{names:?}");
    }
    for (descriptor, name) in Descriptor::all().iter().map(|d| (serde_json::to_value(d).unwrap(), d.name())) {
        assert_eq!(descriptor["name"], name);
    }
    for (kind, name) in EdgeKind::all().iter().map(|k| (serde_json::to_value(k).unwrap(), k.name())) {
        assert_eq!(kind["name"], name);
    }
    // What a person writes: only what differs from the defaults.
    let short = r#"{"node":[{"descriptor":{"name":"shape-context","softness":0}}],"edge_rule":{"name":"delaunay"},"edge":[{"name":"adjacency"}],"scale":"as-is"}"#;
    assert_eq!(serde_json::from_str::<FeatureMap>(short).unwrap(), FeatureMap::paper_quadratic());
    for wrong in [
        r#"{"nodes":[]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","bins":3}}]}"#,
        r#"{"node":[{"descriptor":{"name":"no such"}}]}"#,
        r#"{"edge":[{"name":"adjacency","x":1}]}"#,
        r#"{"edge":[{"name":"lengths","difference":{"decay":{"width":1,"x":2}}}]}"#,
        r#"{"edge":[{"name":"lengths","difference":"no such"}]}"#,
        r#"{"edge_rule":{"name":"within"}}"#,
        r#"{"edge_rule":{"name":"delaunay","x":1}}"#,
    ] {
        assert!(serde_json::from_str::<FeatureMap>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn weights_have_names_in_their_order() {
    let mut map = FeatureMap { unmatched: true, ..FeatureMap::paper_quadratic() };
    let names = map.names();
    assert_eq!(names.len(), 62);
    assert_eq!(
        [&names[0], &names[13], &names[60], &names[61]],
        ["shape-context r0 a0", "shape-context r1 a1", "adjacency", "unmatched"]
    );
    map.node.push(map.node[0].clone());
    assert_eq!(map.names()[60], "shape-context r0 a0 #2");
}

#[test]
fn mistakes_are_named() {
    let bare = Graph::new(3);
    let space = Graph::from_points(Array2::zeros((3, 3))).unwrap();
    let plane = Graph::from_points(array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).unwrap();
    let map = FeatureMap::paper_linear();
    let missing = Error::Missing { what: "points", needed_by: "shape context" };
    assert_eq!(map.describe(&bare).unwrap_err(), missing);
    let what = "coordinates of a point, for shape context";
    assert_eq!(map.describe(&space).unwrap_err(), Error::Size { what, expected: 2, found: 3 });
    let attributes: FeatureMap =
        serde_json::from_str(r#"{"node":[{"descriptor":{"name":"attributes","columns":["size"]}}]}"#).unwrap();
    assert!(matches!(attributes.describe(&plane).unwrap_err(), Error::Missing { .. }));
    let with = plane.clone().with_node_attributes(homolog::graph::Attributes::numbered(Array2::zeros((3, 1))).unwrap());
    let unknown = Error::NoAttribute { what: "node attribute", name: "size".to_string() };
    assert_eq!(attributes.describe(&with.unwrap()).unwrap_err(), unknown);

    let described = Arc::new(map.describe(&plane).unwrap());
    let other = FeatureMap::paper_quadratic();
    assert_eq!(other.instance(&described, &described).unwrap_err(), Error::OtherFeatures { side: "left" });
    let x = map.instance(&described, &described).unwrap();
    assert!(matches!(x.compatibility(&[1.0]).unwrap_err(), Error::Size { what: "weights", expected: 60, found: 1 }));
    let mut w = map.unlearned_weights();
    w[7] = f64::NAN;
    assert!(matches!(x.compatibility(&w).unwrap_err(), Error::BadEntry { what: "weights", index: 7, .. }));
    let small = Matching::empty(2, 3);
    assert!(matches!(x.joint_features(&small).unwrap_err(), Error::Size { expected: 3, found: 2, .. }));

    for wrong in [
        r#"{"node":[{"descriptor":{"name":"shape-context","angular_bins":0}}]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","angular_bins":99999999999}}]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","radii":[]}}]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","radii":[1,1]}}]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","softness":-1}}]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","softness":1e9}}]}"#,
        r#"{"node":[{"descriptor":{"name":"shape-context","dimension":4}}]}"#,
        r#"{"node":[{"descriptor":{"name":"position","dimension":4}}]}"#,
        r#"{"node":[{"descriptor":{"name":"attributes"}}]}"#,
        r#"{"node":[{"descriptor":{"name":"position"},"comparison":{"name":"decay","width":0}}]}"#,
        r#"{"edge":[{"name":"directions","dimension":1}]}"#,
        r#"{"edge":[{"name":"attributes"}]}"#,
        r#"{"edge":[{"name":"lengths","difference":{"decay":{"width":-1}}}]}"#,
        r#"{"edge_rule":{"name":"within","radius":-1}}"#,
    ] {
        let map: FeatureMap = serde_json::from_str(wrong).unwrap();
        assert!(matches!(map.describe(&plane).unwrap_err(), Error::BadSetting { .. }), "{wrong}");
    }
}

#[test]
fn an_unmatched_price_is_a_weight() {
    let rng = &mut rng(10);
    let map = FeatureMap { unmatched: true, ..FeatureMap::paper_linear() };
    let x = instance(&map, &graph(rng, 4), &graph(rng, 5));
    let mut w = map.unlearned_weights();
    w[60] = 2.5;
    assert_eq!(x.compatibility(&w).unwrap().unmatched.unwrap(), array![-2.5, -2.5, -2.5, -2.5]);
    let y = Matching::new(vec![None, Some(1), None, None], 5, Constraint::OneToOne).unwrap();
    assert_eq!(x.joint_features(&y).unwrap()[60], -3.0);
}
