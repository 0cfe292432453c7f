//! Where the report goes: checked before the work, and written in one piece after it.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use thiserror::Error;

use super::TextTo;

#[derive(Debug, Error)]
#[error("cannot write {what} to {path}: {why}", path = path.display())]
pub struct OutputError {
    what: &'static str,
    path: PathBuf,
    why: String,
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "its folder does not exist".into(),
        std::io::ErrorKind::PermissionDenied => "that is not permitted".into(),
        std::io::ErrorKind::IsADirectory => "it is a folder".into(),
        std::io::ErrorKind::NotADirectory => "a part of the path is not a folder".into(),
        kind => kind.to_string(),
    }
}

/// A file that is first written beside its place and then renamed.
#[derive(Debug)]
pub struct OutputFile {
    what: &'static str,
    path: PathBuf,
}

impl OutputFile {
    /// Fails now if writing would fail later.
    pub fn new(what: &'static str, path: &Path) -> Result<OutputFile, OutputError> {
        let file = OutputFile { what, path: path.into() };
        if !file.is_special() {
            if path.is_dir() {
                return Err(file.error(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
            }
            drop(file.beside()?);
        }
        Ok(file)
    }

    /// Devices and pipes are written to directly.
    fn is_special(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|m| !m.is_file() && !m.is_dir())
    }

    fn error(&self, source: std::io::Error) -> OutputError {
        OutputError { what: self.what, path: self.path.clone(), why: reason(&source) }
    }

    fn beside(&self) -> Result<tempfile::NamedTempFile, OutputError> {
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        tempfile::Builder::new().prefix(".raddle-").tempfile_in(folder).map_err(|e| self.error(e))
    }

    pub fn write(&self, text: &str) -> Result<(), OutputError> {
        if self.is_special() {
            return std::fs::write(&self.path, text).map_err(|e| self.error(e));
        }
        let mut file = self.beside()?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666 & !umask());
        file.write_all(text.as_bytes())
            .and_then(|()| file.as_file().set_permissions(mode))
            .and_then(|()| file.persist(&self.path).map(drop).map_err(|e| e.error))
            .map_err(|e| self.error(e))
    }
}

/// The umask can only be read by setting it.
fn umask() -> u32 {
    let old = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(old);
    old.bits()
}

/// Writes the report for its reader.
pub fn print(text: &str, to: TextTo) -> Result<(), OutputError> {
    if to == TextTo::Stderr {
        // There is nowhere else to report the failure. The exit status still tells of findings.
        let _ = write_to(&mut std::io::stderr(), text);
        return Ok(());
    }
    let lost = |e| OutputError { what: "the report", path: "standard output".into(), why: reason(&e) };
    write_to(&mut std::io::stdout(), text).map_err(lost)
}

fn write_to(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader closed the pipe and wants no more.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
