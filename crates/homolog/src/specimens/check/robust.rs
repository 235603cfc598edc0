//! Medians and quantiles, which a fifth of wrong values does not move far.

use std::cmp::Ordering;

/// The middle value; of an even number, the mean of the two in the middle. 0 if there are none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    let count = values.len();
    if count == 0 {
        return 0.0;
    }
    let (below, &mut middle, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    if count % 2 == 1 {
        return middle;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(middle);
    f64::midpoint(lower, middle)
}

/// The smallest value such that it and those below have at least this share of the weight.
pub(super) fn weighted_quantile(mut values: Vec<(f64, f64)>, share: f64) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0).then(Ordering::Equal));
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    for &(value, weight) in &values {
        sum += weight;
        if sum >= share * total {
            return value;
        }
    }
    values.last().map_or(0.0, |&(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), 0.0);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 100.0]), 3.0);
        let values = vec![(5.0, 1.0), (1.0, 1.0), (2.0, 6.0)];
        assert_eq!(weighted_quantile(values.clone(), 0.1), 1.0);
        assert_eq!(weighted_quantile(values.clone(), 0.5), 2.0);
        assert_eq!(weighted_quantile(values, 0.95), 5.0);
    }
}
