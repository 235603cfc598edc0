//! Kinds of problems that once had false proofs, or could have: each with its generator and its law. Everything that is called optimal is
//! compared with the best by exact arithmetic, and has to be the best to the last digit unless the family says otherwise.

use super::fixed::{self, Total, rounded};
use super::forms::{as_list, on_rows};
use super::{check_all, check_beside_constants, middle, namings};
use homolog::Control;
use homolog::matching::{
    Compatibility, Constraint, EdgeList, EdgeTerm, Exact, Linear, LpRelaxation, Matcher, Matching, Solution, Status,
    Workspace, k_best, margins, verify,
};
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cmp::Reverse;
use std::sync::Arc;

/// A kind of problems and the law that answers to them obey.
pub struct Family {
    pub name: &'static str,
    pub about: &'static str,
    /// How many of them the tests run.
    pub count: u64,
    /// Checks the problem with a number: whether all was proven, or what is wrong.
    pub check: fn(u64, &mut Workspace) -> Result<bool, String>,
}

/// All of them, the cheap ones first.
pub const FAMILIES: &[Family] = &[
    family("ties", "linear, small whole numbers", 10_000, |n, w| linear(n, w, Scores::Ties)),
    family("few-valued", "linear, three different scores", 10_000, |n, w| linear(n, w, Scores::Few)),
    family("overlaps", "linear, many zeros, two decimals", 10_000, |n, w| linear(n, w, Scores::Overlaps)),
    family("reals", "linear, uniform", 10_000, |n, w| linear(n, w, Scores::Reals)),
    family("mixed", "linear, sizes from 1e-9 to 1e15", 10_000, |n, w| linear(n, w, Scores::Mixed)),
    family("linear-constants", "linear, whole numbers beside constants up to 1e15", 20_000, |n, w| {
        linear(n, w, Scores::Large)
    }),
    family("linear-reals", "linear, decimals beside constants", 20_000, |n, w| linear(n, w, Scores::Beside)),
    family("middle", "linear, 24 to 200 nodes of every ordinary kind", 500, middle::check),
    family("margins", "margins of linear problems", 10_000, check_margins),
    family("k-best", "the best matchings in order", 2_000, check_ranks),
    family("constants", "with edges, whole numbers beside constants", 10_000, check_beside_constants),
    family("reals-constants", "with edges, decimals beside constants", 5_000, |n, w| quadratic(n, w, Scores::Reals)),
    family("priced", "with edges, whole numbers, prices on both sides", 3_000, |n, w| quadratic(n, w, Scores::Ties)),
    family("forbidding", "with edges, -M for forbidden", 3_000, |n, w| quadratic(n, w, Scores::Large)),
    family("scaled", "with edges, multiples of the smallest number and of 2^900", 1_000, check_scaled),
    family("atlas", "the points of specimens named by an atlas", 400, namings::check),
    family("every-kind", "every kind, every matcher", 100_000, |n, w| check_all(n, w).map(|()| true)),
];

const fn family(
    name: &'static str,
    about: &'static str,
    count: u64,
    check: fn(u64, &mut Workspace) -> Result<bool, String>,
) -> Family {
    Family { name, about, count, check }
}

/// How scores are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scores {
    Ties,
    Few,
    Overlaps,
    Reals,
    Mixed,
    /// Small whole numbers beside constants.
    Large,
    /// Decimals beside constants.
    Beside,
}

fn draw(rng: &mut ChaCha8Rng, scores: Scores, levels: &[f64; 3]) -> f64 {
    let value = match scores {
        Scores::Ties => f64::from(rng.random_range(-2..3_i32)),
        Scores::Few => levels[rng.random_range(0..3)],
        Scores::Overlaps => (f64::from(rng.random_range(-150..101_i32)) / 100.0).max(0.0),
        Scores::Reals | Scores::Beside => rng.random_range(-1.0..1.0),
        Scores::Mixed => rng.random_range(-1.0..1.0) * 10.0_f64.powi(rng.random_range(-9..16)),
        Scores::Large => f64::from(rng.random_range(-6..7_i32)),
    };
    rounded(value)
}

/// 1e9 to 1e15, of either sign.
fn large(rng: &mut ChaCha8Rng) -> f64 {
    let size = 10.0_f64.powi(rng.random_range(9..16)) * f64::from(rng.random_range(1..4_i32)) / 3.0;
    (if rng.random_bool(0.3) { -1.0 } else { 1.0 }) * size.floor()
}

/// Adds constants to rows (the price of staying unmatched included), columns and single cells.
fn add_constants(rng: &mut ChaCha8Rng, problem: &mut Compatibility) {
    let (n, m) = problem.node.dim();
    if rng.random_bool(0.4) {
        let (row, constant) = (rng.random_range(0..n), large(rng));
        problem.node.row_mut(row).mapv_inplace(|score| rounded(score + constant));
        problem.unmatched.iter_mut().for_each(|prices| prices[row] = rounded(prices[row] + constant));
    }
    for _ in 0..rng.random_range(0..3) {
        let (column, constant) = (rng.random_range(0..m), large(rng));
        problem.node.column_mut(column).mapv_inplace(|score| rounded(score + constant));
        if let Some(prices) = problem.right_unmatched.as_mut().filter(|_| rng.random_bool(0.5)) {
            prices[column] = rounded(prices[column] + constant);
        }
    }
    if rng.random_bool(0.3) {
        let cell = [rng.random_range(0..n), rng.random_range(0..m)];
        problem.node[cell] = rounded(problem.node[cell] + large(rng));
    }
}

/// A problem without edges, of 1 to 7 nodes per side: forbidden pairs, prices on either side, shared right nodes.
pub fn linear_problem(number: u64, scores: Scores) -> Compatibility {
    let rng = &mut ChaCha8Rng::seed_from_u64(number ^ (scores as u64) << 48);
    let most = if rng.random_bool(0.1) { 8 } else { 5 };
    let (n, m) = (rng.random_range(1..most), rng.random_range(1..most));
    let levels = [(); 3].map(|()| rng.random_range(0.0..1.0));
    let forbidden = [0.0, 0.0, 0.2, 0.6][rng.random_range(0..4)];
    let cell = |rng: &mut ChaCha8Rng, share: f64| {
        if rng.random_bool(share) { f64::NEG_INFINITY } else { draw(rng, scores, &levels) }
    };
    let mut problem = Compatibility::linear(Array2::from_shape_simple_fn((n, m), || cell(rng, forbidden)));
    if rng.random_bool(0.4) {
        let share = [0.0, 0.3][rng.random_range(0..2)];
        problem.unmatched = Some(Array1::from_shape_simple_fn(n, || cell(rng, share)));
    }
    if rng.random_bool(0.3) {
        problem.right_unmatched = Some(Array1::from_shape_simple_fn(m, || cell(rng, 0.0)));
    } else if rng.random_bool(0.1) {
        problem.constraint = Constraint::ManyToOne;
    }
    if [Scores::Large, Scores::Beside].contains(&scores) {
        add_constants(rng, &mut problem);
    }
    problem
}

/// A problem with edges, of 2 to 5 nodes per side, rarely 6 or 7.
pub fn quadratic_problem(number: u64, scores: Scores) -> Compatibility {
    let rng = &mut ChaCha8Rng::seed_from_u64(number ^ (8 + scores as u64) << 48);
    let most = [5, 5, 6, 8][usize::from(rng.random_bool(0.1)) + usize::from(rng.random_bool(0.02)) * 2];
    let (n, m) = (rng.random_range(2..most), rng.random_range(2..most));
    let levels = [0.0; 3];
    let mut problem = Compatibility::linear(Array2::from_shape_simple_fn((n, m), || draw(rng, scores, &levels)));
    if rng.random_bool(if scores == Scores::Ties { 0.8 } else { 0.3 }) {
        problem.unmatched = Some(Array1::from_shape_simple_fn(n, || draw(rng, scores, &levels)));
    }
    if rng.random_bool(if scores == Scores::Ties { 0.8 } else { 0.1 }) {
        problem.right_unmatched = Some(Array1::from_shape_simple_fn(m, || draw(rng, scores, &levels)));
    } else if rng.random_bool(0.1) {
        problem.constraint = Constraint::ManyToOne;
    }
    let mut list = |count: usize| {
        let all = (0..count).flat_map(|i| (0..count).map(move |j| [i, j])).filter(|[i, j]| i != j);
        Arc::new(EdgeList::new(count, all.filter(|_| rng.random_bool(0.7)).collect()).expect("ends in range"))
    };
    let (left, right) = (list(n), list(m));
    let forbids = (scores == Scores::Large).then(|| -large(rng).abs());
    let everywhere = if scores == Scores::Reals && rng.random_bool(0.3) { large(rng) } else { 0.0 };
    let group = if scores == Scores::Reals && rng.random_bool(0.3) { large(rng) } else { 0.0 };
    let mut entries = Vec::new();
    for e in 0..left.len() {
        for f in 0..right.len() {
            let own = draw(rng, scores, &levels) + everywhere + if e == 0 { group } else { 0.0 };
            entries.push((e, f, rounded(forbids.filter(|_| rng.random_bool(0.2)).unwrap_or(own))));
        }
    }
    if scores == Scores::Reals {
        add_constants(rng, &mut problem);
    }
    problem.edge = EdgeTerm::listed(left, right, entries).ok();
    problem
}

/// Feasible, at most the best, the best if it is called so, and bounded. Whether it is called so.
fn check(who: &str, problem: &Compatibility, answer: &Solution, best: Total, slack: f64) -> Result<bool, String> {
    let own = fixed::total(problem, &answer.matching);
    let behind = fixed::value(best.1 - own.1);
    let fail = |what: &str| Err(format!("{who}: {what}, {behind:e} behind\n{answer:?}\n{problem:?}"));
    if own.0 != best.0 || own.1 > best.1 {
        return fail("not feasible");
    }
    let is_optimal = answer.status == Status::Optimal;
    if is_optimal && behind > slack {
        return fail("called optimal");
    }
    // A bound is a rounded sum.
    let ulp = 8.0 * f64::EPSILON * super::terms(problem, &answer.matching).iter().map(|term| term.abs()).sum::<f64>();
    if answer.bound < answer.score || answer.bound < fixed::value(best.1) - ulp - slack {
        return fail("the bound is false");
    }
    Ok(is_optimal)
}

/// Twice τ of [`Status::Optimal`] at its smallest: 1e-9 of what an answer gives up, and no more than 1e-12 n q. Right nodes that too many left
/// nodes compete for choose in their place.
fn tolerance(problem: &Compatibility, answer: &Solution) -> f64 {
    let Some(certificate) = &answer.certificate else { return 0.0 };
    let crowd = certificate.crowd.as_ref();
    let in_crowd = |i: &usize| crowd.is_some_and(|crowd| crowd.left.contains(i));
    let crowded = |k: &usize| crowd.is_some_and(|crowd| crowd.right.contains(k));
    let price = |k: usize| problem.right_unmatched.as_ref().map_or(0, |prices| fixed::fixed(prices[k]));
    let gain = |i: usize, k: usize| {
        let score = problem.node[[i, k]];
        (score > f64::NEG_INFINITY).then(|| fixed::fixed(score) - price(k))
    };
    let dual = |value: f64| fixed::fixed(rounded(value));
    let (n, m) = problem.node.dim();
    let stays = |i: usize| Some(problem.unmatched_score(i)).filter(|score| score.is_finite()).map(fixed::fixed);
    let mut rows = Choosers::default();
    for i in (0..n).filter(|i| !in_crowd(i)) {
        let pairs = (0..m).filter(|k| !crowded(k)).filter_map(|k| Some((gain(i, k)?, dual(certificate.right[k]))));
        let own = answer.matching.right_of(i).map_or_else(|| stays(i), |k| gain(i, k));
        rows.add(pairs.chain(stays(i).map(|score| (score, 0))).collect(), own);
    }
    let mut columns = Choosers::default();
    for k in (0..m).filter(crowded) {
        let pairs = (0..n).filter(in_crowd).filter_map(|i| Some((gain(i, k)?, dual(certificate.left[i]))));
        columns.add(pairs.collect(), answer.matching.left_of(k).and_then(|i| gain(i, k)));
    }
    2.0 * (rows.tolerance() + columns.tolerance())
}

/// What nodes that choose give up, and what their choices fall short of the best of each, dual values subtracted.
#[derive(Default)]
struct Choosers {
    count: usize,
    given_up: i128,
    differences: Vec<i128>,
}

impl Choosers {
    /// A node with its choices, each with the dual value of the other side, and what it has.
    fn add(&mut self, choices: Vec<(i128, i128)>, own: Option<i128>) {
        self.count += 1;
        let best = choices.iter().map(|choice| choice.0).max();
        self.given_up += best.zip(own).map_or(0, |(best, own)| best - own);
        let reduced = choices.into_iter().map(|(score, dual)| score - dual);
        let best = reduced.clone().max().unwrap_or(0);
        self.differences.extend(reduced.map(|score| best - score).filter(|&short| short > 0));
    }

    fn tolerance(mut self) -> f64 {
        self.differences.sort_unstable();
        let usual = self.differences.get(self.differences.len() / 4).map_or(0.0, |&usual| fixed::value(usual));
        (1e-9 * fixed::value(self.given_up)).min(1e-12 * self.count as f64 * usual)
    }
}

fn linear(number: u64, work: &mut Workspace, scores: Scores) -> Result<bool, String> {
    let problem = linear_problem(number, scores);
    let best = fixed::best_linear(&problem);
    let failed = |error: homolog::Error| format!("{error} on {problem:?}");
    let is_rounded = [Scores::Mixed, Scores::Beside].contains(&scores);
    let slack = |answer: &Solution| if is_rounded { tolerance(&problem, answer) } else { 0.0 };
    let answer = Linear::default().solve_with(&problem, work).map_err(failed)?;
    let mut all_proven = check("linear", &problem, &answer, best, slack(&answer))?;
    if let Some(certificate) = &answer.certificate {
        let bound = verify(&problem, &answer.matching, certificate).map_err(failed)?;
        let (exact, next) = (fixed::value(best.1), f64::EPSILON * fixed::value(best.1).abs());
        if bound < exact - next {
            return Err(format!("verify says {bound}, the best is {exact}\n{answer:?}\n{problem:?}"));
        }
    }
    if let Some(list) = as_list(&problem) {
        let mut listed = Linear::default().solve_with(&list, work).map_err(failed)?;
        listed.score = problem.score(&listed.matching).map_err(failed)?;
        all_proven &= check("list", &problem, &listed, best, slack(&listed))?;
        let answer =
            on_rows(&problem, [1, 48, 1 << 20], |rows| Linear::default().solve_with(rows, work)).map_err(failed)?;
        all_proven &= check("streamed", &problem, &answer, best, slack(&answer))?;
    }
    Ok(all_proven)
}

fn quadratic(number: u64, work: &mut Workspace, scores: Scores) -> Result<bool, String> {
    let problem = quadratic_problem(number, scores);
    let all = fixed::all(&problem);
    let best = all.iter().map(|(_, total)| *total).max().unwrap_or((0, 0));
    let failed = |error: homolog::Error| format!("{error} on {problem:?}");
    let answer = Exact::default().solve_with(&problem, work).map_err(failed)?;
    // What rounding hides is settled by trying all matchings, if they are few.
    if !check("exact", &problem, &answer, best, 0.0)? && all.len() <= 400_000 {
        return Err(format!("exact proved nothing\n{answer:?}\n{problem:?}"));
    }
    if !number.is_multiple_of(4) {
        return Ok(true);
    }
    let relaxation = LpRelaxation { max_iterations: 400, ..LpRelaxation::default() };
    let relaxed = relaxation.solve_with(&problem, work).map_err(failed)?;
    if let Some(matching) = &relaxed.matching {
        let own = fixed::total(&problem, matching);
        if own != best {
            let behind = fixed::value(best.1 - own.1);
            return Err(format!("relaxation: proven, but {behind:e} behind\n{matching:?}\n{problem:?}"));
        }
    }
    Ok(relaxed.matching.is_some())
}

/// The entries in turn.
fn at<T: Copy>(all: &[T], number: u64) -> T {
    all[usize::try_from(number % all.len() as u64).expect("less than a length")]
}

fn check_margins(number: u64, work: &mut Workspace) -> Result<bool, String> {
    let problem = linear_problem(number, at(&[Scores::Large, Scores::Reals, Scores::Ties], number));
    let failed = |error: homolog::Error| format!("{error} on {problem:?}");
    let solution = Linear::default().solve_with(&problem, work).map_err(failed)?;
    let best = fixed::best_linear(&problem);
    let mut all_proven = true;
    for margin in margins(&problem, &solution, None, &Control::new()).map_err(failed)? {
        let mut without = problem.clone();
        without.node[[margin.left, margin.right]] = f64::NEG_INFINITY;
        let other = fixed::best_linear(&without);
        let exact = if other.0 < best.0 { f64::INFINITY } else { fixed::value(best.1 - other.1) };
        all_proven &= margin.proven;
        let is_right = margin.margin == exact || (margin.margin - exact).abs() <= 2.0 * f64::EPSILON * exact;
        if margin.proven && !is_right || margin.margin < exact * (1.0 - 2.0 * f64::EPSILON) {
            return Err(format!("the margin is {exact:e}: {margin:?}\n{solution:?}\n{problem:?}"));
        }
        if let Some(alternative) = margin.alternative(&solution.matching).map_err(failed)?
            && margin.proven
            && fixed::total(&without, &alternative) != other
        {
            return Err(format!(
                "the runner-up is not the best without the pair: {margin:?}\n{solution:?}\n{problem:?}"
            ));
        }
    }
    Ok(all_proven)
}

fn check_ranks(number: u64, work: &mut Workspace) -> Result<bool, String> {
    let scores = at(&[Scores::Large, Scores::Reals, Scores::Ties], number);
    let with_edges = number.is_multiple_of(4);
    let problem = if with_edges { quadratic_problem(number, scores) } else { linear_problem(number, scores) };
    if problem.node.len() > 20 {
        return Ok(true);
    }
    let mut all = fixed::all(&problem);
    all.sort_by_key(|(_, total)| Reverse(*total));
    let most = all.first().map_or(0, |first| first.1.0);
    all.retain(|(_, total)| total.0 == most);
    let matcher: &dyn Matcher = if with_edges { &Exact::default() } else { &Linear::default() };
    let best = k_best(&problem, matcher, 8, work).map_err(|error| format!("{error} on {problem:?}"))?;
    if !best.proven {
        return Ok(false);
    }
    let same = |(own, other): (&(Matching, f64), &(Matching, Total))| fixed::total(&problem, &own.0) == other.1;
    if best.matchings.len() != all.len().min(8) || !best.matchings.iter().zip(&all).all(same) {
        return Err(format!("{best:?}\nare not the best of {:?}\n{problem:?}", &all[..all.len().min(9)]));
    }
    Ok(true)
}

/// Whole numbers multiplied by a power of two, down to the smallest number there is: the same answers.
fn check_scaled(number: u64, work: &mut Workspace) -> Result<bool, String> {
    let problem = quadratic_problem(number, Scores::Ties);
    let unit = at(&[f64::from_bits(1), f64::from_bits(64), 2.0_f64.powi(-1030), 2.0_f64.powi(900)], number);
    let mut scaled = problem.clone();
    let prices = scaled.unmatched.iter_mut().chain(&mut scaled.right_unmatched).flatten();
    scaled.node.iter_mut().chain(prices).for_each(|score| *score *= unit);
    if let Some(edge) = &problem.edge {
        let all = (0..edge.left_edges().len())
            .flat_map(|e| edge.listed_of(e).iter().map(move |&(f, score)| (e, f, score * unit)));
        let [left, right] = [edge.left_edges(), edge.right_edges()].map(|edges| Arc::new(edges.clone()));
        scaled.edge = EdgeTerm::listed(left, right, all.collect()).ok();
    }
    let best = fixed::all(&problem).into_iter().map(|(_, total)| total).max().unwrap_or((0, 0));
    let answer = Exact::default().solve_with(&scaled, work).map_err(|error| format!("{error} on {scaled:?}"))?;
    let own = fixed::total(&problem, &answer.matching);
    let bound = answer.bound / unit;
    if own.0 != best.0 || answer.status == Status::Optimal && own != best || bound < fixed::value(best.1) {
        return Err(format!("exact: {own:?} is not {best:?}\n{answer:?}\n{scaled:?}"));
    }
    Ok(answer.status == Status::Optimal)
}
