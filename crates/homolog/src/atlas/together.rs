//! How many independent numbers a group that varies together is worth: the pixels of one patch rise and fall with the light, and counting
//! each as separate evidence would make a picture outweigh everything else.
//!
//! With C the covariance of k numbers around each landmark's own mean, they are worth (tr C)² / tr C² numbers: k if they vary
//! independently and equally, 1 if all vary as one. Few specimens make that smaller, never larger than what they show.

/// What one of the numbers is worth, at most 1; for each landmark, `rows` has the numbers in each specimen.
pub(super) fn effective_share(rows: &[Vec<Vec<f64>>]) -> f64 {
    let Some(count) = rows.iter().flatten().next().map(Vec::len) else { return 1.0 };
    if count < 2 {
        return 1.0;
    }
    let mut covariance = vec![0.0; count * count];
    for own in rows.iter().filter(|own| own.len() > 1) {
        let mean: Vec<f64> = (0..count).map(|p| own.iter().map(|row| row[p]).sum::<f64>() / own.len() as f64).collect();
        for row in own {
            let rest: Vec<f64> = row.iter().zip(&mean).map(|(x, mean)| x - mean).collect();
            for (p, x) in rest.iter().enumerate() {
                covariance[p * count..][..count].iter_mut().zip(&rest).for_each(|(cell, y)| *cell += x * y);
            }
        }
    }
    let trace: f64 = covariance.iter().step_by(count + 1).sum();
    let square: f64 = covariance.iter().map(|cell| cell * cell).sum();
    let worth = if square > 0.0 { trace * trace / square } else { 1.0 };
    (worth / count as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_vary_as_one_count_as_one_and_independent_ones_in_full() {
        let signs = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let independent = vec![signs.iter().map(|row| row.to_vec()).collect()];
        assert!((effective_share(&independent) - 1.0).abs() < 1e-12);
        let alike = vec![signs.iter().map(|row| vec![row[0]; 5]).collect(), vec![vec![9.0; 5]]];
        assert!((effective_share(&alike) - 0.2).abs() < 1e-12);
        // One specimen shows nothing about how they vary.
        assert!((effective_share(&[vec![vec![1.0, 2.0]]]) - 0.5).abs() < 1e-12);
        assert!((effective_share(&[vec![vec![1.0]]]) - 1.0).abs() < 1e-12);
        assert!((effective_share(&[]) - 1.0).abs() < 1e-12);
    }
}
