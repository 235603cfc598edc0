//! Passes over rows of scores, written so that the compiler vectorises them.

/// What a pass over scores finds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    /// The largest magnitude of a finite score.
    pub(super) largest: f64,
    /// Whether anything is not finite: NaN, or an infinity of either sign.
    pub(super) odd: bool,
}

impl Facts {
    /// Adds the facts of a row and returns its largest score; minus infinity for an empty or wholly forbidden row. With a NaN in
    /// the row that score means nothing.
    pub(super) fn add_row(&mut self, row: &[f64]) -> f64 {
        const LANES: usize = 8;
        let mut best = [f64::NEG_INFINITY; LANES];
        let mut largest = [self.largest; LANES];
        let mut odd = [self.odd; LANES];
        let chunks = row.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for lane in 0..LANES {
                let (score, size) = (chunk[lane], chunk[lane].abs());
                best[lane] = if score > best[lane] { score } else { best[lane] };
                let finite = size < f64::INFINITY;
                let counted = if finite { size } else { 0.0 };
                largest[lane] = if counted > largest[lane] { counted } else { largest[lane] };
                odd[lane] |= !finite;
            }
        }
        self.largest = largest.into_iter().fold(0.0, f64::max);
        self.odd = odd.into_iter().any(|odd| odd);
        let mut top = best.into_iter().fold(f64::NEG_INFINITY, f64::max);
        for &score in rest {
            top = top.max(score);
            if score.is_finite() {
                self.largest = self.largest.max(score.abs());
            } else {
                self.odd = true;
            }
        }
        top
    }
}

/// Writes score - right for a whole row.
pub(super) fn reduce(scores: &[f64], right: &[f64], reduced: &mut [f64]) {
    for ((value, score), price) in reduced.iter_mut().zip(scores).zip(right) {
        *value = score - price;
    }
}

/// Maxima over a row cut into strides: `maxima[j]` is the largest of `row[j]`, `row[j + stride]`, `row[j + 2 stride]`, ...
/// where stride is the length of `maxima`.
pub(super) fn strided_maxima(row: &[f64], maxima: &mut [f64]) {
    maxima.fill(f64::NEG_INFINITY);
    for segment in row.chunks(maxima.len()) {
        for (top, &value) in maxima.iter_mut().zip(segment) {
            *top = if value > *top { value } else { *top };
        }
    }
}
