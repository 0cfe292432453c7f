//! The private folder through which the driver and the runtimes of one session talk.
//!
//! It is removed when the session ends. A killed driver cannot do that, so each new session removes
//! what killed drivers left. A driver holds a lock on a file in its folder while it lives; the
//! kernel releases the lock however the driver ends. A folder whose lock is free belongs to nobody.
//!
//! The lock file gets its name only once it is locked, so a folder that has one was locked from the
//! start. A folder without one is left alone, unless it is empty and old: then its driver was
//! killed between two system calls.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use raddle_wire::config::Config;
use rustix::fs::FlockOperation;

const PREFIX: &str = "raddle-";
const LOCK: &str = "lock";
const UNLOCKED: &str = "lock.new";
/// A session with less space fails in ways that are harder to explain.
const LEAST_ROOM: u64 = 256 << 10;
/// An empty folder older than this is not a session that is about to begin.
const OLD: Duration = Duration::from_secs(3600);

/// A session's folder. Dropping it removes the folder.
#[derive(Debug)]
pub struct SessionFolder {
    dir: tempfile::TempDir,
    _lock: File,
}

impl SessionFolder {
    pub fn new() -> Result<SessionFolder> {
        // The runtime reads its code addresses there, and the driver identifies processes there.
        anyhow::ensure!(
            Path::new("/proc/self/maps").exists(),
            "raddle needs /proc: mount it (`mount -t proc proc /proc`)"
        );
        let temporary = std::env::temp_dir();
        remove_abandoned(&temporary);
        if let Some(left) = room(&temporary).filter(|left| *left < LEAST_ROOM) {
            anyhow::bail!(
                "the temporary folder {} has {} KiB left, which is too little for a session: set TMPDIR to another folder",
                temporary.display(),
                left >> 10
            );
        }
        Self::new_in(&temporary).context(
            "cannot make a folder for the session: set TMPDIR to a folder that is writable and not full",
        )
    }

    fn new_in(temporary: &Path) -> std::io::Result<SessionFolder> {
        let mode = PermissionsExt::from_mode(0o700);
        let dir = tempfile::Builder::new().prefix(PREFIX).permissions(mode).tempdir_in(temporary)?;
        let new = dir.path().join(UNLOCKED);
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        // On a file system without locks no session can be recognised as abandoned. The file keeps
        // its first name there.
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            std::fs::rename(&new, dir.path().join(LOCK))?;
        }
        Ok(SessionFolder { dir, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes the page that every process of the session reads first.
    pub fn write_config(&self, config: &Config) -> Result<()> {
        self.write_page(raddle_wire::CONFIG, config.as_bytes())
    }

    /// Writes a file of one whole page: the runtime maps a page.
    pub fn write_page(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut page = bytes.to_vec();
        page.resize(4096, 0);
        let path = self.path().join(name);
        std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The bytes left on the folder's disk; `None` if there is no limit, or it is unknown.
fn room(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    (disk.f_blocks > 0).then(|| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Removes this user's sessions whose drivers are gone.
fn remove_abandoned(temporary: &Path) {
    let user = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir(temporary).into_iter().flatten().flatten();
    // The name first: the folder may hold thousands of files of others, and every start looks.
    for entry in entries.filter(|entry| is_name(&entry.file_name())) {
        // The metadata of the folder itself, not of a link's target.
        let own = entry.metadata().is_ok_and(|m| m.is_dir() && m.uid() == user && m.mode() & 0o077 == 0);
        if own && is_abandoned(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the name is `raddle-` and the six characters of a temporary name.
fn is_name(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|r| r.len() == 6 && r.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn is_abandoned(folder: &Path) -> bool {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    match options.open(folder.join(LOCK)) {
        Ok(lock) => rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(_) => {
            let mut names = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let is_empty = names.all(|entry| entry.file_name() == UNLOCKED);
            let age =
                std::fs::metadata(folder).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
            is_empty && age.is_some_and(|age| age > OLD)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_removed_with_its_driver_and_not_before() {
        let temporary = tempfile::tempdir().unwrap();
        let session = SessionFolder::new_in(temporary.path()).unwrap();
        remove_abandoned(temporary.path());
        assert!(session.path().join(LOCK).exists());
        // The state that a killed driver leaves: the lock is released, the folder is there.
        let SessionFolder { dir, _lock } = session;
        let path = dir.keep();
        std::fs::write(path.join("1.0.log"), "").unwrap();
        drop(_lock);
        remove_abandoned(temporary.path());
        assert!(!path.exists());
    }

    #[test]
    fn what_is_no_session_or_may_become_one_stays() {
        let temporary = tempfile::tempdir().unwrap();
        let private = |name: &str| {
            let path = temporary.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
            path
        };
        let about_to_begin = private("raddle-AbC123");
        let cache = private("raddle-1000");
        let others = private("raddle-work-1");
        std::fs::write(others.join(LOCK), "").unwrap();
        let linked = private("elsewhere");
        std::fs::write(linked.join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(&linked, temporary.path().join("raddle-aaaaaa")).unwrap();
        remove_abandoned(temporary.path());
        assert!([about_to_begin, cache, others, linked].iter().all(|path| path.exists()));
    }
}
