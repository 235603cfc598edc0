//! Solving many linear problems in a row reuses buffers: after the first solve of a size, nothing is allocated.

use crate::common;

use common::{Kind, Values, random_problem, rng};
use homolog::matching::{Compatibility, Constraint, Linear, Workspace};

#[test]
fn no_allocation_after_the_first_solve_of_a_size() {
    let mut rng = rng(30);
    for (n, m) in [(30, 30), (11, 200), (40, 9), (100, 1600)] {
        for priced in [None, Some(1.0)] {
            let kind = Kind {
                values: Values::Uniform,
                forbidden: 0.0,
                priced,
                constraint: Constraint::OneToOne,
                edges: false,
            };
            let problems: Vec<Compatibility> = (0..5).map(|_| random_problem(&mut rng, n, m, kind)).collect();
            let mut work = Workspace::new();
            // The first round warms up: how far a tree grows depends on the scores.
            for problem in &problems {
                Linear::default().assign(problem, &mut work).unwrap();
            }
            let counted = allocation_counter::measure(|| {
                for problem in &problems {
                    Linear::default().assign(problem, &mut work).unwrap();
                }
            });
            assert_eq!(counted.count_total, 0, "{n} by {m}, priced {priced:?}");
        }
    }
}
