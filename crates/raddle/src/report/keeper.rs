//! Stores the findings of a command for the editor. This is not part of the result: if the store
//! fails, raddle prints one line on stderr.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::report::source::SourceFiles;
use raddle_finding::Report;
use raddle_harness::say::say;
use raddle_store::{CommandRun, Store, StoreError};

/// If set and not empty, nothing is stored.
const NO_STORE: &str = "RADDLE_NO_STORE";

/// The folder and the time at which the command began.
#[derive(Debug)]
pub struct Keeper {
    folder: PathBuf,
    begun: SystemTime,
}

impl Keeper {
    /// Call this when the command begins. `None` if nothing is to be stored.
    pub fn new(no_store: bool) -> Option<Keeper> {
        let off = no_store || std::env::var_os(NO_STORE).is_some_and(|value| !value.is_empty());
        let folder = std::env::current_dir().ok().filter(|_| !off)?;
        Some(Keeper { folder, begun: SystemTime::now() })
    }

    pub fn keep(&self, report: &Report) {
        match self.record(report) {
            // A user without a home has no editor that would look there.
            Ok(()) | Err(StoreError::NoHome) => {}
            Err(why) => say!("the findings are not kept for the editor: {why}"),
        }
    }

    fn record(&self, report: &Report) -> Result<(), StoreError> {
        let run = CommandRun {
            command: report.command.clone(),
            target: report.target.clone(),
            folder: self.folder.clone(),
            at: self.begun,
        };
        let source = SourceFiles::of(report);
        let line = |path: &Path, line: u32| source.line(path.to_str()?, line);
        Store::open_for_project(&self.folder)?.record(&run, &report.findings, &line)
    }
}
