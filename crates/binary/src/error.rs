//! The errors of this crate. Each is a sentence that the command can print unchanged.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be examined.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file does not exist.
    #[error("{}: there is no such file", path.display())]
    NoSuchFile { path: PathBuf },

    /// The file exists, but the system does not let us read it.
    #[error("{}: the file cannot be read ({source})", path.display())]
    NotReadable { path: PathBuf, source: io::Error },

    /// A folder, a socket, a device.
    #[error("{}: this is not a regular file", path.display())]
    NotAFile { path: PathBuf },

    /// The file is empty.
    #[error("{}: the file is empty", path.display())]
    Empty { path: PathBuf },

    /// The ELF header refers to bytes beyond the end of the file.
    #[error("{}: the file is cut short: its {part} lies beyond its end", path.display())]
    Truncated { path: PathBuf, part: &'static str },

    /// The caller wanted code, and this is not an ELF file.
    #[error("{}: this is not an ELF file", path.display())]
    NotElf { path: PathBuf },

    /// The caller wanted code, and this is not 64-bit x86.
    #[error("{}: the file is built for {machine}; raddle reads x86-64 code only", path.display())]
    ForeignMachine { path: PathBuf, machine: String },

    /// An object file before linking: its addresses mean nothing yet.
    #[error("{}: this is not a linked program or shared library", path.display())]
    NotLinked { path: PathBuf },

    /// The program cannot be made to load another library.
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
