//! Which cuts are in use: anchors and members come and go, and the factor follows.

use super::{Blocker, INDEPENDENT, SHORT, SimplexQp};
use crate::optimize::cut::Cut;
use crate::optimize::factor::{Factor, Split};
use crate::optimize::vector::add_scaled;

impl SimplexQp {
    /// Puts one cut in place of all cuts in use of its part, and rebuilds the factor.
    pub(in crate::optimize) fn replace_part(&mut self, cuts: &[Cut], part: usize, cut: usize) {
        self.share.resize(cuts.len(), 0.0);
        for (share, other) in self.share.iter_mut().zip(cuts) {
            if other.part == Some(part) {
                *share = 0.0;
            }
        }
        self.share[cut] = 1.0;
        self.anchors[part] = cut;
        self.members.retain(|&i| cuts[i].part != Some(part));
        self.rebuild(cuts);
    }

    /// Makes a much shorter member the anchor of its part: differences from a long one lose the digits of the short.
    pub(super) fn anchor_short(&mut self, cuts: &[Cut]) {
        for part in 0..self.anchors.len() {
            let anchor = self.anchors[part];
            let mut shortest = anchor;
            for &i in self.members.iter().filter(|&&i| cuts[i].part == Some(part)) {
                if cuts[i].length < SHORT * cuts[anchor].length && cuts[i].length < cuts[shortest].length {
                    shortest = i;
                }
            }
            if shortest != anchor {
                self.anchor(cuts, part, shortest);
            }
        }
    }

    /// Makes a member the anchor of its part, and the anchor a member.
    fn anchor(&mut self, cuts: &[Cut], part: usize, anchor: usize) {
        let mut others = vec![std::mem::replace(&mut self.anchors[part], anchor)];
        for position in (0..self.members.len()).rev() {
            if cuts[self.members[position]].part == Some(part) {
                others.push(self.members.remove(position));
                self.factor.remove(position);
            }
        }
        for i in others.into_iter().filter(|&i| i != anchor) {
            if self.join(cuts, i).is_err() {
                self.give_back(cuts, i);
            }
        }
    }

    /// Rebuilds the factor.
    pub(super) fn rebuild(&mut self, cuts: &[Cut]) {
        self.factor = Factor::default();
        for member in std::mem::take(&mut self.members) {
            if self.join(cuts, member).is_err() {
                self.give_back(cuts, member);
            }
        }
    }

    /// Moves the share of a cut that is not in use to its anchor.
    pub(super) fn give_back(&mut self, cuts: &[Cut], i: usize) {
        let share = std::mem::take(&mut self.share[i]);
        if let Some(part) = cuts[i].part {
            self.share[self.anchors[part]] += share;
        }
    }

    /// Takes a cut whose x reached zero out of use. An anchor's place goes to the first member of its part, or, if there is
    /// none, to the entering cut.
    pub(super) fn leave(&mut self, cuts: &[Cut], blocker: &Blocker, entering: Option<usize>) {
        let position = match *blocker {
            Blocker::Member(position) => {
                self.share[self.members[position]] = 0.0;
                Some(position)
            }
            Blocker::Anchor(part) => {
                self.share[self.anchors[part]] = 0.0;
                let first = self.members.iter().position(|&i| cuts[i].part == Some(part));
                if let Some(first) = first {
                    let later = (first + 1..self.members.len()).filter(|&j| cuts[self.members[j]].part == Some(part));
                    self.factor.subtract(first, later);
                    self.anchors[part] = self.members[first];
                } else if let Some(entering) = entering {
                    self.anchors[part] = entering;
                }
                first
            }
        };
        if let Some(position) = position {
            self.members.remove(position);
            self.factor.remove(position);
        }
    }

    /// Makes a cut a member if its difference is independent of those of the others.
    pub(super) fn join(&mut self, cuts: &[Cut], entering: usize) -> std::result::Result<(), Split> {
        let (difference, scale) = self.difference(cuts, entering);
        let split = self.factor.split(difference);
        if split.rest_length > INDEPENDENT * scale {
            self.factor.push(split);
            self.members.push(entering);
            Ok(())
        } else {
            Err(split)
        }
    }

    /// u_i = v_i - v_anchor, and the length of what it is a difference of.
    fn difference(&self, cuts: &[Cut], i: usize) -> (Vec<f64>, f64) {
        let mut difference = cuts[i].slope.clone();
        let mut scale = cuts[i].length;
        if let Some(part) = cuts[i].part {
            let anchor = &cuts[self.anchors[part]];
            add_scaled(&mut difference, -1.0, &anchor.slope);
            scale += anchor.length;
        }
        (difference, scale)
    }
}
