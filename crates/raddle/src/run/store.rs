//! Keeps the findings of a run for the editor. Not part of the answer: a store that fails is one line on stderr.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use raddle_finding::Report;
use raddle_store::{Run, Store, StoreError};

use super::args::Options;
use super::settle::SourceFiles;

/// Set and not empty: nothing is stored.
pub const NO_STORE: &str = "RADDLE_NO_STORE";

/// Where and since when.
#[derive(Debug)]
pub struct Keeper {
    folder: PathBuf,
    begun: SystemTime,
}

impl Keeper {
    /// None when nothing is to be stored.
    pub fn new(options: &Options) -> Option<Keeper> {
        let off = options.no_store || std::env::var_os(NO_STORE).is_some_and(|value| !value.is_empty());
        let folder = std::env::current_dir().ok().filter(|_| !off)?;
        Some(Keeper { folder, begun: SystemTime::now() })
    }

    pub fn keep(&self, report: &Report) {
        match self.record(report) {
            // Who has no home has no editor that would look there.
            Ok(()) | Err(StoreError::NoHome) => {}
            Err(why) => eprintln!("raddle: the findings are not kept for the editor: {why}"),
        }
    }

    fn record(&self, report: &Report) -> Result<(), StoreError> {
        let run = Run {
            command: report.command.clone(),
            target: report.target.clone(),
            folder: self.folder.clone(),
            at: self.begun,
        };
        let source = SourceFiles::default();
        let line = |path: &Path, line: u32| source.line(path.to_str()?, line);
        Store::open_for_project(&self.folder)?.record(&run, &report.findings, &line)
    }
}
