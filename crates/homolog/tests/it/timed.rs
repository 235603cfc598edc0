//! Every long call of the table on a large input, told to stop after a tenth of a second: it answers within a fifth (half a second in a debug
//! build), and the library can be used at once. Time is the processor time of the one thread that does the work, which a busy machine
//! does not stretch.

use crate::long_calls::{LongCall, Sizes, long_calls};
use cpu_time::ThreadTime;
use homolog::appearance::Learner;
use homolog::atlas::{Atlas, AtlasSettings};
use homolog::data::dataset::NamedGraph;
use homolog::geometry::GreyImage;
use homolog::graph::Graph;
use homolog::matching::{Compatibility, Linear, Matcher, Status};
use homolog::specimens::check::check;
use homolog::specimens::join::join;
use homolog::{Control, ErrorKind};
use ndarray::Array2;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

const LARGE: Sizes =
    Sizes { cells: 1000, nodes: 50, points: 3000, landmarks: 30, specimens: 30, frames: 700, pixels: 400 };
thread_local! {
    /// When the call began, by the time of the thread that works.
    static START: Cell<Option<ThreadTime>> = const { Cell::new(None) };
}

const AFTER: Duration = Duration::from_millis(100);
const SOON: Duration = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 200 });

#[test]
fn every_long_call_answers_soon_when_it_is_told_to_stop() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (mut late, mut stopped) = (Vec::new(), 0);
    let calls = long_calls(LARGE).unwrap();
    let count = calls.len();
    for LongCall { name, run } in calls {
        let (answer, took) = one.install(move || {
            START.set(Some(ThreadTime::now()));
            let elapsed = || START.get().map_or(Duration::ZERO, |start| start.elapsed());
            let control = Control::new().interrupted_by(move || elapsed() >= AFTER);
            (run(&control), elapsed())
        });
        match answer {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => other.unwrap(),
        }
        stopped += usize::from(took >= AFTER);
        if took > AFTER + SOON {
            late.push(format!("{name}: {:.3} s", took.saturating_sub(AFTER).as_secs_f64()));
        }
        let small = Compatibility::linear(ndarray::array![[5.0, 3.0], [4.0, 1.0]]);
        let answer = Linear::default().solve(&small).unwrap();
        assert_eq!((answer.status, answer.score), (Status::Optimal, 7.0), "after {name}");
    }
    assert!(late.is_empty(), "answered too late: {late:?}");
    assert!(2 * stopped > count, "only {stopped} of {count} calls were at work when they were told to stop");
}

/// Sizes are checked first: no question is asked, and nothing is computed.
#[test]
fn what_is_too_large_is_refused_before_anything_is_computed() {
    let specimen = |count: usize, names: usize| {
        let points = Array2::from_shape_fn((count, 2), |(i, axis)| ((i * 7919 + axis * 31) % 104_729) as f64);
        let name = |i: usize| if i < names { format!("p{i}") } else { String::new() };
        Graph::from_points(points).unwrap().with_names((0..count).map(name).collect()).unwrap()
    };
    let large = specimen(2501, 2501);
    let named =
        |graph: &Graph, id: &str| NamedGraph { id: id.to_string(), graph: Arc::new(graph.clone()), image: None };
    let small = specimen(600, 600);
    let atlas = Atlas::learn(&[&small], &AtlasSettings { plain: true, ..AtlasSettings::default() }).unwrap();
    let weights = atlas.start_weights();
    let crowd = specimen(230_000, 0);
    let pixels = vec![0; 10_000 * 10_001];
    let picture = GreyImage::new(10_000, 10_001, &pixels).unwrap();
    let never = Control::new().interrupted_by(|| panic!("it is at work"));
    let refused = [
        ("check", check(&[named(&large, "a"), named(&large, "b")], &never).map(|_| ())),
        ("join", join(&[&large, &large], &AtlasSettings::default(), None, &never).map(|_| ())),
        ("take", atlas.name_take(&[&crowd], &weights, &never).map(|_| ())),
        ("pictures", Learner::learn(&[(picture, &small)], &never).map(|_| ())),
    ];
    for (name, answer) in refused {
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::TooLarge, "{name}");
    }
}
