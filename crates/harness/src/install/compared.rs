//! Remembers that the unpacked files were compared with what raddle carries.
//!
//! Every start of raddle must know that nobody has changed them, and to read 17 MB takes longer
//! than to compile many a file. So a comparison leaves a note of the files' states beside them, and
//! a start that finds the same states reads nothing else. A state has the inode and the time of its
//! last change, which no program can set. Files and note must be this user's, and nobody else may
//! write the note.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::cache::write_atomically;
use super::is_private;

const NOTE: &str = "compared";

/// How long a file must have been left alone before its state is noted: a change within one tick of
/// the file system's clock would leave the same time.
pub const SETTLED: Duration = Duration::from_secs(2);

/// The states of some files in a folder, as a note holds them.
pub struct FileStates {
    text: String,
    changed: SystemTime,
}

impl FileStates {
    /// `None` if one of them is missing, is no plain file, or is not this user's.
    pub fn of<'a>(folder: &Path, files: impl Iterator<Item = &'a str>) -> Option<FileStates> {
        let user = rustix::process::geteuid().as_raw();
        let mut states = FileStates { text: String::new(), changed: SystemTime::UNIX_EPOCH };
        for name in files {
            let meta = fs::symlink_metadata(folder.join(name)).ok()?;
            if !meta.is_file() || meta.uid() != user {
                return None;
            }
            let (seconds, nanoseconds) = (meta.ctime(), meta.ctime_nsec());
            let numbers = [meta.dev() as i64, meta.ino() as i64, meta.size() as i64, seconds, nanoseconds];
            states.text += &format!("{name} {numbers:?}\n");
            let since = Duration::new(seconds.try_into().ok()?, nanoseconds.try_into().ok()?);
            states.changed = states.changed.max(SystemTime::UNIX_EPOCH + since);
        }
        Some(states)
    }

    /// Whether the files were in these states when they were compared.
    pub fn are_noted(&self, folder: &Path) -> bool {
        let note = folder.join(NOTE);
        fs::symlink_metadata(&note).is_ok_and(|meta| meta.is_file() && is_private(&meta))
            && fs::read_to_string(note).is_ok_and(|text| text == self.text)
    }

    /// Notes states that were taken before the files were compared. A note that cannot be written
    /// is no error: the next start compares again.
    pub fn note(&self, folder: &Path, settled: Duration) {
        if self.changed.elapsed().is_ok_and(|age| age >= settled) {
            let _ = write_atomically(&folder.join(NOTE), self.text.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const FILES: [&str; 2] = ["one", "two"];

    fn states(folder: &Path) -> Option<FileStates> {
        FileStates::of(folder, FILES.into_iter())
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        FILES.iter().for_each(|name| fs::write(folder.path().join(name), "as carried").unwrap());
        folder
    }

    /// Longer than a tick of any file system's clock here.
    fn wait() {
        std::thread::sleep(Duration::from_millis(50));
    }

    #[test]
    fn a_change_of_one_byte_is_seen() {
        let folder = folder();
        let before = states(folder.path()).unwrap();
        assert!(!before.are_noted(folder.path()));
        before.note(folder.path(), Duration::ZERO);
        assert!(states(folder.path()).unwrap().are_noted(folder.path()));
        wait();
        let file = folder.path().join("two");
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "as carrieD").unwrap();
        // A forged time of modification does not help.
        fs::File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
        assert!(!states(folder.path()).unwrap().are_noted(folder.path()));
    }

    #[test]
    fn a_file_that_was_replaced_or_has_become_a_link_is_seen() {
        let folder = folder();
        states(folder.path()).unwrap().note(folder.path(), Duration::ZERO);
        let (one, aside) = (folder.path().join("one"), folder.path().join("aside"));
        fs::rename(&one, &aside).unwrap();
        std::os::unix::fs::symlink(&aside, &one).unwrap();
        assert!(states(folder.path()).is_none());
        fs::remove_file(&one).unwrap();
        fs::copy(&aside, &one).unwrap();
        assert!(!states(folder.path()).unwrap().are_noted(folder.path()));
    }

    #[test]
    fn files_that_are_new_are_not_noted() {
        let folder = folder();
        let now = states(folder.path()).unwrap();
        now.note(folder.path(), Duration::from_secs(3600));
        assert!(!now.are_noted(folder.path()));
    }

    #[test]
    fn a_note_that_others_can_write_does_not_count() {
        let folder = folder();
        let now = states(folder.path()).unwrap();
        now.note(folder.path(), Duration::ZERO);
        fs::set_permissions(folder.path().join(NOTE), PermissionsExt::from_mode(0o666)).unwrap();
        assert!(!now.are_noted(folder.path()));
    }
}
