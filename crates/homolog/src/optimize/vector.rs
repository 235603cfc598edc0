//! The vector operations of the optimiser. Sums run over eight lanes in a fixed order: fast, and the same bits every time. Loops over many
//! vectors use the widest registers this processor has, and give the same bits with any.

/// How many running sums a product has.
const LANES: usize = 8;
/// How many rows are processed at once: what they are multiplied by is then read once for all of them.
const BLOCK: usize = 4;

/// Runs a loop with the widest registers available; everything inlined into it benefits.
pub(super) fn wide<R>(run: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(run)
}

/// Σ_j a_j b_j.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
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
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
pub(super) fn add_scaled(to: &mut [f64], factor: f64, from: &[f64]) {
    for (x, y) in to.iter_mut().zip(from) {
        *x += factor * y;
    }
}

/// The Euclidean length.
pub(super) fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Subtracts from `rest` its components along the rows, which are orthonormal, and adds them to `along`.
pub(super) fn take_off(rows: &[Vec<f64>], rest: &mut [f64], along: &mut [f64]) {
    wide(
        #[inline(always)]
        || {
            for (rows, along) in rows.chunks(BLOCK).zip(along.chunks_mut(BLOCK)) {
                if let ([a, b, c, d], [along_a, along_b, along_c, along_d]) = (rows, &mut *along) {
                    let shares = dot_four([a, b, c, d], rest);
                    for (along, share) in [along_a, along_b, along_c, along_d].into_iter().zip(shares) {
                        *along += share;
                    }
                    add_four(rest, shares.map(|share| -share), [a, b, c, d]);
                } else {
                    for (row, along) in rows.iter().zip(along) {
                        let share = dot(row, rest);
                        *along += share;
                        add_scaled(rest, -share, row);
                    }
                }
            }
        },
    );
}

/// to += Σ_i factors_i rows_i.
pub(super) fn add_all(to: &mut [f64], factors: &[f64], rows: &[Vec<f64>]) {
    wide(
        #[inline(always)]
        || {
            for (rows, factors) in rows.chunks(BLOCK).zip(factors.chunks(BLOCK)) {
                if let ([a, b, c, d], &[fa, fb, fc, fd]) = (rows, factors) {
                    add_four(to, [fa, fb, fc, fd], [a, b, c, d]);
                } else {
                    rows.iter().zip(factors).for_each(|(row, &factor)| add_scaled(to, factor, row));
                }
            }
        },
    );
}

/// The products of four rows with the same vector; like [`dot`], except for the order of the sums.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
fn dot_four<'a>([a, b, c, d]: [&'a Vec<f64>; BLOCK], x: &'a [f64]) -> [f64; BLOCK] {
    let mut lanes = [[0.0; LANES]; BLOCK];
    let chunks = |row: &'a [f64]| row.chunks_exact(LANES);
    for ((((x, a), b), c), d) in chunks(x).zip(chunks(a)).zip(chunks(b)).zip(chunks(c)).zip(chunks(d)) {
        for lane in 0..LANES {
            lanes[0][lane] += a[lane] * x[lane];
            lanes[1][lane] += b[lane] * x[lane];
            lanes[2][lane] += c[lane] * x[lane];
            lanes[3][lane] += d[lane] * x[lane];
        }
    }
    let mut sums = lanes.map(|lanes| {
        let quads: [f64; 4] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 4]);
        (quads[0] + quads[2]) + (quads[1] + quads[3])
    });
    for (sum, row) in sums.iter_mut().zip([a, b, c, d]) {
        let rest = chunks(row).remainder().iter().zip(chunks(x).remainder());
        *sum += rest.map(|(a, x)| a * x).sum::<f64>();
    }
    sums
}

#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
fn add_four(to: &mut [f64], factors: [f64; BLOCK], [a, b, c, d]: [&Vec<f64>; BLOCK]) {
    for ((((x, a), b), c), d) in to.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *x += (factors[0] * a + factors[1] * b) + (factors[2] * c + factors[3] * d);
    }
}

/// (x, y) becomes (cos x + sin y, cos y - sin x).
pub(super) fn rotate(x: &mut [f64], y: &mut [f64], cos: f64, sin: f64) {
    wide(
        #[inline(always)]
        || {
            for (x, y) in x.iter_mut().zip(y) {
                (*x, *y) = (cos * *x + sin * *y, cos * *y - sin * *x);
            }
        },
    );
}
