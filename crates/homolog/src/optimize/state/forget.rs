//! Forgetting: keeps the number of planes within a limit without changing the bound.

use super::State;
use crate::optimize::cut::Cut;
use crate::optimize::vector::add_scaled;

impl State {
    /// Keeps the number of planes within a limit. Planes that the bound does not depend on go first, the longest idle before others;
    /// if that is not enough, the planes of a part in use are merged into their weighted mean, which leaves the bound unchanged.
    pub(super) fn forget(&mut self, max_planes: usize) {
        let mut lasts: Vec<bool> = self.cuts.iter().map(|cut| cut.lasting).collect();
        let limit = max_planes.max(2 * self.parts) + lasts.iter().filter(|&&lasts| lasts).count();
        if self.cuts.len() <= limit {
            return;
        }
        self.qp.in_use().for_each(|i| lasts[i] = true);
        let mut idle: Vec<usize> = (0..self.cuts.len()).filter(|&i| !lasts[i]).collect();
        idle.sort_by_key(|&i| std::cmp::Reverse(self.cuts[i].idle));
        idle.truncate(self.cuts.len() - limit);
        self.remove(&idle);
        while self.cuts.len() > limit {
            let mut counts = vec![0; self.parts];
            self.qp.in_use().filter_map(|i| self.cuts[i].part).for_each(|part| counts[part] += 1);
            let Some(part) = (0..self.parts).max_by_key(|&part| (counts[part], std::cmp::Reverse(part))) else {
                return;
            };
            if counts[part] < 2 {
                return;
            }
            self.merge(part);
        }
    }

    /// Replaces the planes of a part in use by their mean, weighted by their shares.
    fn merge(&mut self, part: usize) {
        let merged: Vec<usize> = self.qp.in_use().filter(|&i| self.cuts[i].part == Some(part)).collect();
        let (mut slope, mut offset) = (vec![0.0; self.rules.len()], 0.0);
        for &i in &merged {
            add_scaled(&mut slope, self.qp.share[i], &self.cuts[i].slope);
            offset += self.qp.share[i] * self.cuts[i].offset;
        }
        self.cuts.push(Cut::new(slope, offset, Some(part)));
        self.qp.replace_part(&self.cuts, part, self.cuts.len() - 1);
        let gone: Vec<usize> = merged.into_iter().filter(|&i| !self.cuts[i].lasting).collect();
        self.remove(&gone);
    }

    fn remove(&mut self, gone: &[usize]) {
        let mut new: Vec<Option<usize>> = vec![Some(0); self.cuts.len()];
        for &i in gone {
            new[i] = None;
        }
        for (number, slot) in new.iter_mut().flatten().enumerate() {
            *slot = number;
        }
        let mut old = 0;
        self.cuts.retain(|_| {
            old += 1;
            new[old - 1].is_some()
        });
        self.qp.renumber(&new);
    }
}
