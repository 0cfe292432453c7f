//! The language server: races and deadlocks underlined as the source is written, and beside them what other commands
//! have found.
//!
//! It is the editor's half of Bläser, "Practical Detection of Concurrency Issues at Coding Time" (ISSTA 2018), section
//! 4: the checker runs on the source as it stands in the editor, saved or not, complete or not, within bounds that
//! leave an answer while the hand is still on the keyboard.
//!
//! ```text
//! client ⇄ transport ⇄ server ──► schedule ──► worker: project ─► raddle_check::Session
//!                        ▲  ▲                     │
//!                        │  └── findings ◄────────┘
//!                        └───── stored (raddle_store)
//! ```
//!
//! - [`mod@transport`]: messages over bytes; passes over what makes no sense.
//! - `server`, `handlers`, `client`: the protocol and the state.
//! - `documents`, `text`: buffers, and positions in UTF-16.
//! - `schedule`: which buffer is checked when; an edit cancels.
//! - `worker`, `project`: which files make a program; quick and thorough checks; lowering only what changed.
//! - `diagnostics`, `actions`: findings as diagnostics, quick fixes and lenses. Their words are `raddle_finding`'s.
//! - `stored`: findings of `run` and the others, where their lines are now.
//! - `settings`: what a user can set.
//!
//! Invariants:
//! - The thread that reads messages never checks, and the one that checks never writes to the client.
//! - No answer is about a text that is no longer there: an edit makes the running check's answers void.
//! - The server runs no program and writes no file.

mod actions;
mod client;
pub mod csharp_project;
mod diagnostics;
mod documents;
mod handlers;
mod project;
mod schedule;
mod server;
mod settings;
mod stored;
mod text;
pub mod transport;
mod worker;

use std::io::{self, BufReader};
use std::path::Path;
use std::time::Duration;

pub use server::{Config, Ended, StoreOf, serve};
pub use settings::Settings;

impl Default for Config {
    /// The stores of the user's projects, looked at every second.
    fn default() -> Config {
        let store = |file: &Path| raddle_store::home::folder_for(file.parent()?).ok();
        Config { store: Box::new(store), look: Duration::from_secs(1) }
    }
}

/// Serves the client at standard input and output until it leaves.
pub fn serve_stdio() -> io::Result<Ended> {
    let (connection, writer) =
        transport::connect(BufReader::with_capacity(1 << 16, io::stdin()), io::stdout())?;
    let ended = serve(connection, Config::default())?;
    // What was still to be said is said before the process goes. The reader, which can speak too, ends with its client.
    let _ = writer.join();
    Ok(ended)
}
