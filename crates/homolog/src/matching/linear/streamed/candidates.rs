//! The pairs that take part in the sparse problem: a few for each left node at first, more when pricing asks for them.

use super::best::{Best, raise};
use super::{Block, Streamed, narrow};
use crate::matching::Sparse;
use crate::{Control, Error, Result};

/// How many blocks of rows, spread evenly, are sampled to estimate what right nodes are worth.
const SAMPLED_BLOCKS: usize = 8;

/// Pairs and their scores, row by row, columns increasing.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    start: Vec<usize>,
    columns: Vec<u32>,
    scores: Vec<f64>,
}

/// A pair and its score.
pub(super) type Cell = (u32, u32, f64);

impl Candidates {
    pub(super) fn none(left_count: usize) -> Self {
        Self { start: vec![0; left_count + 1], ..Self::default() }
    }

    /// For each left node, the right nodes with the best scores, and those with the best scores minus what the right node is worth to
    /// others: where some right nodes are better for all, the first list alone would be the same for every node. `None` if interrupted.
    ///
    /// # Errors
    /// A score that is NaN or plus infinity, with its position.
    pub(super) fn choose(problem: &Streamed<'_>, control: &Control) -> Result<Option<Self>> {
        let (own_prices, worth) = (problem.prices(), problem.worth(control)?);
        let prices: Vec<f64> = own_prices.iter().zip(&worth).map(|(price, worth)| price + worth).collect();
        let blocks = problem.each_block(control, |block: &Block<'_>| {
            let (mut plain, mut priced) = (Best::new(problem.candidates), Best::new(problem.candidates));
            let mut found: Vec<Cell> = Vec::with_capacity(2 * problem.candidates * block.rows.len());
            let mut columns = Vec::new();
            for (row, scores) in block.rows() {
                plain.begin(f64::NEG_INFINITY);
                priced.begin(f64::NEG_INFINITY);
                if plain.scan(scores, &own_prices, problem.first_column(row)).1 {
                    return Err(bad_score(row, scores));
                }
                priced.scan(scores, &prices, problem.first_column(row));
                columns.clear();
                columns.extend(plain.entries.iter().chain(&priced.entries).map(|entry| entry.1));
                columns.sort_unstable();
                columns.dedup();
                found.extend(columns.iter().map(|&k| (narrow(row), k, scores[k as usize])));
            }
            Ok(found)
        })?;
        let Some(blocks) = blocks else { return Ok(None) };
        let mut candidates = Self::none(problem.left_count);
        candidates.add(blocks.into_iter().flatten());
        Ok(Some(candidates))
    }

    /// Adds more pairs: sorted, without repetitions, none of them present already.
    pub(super) fn add(&mut self, cells: impl Iterator<Item = Cell>) {
        let mut cells = cells.peekable();
        let old = std::mem::take(self);
        self.start.push(0);
        for row in 0..old.start.len() - 1 {
            let range = old.start[row]..old.start[row + 1];
            let mut own = old.columns[range.clone()].iter().copied().zip(old.scores[range].iter().copied()).peekable();
            loop {
                let new = cells.peek().filter(|cell| cell.0 as usize == row).map(|&(_, k, score)| (k, score));
                let takes_new = match (own.peek(), new) {
                    (_, None) => false,
                    (None, Some(_)) => true,
                    (Some(own), Some(new)) => new.0 < own.0,
                };
                let Some((k, score)) = (if takes_new { cells.next().and(new) } else { own.next() }) else { break };
                self.columns.push(k);
                self.scores.push(score);
            }
            self.start.push(self.columns.len());
        }
    }

    pub(super) fn has(&self, row: usize, column: u32) -> bool {
        self.columns[self.start[row]..self.start[row + 1]].binary_search(&column).is_ok()
    }

    /// The problem of these pairs alone.
    pub(super) fn problem(&self, whole: &Streamed<'_>) -> Result<Sparse> {
        let Self { start, columns, scores } = self;
        let (start, columns, scores) = (start.clone(), columns.clone(), scores.clone());
        let sparse = Sparse::of_rows(whole.right_count, start, columns, scores, None);
        let sparse = match &whole.unmatched {
            Some(prices) => sparse.with_unmatched(prices.clone())?,
            None => sparse,
        };
        match &whole.right_unmatched {
            Some(prices) => sparse.with_right_unmatched(prices.clone()),
            None => Ok(sparse),
        }
    }
}

impl Streamed<'_> {
    /// Roughly what each right node is worth: the best that a sample of left nodes gets from it, above its price.
    fn worth(&self, control: &Control) -> Result<Vec<f64>> {
        let count = self.block_count();
        let sample: Vec<usize> =
            (0..count.min(SAMPLED_BLOCKS)).map(|at| at * count / SAMPLED_BLOCKS.min(count)).collect();
        let blocks = self.blocks(&sample, control, |block| {
            let mut worth = vec![f64::NEG_INFINITY; self.right_count];
            block.rows().for_each(|(_, scores)| raise(&mut worth, scores, 0.0));
            Ok(worth)
        })?;
        let mut worth = vec![f64::NEG_INFINITY; self.right_count];
        blocks.iter().flatten().for_each(|block| raise(&mut worth, block, 0.0));
        worth.iter_mut().zip(self.prices()).for_each(|(worth, price)| *worth -= price);
        // Nobody in the sample may go there: cheap.
        let least = worth.iter().copied().filter(|worth| worth.is_finite()).fold(f64::INFINITY, f64::min);
        let least = if least.is_finite() { least } else { 0.0 };
        worth.iter_mut().filter(|worth| !worth.is_finite()).for_each(|worth| *worth = least);
        Ok(worth)
    }
}

fn bad_score(row: usize, scores: &[f64]) -> Error {
    let bad = scores.iter().position(|score| score.is_nan() || *score == f64::INFINITY).unwrap_or(0);
    Error::BadCell { what: "node scores", row, column: bad, value: scores[bad] }
}
