//! Removes from the cache what has not been used for a month.
//!
//! Each version of raddle has a runtime of 15 MB there, and `conseq` and `tsvd` have a file or two
//! per program. A runtime's folder is marked as used once a day by its modification time. The files
//! use their access time, where the file system keeps it. Rust sysroots stay: they take long to
//! make, and there is one per toolchain.
//!
//! Nothing here may fail for the user: what cannot be removed stays.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// How long unused things are kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// A file whose modification time says when the cache was last pruned.
const STAMP: &str = "pruned";
/// Folders of results that are kept between commands.
const RESULTS: [&str; 3] = ["conseq", "relocated", "tsvd"];

/// Marks the runtime in `used`, a folder in `root`, as used, and prunes the rest once a day.
pub fn daily(root: &Path, used: &Path) {
    if !is_younger(used, DAY) {
        touch(used);
    }
    if is_younger(&root.join(STAMP), DAY) || fs::write(root.join(STAMP), "").is_err() {
        return;
    }
    for entry in entries(root) {
        let (path, name) = (entry.path(), entry.file_name());
        let Some(name) = name.to_str() else { continue };
        let limit = match name {
            _ if is_runtime(name) => KEPT,
            // Left by a raddle that was killed while unpacking.
            _ if name.starts_with("unpack-") || name.starts_with("old-") => DAY,
            _ => continue,
        };
        if path != used && !is_younger(&path, limit) {
            let _ = fs::remove_dir_all(path);
        }
    }
    for entry in RESULTS.iter().flat_map(|folder| entries(&root.join(folder))) {
        if !is_younger(&entry.path(), KEPT) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// Whether it is a name from [`super::content_hash`].
fn is_runtime(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether it exists and was changed or read within `limit`. A time in the future counts as recent.
fn is_younger(path: &Path, limit: Duration) -> bool {
    let Ok(meta) = fs::symlink_metadata(path) else { return false };
    let read = if meta.is_file() { meta.accessed().ok() } else { None };
    let last = meta.modified().ok().max(read);
    let age = last.and_then(|last| SystemTime::now().duration_since(last).ok());
    age.is_none_or(|age| age < limit)
}

fn touch(folder: &Path) {
    let _ = fs::File::open(folder).and_then(|file| file.set_modified(SystemTime::now()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const ONE: &str = "0123456789abcdef0123456789abcdef";
    const TWO: &str = "fedcba9876543210fedcba9876543210";

    struct Root(tempfile::TempDir);

    impl Root {
        fn new() -> Root {
            Root(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// A folder with a file in it, both last used this many days ago.
        fn folder(&self, name: &str, days: u32) -> PathBuf {
            let folder = self.path(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("file"), "x").unwrap();
            self.age(&folder.join("file"), days);
            self.age(&folder, days);
            folder
        }

        fn age(&self, path: &Path, days: u32) {
            let then = SystemTime::now() - DAY * days;
            let times = fs::FileTimes::new().set_modified(then).set_accessed(then);
            fs::File::open(path).unwrap().set_times(times).unwrap();
        }
    }

    #[test]
    fn what_was_not_used_for_a_month_goes_once_a_day() {
        let root = Root::new();
        let used = root.folder(ONE, 40);
        let old = root.folder(TWO, 40);
        daily(root.0.path(), &used);
        assert!(used.exists() && !old.exists());
        assert!(is_younger(&used, DAY), "it is marked as used");
        root.folder(TWO, 40);
        daily(root.0.path(), &used);
        assert!(old.exists(), "today it was gone through already");
        root.age(&root.path(STAMP), 2);
        daily(root.0.path(), &used);
        assert!(!old.exists());
    }

    #[test]
    fn younger_ones_and_what_is_no_runtime_stay() {
        let root = Root::new();
        let used = root.folder(ONE, 0);
        let stay = [
            root.folder(TWO, 20),
            root.folder("sysroot-1.95.0-0123456789abcdef", 300),
            root.folder("unpack-a", 0),
        ];
        let go = [root.folder("unpack-b", 2), root.folder("old-c", 2)];
        daily(root.0.path(), &used);
        assert!(stay.iter().all(|path| path.exists()));
        assert!(!go.iter().any(|path| path.exists()));
    }

    #[test]
    fn analyses_that_nobody_reads_go() {
        let root = Root::new();
        let used = root.folder(ONE, 0);
        let kept = root.folder("conseq", 40);
        let recent = kept.join("recent");
        fs::write(&recent, "x").unwrap();
        daily(root.0.path(), &used);
        assert!(recent.exists() && !kept.join("file").exists());
    }
}
