//! The errors of this crate, each a sentence that the command can print as it stands.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path leads nowhere.
    #[error("{}: there is no such file", path.display())]
    NoSuchFile { path: PathBuf },

    /// The file is there, and the system does not let us read it.
    #[error("{}: the file cannot be read ({source})", path.display())]
    NotReadable { path: PathBuf, source: io::Error },

    /// A folder, a socket, a device.
    #[error("{}: this is not a regular file", path.display())]
    NotAFile { path: PathBuf },

    /// Nothing in it.
    #[error("{}: the file is empty", path.display())]
    Empty { path: PathBuf },

    /// An ELF header that speaks of bytes which are not there.
    #[error("{}: the file is cut short: its {part} lies beyond its end", path.display())]
    Truncated { path: PathBuf, part: &'static str },

    /// Code was to be looked at, and this is not an ELF file.
    #[error("{}: this is not an ELF file", path.display())]
    NotElf { path: PathBuf },

    /// Code was to be looked at, and it is not 64-bit x86.
    #[error("{}: the file is built for {machine}; raddle reads x86-64 code only", path.display())]
    ForeignMachine { path: PathBuf, machine: String },

    /// An object file before linking: its addresses mean nothing yet.
    #[error("{}: this is not a linked program or shared library", path.display())]
    NotLinked { path: PathBuf },

    /// A program that can not be made to load one library more.
    #[error("{}: no instrumented copy can be made of it: {why}", path.display())]
    NotExtensible { path: PathBuf, why: &'static str },

    /// The ELF structures contradict each other.
    #[error("{}: the ELF file is damaged ({detail})", path.display())]
    Damaged { path: PathBuf, detail: String },
}

impl Error {
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NoSuchFile { path },
            _ => Self::NotReadable { path, source },
        }
    }

    pub(crate) fn damaged(path: &Path, detail: impl ToString) -> Self {
        Self::Damaged { path: path.to_path_buf(), detail: detail.to_string() }
    }
}

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;
