//! What the report says in words: the news in a sentence, every term where it first occurs, the table.

use super::Results;
use crate::study::{BaselineResult, MethodResult};
use homolog::experiment::SequenceMethod;
use homolog_viz::Block;

/// A share of wrong matches with how certain it is.
pub(crate) fn share(method: &MethodResult) -> String {
    match method.test_interval {
        Some([low, high]) => format!("{:.3} ({low:.3} to {high:.3})", method.test_loss),
        None => format!("{:.3} ± {:.3}", method.test_loss, method.test_stderr),
    }
}

pub(super) fn title(results: &Results<'_>) -> String {
    if let Some(askew) = &results.askew {
        let better = askew.product.after.wrong < askew.product.before.wrong;
        return if better { "Learning to match: fewer mistakes" } else { "Learning to match: no gain here" }
            .to_string();
    }
    match results.learned().first() {
        Some((approach, after)) => match results.before(*approach) {
            Some(before) if after.test_loss < before.test_loss => "Learning to match: fewer mistakes".to_string(),
            _ => "Learning to match: no gain here".to_string(),
        },
        None => "Matching without learning".to_string(),
    }
}

/// What came out, in a sentence that needs no other.
pub(super) fn news(results: &Results<'_>) -> String {
    let Some(last) = results.baselines.last() else { return results.data.clone() };
    let apart = format!("two pictures {} frames apart", last.baseline);
    let wrong = |method: &MethodResult| format!("{} of {}", method.wrong, method.of);
    let learned = results.learned();
    if let Some(askew) = &results.askew {
        return format!(
            "`homolog train` learned from {} labelled pairs of pictures. Before, {} points were matched wrongly; after, {} (on {} other \
             pairs, {apart}, taken with a camera in the hand: each picture is rotated by up to 25°). {}",
            askew.pairs,
            wrong(&askew.product.before),
            wrong(&askew.product.after),
            last.test,
            results.data
        );
    }
    let sentence = if let Some(&(approach, after)) = learned.first() {
        let seen = format!("on {} held-out pairs", last.test);
        let from = format!("learning from {} labelled pairs", last.train);
        match results.before(approach) {
            Some(before) if after.wrong < before.wrong => format!(
                "{from} lowered the number of wrongly matched points from {} to {} ({apart}, {seen}).",
                wrong(before),
                wrong(after)
            ),
            Some(before) => format!(
                "{from} did not help here: {} points are matched wrongly before it and {} after ({apart}, {seen}).",
                wrong(before),
                wrong(after)
            ),
            None => format!("after {from}, {} points are matched wrongly ({apart}, {seen}).", wrong(after)),
        }
    } else {
        let list = |method: &MethodResult| format!("{}: {}", method.name, wrong(method));
        let methods: Vec<String> = last.methods.iter().map(list).collect();
        format!("points matched wrongly in {apart}, without learning: {}.", methods.join(", "))
    };
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{} {}", letters.as_str(), results.data)
}

/// Every term of the figures, in the order in which they occur.
pub(super) fn how_to_read(results: &Results<'_>) -> Vec<String> {
    let mut lines = vec![
        "A landmark is a point that a person can find again in every picture: the tip of a roof, a corner of a window. To match two \
         pictures is to say, for each landmark of one, which point of the other it is. A labelled pair is a pair of pictures of which a \
         person has said so; a third of the pairs is learned from, a third (the validation pairs) chooses the settings, and a third (the test \
         pairs) is only counted on: all shares in this report are about test pairs."
            .to_string(),
        "The baseline is the number of frames between the two pictures of a pair: the larger, the less they look alike, and the fewer such \
         pairs there are. The loss is the share of landmarks that are matched wrongly; 0 is perfect, and guessing gets nearly 1."
            .to_string(),
    ];
    let method = |approach: &SequenceMethod| format!("{}: {}", approach.name(), meaning(*approach));
    let methods: Vec<String> = results.approaches.iter().map(method).collect();
    if let Some(askew) = &results.askew {
        lines.push(format!("What `homolog train` said on rotated pictures: {}", askew.product.sentence));
        lines.push(
            "homolog train is what the command of that name makes of the labelled pairs, without any options; no model is what \
             `homolog match --features linear` does without it. From here on no picture is rotated: the paper's features compare directions, \
             and these pictures are so easy for Homolog's own features that nothing is left to learn. The other methods are those of the paper that Homolog implements, with its features \
             and its learner: learning by these can also be worse than not learning, if two pictures are near and little is to be gained, \
             which is why `homolog train` compares on held-out pairs before it changes anything."
                .to_string(),
        );
    }
    lines.push(format!("The methods are: {}.", methods.join("; ")));
    lines.push(
        "The number after ± is the standard error: how much the mean would vary with other pairs. If all test pairs had the same loss \
         it would be 0, which is not certainty: brackets, and bars in the charts, then give the 95 % interval of Wilson instead. \
         0 of 210 wrong, for instance, is compatible with up to 1.8 % in the long run (landmarks taken as independent)."
            .to_string(),
    );
    if !results.learned().is_empty() {
        lines.push(
            "λ says how much large weights cost: the smaller it is, the more closely learning follows the labelled pairs. It is chosen by the validation pairs."
                .to_string(),
        );
    }
    lines
}

/// What it does, for somebody who has not heard of it.
fn meaning(method: SequenceMethod) -> &'static str {
    match method {
        SequenceMethod::Linear => "each point is matched by its surroundings, all features weighted equally",
        SequenceMethod::LinearLearned => "the same, how much each feature counts is learned",
        SequenceMethod::Quadratic => "neighbours should stay neighbours too (edges), every feature counts the same",
        SequenceMethod::QuadraticLearned => "the same with edges, how much each feature counts is learned",
        SequenceMethod::QuadraticCertified => "the same with edges, learned with a proof of how good the weights are",
        SequenceMethod::Bistochastic => "with edges, scores normalised before matching, nothing learned",
        SequenceMethod::QuadraticExact => "with edges, every feature counts the same, the best match is proven",
        SequenceMethod::Soft => "the surroundings of each point with soft bins, all features weighted equally",
        SequenceMethod::SoftLearned => "the same, how much each feature counts is learned if that helps",
    }
}

/// Loss by method and baseline.
pub(super) fn table(results: &Results<'_>) -> Block {
    let mut header = vec!["baseline".to_string(), "learned from".to_string(), "tested on".to_string()];
    let products = results.product.as_ref().map(|product| [&product.after, &product.before]);
    header.extend(products.iter().flatten().map(|method| method.name.to_string()));
    header.extend(results.approaches.iter().map(|approach| approach.name().to_string()));
    let largest = results.baselines.last().map(|last| last.baseline);
    let row = |result: &BaselineResult| {
        let mut row =
            vec![result.baseline.to_string(), format!("{} pairs", result.train), format!("{} pairs", result.test)];
        let is_last = Some(result.baseline) == largest;
        row.extend(products.iter().flatten().map(|method| if is_last { share(method) } else { "-".to_string() }));
        row.extend(results.approaches.iter().map(|&approach| result.method(approach).map_or("-".to_string(), share)));
        row
    };
    Block::Table {
        header,
        rows: results.baselines.iter().map(row).collect(),
        caption: "Share of wrongly matched landmarks on the test pairs, with its standard error or, in brackets, its interval."
            .to_string(),
    }
}

/// Which methods have no curve of bounds, and why.
pub(super) fn training(results: &Results<'_>) -> Vec<Block> {
    let without: Vec<&str> = results
        .learned()
        .into_iter()
        .filter(|(_, method)| !method.fit.as_ref().is_some_and(|fit| fit.certified || fit.relaxed.is_some()))
        .map(|(approach, _)| approach.name())
        .collect();
    if without.is_empty() {
        return Vec::new();
    }
    vec![Block::Text(format!(
        "Only training that proves how good its weights are has a curve here. There is none for {}: with edges its search for the worst mistake \
         proves nothing, so there is no bound to draw; the method quadratic-certified has one.",
        without.join(", ")
    ))]
}
