//! Whether unlabelled specimens are a gain: what left-out specimens say of an atlas without them and of one with them. With g the gain of each, kept
//! if Σ g >= sqrt(Σ g²), a standard error above 0, of the log-likelihood and of the number of points that are named right.

use super::told::Margin;

/// Without and with unlabelled specimens.
#[derive(Default)]
pub(super) struct Judged {
    pub(super) likelihood: [f64; 2],
    pub(super) wrong: [usize; 2],
    /// For each specimen by how much more likely it is with the unlabelled, and how many more of its points are right.
    likelier: Vec<f64>,
    fixed: Vec<f64>,
    /// The margins of names with the unlabelled, and whether they were right.
    pub(super) margins: Vec<Margin>,
}

impl Judged {
    /// Counts a left-out specimen: its log-likelihood without and with, of so many specimens.
    pub(super) fn add_likelihood(&mut self, [before, after]: [f64; 2], count: usize) {
        self.likelihood[0] += before / count as f64;
        self.likelihood[1] += after / count as f64;
        self.likelier.push(after - before);
    }

    /// Counts the points of a left-out specimen and its copies: which are right without and with.
    pub(super) fn add_names(&mut self, named: &[[Vec<bool>; 2]]) {
        let mut fixed = 0.0;
        for [before, after] in named {
            for (&before, &after) in before.iter().zip(after) {
                self.wrong[0] += usize::from(!before);
                self.wrong[1] += usize::from(!after);
                fixed += f64::from(u8::from(after)) - f64::from(u8::from(before));
            }
        }
        self.fixed.push(fixed);
    }

    pub(super) fn is_better(&self) -> bool {
        is_a_gain(&self.likelier) && is_a_gain(&self.fixed)
    }
}

/// Σ g >= sqrt(Σ g²), which also holds if all are 0.
fn is_a_gain(gains: &[f64]) -> bool {
    gains.iter().sum::<f64>() >= gains.iter().map(|gain| gain * gain).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_wants_a_standard_error_more_likelihood_and_right_names() {
        let kept = |likelier: &[f64], fixed: &[usize], broken: &[usize]| {
            let mut judged = Judged::default();
            likelier.iter().for_each(|&gain| judged.add_likelihood([3.0, 3.0 + gain], likelier.len()));
            for (&fixed, &broken) in fixed.iter().zip(broken) {
                let fixed = [vec![false; fixed], vec![true; fixed]];
                let broken = [vec![true; broken], vec![false; broken]];
                judged.add_names(&[fixed, broken, [vec![true, false], vec![true, false]]]);
            }
            assert_eq!(judged.wrong[0], fixed.iter().sum::<usize>() + fixed.len());
            assert_eq!(judged.wrong[1], broken.iter().sum::<usize>() + fixed.len());
            judged.is_better()
        };
        let none = [0, 0, 0];
        // No name changes: the likelihood decides.
        assert!(kept(&[1.0, 2.0, 0.5], &none, &none) && kept(&[0.0; 3], &none, &none));
        assert!(!kept(&[1.0, -2.0, 0.5], &none, &none) && !kept(&[9.0, -8.0, 0.0], &none, &none));
        // Names that get right in one specimen and wrong in another are no gain.
        assert!(kept(&[1.0, 2.0, 0.5], &[1, 0, 0], &none) && kept(&[1.0, 2.0, 0.5], &[4, 3, 1], &[1, 0, 1]));
        assert!(!kept(&[1.0, 2.0, 0.5], &[4, 0, 0], &[0, 1, 0]) && !kept(&[1.0, 2.0, 0.5], &none, &[1, 0, 0]));
    }
}
