//! The libraries of a program that do not belong to the system, for `raddle instrument`: those that
//! the loader would load with it, and those that the user named because the program loads them
//! later.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use raddle_wire::tsvd::PlannedLibrary;
use serde::{Deserialize, Serialize};

use super::planner::is_system;

const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// A library for which a copy has a plan, as it was when the copy was made.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct CopiedLibrary {
    pub path: PathBuf,
    identity: u64,
}

impl CopiedLibrary {
    fn open(path: &Path) -> Result<CopiedLibrary> {
        let page = first_page(path)?;
        Ok(CopiedLibrary { path: path.into(), identity: PlannedLibrary::identity(&page) })
    }

    /// Checks that the file has not changed.
    pub fn check(&self, copy: &Path) -> Result<()> {
        let now = CopiedLibrary::open(&self.path)?;
        ensure!(
            now == *self,
            "{} has changed since {} was made: make it anew",
            self.path.display(),
            copy.display()
        );
        Ok(())
    }

    /// The record for the runtime.
    pub fn record(&self) -> Option<PlannedLibrary> {
        use std::os::unix::ffi::OsStrExt as _;
        let module = raddle_binary::Module::open(&self.path).ok()?;
        let address = 0_u64.wrapping_sub(module.load_bias(0, 0)?);
        PlannedLibrary::new(self.identity, address, self.path.file_name()?.as_bytes())
    }
}

fn first_page(path: &Path) -> Result<Vec<u8>> {
    use std::io::Read as _;
    let mut page = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|f| f.take(PlannedLibrary::PAGE as u64).read_to_end(&mut page));
    read.with_context(|| format!("cannot read the library {}", path.display()))?;
    Ok(page)
}

/// The libraries that the loader finds for a program, and the `named` ones, each once.
pub fn of(program: &Path, named: &[PathBuf]) -> Result<Vec<CopiedLibrary>> {
    let mut paths = needed(program);
    paths.retain(|path| !is_system(&path.to_string_lossy()));
    for path in named {
        let path =
            path.canonicalize().with_context(|| format!("cannot read the library {}", path.display()))?;
        paths.push(path);
    }
    let mut found: Vec<CopiedLibrary> = Vec::new();
    for path in paths {
        if found.iter().all(|l| l.path != path) {
            found.push(CopiedLibrary::open(&path)?);
        }
    }
    Ok(found)
}

/// The system libraries of a program. They may define functions that the program has pointers to.
pub fn of_system(program: &Path) -> Vec<CopiedLibrary> {
    let mut paths = needed(program);
    paths.retain(|path| is_system(&path.to_string_lossy()));
    paths.iter().filter_map(|path| CopiedLibrary::open(path).ok()).collect()
}

/// Asks the loader itself, which knows the search paths and runs no code of the program.
fn needed(program: &Path) -> Vec<PathBuf> {
    let listed = Command::new(LOADER).arg("--list").arg(program).stdin(Stdio::null()).output();
    let text = listed.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().filter_map(listed_path).collect()
}

/// `libours.so => /opt/app/libours.so (0x00007f…)`, or without a name if the program has a path.
fn listed_path(line: &str) -> Option<PathBuf> {
    let (words, _) = line.rsplit_once(" (0x")?;
    let path = words.split_once(" => ").map_or(words, |(_, path)| path).trim();
    // The same file may have several names.
    path.starts_with('/').then(|| Path::new(path).canonicalize().unwrap_or_else(|_| path.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_loader_are_read() {
        let path = |line: &str| listed_path(line).map(|p| p.to_string_lossy().into_owned());
        assert_eq!(
            path("\tlibours.so.1 => /opt/app/lib ours.so.1 (0x00007f12)"),
            Some("/opt/app/lib ours.so.1".into())
        );
        assert_eq!(path("\t/opt/app/libours.so (0x00007f12)"), Some("/opt/app/libours.so".into()));
        assert_eq!(path("\tlinux-vdso.so.1 (0x00007f12)"), None);
        assert_eq!(path("\tlibgone.so => not found"), None);
        assert_eq!(path("\tstatically linked"), None);
    }

    #[test]
    fn a_library_that_changed_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libx.so");
        std::fs::write(&path, "first").unwrap();
        let watched = CopiedLibrary::open(&path).unwrap();
        assert!(watched.check(Path::new("copy")).is_ok());
        std::fs::write(&path, "second").unwrap();
        assert!(
            watched
                .check(Path::new("copy"))
                .unwrap_err()
                .to_string()
                .contains("has changed since copy was made")
        );
        assert!(watched.record().is_none(), "no ELF file");
    }
}
