//! Orders carried by MPI: the first process broadcasts what is asked, every process answers for its shards (number r, r + size, ...), the
//! replies are gathered in the first. Which process answers for which shard does not matter to the result.

use crate::Ending;
use crate::shards::FolderWorker;
use anyhow::{Context, Result};
use homolog::learn::shards::{Carry, Job, Order, Reply, Request, Shard};
use homolog::{Control, Error};
use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Root};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What is asked of all: the orders differ in their shards alone.
#[derive(Serialize, Deserialize)]
struct Broadcast {
    job: Job,
    request: Request,
    shards: Vec<Shard>,
}

/// The replies of a process, in the order of its shards, or what went wrong there.
type Gathered = std::result::Result<Vec<Reply>, String>;

/// The first process trains, the others answer until it is done.
pub(crate) fn run(folder: &Path, train: impl FnOnce(Carry<'_>) -> Result<Ending>) -> Result<Ending> {
    // Examples are worked on by many threads, but this one alone talks to MPI.
    let (universe, _) = mpi::initialize_with_threading(Threading::Funneled).context("MPI cannot be started")?;
    let world = universe.world();
    let mut worker = FolderWorker::new(folder, Control::new());
    if world.rank() != 0 {
        // Ctrl-C is for the first process to hear: it ends the others when it is done.
        crate::progress::catch_ctrl_c();
        while let Some(text) = broadcast(&world, None)? {
            let own = answer(&text, &world, &mut worker);
            gather(&world, &own)?;
        }
        return Ok(Ending::Done);
    }
    let mut carry = |orders: &[Order]| carry(orders, &world, &mut worker);
    let outcome = train(&mut carry);
    broadcast(&world, Some(""))?;
    outcome
}

fn carry(orders: &[Order], world: &SimpleCommunicator, worker: &mut FolderWorker) -> homolog::Result<Vec<Reply>> {
    let failed = |reason: String| Error::Shard { file: "MPI".to_string(), reason };
    let Some(first) = orders.first() else { return Ok(Vec::new()) };
    let shards = orders.iter().map(|order| order.shard.clone()).collect();
    let all = Broadcast { job: first.job.clone(), request: first.request.clone(), shards };
    let text = serde_json::to_string(&all).map_err(|error| failed(error.to_string()))?;
    broadcast(world, Some(&text)).map_err(|error| failed(format!("{error:#}")))?;
    let own = answer(&text, world, worker);
    let gathered = gather(world, &own).map_err(|error| failed(format!("{error:#}")))?;
    let mut of_ranks = Vec::with_capacity(gathered.len());
    for (rank, text) in gathered.iter().enumerate() {
        let replies: Gathered = serde_json::from_str(text).map_err(|error| failed(error.to_string()))?;
        of_ranks.push(replies.map_err(|reason| failed(format!("process {rank}: {reason}")))?.into_iter());
    }
    let count = of_ranks.len();
    let next = |at: usize| of_ranks[at % count].next();
    let replies: Option<Vec<Reply>> = (0..orders.len()).map(next).collect();
    replies.ok_or_else(|| failed("a process answered for fewer shards than it should".to_string()))
}

/// What this process answers, as text.
fn answer(text: &str, world: &SimpleCommunicator, worker: &mut FolderWorker) -> String {
    let (rank, size) = (world.rank().unsigned_abs() as usize, world.size().unsigned_abs() as usize);
    let mut answered = || -> Gathered {
        let all: Broadcast = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let own = all.shards.into_iter().skip(rank).step_by(size);
        own.map(|shard| {
            let order = Order { job: all.job.clone(), shard, request: all.request.clone() };
            worker.answer(&order).map_err(|error| error.to_string())
        })
        .collect()
    };
    serde_json::to_string(&answered()).unwrap_or_else(|error| format!("{{\"Err\":\"{error}\"}}"))
}

/// Sends a text from the first process to all, or receives it; `None` where there is nothing more to do.
fn broadcast(world: &SimpleCommunicator, text: Option<&str>) -> Result<Option<String>> {
    let root = world.process_at_rank(0);
    let mut bytes = text.map_or_else(Vec::new, |text| text.as_bytes().to_vec());
    let mut length = bytes.len() as u64;
    root.broadcast_into(&mut length);
    if length == 0 {
        return Ok(None);
    }
    i32::try_from(length).context("MPI carries no more than 2 GB at a time")?;
    bytes.resize(usize::try_from(length)?, 0);
    root.broadcast_into(&mut bytes[..]);
    Ok(Some(String::from_utf8(bytes)?))
}

/// The texts of all processes in the first; none in the others.
fn gather(world: &SimpleCommunicator, own: &str) -> Result<Vec<String>> {
    let root = world.process_at_rank(0);
    let length = i32::try_from(own.len()).context("MPI carries no more than 2 GB at a time")?;
    if world.rank() != 0 {
        root.gather_into(&length);
        root.gather_varcount_into(own.as_bytes());
        return Ok(Vec::new());
    }
    let mut lengths = vec![0_i32; world.size().unsigned_abs() as usize];
    root.gather_into_root(&length, &mut lengths[..]);
    let mut starts = Vec::with_capacity(lengths.len());
    let mut total = 0_i32;
    for &length in &lengths {
        starts.push(total);
        total = total.checked_add(length).context("MPI carries no more than 2 GB at a time")?;
    }
    let mut bytes = vec![0_u8; total.unsigned_abs() as usize];
    root.gather_varcount_into_root(own.as_bytes(), &mut PartitionMut::new(&mut bytes[..], &lengths[..], &starts[..]));
    let text = |(&start, &length): (&i32, &i32)| {
        let start = start.unsigned_abs() as usize;
        Ok(std::str::from_utf8(&bytes[start..start + length.unsigned_abs() as usize])?.to_string())
    };
    starts.iter().zip(&lengths).map(text).collect()
}
