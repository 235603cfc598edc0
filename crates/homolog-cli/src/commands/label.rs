//! `homolog label`: the labelling page in the browser.

use crate::label::Server;
use crate::{Ending, files};
use anyhow::{Context, Result};
use std::path::PathBuf;

/// Opens the labelling page: label a few, let it learn, correct the rest
#[derive(clap::Args)]
#[command(after_help = "\
The page proposes points and matches after the first few, shows what it is least sure of, and learns from each correction. Every
action is saved at once to labels/journal.jsonl in the folder (or in NAME.labels next to a file). Results are written next to the journal:
data.json, landmarks.csv, landmarks.tps, matches.csv, model.json. The printed address works on this computer and for this run only.
Ctrl-C stops the program.

Examples:
  homolog label pictures/
  homolog label wings.json
  homolog label turntable --no-open")]
pub(crate) struct Arguments {
    /// A folder of PNG or JPEG pictures, with or without landmarks.csv; a data set or landmark table; or the word turntable
    #[arg(value_name = "FOLDER_OR_DATA")]
    input: PathBuf,
    /// The folder of the journal and the results [default: labels in the folder, or NAME.labels next to the file]
    #[arg(long, value_name = "FOLDER")]
    labels: Option<PathBuf>,
    /// Port on 127.0.0.1 [default: any free port]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Print the address without opening a browser
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(async {
        let server = Server::open(&arguments.input, arguments.labels.as_deref(), arguments.port).await?;
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let mut stop = Some(stop);
        ctrlc::set_handler(move || drop(stop.take())).context("cannot listen for Ctrl-C")?;
        eprintln!(
            "{}; labels are kept in {}",
            crate::counted::counted(server.specimens, "specimen"),
            server.labels.display()
        );
        files::print(format!("{}\n", server.address).as_bytes())?;
        let door = if arguments.no_open { None } else { Some(server.door()?) };
        if door.as_ref().is_some_and(|door| open::that_detached(door.path()).is_err()) {
            eprintln!("No browser was found: open the address in one.");
        }
        eprintln!("Ctrl-C ends.");
        server.run(async move { drop(stopped.await) }).await;
        anyhow::Ok(())
    })?;
    // What the learner still does is of no use to anyone.
    runtime.shutdown_background();
    Ok(Ending::Done)
}
