//! A matrix of costs, solved with proof. Scores are maximised: a cost is a score with the other sign.
//!
//! `cargo run --example cost_matrix`

use homolog::matching::{Compatibility, Linear, Matcher, Status, verify};
use ndarray::array;

fn main() -> homolog::Result<()> {
    // Three workers, four jobs; worker 2 cannot do job 1.
    let costs = array![[4.0, 1.0, 3.0, 9.0], [2.0, 0.0, 5.0, 8.0], [3.0, f64::INFINITY, 2.0, 7.0]];
    let problem = Compatibility::linear(costs.mapv(|cost| -cost));
    let solution = Linear::default().solve(&problem)?;
    assert_eq!(solution.matching.left_to_right(), [Some(1), Some(0), Some(2)]);
    assert_eq!((-solution.score, solution.status), (5.0, Status::Optimal));
    // The proof is checked by separate code.
    if let Some(certificate) = &solution.certificate {
        verify(&problem, &solution.matching, certificate)?;
    }
    Ok(())
}

#[test]
fn runs() -> homolog::Result<()> {
    main()
}
