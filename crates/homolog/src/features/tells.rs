//! Whether a number of the nodes tells which nodes are partners, from labelled pairs of graphs.
//!
//! With σ² the mean squared difference of the k true partners of a pair of graphs and τ² that of all pairs of their nodes, r = 1 - σ²/τ² is the
//! correlation of partners (at most: the variances of both graphs are taken to be equal). If the number tells nothing, partners are like
//! a random matching, so r √(k - 1) has mean 0 and variance at most 1, and pairs of graphs are uncorrelated even if they share a graph. So
//!
//!   Z = Σ r √(k - 1) / √(number of pairs)
//!
//! is about normal, and the number tells something if Z exceeds the 99 % quantile. A number is left out only if half of the largest possible
//! correlation would have been seen, so among few small graphs every number counts: with p pairs of graphs of k partners if √(p (k - 1)) <= 4.65,
//! that is among two graphs of up to 22 nodes, three of up to 8 and four of up to 4.

/// The 99 % quantile of the normal distribution.
const SURE: f64 = 2.326;

/// What one pair of graphs shows about a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    /// How many true partners there are.
    pub(crate) partners: f64,
    /// The mean squared difference of true partners.
    pub(crate) of_partners: f64,
    /// That of all pairs of nodes.
    pub(crate) of_all: f64,
}

/// Whether a number that tells nothing would look like this; `false` if there are too few partners to see the difference.
pub(crate) fn tells_nothing(pairs: impl IntoIterator<Item = Shown>) -> bool {
    let (mut sum, mut most, mut count) = (0.0, 0.0, 0.0);
    for Shown { partners, of_partners, of_all } in pairs {
        if partners < 2.0 || of_all.is_nan() || of_all <= 0.0 {
            continue;
        }
        let root = (partners - 1.0).sqrt();
        sum += root * (1.0 - of_partners / of_all);
        most += root;
        count += 1.0;
    }
    // Half of the largest correlation would be seen.
    let quantile = SURE * f64::sqrt(count);
    0.5 * most > quantile && sum <= quantile
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// All pairs of graphs whose nodes, in the same order, have these numbers.
    fn pairs(graphs: &[Vec<f64>]) -> Vec<Shown> {
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let shown = |a: &[f64], b: &[f64]| Shown {
            partners: a.len() as f64,
            of_partners: mean(a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).collect()),
            of_all: mean(a.iter().flat_map(|x| b.iter().map(move |y| (x - y).powi(2))).collect()),
        };
        (0..graphs.len()).flat_map(|a| (0..a).map(move |b| shown(&graphs[a], &graphs[b]))).collect()
    }

    #[test]
    fn noise_tells_nothing_99_times_in_100_and_names_always_something() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut random = |_: usize| -> f64 { rng.random_range(-1.0..1.0) };
        let (mut heard, count) = (0, 2000);
        for _ in 0..count {
            let graphs: Vec<Vec<f64>> = (0..4).map(|_| (0..12).map(&mut random).collect()).collect();
            heard += usize::from(!tells_nothing(pairs(&graphs)));
        }
        assert!((4..40).contains(&heard), "{heard} of {count}");
        let names: Vec<Vec<f64>> = (0..4).map(|_| (0..12).map(|at| at as f64 + 0.3 * random(at)).collect()).collect();
        assert!(!tells_nothing(pairs(&names)));
        // The limits that the head of the file states.
        for (graphs, most) in [(2, 22), (3, 8), (4, 4), (5, 3)] {
            let mut of = |nodes: usize| -> Vec<Vec<f64>> {
                (0..graphs).map(|_| (0..nodes).map(&mut random).collect()).collect()
            };
            assert!((0..100).all(|_| !tells_nothing(pairs(&of(most)))), "{graphs} graphs of {most}");
            assert!((0..100).any(|_| tells_nothing(pairs(&of(most + 1)))), "{graphs} graphs of {most} + 1");
        }
        // One pair of three nodes shows too little to leave a number out.
        assert!(!tells_nothing(pairs(&[vec![1.0, 2.0, 3.0], vec![3.0, 1.0, 2.0]])));
        assert!(!tells_nothing([]));
    }
}
