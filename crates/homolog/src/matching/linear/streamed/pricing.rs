//! One pass over all pairs with the dual values of the candidates: which pairs that were left out could improve the matching, and the
//! upper bound on every matching that the dual values prove. The formulas are those of `verify`, split by rows so that only differences
//! are added up, which loses no digits to the size of the scores.

use super::best::{Best, raise};
use super::candidates::{Candidates, Cell};
use super::{Block, Streamed, narrow};
use crate::matching::problem::Differences;
use crate::matching::{Certificate, Solution};
use crate::{Control, Result};

/// What a pass found.
pub(super) struct Priced {
    /// Pairs to add, sorted.
    pub(super) better: Vec<Cell>,
    /// How far the bound that the dual values prove for the whole problem is above the score; `None` where a left node of the crowd may
    /// go elsewhere.
    pub(super) gap: Option<f64>,
    /// The same with dual values of zero: what the matching gives up compared with everybody's best.
    pub(super) given_up: f64,
    /// What rounding may hide of the gap: every score less its price is rounded once, and the prices before that if right nodes have their own.
    pub(super) noise: f64,
    /// The usual difference between the choices of left nodes.
    pub(super) difference: f64,
}

/// Prices at which each kind of row sees the right nodes; plus infinity where it does not see them.
pub(in crate::matching) struct Prices {
    pub(in crate::matching) in_crowd: Vec<bool>,
    pub(in crate::matching) crowded: Vec<bool>,
    /// Outside the crowd: the price and the dual value.
    pub(in crate::matching) open: Vec<f64>,
    /// Outside, without dual values.
    plain: Vec<f64>,
    /// Inside: the price and the dual value.
    pub(in crate::matching) inside: Vec<f64>,
}

impl Prices {
    pub(in crate::matching) fn new(problem: &Streamed<'_>, certificate: &Certificate) -> Self {
        let own = problem.prices();
        let (mut in_crowd, mut crowded) = (vec![false; problem.left_count], vec![false; problem.right_count]);
        if let Some(crowd) = &certificate.crowd {
            crowd.left.iter().for_each(|&i| in_crowd[i] = true);
            crowd.right.iter().for_each(|&k| crowded[k] = true);
        }
        let prices = |sees: bool, dual: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let price = |k: usize| if crowded[k] == sees { own[k] + dual(k) } else { f64::INFINITY };
            (0..own.len()).map(price).collect()
        };
        let right = &certificate.right;
        let (open, plain) = (prices(false, &|k| right[k].max(0.0)), prices(false, &|_| 0.0));
        let inside = prices(true, &|k| right[k]);
        Self { in_crowd, crowded, open, plain, inside }
    }
}

/// What a block of rows contributes.
#[derive(Default)]
struct Part {
    better: Vec<Cell>,
    /// Whether a left node of the crowd may go elsewhere.
    leaves: bool,
    gap: f64,
    given_up: f64,
    noise: f64,
    differences: Differences,
    /// The most each right node of the crowd is worth to a left node of the crowd, with and without dual values.
    worth: Vec<f64>,
    plain_worth: Vec<f64>,
    /// The right nodes that left nodes of the crowd have, and what they are worth to them.
    had: Vec<(usize, f64, f64)>,
}

/// `None` if the caller will not wait.
pub(super) fn price(
    problem: &Streamed<'_>,
    candidates: &Candidates,
    solution: &Solution,
    certificate: &Certificate,
    control: &Control,
) -> Result<Option<Priced>> {
    let prices = Prices::new(problem, certificate);
    // What rounding may add to a sum of dual values is not a reason to add a pair.
    let duals = certificate.left.iter().chain(&certificate.right);
    let noise = 4.0 * f64::EPSILON * duals.fold(0.0_f64, |most, dual| most.max(dual.abs()));
    let has_crowd = certificate.crowd.is_some();
    let of_right = |most: f64, price: &f64| if price.is_finite() { most.max(price.abs()) } else { most };
    let rounded_price = if problem.has_right_prices() { prices.open.iter().fold(0.0, of_right) } else { 0.0 };
    let parts = problem.each_block(control, |block: &Block<'_>| {
        let mut part = Part::default();
        if has_crowd {
            part.worth = vec![f64::NEG_INFINITY; problem.right_count];
            part.plain_worth.clone_from(&part.worth);
        }
        let (mut best, mut none) = (Best::new(problem.candidates), Best::new(0));
        none.begin(f64::INFINITY);
        for (row, scores) in block.rows() {
            if row.is_multiple_of(Differences::step(problem.left_count)) {
                let seen = if prices.in_crowd[row] { &prices.inside } else { &prices.open };
                let gains = scores.iter().zip(seen).map(|(score, price)| score - price);
                part.differences.add(gains.chain([problem.unmatched_score(row)]));
            }
            if prices.in_crowd[row] {
                best.begin(f64::NEG_INFINITY);
                let leaves = best.scan(scores, &prices.open, 0).0 > f64::NEG_INFINITY;
                part.leaves |= leaves;
                if !leaves {
                    best.begin(certificate.left[row] + noise);
                    best.scan(scores, &prices.inside, 0);
                }
                let own = certificate.left[row].max(0.0);
                raise(&mut part.worth, scores, own);
                raise(&mut part.plain_worth, scores, 0.0);
                match solution.matching.right_of(row) {
                    Some(k) => part.had.push((k, scores[k] - own, scores[k])),
                    None => part.gap += own,
                }
            } else {
                let floor = problem.unmatched_score(row);
                let chosen = solution.matching.right_of(row);
                let own = |prices: &[f64]| chosen.map_or(floor, |k| scores[k] - prices[k]);
                best.begin(certificate.left[row] + noise);
                let most = best.scan(scores, &prices.open, 0).0.max(floor);
                part.gap += most - own(&prices.open);
                part.noise += f64::EPSILON * (most.abs().max(own(&prices.open).abs()) + rounded_price);
                part.given_up += none.scan(scores, &prices.plain, 0).0.max(floor) - own(&prices.plain);
            }
            let mut columns: Vec<u32> = best.entries.iter().map(|entry| entry.1).collect();
            columns.retain(|&k| !candidates.has(row, k));
            columns.sort_unstable();
            part.better.extend(columns.into_iter().map(|k| (narrow(row), k, scores[k as usize])));
        }
        Ok(part)
    })?;
    let Some(parts) = parts else { return Ok(None) };
    let mut all = Part { worth: vec![f64::NEG_INFINITY; problem.right_count], ..Part::default() };
    all.plain_worth.clone_from(&all.worth);
    for part in parts {
        all.better.extend(part.better);
        all.leaves |= part.leaves;
        all.gap += part.gap;
        all.given_up += part.given_up;
        all.noise += part.noise;
        all.differences.append(part.differences);
        raise(&mut all.worth, &part.worth, 0.0);
        raise(&mut all.plain_worth, &part.plain_worth, 0.0);
        all.had.extend(part.had);
    }
    for &(k, worth, plain_worth) in &all.had {
        all.gap += all.worth[k] - worth;
        all.noise += f64::EPSILON * all.worth[k].abs().max(worth.abs());
        all.given_up += all.plain_worth[k] - plain_worth;
    }
    let free = solution.matching.unmatched_right().filter(|&k| !prices.crowded[k]);
    all.gap += free.map(|k| certificate.right[k].max(0.0)).sum::<f64>();
    // Scores less a price of zero are not rounded.
    let is_exact = rounded_price == 0.0 && certificate.right.iter().all(|&dual| dual <= 0.0) && !has_crowd;
    let (gap, noise) = ((!all.leaves).then_some(all.gap), if is_exact { 0.0 } else { all.noise });
    let difference = all.differences.usual();
    Ok(Some(Priced { better: all.better, gap, given_up: all.given_up, noise, difference }))
}
