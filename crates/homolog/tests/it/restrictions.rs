//! Seeds and forbidden pairs: every matcher respects them, and the best under them is what brute force finds among the matchings
//! that have all seeds and no forbidden pair.

use crate::common;

use common::{Kind, close, magnitude, random_kind, random_problem, rng};
use homolog::Error;
use homolog::data::dataset::DataSet;
use homolog::features::FeatureMap;
use homolog::learn::Example;
use homolog::loss::Hamming;
use homolog::matching::{
    BruteForce, Compatibility, Constraint, Linear, Matcher, Matching, Method, Restrictions, Status,
};
use homolog::model::Model;
use rand::{Rng, RngExt};
use std::sync::Arc;

/// Restrictions that some full matching satisfies.
fn random_restrictions(rng: &mut impl Rng, problem: &Compatibility) -> Restrictions {
    let (n, m) = problem.node.dim();
    let mut given = Restrictions::default();
    for i in 0..n {
        for k in 0..m {
            let free =
                given.seeds.iter().all(|&[j, l]| i != j && (k != l || problem.constraint == Constraint::ManyToOne));
            if free && problem.node[[i, k]] > f64::NEG_INFINITY && rng.random_bool(0.15) {
                given.seeds.push([i, k]);
            } else if !given.seeds.contains(&[i, k]) && rng.random_bool(0.15) {
                given.forbidden.push([i, k]);
            }
        }
    }
    given
}

/// Every matching of left nodes, including partial ones.
fn all_matchings(problem: &Compatibility) -> Vec<Matching> {
    let (n, m) = problem.node.dim();
    let mut maps: Vec<Vec<Option<usize>>> = vec![vec![]];
    for _ in 0..n {
        let choices = || (0..m).map(Some).chain([None]);
        maps = maps.iter().flat_map(|map| choices().map(|k| map.iter().copied().chain([k]).collect())).collect();
    }
    maps.into_iter().filter_map(|map| Matching::new(map, m, problem.constraint).ok()).collect()
}

#[test]
fn every_matcher_honours_seeds_and_forbidden_pairs() {
    let mut rng = rng(71);
    let mut with_seeds = 0;
    for round in 0..300 {
        let (n, m) = (rng.random_range(1..5), rng.random_range(1..5));
        let constraint = if round % 4 == 0 { Constraint::ManyToOne } else { Constraint::OneToOne };
        let kind = Kind { edges: round % 2 == 0, constraint, ..random_kind(&mut rng) };
        let problem = random_problem(&mut rng, n, m, kind);
        let given = random_restrictions(&mut rng, &problem);
        with_seeds += usize::from(!given.seeds.is_empty());
        let mut narrowed = problem.clone();
        given.apply(&mut narrowed).unwrap();
        // The best is found without any narrowing, among the matchings that respect what is given.
        let allowed = all_matchings(&problem).into_iter().filter(|y| given.check_matching(y).is_ok());
        let must = |i: usize| problem.unmatched_score(i) == f64::NEG_INFINITY;
        let ranked = allowed.filter_map(|y| {
            let size = y.pairs().filter(|&(i, _)| must(i)).count();
            problem.score(&y).ok().map(|score| (size, score))
        });
        let best = ranked.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).unwrap();
        for method in Method::all() {
            let answer = match method.matcher().solve(&narrowed) {
                Err(Error::Unsupported { .. }) => continue,
                answer => answer.unwrap(),
            };
            let context = || format!("{} on {problem:?} with {given:?}: {answer:?}, best {best:?}", method.name());
            given.check_matching(&answer.matching).unwrap_or_else(|error| panic!("{error}: {}", context()));
            if answer.status == Status::Optimal {
                assert!(close(answer.score, best.1, magnitude(&problem)), "{}", context());
            }
        }
    }
    assert!(with_seeds > 80, "{with_seeds}");
}

#[test]
fn what_is_given_reaches_models_and_examples() {
    let text = r#"{"format":{"kind":"homolog-data","version":1},
        "graphs":[{"id":"a","points":[[0,0],[4,0],[1,3]]},{"id":"b","points":[[0,0],[4,0],[1,3]]}],
        "pairs":[{"left":"a","right":"b","matches":[[0,1],[1,0],[2,2]],"seeds":[[0,1]],"forbidden":[[2,0]]}]}"#;
    let data = DataSet::from_json(text).unwrap();
    let pair = data.pair(0).unwrap();
    assert_eq!((&pair.given.seeds[..], &pair.given.forbidden[..]), (&[[0, 1]][..], &[[2, 0]][..]));
    let model = Model::unlearned(FeatureMap::paper_linear(), Method::Linear(Linear::default())).unwrap();
    let solution = model.solve(&pair).unwrap();
    // Without the seed it would be the identity.
    assert_eq!(solution.matching.left_to_right(), [Some(1), Some(0), Some(2)]);
    let described = |graph| Arc::new(model.features.describe(graph).unwrap());
    let instance = model.features.instance(&described(&pair.left), &described(&pair.right)).unwrap();
    let truth = data.pairs()[0].truth.clone().unwrap();
    let example = Example::new(instance.clone(), &pair, truth, &Hamming::default(), 0).unwrap();
    let problem = example.instance().compatibility(&model.weights()).unwrap();
    let answer = BruteForce::default().solve(&problem).unwrap();
    assert_eq!(answer.matching.left_to_right(), [Some(1), Some(0), Some(2)]);
    let error = Example::new(instance, &pair, Matching::identity(3), &Hamming::default(), 0).unwrap_err();
    assert_eq!(error, Error::MissingSeed { left: 0, right: 1 });
}
