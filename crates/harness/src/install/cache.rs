//! The user's cache folder for raddle: `$XDG_CACHE_HOME/raddle` or `~/.cache/raddle`.
//!
//! Files from this folder are linked into programs and run. So the folder must belong to this user
//! and be closed to writing by others. Any other folder is refused, never repaired: whoever opened
//! it may already have been inside. If the cache cannot be written (no home, or a read-only one),
//! raddle uses a folder in the temporary directory, named for the user and checked in the same way,
//! and says so when it creates it.

use super::is_private;
use crate::say::say;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Why the runtime cannot be stored.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error(
        "{path} belongs to another user or can be written by others, so what lies there cannot \
         be trusted: remove it, or set XDG_CACHE_HOME to a folder of your own"
    )]
    NotPrivate { path: PathBuf },
    #[error("cannot unpack the runtime into {path}: set XDG_CACHE_HOME to a folder with room")]
    Unpack { path: PathBuf, source: std::io::Error },
    #[error("no folder to keep the runtime in: {path} cannot be made; set XDG_CACHE_HOME")]
    Nowhere { path: PathBuf, source: std::io::Error },
}

/// The cache folder; creates it if necessary.
pub fn root() -> Result<PathBuf, CacheError> {
    let env = |name| std::env::var_os(name).map(PathBuf::from).filter(|p: &PathBuf| p.is_absolute());
    let base = env("XDG_CACHE_HOME").or_else(|| env("HOME").map(|home| home.join(".cache")));
    root_from(base.as_deref(), &std::env::temp_dir())
}

fn root_from(base: Option<&Path>, temp: &Path) -> Result<PathBuf, CacheError> {
    if let Some(base) = base {
        let path = base.join("raddle");
        if make_private(&path).is_ok() {
            check_private(&path)?;
            if rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).is_ok() {
                return Ok(path);
            }
        }
    }
    let path = temp.join(format!("raddle-{}", rustix::process::geteuid().as_raw()));
    let is_new = !path.exists();
    make_private(&path).map_err(|source| CacheError::Nowhere { path: path.clone(), source })?;
    check_private(&path)?;
    if is_new {
        // Said only when the folder is created: configure scripts read a line on stderr as a failed
        // test.
        say!("the cache folder cannot be written; using {} instead", path.display());
    }
    Ok(path)
}

/// Creates `path` with mode 0700; leaves an existing folder as it is.
fn make_private(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Fails unless `path` is a real folder of this user that nobody else can write to.
pub fn check_private(path: &Path) -> Result<(), CacheError> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() && is_private(&meta) => Ok(()),
        _ => Err(CacheError::NotPrivate { path: path.to_owned() }),
    }
}

/// Writes a file beside its place and renames it there, so that no reader sees half of it.
pub fn write_atomically(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.persist(path)?;
    Ok(())
}

/// A private folder to fill and rename. It is removed unless it is kept.
///
/// The mode is set explicitly: tempfile leaves it to the umask, which often lets the group write.
pub fn staging(prefix: &str, root: &Path) -> std::io::Result<tempfile::TempDir> {
    let mode = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(prefix).permissions(mode).tempdir_in(root)
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn makes_the_folder_closed_to_others() {
        let home = tempfile::tempdir().unwrap();
        let base = home.path().join("deep/.cache");
        let root = root_from(Some(&base), Path::new("/nonexistent")).unwrap();
        assert_eq!(root, base.join("raddle"));
        assert_eq!(std::fs::metadata(&root).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn refuses_what_others_can_write_or_a_link() {
        let home = tempfile::tempdir().unwrap();
        let root = root_from(Some(home.path()), home.path()).unwrap();
        std::fs::set_permissions(&root, PermissionsExt::from_mode(0o770)).unwrap();
        let refused = root_from(Some(home.path()), home.path());
        assert!(matches!(refused, Err(CacheError::NotPrivate { .. })));

        std::fs::remove_dir(&root).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &root).unwrap();
        let refused = root_from(Some(home.path()), home.path());
        assert!(matches!(refused, Err(CacheError::NotPrivate { .. })));
    }

    #[test]
    fn falls_back_to_a_private_temporary_folder() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        std::fs::write(&file, "").unwrap();
        for base in [None, Some(file.as_path())] {
            let root = root_from(base, temp.path()).unwrap();
            assert!(root.starts_with(temp.path()));
            assert_eq!(std::fs::metadata(&root).unwrap().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn nowhere_at_all() {
        let refused = root_from(None, Path::new("/proc/nonexistent"));
        assert!(matches!(refused, Err(CacheError::Nowhere { .. })));
    }

    #[test]
    fn digits() {
        assert_eq!(hex(&[0, 15, 255]), "000fff");
    }
}
