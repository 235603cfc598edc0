//! What the two cores of linear assignment share: the problem they take and the answer they fill in.
//!
//! Invariants after each row is placed: left_i + right_k - score_ik >= 0 everywhere and = 0 on placed pairs; right_k >= 0, and = 0
//! on free columns; left_i >= unmatched_i, with equality where i stays unmatched. They are the certificate. Columns once taken
//! stay taken and right values never fall.

/// "No column" and "no row".
pub(super) const NONE: usize = usize::MAX;

/// A problem in which every row must be placed: in a column, or (where `unmatched` has a finite score for it) nowhere.
#[derive(Clone, Copy)]
pub(super) struct Scores<'a> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Row by row; the score of a cell is `sign` times its value. Minus infinity forbids; NaN and plus infinity do not occur.
    pub(super) values: &'a [f64],
    /// 1 where the values are scores; -1 where they are costs, which are used in place in the caller's memory.
    pub(super) sign: f64,
    /// Score for staying unmatched; minus infinity, or `None` for all, means the row must be placed.
    pub(super) unmatched: Option<&'a [f64]>,
}

impl<'a> Scores<'a> {
    pub(super) fn row(&self, row: usize) -> &'a [f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    pub(super) fn score(&self, row: usize, column: usize) -> f64 {
        self.sign * self.row(row)[column]
    }

    /// The smallest value that the dual value of a row may have.
    pub(super) fn floor(&self, row: usize) -> f64 {
        self.unmatched.map_or(f64::NEG_INFINITY, |unmatched| unmatched[row])
    }
}

/// What a row may bid: its best column by score - right (a free one if any is as good), and an upper bound on the next best.
pub(super) struct Offer {
    pub(super) column: usize,
    pub(super) best: f64,
    pub(super) second: f64,
    /// The largest score of the row, whatever the right values; minus infinity if it was not asked for.
    pub(super) top: f64,
}

/// The matching and the dual values.
#[derive(Debug, Clone, Default)]
pub(super) struct Core {
    pub(super) column_of: Vec<usize>,
    pub(super) row_of: Vec<usize>,
    pub(super) left: Vec<f64>,
    pub(super) right: Vec<f64>,
    /// Rows that stay unmatched, at their price.
    unmatched: Vec<bool>,
    /// The best that each row could have: its largest score, or its price.
    pub(super) top: Vec<f64>,
    /// What each row has, as [`careful`](super::careful) finds it.
    pub(super) own: Vec<f64>,
    /// How many bids found two equally good columns.
    pub(super) ties: usize,
}

impl Core {
    /// Nothing placed, dual values zero.
    pub(super) fn clear(&mut self, rows: usize, columns: usize) {
        super::reset(&mut self.column_of, rows, NONE);
        super::reset(&mut self.row_of, columns, NONE);
        super::reset(&mut self.left, rows, 0.0);
        super::reset(&mut self.right, columns, 0.0);
        super::reset(&mut self.unmatched, rows, false);
        super::reset(&mut self.top, rows, f64::NEG_INFINITY);
        self.ties = 0;
    }

    /// Whether a row has its column, or has been left unmatched at its price.
    pub(super) fn is_placed(&self, row: usize) -> bool {
        self.column_of[row] != NONE || self.unmatched[row]
    }

    /// A row bids for its best column (augmenting row reduction of Jonker and Volgenant): it takes the column and raises the right value
    /// until its second best is as good. Returns the row it displaces. Where a bid would settle nothing, only the left value is
    /// corrected.
    pub(super) fn bid(&mut self, row: usize, offer: &Offer, floor: f64) -> Option<usize> {
        let second = offer.second.max(floor);
        self.ties += usize::from(offer.best == second);
        if offer.column == NONE || offer.best < second {
            // Staying unmatched is best, or the row's list is exhausted.
            self.left[row] = second;
            if floor == second && second > f64::NEG_INFINITY {
                self.leave_unmatched(row);
            }
            return None;
        }
        let holder = self.row_of[offer.column];
        if holder != NONE && (offer.best == second || second == f64::NEG_INFINITY) {
            self.left[row] = offer.best;
            return None;
        }
        self.left[row] = if second > f64::NEG_INFINITY { second } else { offer.best };
        self.right[offer.column] += offer.best - self.left[row];
        self.assign(row, offer.column);
        if holder == NONE {
            return None;
        }
        self.column_of[holder] = NONE;
        Some(holder)
    }

    pub(super) fn assign(&mut self, row: usize, column: usize) {
        self.column_of[row] = column;
        self.row_of[column] = row;
    }

    pub(super) fn leave_unmatched(&mut self, row: usize) {
        self.column_of[row] = NONE;
        self.unmatched[row] = true;
    }
}
