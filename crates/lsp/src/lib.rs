//! The language server. It underlines races and deadlocks as the user types, and also shows what
//! other commands have found.
//!
//! It implements the editor's part of Bläser, "Practical Detection of Concurrency Issues at Coding
//! Time" (ISSTA 2018), section 4. The checker runs on the source in the editor, saved or not,
//! complete or not. Its bounds are small enough to give an answer while the user is still typing.
//!
//! ```text
//! client ⇄ transport ⇄ server ──► schedule ──► worker: project ─► raddle_check::Session
//!                        ▲  ▲                     │
//!                        │  └── findings ◄────────┘
//!                        └───── stored (raddle_store)
//! ```
//!
//! - [`mod@transport`]: messages over bytes; skips invalid ones.
//! - `server`, `handlers`, `client`: the protocol and the state.
//! - `documents`, `text`: buffers, and positions in UTF-16.
//! - `schedule`: which buffer is checked when; an edit cancels.
//! - `worker`, `project`: which files make a program; quick and thorough checks; lowers only what
//!   changed.
//! - `diagnostics`, `actions`: findings as diagnostics, quick fixes and lenses. Their wording comes
//!   from `raddle_finding`.
//! - `stored`: findings of `run` and other commands, at their current lines.
//! - `settings`: what a user can set.
//!
//! Invariants:
//! - The thread that reads messages never checks, and the thread that checks never writes to the
//!   client.
//! - No answer refers to an outdated text: an edit discards the answers of the running check.
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

pub use server::{ConnectionEnd, ServerConfig, StoreOf, serve};
pub use settings::EditorSettings;

impl Default for ServerConfig {
    /// Uses the stores of the user's projects, and polls them every second.
    fn default() -> ServerConfig {
        let store = |file: &Path| raddle_store::home::folder_for(file.parent()?).ok();
        ServerConfig { store: Box::new(store), look: Duration::from_secs(1) }
    }
}

/// Serves the client on standard input and output until it leaves.
pub fn serve_stdio() -> io::Result<ConnectionEnd> {
    let (connection, writer) =
        transport::connect(BufReader::with_capacity(1 << 16, io::stdin()), io::stdout())?;
    let ended = serve(connection, ServerConfig::default())?;
    // Send all pending messages before the process ends. The reader can send too; it ends with its
    // client.
    let _ = writer.join();
    Ok(ended)
}
