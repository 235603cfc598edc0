//! Laws for all figures: whatever the numbers and the text, a document that reads back, that draws, and whose error bars are inside.

use homolog_viz::{
    Bounds, BoundsChart, GreyPicture, LossChart, MatchPicture, MatchRow, Measurement, ScenePicture, SceneRow, Series,
    TimedMethod, TradeOffChart, View, WeightsChart, svg_to_png,
};
use proptest::prelude::*;
use resvg::usvg::roxmltree::{Document, Node};

/// Every figure, built from the given numbers in every role, with the text wherever there is one.
fn figures(values: &[f64], text: &str) -> Vec<(&'static str, String)> {
    let value = |k: usize| if values.is_empty() { 0.0 } else { values[k % values.len()] };
    let name = || text.to_owned();
    let count = values.len();
    let points: Vec<Measurement> =
        (0..count).map(|k| Measurement { x: value(k), y: value(k + 1), error: [value(k + 2), value(k + 4)] }).collect();
    let places: Vec<[f64; 2]> = (0..count).map(|k| [value(k), value(k + 1)]).collect();
    let picture = GreyPicture { width: 4, height: 3, pixels: (0..12).collect() };
    let view = |picture: Option<GreyPicture>| View {
        caption: name(),
        points: places.clone(),
        edges: vec![(0, 1), (1, 2), (7, 99)],
        picture,
        names: vec![name(), name(), String::new(), name()],
        depths: (0..count).map(value).collect(),
        is_list: false,
    };
    let steps = (0..count).map(|k| Bounds { x: value(k), upper: value(k + 1), lower: value(k + 2) }).collect();
    let method = |k: usize| TimedMethod {
        name: name(),
        seconds: value(k),
        seconds_error: value(k + 1),
        loss: value(k + 2),
        loss_error: [value(k + 3), value(k + 4)],
    };
    let rows = vec![MatchRow { caption: name(), matching: vec![Some(1), None, Some(0), Some(1000)] }];
    let series = vec![Series { name: name(), points, dashed: true }, Series::default()];
    let ticked = vec![(value(0), name()), (value(1), name())];
    let bounds =
        BoundsChart { title: name(), x_label: name(), y_label: name(), upper_name: name(), lower_name: name(), steps };
    let trade_off = TradeOffChart { title: name(), x_label: name(), y_label: name(), ..TradeOffChart::default() };
    let loss = LossChart {
        title: name(),
        x_label: name(),
        y_label: name(),
        x_ticks: Vec::new(),
        series,
        ..LossChart::default()
    };
    let found = places.iter().map(|&place| Some(place)).chain([None]).collect::<Vec<_>>();
    let scene_rows = vec![SceneRow { caption: name(), found: found.clone() }, SceneRow::default()];
    vec![
        ("loss", loss.to_svg()),
        ("loss with ticks", LossChart { x_ticks: ticked, ..loss }.to_svg()),
        ("trade-off", TradeOffChart { methods: (0..count).map(method).collect(), ..trade_off }.to_svg()),
        ("bounds", bounds.to_svg()),
        (
            "weights",
            WeightsChart {
                title: name(),
                shape_context: (0..60).map(value).collect(),
                nodes: vec![(name(), value(1))],
                edges: vec![(name(), value(0))],
                ..WeightsChart::default()
            }
            .to_svg(),
        ),
        (
            "few weights",
            WeightsChart { title: name(), shape_context: values.to_vec(), ..WeightsChart::default() }.to_svg(),
        ),
        (
            "match",
            MatchPicture {
                title: name(),
                left: view(None),
                right: view(None),
                truth: vec![Some(1), Some(2)],
                rows: rows.clone(),
            }
            .to_svg(),
        ),
        (
            "match on pictures",
            MatchPicture {
                title: name(),
                left: view(Some(picture.clone())),
                right: view(None),
                truth: Vec::new(),
                rows,
            }
            .to_svg(),
        ),
        (
            "scene",
            ScenePicture {
                title: name(),
                template: view(None),
                scene: view(Some(picture)),
                truth: found,
                rows: scene_rows,
            }
            .to_svg(),
        ),
    ]
}

/// Every coordinate is a plain number.
fn check_numbers(what: &str, document: &Document<'_>) {
    for node in document.descendants().filter(Node::is_element) {
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            if ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "font-size"].contains(&name) {
                assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{what}: {name}={value}");
            }
            if ["points", "d", "transform"].contains(&name) {
                assert!(!value.contains("NaN") && !value.contains("inf"), "{what}: {name}={value}");
            }
        }
    }
}

const ODD: [&[f64]; 12] = [
    &[],
    &[0.0],
    &[0.3],
    &[f64::NAN],
    &[f64::INFINITY, f64::NEG_INFINITY, 1.0],
    &[0.5, 0.5, 0.5],
    &[-1.0, -2.0, -3.0],
    &[1e-320, 5e-324],
    &[f64::MAX, f64::MIN, 0.0],
    &[1e300, 1e-300, 1.0],
    &[1e16, 1e16 + 2.0],
    &[0.1, f64::NAN, 0.2, 0.4, f64::INFINITY, 0.3],
];

#[test]
fn odd_numbers_give_a_document_that_reads_back_and_draws() {
    for values in ODD {
        for (what, svg) in figures(values, "name") {
            let document = Document::parse(&svg).unwrap_or_else(|error| panic!("{what} of {values:?}: {error}"));
            check_numbers(what, &document);
            svg_to_png(&svg, 0.2).unwrap_or_else(|error| panic!("{what} of {values:?}: {error}"));
        }
    }
}

#[test]
fn a_figure_without_data_says_so() {
    for (what, svg) in figures(&[], "") {
        if ["loss", "trade-off", "bounds"].contains(&what) {
            assert!(svg.contains("no data"), "{what}");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let values = [0.1, 0.7, 0.3, 2.0, 0.01];
    assert_eq!(figures(&values, "a"), figures(&values, "a"));
    let png = |(_, svg): &(&str, String)| svg_to_png(svg, 0.5).unwrap();
    assert_eq!(
        figures(&values, "a").iter().map(png).collect::<Vec<_>>(),
        figures(&values, "a").iter().map(png).collect::<Vec<_>>()
    );
}

#[test]
fn a_png_has_the_size_that_the_svg_says() {
    for (what, svg) in figures(&[0.1, 0.2], "a") {
        let document = Document::parse(&svg).unwrap();
        let side = |name: &str| document.root_element().attribute(name).unwrap().parse::<f64>().unwrap();
        let png = svg_to_png(&svg, 2.0).unwrap();
        let written = |at: usize| f64::from(u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]));
        for (name, at) in [("width", 16), ("height", 20)] {
            assert!((written(at) - 2.0 * side(name)).abs() <= 0.5 + 1e-6, "{what}");
        }
    }
}

/// Ends of all error bars, and the plot areas they may be in (left, top, right, bottom).
fn bars_and_plots(svg: &str) -> (Vec<[f64; 4]>, Vec<[f64; 4]>) {
    let document = Document::parse(svg).expect("a document");
    let number = |node: Node<'_, '_>, name: &str| {
        node.attribute(name).and_then(|text| text.parse::<f64>().ok()).expect("a number")
    };
    let with = |class: &'static str| document.descendants().filter(move |node| node.attribute("class") == Some(class));
    let bars = with("error-bar").map(|node| ["x1", "y1", "x2", "y2"].map(|name| number(node, name))).collect();
    let plots = with("plot").map(|node| ["x", "y", "width", "height"].map(|name| number(node, name)));
    (bars, plots.map(|[x, y, width, height]| [x, y, x + width, y + height]).collect())
}

/// Every bar ends inside the plot, with a pixel to spare: one that did not fit would have been cut off right at the edge.
fn check_bars(svg: &str) -> usize {
    let (bars, plots) = bars_and_plots(svg);
    let [left, top, right, bottom] = plots[0];
    for [x1, y1, x2, y2] in &bars {
        for (x, y) in [(*x1, *y1), (*x2, *y2)] {
            let inside = left + 1.0 < x && x < right - 1.0 && top + 1.0 < y && y < bottom - 1.0;
            assert!(inside, "({x}, {y}) is not inside {:?}", plots[0]);
        }
    }
    bars.len()
}

/// A number of any ordinary magnitude.
fn magnitude() -> impl Strategy<Value = f64> {
    (-1.0..1.0, -12..12).prop_map(|(factor, power): (f64, i32)| factor * 10_f64.powi(power))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn error_bars_of_losses_are_inside_the_axes_in_full(
        data in prop::collection::vec(prop::collection::vec((magnitude(), magnitude(), magnitude()), 0..6), 0..8),
    ) {
        let points = |data: &Vec<(f64, f64, f64)>| data.iter().map(|&(x, y, error)| Measurement { x, y, error: [error; 2] }).collect();
        let series: Vec<Series> = data.iter().map(|data| Series { points: points(data), ..Series::default() }).collect();
        let lines = check_bars(&LossChart { series, ..LossChart::default() }.to_svg());
        // A line and two caps for each.
        let expected = data.iter().flatten().filter(|(_, y, error)| y + error.abs() > y - error.abs()).count();
        prop_assert_eq!(lines, 3 * expected);
    }

    #[test]
    fn error_bars_of_times_are_inside_the_axes(
        data in prop::collection::vec((magnitude(), magnitude(), magnitude(), magnitude()), 0..8),
    ) {
        let method = |&(seconds, seconds_error, loss, loss_error): &(f64, f64, f64, f64)| TimedMethod {
            name: "method".to_owned(), seconds, seconds_error, loss, loss_error: [loss_error; 2],
        };
        check_bars(&TradeOffChart { methods: data.iter().map(method).collect(), ..TradeOffChart::default() }.to_svg());
    }

    #[test]
    fn any_text_is_shown_as_it_is(text in "\\PC{0,12}|[<>&\"'\\]\\[!a-z/=-]{0,30}") {
        for (what, svg) in figures(&[0.2, 0.4, 0.1], &text) {
            let document = Document::parse(&svg);
            prop_assert!(document.is_ok(), "{}: {:?}", what, document.err());
            let document = document.unwrap();
            let title = document.descendants().find(|node| node.has_tag_name((document.root_element().tag_name().namespace().unwrap(), "title")));
            prop_assert_eq!(title.unwrap().text().unwrap_or(""), text.as_str());
            let known = ["svg", "title", "rect", "line", "circle", "polyline", "polygon", "path", "image", "text"];
            prop_assert!(document.descendants().filter(Node::is_element).all(|node| known.contains(&node.tag_name().name())));
        }
    }

    #[test]
    fn any_numbers_give_a_document(values in prop::collection::vec(prop::num::f64::ANY, 0..12)) {
        for (what, svg) in figures(&values, "") {
            check_numbers(what, &Document::parse(&svg).unwrap());
        }
    }
}
