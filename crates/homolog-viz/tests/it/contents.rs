//! What is in the figures: every value in its place, and right and wrong told apart.

use homolog_viz::{
    Bounds, BoundsChart, LossChart, MatchPicture, MatchRow, Measurement, ScenePicture, SceneRow, Series, TimedMethod,
    TradeOffChart, View,
};
use resvg::usvg::roxmltree::{Document, Node};

const BLUE: &str = "#0072b2";
const RED: &str = "#d5202a";

/// The elements with a given tag and attribute value, as lists of numbers.
fn numbers(svg: &str, tag: &str, (attribute, value): (&str, &str), names: &[&str]) -> Vec<Vec<f64>> {
    let document = Document::parse(svg).expect("a document");
    let wanted = |node: &Node<'_, '_>| node.tag_name().name() == tag && node.attribute(attribute) == Some(value);
    let number =
        |node: Node<'_, '_>, name: &str| node.attribute(name).and_then(|text| text.parse().ok()).expect("a number");
    document.descendants().filter(wanted).map(|node| names.iter().map(|name| number(node, name)).collect()).collect()
}

#[test]
fn loss_points_are_where_their_values_say() {
    let values = [(0.0, 0.0), (10.0, 0.1), (20.0, f64::NAN), (30.0, 0.4)];
    let points = values.map(|(x, y)| Measurement { x, y, error: [0.0; 2] }).to_vec();
    let series = vec![Series { name: "linear".to_owned(), points, dashed: false }];
    let svg = LossChart { series, ..LossChart::default() }.to_svg();
    // The first circle is the legend's.
    let drawn = numbers(&svg, "circle", ("class", "marker"), &["cx", "cy"]).split_off(1);
    assert_eq!(drawn.len(), 3);
    let share = |axis: usize| (drawn[1][axis] - drawn[0][axis]) / (drawn[2][axis] - drawn[0][axis]);
    assert!((share(0) - 10.0 / 30.0).abs() < 1e-3 && (share(1) - 0.1 / 0.4).abs() < 1e-3);
    assert!(drawn[2][0] > drawn[0][0] && drawn[2][1] < drawn[0][1]);
}

#[test]
fn times_are_spaced_by_their_ratios() {
    let method = |seconds: f64| TimedMethod { name: "m".to_owned(), seconds, loss: 0.1, ..TimedMethod::default() };
    let methods = vec![method(1e-4), method(1e-2), method(0.0)];
    let svg = TradeOffChart { methods, ..TradeOffChart::default() }.to_svg();
    let first = numbers(&svg, "circle", ("class", "marker"), &["cx"]);
    let second = numbers(&svg, "rect", ("class", "marker"), &["x", "width"]);
    assert_eq!((first.len(), second.len()), (1, 1));
    assert!(svg.contains("100 µs") && svg.contains("10 ms"));
    let ticks = ["100 µs", "10 ms"].map(|label| {
        let document = Document::parse(&svg).unwrap();
        let tick = document.descendants().find(|node| node.text() == Some(label)).unwrap();
        tick.attribute("x").unwrap().parse::<f64>().unwrap()
    });
    assert!((first[0][0] - ticks[0]).abs() < 0.02);
    assert!((second[0][0] + second[0][1] / 2.0 - ticks[1]).abs() < 0.02);
}

/// What a method's markers are drawn with.
fn marker_colours(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).expect("a document");
    let markers = document.descendants().filter(|node| node.attribute("class") == Some("marker"));
    markers.map(|node| node.attribute("fill").expect("a colour").to_owned()).collect()
}

/// A method has one colour in every chart of a report, whichever others the chart shows and in whatever order.
#[test]
fn a_method_has_one_colour_in_all_charts() {
    let colours = ["linear", "linear-learned", "quadratic"].map(str::to_owned).to_vec();
    let point = Measurement { x: 1.0, y: 0.2, error: [0.0; 2] };
    let loss = |names: &[&str]| {
        let series = |name: &&str| Series { name: (*name).to_owned(), points: vec![point], dashed: false };
        LossChart { series: names.iter().map(series).collect(), colours: colours.clone(), ..LossChart::default() }
            .to_svg()
    };
    let trade_off = |names: &[&str]| {
        let method = |(k, name): (usize, &&str)| {
            let seconds = 0.1 * (k + 1) as f64;
            TimedMethod { name: (*name).to_owned(), seconds, loss: 0.2, ..TimedMethod::default() }
        };
        let methods = names.iter().enumerate().map(method).collect();
        TradeOffChart { methods, colours: colours.clone(), ..TradeOffChart::default() }.to_svg()
    };
    let all = loss(&["linear", "linear-learned", "quadratic"]);
    // The legend has a marker for each, and comes first.
    let of = |name: &str| marker_colours(&all)[colours.iter().position(|other| other == name).unwrap()].clone();
    assert_eq!(of("linear"), BLUE);
    assert!(of("linear") != of("linear-learned") && of("linear-learned") != of("quadratic"));
    for names in [&["linear-learned"][..], &["quadratic", "linear"], &["linear-learned", "linear", "quadratic"]] {
        let expected: Vec<String> = names.iter().map(|name| of(name)).collect();
        assert_eq!(marker_colours(&loss(names))[..names.len()], expected, "{names:?}");
        assert_eq!(marker_colours(&trade_off(names)), expected, "{names:?}");
    }
    // One that is not listed takes no colour of another.
    let other = marker_colours(&trade_off(&["other"]));
    assert!(colours.iter().all(|name| of(name) != other[0]), "{other:?}");
}

fn triangle() -> View {
    View { points: vec![[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], edges: vec![(0, 1), (1, 2), (0, 2)], ..View::default() }
}

#[test]
fn right_and_wrong_matches_are_counted_and_coloured() {
    let row = |matching: &[Option<usize>]| MatchRow { caption: String::new(), matching: matching.to_vec() };
    let mut picture = MatchPicture {
        left: triangle(),
        right: triangle(),
        truth: vec![Some(0), Some(1), Some(2)],
        rows: vec![row(&[Some(0), Some(2), Some(1)]), row(&[Some(0), Some(1), None])],
        ..MatchPicture::default()
    };
    let svg = picture.to_svg();
    let ends = ["x1", "y1", "x2", "y2"];
    // One line of each colour belongs to the key.
    assert_eq!(numbers(&svg, "line", ("stroke", BLUE), &ends).len(), 3 + 1);
    assert_eq!(numbers(&svg, "line", ("stroke", RED), &ends).len(), 2 + 1);
    assert!(svg.contains("1 of 3 right") && svg.contains("2 of 3 right"));
    // The unmatched point of the second row is hollow, on both sides, and in the key.
    assert_eq!(numbers(&svg, "circle", ("fill", "none"), &["cx"]).len(), 2 + 1);

    picture.truth.clear();
    let svg = picture.to_svg();
    assert!(!svg.contains("right match") && !svg.contains(" right<"));
    assert_eq!(numbers(&svg, "line", ("stroke", RED), &ends).len(), 0);
}

#[test]
fn the_found_outline_is_red_and_the_true_one_green() {
    let found = vec![Some([1.0, 1.0]), Some([9.0, 1.0]), None];
    let picture = ScenePicture {
        template: triangle(),
        scene: View { edges: Vec::new(), ..triangle() },
        truth: vec![Some([0.0, 0.0]), Some([10.0, 0.0]), Some([0.0, 10.0])],
        rows: vec![SceneRow { caption: "once".to_owned(), found }],
        ..ScenePicture::default()
    };
    let svg = picture.to_svg();
    assert_eq!(numbers(&svg, "line", ("stroke", "#00a878"), &["x1"]).len(), 3 + 1);
    assert_eq!(numbers(&svg, "line", ("stroke", RED), &["x1"]).len(), 1 + 1);
}

#[test]
fn a_closed_gap_is_marked() {
    let step = |x: f64, upper: f64| Bounds { x, upper, lower: 1.0 };
    let open = BoundsChart { steps: vec![step(1.0, 3.0), step(2.0, 1.5)], ..BoundsChart::default() };
    assert!(!open.to_svg().contains("closed at"));
    let closed =
        BoundsChart { steps: vec![step(1.0, f64::INFINITY), step(2.0, 1.5), step(2.5, 1.0)], ..BoundsChart::default() };
    assert!(closed.to_svg().contains("closed at 2.5"));
}
