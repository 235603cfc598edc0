//! The vector operations of the optimiser. Sums run over eight lanes in a fixed order: fast, and the same bits every time. Loops over many
//! vectors use the widest registers this processor has, and give the same bits with any.

/// How many running sums a product has.
const LANES: usize = 8;
/// How many rows are processed at once: what they are multiplied by is then read once for all of them.
pub(super) const BLOCK: usize = 4;

/// Runs a loop with the widest registers available; everything inlined into it benefits.
pub(super) fn wide<R>(run: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(run)
}

/// Σ_j a_j b_j.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((blocks_a, rest_a), (blocks_b, rest_b)) = (a.as_chunks(), b.as_chunks());
    let mut lanes = [0.0; LANES];
    for (a, b) in blocks_a.iter().zip(blocks_b) {
        add_product(&mut lanes, a, b);
    }
    sum(lanes) + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
}

/// The lanes of a sum of products, eight further.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
fn add_product(lanes: &mut [f64; LANES], a: &[f64; LANES], b: &[f64; LANES]) {
    for lane in 0..LANES {
        lanes[lane] += a[lane] * b[lane];
    }
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

/// The products of rows with one vector.
pub(super) fn products<R: AsRef<[f64]>>(rows: &[R], x: &[f64]) -> Vec<f64> {
    let mut products = vec![0.0; rows.len()];
    wide(
        #[inline(always)]
        || {
            for (rows, products) in rows.chunks(BLOCK).zip(products.chunks_mut(BLOCK)) {
                add_products(products, rows, x);
            }
        },
    );
    products
}

/// Subtracts from `rest` its components along the rows, which are orthonormal, and adds them to `along`.
pub(super) fn take_off(rows: &[Vec<f64>], rest: &mut [f64], along: &mut [f64]) {
    wide(
        #[inline(always)]
        || {
            for (rows, along) in rows.chunks(BLOCK).zip(along.chunks_mut(BLOCK)) {
                let mut shares = [0.0; BLOCK];
                add_products(&mut shares[..rows.len()], rows, rest);
                add_scaled(along, 1.0, &shares[..rows.len()]);
                subtract_multiples(rest, rows, &shares[..rows.len()]);
            }
        },
    );
}

/// to += Σ_i factors_i rows_i.
pub(super) fn add_all<R: AsRef<[f64]>>(to: &mut [f64], factors: &[f64], rows: &[R]) {
    wide(
        #[inline(always)]
        || {
            for (rows, factors) in rows.chunks(BLOCK).zip(factors.chunks(BLOCK)) {
                add_multiples(to, rows, factors);
            }
        },
    );
}

/// sums_i += row_i·x for up to four rows, of which as much is used as x has.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
fn add_products<R: AsRef<[f64]>>(sums: &mut [f64], rows: &[R], x: &[f64]) {
    if let [a, b, c, d] = rows {
        let products = dot_four([a, b, c, d].map(|row| &row.as_ref()[..x.len()]), x);
        add_scaled(sums, 1.0, &products);
    } else {
        for (row, sum) in rows.iter().zip(sums) {
            *sum += dot(&row.as_ref()[..x.len()], x);
        }
    }
}

/// sums_i -= row_i·x for up to four rows, of which as much is used as x has.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
pub(super) fn subtract_products<R: AsRef<[f64]>>(sums: &mut [f64], rows: &[R], x: &[f64]) {
    let mut products = [0.0; BLOCK];
    add_products(&mut products[..rows.len()], rows, x);
    add_scaled(sums, -1.0, &products[..rows.len()]);
}

/// to += Σ_i factors_i row_i for up to four rows, of which as much is used as `to` has.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
fn add_multiples<R: AsRef<[f64]>>(to: &mut [f64], rows: &[R], factors: &[f64]) {
    if let ([a, b, c, d], &[fa, fb, fc, fd]) = (rows, factors) {
        let count = to.len();
        let [a, b, c, d] = [a, b, c, d].map(|row| &row.as_ref()[..count]);
        for ((((x, a), b), c), d) in to.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *x += (fa * a + fb * b) + (fc * c + fd * d);
        }
    } else {
        rows.iter().zip(factors).for_each(|(row, &factor)| add_scaled(to, factor, row.as_ref()));
    }
}

/// to -= Σ_i factors_i row_i for up to four rows, of which as much is used as `to` has.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
pub(super) fn subtract_multiples<R: AsRef<[f64]>>(to: &mut [f64], rows: &[R], factors: &[f64]) {
    let mut negative = [0.0; BLOCK];
    add_scaled(&mut negative[..factors.len()], -1.0, factors);
    add_multiples(to, rows, &negative[..factors.len()]);
}

/// The products of four rows with the same vector.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
fn dot_four([a, b, c, d]: [&[f64]; BLOCK], x: &[f64]) -> [f64; BLOCK] {
    let (blocks, rest) = x.as_chunks();
    let [(a, rest_a), (b, rest_b), (c, rest_c), (d, rest_d)] = [a, b, c, d].map(<[f64]>::as_chunks);
    let (mut in_a, mut in_b, mut in_c, mut in_d) = ([0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for ((((x, a), b), c), d) in blocks.iter().zip(a).zip(b).zip(c).zip(d) {
        add_product(&mut in_a, a, x);
        add_product(&mut in_b, b, x);
        add_product(&mut in_c, c, x);
        add_product(&mut in_d, d, x);
    }
    let tail = |row: &[f64]| row.iter().zip(rest).map(|(a, x)| a * x).sum::<f64>();
    [sum(in_a) + tail(rest_a), sum(in_b) + tail(rest_b), sum(in_c) + tail(rest_c), sum(in_d) + tail(rest_d)]
}

#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the wider instructions")]
#[inline(always)]
fn sum(lanes: [f64; LANES]) -> f64 {
    // Seen through, the order of this sum makes the compiler split the loops before it into pairs, half of a register.
    let lanes = std::hint::black_box(lanes);
    let quads: [f64; 4] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 4]);
    (quads[0] + quads[2]) + (quads[1] + quads[3])
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

/// Reflects orthonormal rows so that the first has the direction of Σ_i c_i row_i, or the opposite one; returns its coordinate along it.
pub(super) fn reflect(rows: &mut [Vec<f64>], c: &[f64]) -> f64 {
    let last = -length(c).copysign(c[0]);
    let mut normal = c.to_vec();
    normal[0] -= last;
    // |normal|² = 2 last (last - c_0).
    let half_square = last * (last - c[0]);
    let mut sum = vec![0.0; rows[0].len()];
    add_all(&mut sum, &normal, rows);
    wide(
        #[inline(always)]
        || {
            for (row, component) in rows.iter_mut().zip(&normal) {
                add_scaled(row, -component / half_square, &sum);
            }
        },
    );
    last
}
