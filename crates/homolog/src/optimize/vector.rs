//! The three vector operations of the optimiser. Sums run over eight lanes in a fixed order: quick, and the same bits every time.

/// Σ_j a_j b_j.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (blocks_a, blocks_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = blocks_a.remainder().iter().zip(blocks_b.remainder()).map(|(x, y)| x * y).sum();
    let mut lanes = [0.0; LANES];
    for (x, y) in blocks_a.zip(blocks_b) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let quads: [f64; 4] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 4]);
    (quads[0] + quads[2]) + (quads[1] + quads[3]) + rest
}

/// to += factor * from.
pub(super) fn add_scaled(to: &mut [f64], factor: f64, from: &[f64]) {
    for (x, y) in to.iter_mut().zip(from) {
        *x += factor * y;
    }
}

/// The Euclidean length.
pub(super) fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
