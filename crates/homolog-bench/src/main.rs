//! Benchmarks of Homolog and its peers: `cargo run --release -p homolog-bench -- linear`.
//!
//! One module per benchmark, each with its own arguments and a `run`; `docs/benchmarks.md` says how each one measures.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark's table goes to stdout, its remarks to stderr"
)]

mod all;
mod asked;
mod atlas;
mod certified;
mod check;
mod choice;
mod clock;
mod exact;
mod features;
mod files;
mod fuzz;
mod house;
mod instructions;
mod interrupts;
mod join;
mod laws;
mod learn;
mod likelihood;
mod linear;
mod naming;
mod networks;
mod never_worse;
mod paper;
mod pictures;
mod quadratic;
mod scene;
mod sparse;
mod streamed;
mod tables;
mod takes;
mod tracking;
mod unlabelled;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Benchmarks of Homolog beside its peers", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    All(all::Arguments),
    /// Linear assignment beside the crates lapjv and lsap and the Python packages lapx and scipy.
    Linear(linear::Arguments),
    /// Sparse linear assignment beside lapmod (lapx) and scipy's min_weight_full_bipartite_matching.
    Sparse(sparse::Arguments),
    /// Thousands of points matched by linear assignment, without a table of all pairs.
    Streamed(streamed::Arguments),
    /// All problems of the house data built and scored, beside an n·m·60 tensor per pair.
    Features(features::Arguments),
    /// Every row of the table of the house in docs/paper.md run again, and compared with what is printed there.
    Paper(paper::Arguments),
    /// Our quadratic matchers side by side on rotated and jittered point sets.
    Quadratic(quadratic::Arguments),
    /// Networks and their changed copies, beside scipy's FAQ, graspologic and pygmtools.
    Networks(networks::Arguments),
    /// The exact quadratic matcher: published problems, proofs, bounds over time.
    Exact(exact::Arguments),
    /// Training against the linear relaxation, with proof.
    Certified(certified::Arguments),
    /// Training: the house data and a path of λ.
    Learn(learn::Arguments),
    Likelihood(likelihood::Arguments),
    /// The laws of matching on millions of small random problems, against brute force.
    Laws(laws::Arguments),
    Instructions(instructions::Arguments),
    /// Every reader of files on mutated seeds: no input may make one panic.
    Fuzz(fuzz::Arguments),
    /// Known points found among the corners of photographs, with and without learning.
    Scene(scene::Arguments),
    Pictures(pictures::Arguments),
    NeverWorse(never_worse::Arguments),
    Choice(choice::Arguments),
    Columns(choice::columns::Arguments),
    Presence(naming::presence::Arguments),
    Coverage(naming::coverage::Arguments),
    Check(check::Arguments),
    Join(join::Arguments),
    /// How soon every long call answers once it is told to stop
    Interrupts(interrupts::Arguments),
    Unlabelled(unlabelled::Arguments),
    /// How long an atlas takes to learn and to name, with and without proof.
    Atlas(atlas::Arguments),
    Takes(takes::Arguments),
    Tracking(tracking::Arguments),
    /// Our linear solver alone in a loop, for profilers.
    #[command(hide = true)]
    SolveOne(linear::OneArguments),
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::All(arguments) => all::run(&arguments),
        Command::Linear(arguments) => linear::run(&arguments),
        Command::Sparse(arguments) => sparse::run(&arguments),
        Command::Streamed(arguments) => streamed::run(&arguments),
        Command::Features(arguments) => features::run(&arguments),
        Command::Paper(arguments) => paper::run(&arguments),
        Command::Quadratic(arguments) => quadratic::run(&arguments),
        Command::Networks(arguments) => networks::run(&arguments),
        Command::Exact(arguments) => exact::run(&arguments),
        Command::Certified(arguments) => certified::run(&arguments),
        Command::Learn(arguments) => learn::run(&arguments),
        Command::Likelihood(arguments) => likelihood::run(&arguments),
        Command::Laws(arguments) => laws::run(&arguments),
        Command::Instructions(arguments) => instructions::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Scene(arguments) => scene::run(&arguments),
        Command::Pictures(arguments) => pictures::run(&arguments),
        Command::NeverWorse(arguments) => never_worse::run(&arguments),
        Command::Choice(arguments) => choice::run(&arguments),
        Command::Columns(arguments) => choice::columns::run(&arguments),
        Command::Presence(arguments) => naming::presence::run(&arguments),
        Command::Coverage(arguments) => naming::coverage::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Join(arguments) => join::run(&arguments),
        Command::Interrupts(arguments) => interrupts::run(&arguments),
        Command::Unlabelled(arguments) => unlabelled::run(&arguments),
        Command::Atlas(arguments) => atlas::run(&arguments),
        Command::Takes(arguments) => takes::run(&arguments),
        Command::Tracking(arguments) => tracking::run(&arguments),
        Command::SolveOne(arguments) => linear::run_one(&arguments),
    }
}
