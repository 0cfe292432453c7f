//! The program's standard input, which is the same in every execution.
//!
//! A search executes the program thousands of times, so its input must be a file that can be read
//! again. Raddle reads a pipe only if the user asks for it by `--stdin -`: a pipe may never end,
//! and raddle cannot tell whether it will.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use raddle_harness::launch;

/// Gives targets the named file, or the file that is redirected to raddle. A schedule names its
/// input file, so what comes from a pipe is stored beside the schedules.
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

/// The file that is redirected to raddle.
fn redirected() -> Option<PathBuf> {
    let stat = rustix::fs::fstat(std::io::stdin()).ok()?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    let path = std::fs::read_link("/proc/self/fd/0").ok()?;
    (is_file && path.is_file()).then_some(path)
}

/// Reads a pipe to its end and stores the content.
fn kept(folder: &Path) -> Result<PathBuf> {
    let mut content = Vec::new();
    std::io::stdin().read_to_end(&mut content).context("cannot read standard input")?;
    let path = folder.join("hunt.stdin");
    std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
