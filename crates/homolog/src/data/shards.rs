//! [`Manifest`]: a data set split into files, so that training can be distributed over many machines.
//!
//! `manifest.json` lists the files, how many pairs each has, the sha256 of its bytes, and which of them contribute to which of the at most 32
//! planes of a round of training. Every file is a data set by itself, as JSON Lines: the pairs, in order, and the graphs they
//! refer to. If the number of files divides 32, or 32 divides it, no file contributes to a plane that is mostly elsewhere; with up to
//! 32 of them the sums are exactly those of training on the whole data set.

use super::dataset::{DataSet, LabelledPair, NamedGraph};
use crate::data::Split;
use crate::features::Common;
use crate::learn::shards::{Purpose, Shard, Worker, check_shards};
use crate::learn::{LabelledPairs, Parts};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The name of the file that lists the others.
pub const MANIFEST: &str = "manifest.json";
/// The version of the manifest that this library writes and reads.
const VERSION: u32 = 1;
const KIND: &str = "homolog-shards";
/// The most files to learn from.
pub(crate) const MAX_SHARDS: usize = 10_000;

/// A data set in several files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: Format,
    /// What all graphs have in common: a named set of features is built from this.
    pub graphs: Common,
    /// The files: those to learn from, to choose by, to measure on.
    pub shards: Vec<Shard>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Format {
    kind: String,
    version: u32,
}

impl Manifest {
    /// Splits the labelled pairs of a data set into this many files to learn from; those to choose by and to measure on are split as finely.
    /// Pairs whose matches are not known are left out. `write` is given the name and the text of each file, one after the other.
    ///
    /// # Errors
    /// No pairs to learn from, or fewer than files; an error of `write`.
    pub fn cut(data: &DataSet, count: usize, write: &mut dyn FnMut(&str, &str) -> Result<()>) -> Result<Self> {
        let of = |wanted: &[Option<Split>]| -> Vec<usize> {
            let labelled = data.pairs().iter().enumerate().filter(|(_, pair)| pair.truth.is_some());
            labelled.filter(|(_, pair)| wanted.contains(&pair.split)).map(|(position, _)| position).collect()
        };
        let train = of(&[Some(Split::Train), None]);
        if train.is_empty() {
            return Err(Error::NoExamples);
        }
        if count == 0 || count > train.len().min(MAX_SHARDS) {
            let limit = train.len().min(MAX_SHARDS);
            return Err(Error::OutOfRange { what: "files for the pairs to learn from", index: count, count: limit });
        }
        let parts = Parts::new(train.len(), train.len() as f64);
        let mut shards = Vec::new();
        let as_finely = |pairs: usize| (pairs * count).div_ceil(train.len());
        let uses = [
            (Purpose::Train, &train),
            (Purpose::Validation, &of(&[Some(Split::Validation)])),
            (Purpose::Test, &of(&[Some(Split::Test)])),
        ];
        for (purpose, positions) in uses {
            let count = if purpose == Purpose::Train { count } else { as_finely(positions.len()) };
            for number in 0..count {
                let range = number * positions.len() / count..(number + 1) * positions.len() / count;
                let own = &positions[range.clone()];
                let file = format!("part-{:05}.jsonl", shards.len());
                let text = subset(data, own)?.to_json_lines()?;
                write(&file, &text)?;
                let pieces = if purpose == Purpose::Train { parts.pieces(range) } else { Vec::new() };
                let sha256 = sha256(text.as_bytes());
                let (pairs, positions, left_out) = (own.len(), runs(own), Vec::new());
                shards.push(Shard { file, sha256, purpose, pairs, positions, pieces, left_out });
            }
        }
        let graphs = data.common()?;
        Ok(Self { format: Format { kind: KIND.to_string(), version: VERSION }, graphs, shards })
    }

    /// Reads a manifest and checks that nothing is missing from it.
    ///
    /// # Errors
    /// A text that is not a manifest; a gap, with the name of the file after it.
    pub fn from_json(text: &str) -> Result<Self> {
        let refused = |reason: String| Error::Shard { file: MANIFEST.to_string(), reason };
        let manifest: Self = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
        if manifest.format.kind != KIND || manifest.format.version != VERSION {
            let Format { kind, version } = &manifest.format;
            return Err(refused(format!(
                "this is {kind:?}, version {version}; it should be {KIND:?}, version {VERSION}"
            )));
        }
        let mut names = BTreeMap::new();
        for (number, shard) in manifest.shards.iter().enumerate() {
            if names.insert(&shard.file, number).is_some() {
                return Err(refused(format!("{} is listed twice", shard.file)));
            }
        }
        check_shards(&manifest.shards)?;
        Ok(manifest)
    }

    /// As text, with a file on each line.
    ///
    /// # Errors
    /// None in practice.
    pub fn to_json(&self) -> Result<String> {
        let refused = |error: serde_json::Error| Error::Shard { file: MANIFEST.to_string(), reason: error.to_string() };
        let lines = self.shards.iter().map(|shard| serde_json::to_string(shard).map_err(refused));
        let shards = lines.collect::<Result<Vec<_>>>()?;
        let format = serde_json::to_string(&self.format).map_err(refused)?;
        let graphs = serde_json::to_string(&self.graphs).map_err(refused)?;
        let shards = shards.join(",\n");
        Ok(format!("{{\n\"format\": {format},\n\"graphs\": {graphs},\n\"shards\": [\n{shards}\n]\n}}\n"))
    }

    /// How many pairs there are to learn from.
    #[must_use]
    pub fn examples(&self) -> usize {
        self.shards.iter().flat_map(|shard| &shard.pieces).map(|piece| piece.examples.len()).sum()
    }
}

/// A worker's reply to an order of [`Trainer::train_from_shards`](crate::learn::Trainer::train_from_shards), both as text; `read` gives the
/// bytes of a file by its name.
///
/// # Errors
/// A text that is no order. All others name the shard's file: an error of `read`, bytes other than those that were written, graphs without
/// what the features need, a problem that the matcher does not take. [`Error::Interrupted`] if interrupted.
pub fn answer(
    worker: &mut Worker,
    order: &str,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    control: &Control,
) -> Result<String> {
    worker.answer(order, &mut |shard| read_shard(shard, &read(&shard.file)?), control)
}

/// The pairs of a shard, from the bytes of its file.
fn read_shard(shard: &Shard, bytes: &[u8]) -> Result<LabelledPairs> {
    let refused = |reason: String| Error::Shard { file: shard.file.clone(), reason };
    let found = sha256(bytes);
    if found != shard.sha256.to_ascii_lowercase() {
        let reason = format!("the file was changed: its sha256 is {found}, and in the manifest {}", shard.sha256);
        return Err(refused(reason));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| refused(error.to_string()))?;
    let data = DataSet::from_json_lines(text).map_err(|error| refused(error.to_string()))?;
    let positions: Vec<usize> = shard.positions.iter().flat_map(|&[first, count]| (first..).take(count)).collect();
    if data.pairs().len() != positions.len() {
        return Err(refused(format!("it should have {} pairs and has {}", positions.len(), data.pairs().len())));
    }
    if data.pairs().iter().any(|pair| pair.truth.is_none()) {
        return Err(refused("a pair has no matches".to_string()));
    }
    Ok(LabelledPairs::of(&data, positions.iter().map(|&at| at as u64).enumerate()))
}

/// Some pairs of a data set with the graphs they refer to.
fn subset(data: &DataSet, pairs: &[usize]) -> Result<DataSet> {
    let mut new: BTreeMap<usize, usize> = BTreeMap::new();
    for &position in pairs {
        let pair = &data.pairs()[position];
        new.extend([(pair.left, 0), (pair.right, 0)]);
    }
    let graphs: Vec<NamedGraph> = new.keys().map(|&old| data.graphs()[old].clone()).collect();
    new.values_mut().enumerate().for_each(|(number, slot)| *slot = number);
    let moved = |&position: &usize| {
        let pair = &data.pairs()[position];
        LabelledPair { left: new[&pair.left], right: new[&pair.right], ..pair.clone() }
    };
    DataSet::new(graphs, pairs.iter().map(moved).collect())
}

/// Increasing numbers as runs: first and how many.
fn runs(numbers: &[usize]) -> Vec<[usize; 2]> {
    let mut runs: Vec<[usize; 2]> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some([first, count]) if *first + *count == number => *count += 1,
            _ => runs.push([number, 1]),
        }
    }
    runs
}

fn sha256(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
