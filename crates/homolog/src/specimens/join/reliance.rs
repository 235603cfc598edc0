//! How far each pairwise matching can be relied upon, by how often matchings close triangles.
//!
//! A matching in a wrong pose is wrong in nearly all its points, so errors come by the pair. With c(s, h, g) the share of the points of
//! specimen s whose match in hub h is also found by way of hub g, the reliance on the matching of s and h is the mean over other hubs
//!
//!   w(s, h) ← Σ_g ω c(s, h, g) / Σ_g ω,    ω = (w(s, g) w(g, h))^r in round r:
//!
//! triangles whose other two sides can be relied upon tell more (cycle-edge message passing, Lerman and Shi 2019). Two points that
//! belong together are matched about as often as w says, so a matching with reliance w gives the pair w if it matches them, less w²/2.

use super::super::rounds::Labels;
use super::pairwise::Star;
use std::collections::BTreeMap;

const ROUNDS: i32 = 4;
/// What is taken off per matching that could have matched two points, as a share of what is expected if they belong together.
const EXPECTED: f64 = 0.5;

/// The reliance on each matching.
pub(super) struct Reliance {
    /// For each star and specimen.
    weights: Vec<Vec<f64>>,
    /// The mean share of triangles that close.
    pub(super) closed: f64,
}

impl Reliance {
    pub(super) fn of(stars: &[Star]) -> Self {
        let count = stars.first().map_or(0, |star| star.labels.len());
        let mut weights = vec![vec![1.0; count]; stars.len()];
        let closures: Vec<Vec<Vec<(usize, f64)>>> =
            stars.iter().map(|star| (0..count).map(|s| closures(stars, star, s)).collect()).collect();
        let all = || closures.iter().flatten().flatten().map(|(_, closed)| *closed);
        let closed = all().sum::<f64>() / all().count().max(1) as f64;
        for round in 1..=ROUNDS {
            let before = weights.clone();
            for (h, star) in stars.iter().enumerate() {
                for s in 0..count {
                    let told = |&(g, closed): &(usize, f64)| {
                        let sides: f64 = before[g][s] * before[h][stars[g].hub];
                        (sides.powi(round), closed)
                    };
                    let (mut sum, mut all) = (0.0, 0.0);
                    for (told, closed) in closures[h][s].iter().map(told) {
                        sum += told * closed;
                        all += told;
                    }
                    if s != star.hub && all > 0.0 {
                        weights[h][s] = sum / all;
                    }
                }
            }
        }
        Self { weights, closed }
    }

    pub(super) fn on(&self, star: usize, specimen: usize) -> f64 {
        self.weights[star][specimen]
    }

    /// What a matching tells about two points that it matches or does not.
    pub(super) fn vote(&self, star: usize, specimen: usize, is_matched: bool) -> f64 {
        let weight = self.on(star, specimen);
        weight * (f64::from(u8::from(is_matched)) - EXPECTED * weight)
    }

    /// The stars, those that can be relied upon first.
    pub(super) fn order(&self, stars: &[Star]) -> Vec<usize> {
        let sum = |star: usize| self.weights[star].iter().sum::<f64>();
        let mut order: Vec<usize> = (0..stars.len()).collect();
        order.sort_by(|&a, &b| {
            sum(b).total_cmp(&sum(a)).then(stars[b].score.total_cmp(&stars[a].score)).then(a.cmp(&b))
        });
        order
    }

    /// What all matchings tell for names.
    pub(super) fn evidence(&self, stars: &[Star], labels: &Labels) -> f64 {
        let mut sum = 0.0;
        for (at, star) in stars.iter().enumerate() {
            let place: BTreeMap<usize, usize> =
                labels[star.hub].iter().enumerate().filter_map(|(point, label)| Some(((*label)?, point))).collect();
            for (s, own) in star.labels.iter().enumerate().filter(|(s, _)| *s != star.hub) {
                for (partner, label) in own.iter().zip(&labels[s]) {
                    if let Some(there) = label.and_then(|label| place.get(&label)) {
                        sum += self.vote(at, s, partner.as_ref() == Some(there));
                    }
                }
            }
        }
        sum
    }

    /// Names by the most reliable way from each specimen to the best hub. A point of a hub that has no match on its way begins a new name.
    pub(super) fn tree(&self, stars: &[Star]) -> Labels {
        let mut labels: Labels = stars
            .first()
            .map_or_else(Labels::new, |star| star.labels.iter().map(|own| vec![None; own.len()]).collect());
        let Some(&root) = self.order(stars).first() else { return labels };
        let mut next = labels[stars[root].hub].len();
        labels[stars[root].hub] = (0..next).map(Some).collect();
        let mut reached = vec![root];
        let by_way_of = |labels: &Labels, star: &Star, s: usize| -> Vec<Option<usize>> {
            star.labels[s].iter().map(|partner| labels[star.hub][(*partner)?]).collect()
        };
        while reached.len() < stars.len() {
            let ways = (0..stars.len()).filter(|star| !reached.contains(star));
            let ways = ways.flat_map(|new| reached.iter().map(move |&from| (from, new)));
            let best = ways.max_by(|a, b| {
                let on = |&(from, new): &(usize, usize)| self.on(from, stars[new].hub);
                on(a).total_cmp(&on(b)).then(b.cmp(a))
            });
            let Some((from, new)) = best else { break };
            let own = by_way_of(&labels, &stars[from], stars[new].hub).into_iter();
            labels[stars[new].hub] = own
                .map(|label| {
                    label.or_else(|| {
                        next += 1;
                        Some(next - 1)
                    })
                })
                .collect();
            reached.push(new);
        }
        for s in (0..labels.len()).filter(|&s| stars.iter().all(|star| star.hub != s)) {
            let best = (0..stars.len()).max_by(|&a, &b| self.on(a, s).total_cmp(&self.on(b, s)).then(b.cmp(&a)));
            if let Some(best) = best {
                labels[s] = by_way_of(&labels, &stars[best], s);
            }
        }
        labels
    }
}

/// For each other hub the share of the points of a specimen, among those that both ways lead to the star's hub, that they lead to the same point.
fn closures(stars: &[Star], star: &Star, s: usize) -> Vec<(usize, f64)> {
    let by_way_of = |(g, other): (usize, &Star)| -> Option<(usize, f64)> {
        if other.hub == star.hub || other.hub == s || star.hub == s {
            return None;
        }
        let ways = star.labels[s].iter().zip(&other.labels[s]);
        let ways = ways.filter_map(|(direct, there)| Some((((*direct)?), star.labels[other.hub][(*there)?]?)));
        let (mut same, mut both) = (0_u32, 0_u32);
        ways.for_each(|(direct, led)| {
            both += 1;
            same += u32::from(direct == led);
        });
        Some((g, f64::from(same) / f64::from(both + 1)))
    };
    stars.iter().enumerate().filter_map(by_way_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stars of specimens whose points are in the same order, but for the matchings of one pair, which is in a wrong pose.
    fn stars(count: usize, wrong: [usize; 2]) -> Vec<Star> {
        let matched = |hub: usize, s: usize| -> Vec<Option<usize>> {
            let is_wrong = wrong.contains(&hub) && wrong.contains(&s) && hub != s;
            (0..5).map(|point| Some(if is_wrong { (point + 2) % 5 } else { point })).collect()
        };
        let star =
            |hub: usize| Star { hub, labels: (0..count).map(|s| matched(hub, s)).collect(), score: 0.0, low: 0.0 };
        (0..count).map(star).collect()
    }

    #[test]
    fn a_pair_in_a_wrong_pose_is_not_relied_upon() {
        let stars = stars(6, [0, 3]);
        let reliance = Reliance::of(&stars);
        assert!(reliance.on(0, 3) < 0.3 && reliance.on(3, 0) < 0.3, "{} {}", reliance.on(0, 3), reliance.on(3, 0));
        assert!(reliance.on(0, 1) > 0.6 && reliance.on(3, 5) > 0.6 && reliance.on(1, 2) > 0.6);
        let truth: Labels = (0..6).map(|_| (0..5).map(Some).collect()).collect();
        assert_eq!(reliance.tree(&stars), truth);
        let mut spoiled = truth.clone();
        spoiled[3].rotate_left(2);
        assert!(reliance.evidence(&stars, &spoiled) < reliance.evidence(&stars, &truth));
        // What matches do not tell is taken off: two points that are hardly ever matched do not belong together.
        assert!(reliance.vote(1, 2, true) > 0.0 && reliance.vote(1, 2, false) < 0.0);
    }

    #[test]
    fn two_specimens_have_no_triangles() {
        let reliance = Reliance::of(&stars(2, [0, 1]));
        assert_eq!((reliance.on(0, 1), reliance.closed), (1.0, 0.0));
        assert!(Reliance::of(&[]).tree(&[]).is_empty());
    }
}
