//! What the program finds on its standard input: the same in every execution.
//!
//! A search executes the program thousands of times, so its input must be a file that can be read
//! again. What is piped into raddle is read only when the user says so by `--stdin -`: a pipe may
//! never end, and nothing tells one that will from one that will not.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use raddle_harness::launch;

/// Gives targets the file that was named, or the one that is redirected to raddle. A schedule names
/// the file, so what is read from a pipe is kept beside the schedules.
pub fn feed(named: Option<&Path>, folder: &Path) -> Result<()> {
    let file = match named {
        Some(path) if path == Path::new("-") => match redirected() {
            Some(file) => Some(file),
            None => Some(kept(folder)?),
        },
        Some(path) => {
            anyhow::ensure!(path.is_file(), "{} is no file that can be read again and again", path.display());
            std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            Some(path.into())
        }
        None => redirected(),
    };
    if let Some(file) = file {
        launch::feed(file);
    }
    Ok(())
}

/// The file that somebody has redirected to raddle.
fn redirected() -> Option<PathBuf> {
    let stat = rustix::fs::fstat(std::io::stdin()).ok()?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    let path = std::fs::read_link("/proc/self/fd/0").ok()?;
    (is_file && path.is_file()).then_some(path)
}

/// A pipe, read to its end.
fn kept(folder: &Path) -> Result<PathBuf> {
    let mut content = Vec::new();
    std::io::stdin().read_to_end(&mut content).context("cannot read standard input")?;
    let path = folder.join("hunt.stdin");
    std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
