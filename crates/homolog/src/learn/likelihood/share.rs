//! Shares exp(x_a) / Σ_b exp(x_b), and -log of the truth's share, where x is how much something scores above the truth.

/// Numbers that become shares; a reusable buffer.
#[derive(Debug, Default)]
pub(super) struct Shares {
    values: Vec<f64>,
}

impl Shares {
    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    pub(super) fn extend(&mut self, values: impl IntoIterator<Item = f64>) {
        self.values.extend(values);
    }

    pub(super) fn set(&mut self, at: usize, value: f64) {
        self.values[at] = value;
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Turns x_a into exp(x_a) / Σ exp(x_b), where the truth is among them with x = 0; returns log Σ exp(x_b), which is -log of
    /// the truth's share.
    pub(super) fn normalize_among(&mut self) -> f64 {
        let top = self.values.iter().fold(f64::NEG_INFINITY, |top, &x| top.max(x));
        self.normalize(top, 0.0)
    }

    /// The same if the truth is not among them: it counts as an additional 1.
    pub(super) fn normalize_beside(&mut self) -> f64 {
        let top = self.values.iter().fold(0.0, |top: f64, &x| top.max(x));
        self.normalize(top, (-top).exp())
    }

    fn normalize(&mut self, top: f64, beside: f64) -> f64 {
        let mut sum = beside;
        for x in &mut self.values {
            *x = (*x - top).exp();
            sum += *x;
        }
        let scale = sum.recip();
        self.values.iter_mut().for_each(|x| *x *= scale);
        top + sum.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_huge_and_tiny_scores() {
        let mut shares = Shares::default();
        shares.extend([0.0, 1000.0, 1000.0]);
        assert!((shares.normalize_among() - 1000.0 - 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(shares.values(), [0.0, 0.5, 0.5]);
        shares.clear();
        shares.extend([3.0_f64.ln(), -1e300]);
        assert!((shares.normalize_beside() - 4.0_f64.ln()).abs() < 1e-12);
        assert!((shares.values()[0] - 0.75).abs() < 1e-12 && shares.values()[1] == 0.0);
    }
}
