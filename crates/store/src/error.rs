//! Errors of the store, each with a sentence that says what to do.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("neither XDG_STATE_HOME nor HOME says where to keep findings; RADDLE_STORE can name a folder")]
    NoHome,
    #[error("cannot make the folder {}: {why}", folder.display())]
    Folder { folder: PathBuf, why: std::io::Error },
    #[error("cannot look for the store {}: {why}", path.display())]
    Unreachable { path: PathBuf, why: std::io::Error },
    #[error("{} cannot be opened for writing", path.display())]
    Unwritable { path: PathBuf },
    #[error("{} is damaged, or no store at all; delete it and raddle begins a new one", path.display())]
    Damaged { path: PathBuf },
    #[error("{} is a database of another program", path.display())]
    Foreign { path: PathBuf },
    #[error("{} was written by a newer raddle (format {found}, this one knows {known})", path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("{} was kept busy by another process for too long", path.display())]
    Busy { path: PathBuf },
    #[error("no room is left on the disk for {}", path.display())]
    Full { path: PathBuf },
    #[error("{}: {why}", path.display())]
    Other { path: PathBuf, why: rusqlite::Error },
}

impl StoreError {
    /// Translates SQLite's error into words for the user.
    pub(crate) fn of(path: &Path, why: rusqlite::Error) -> StoreError {
        let path = path.to_path_buf();
        match why.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path },
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StoreError::Unwritable { path }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            _ => StoreError::Other { path, why },
        }
    }
}
