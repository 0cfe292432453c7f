//! Results kept between commands, as files in the user's cache folder. They belong to one build of
//! raddle, since another may store different results or find them differently. An unreadable file
//! counts as missing, and a failure to write is ignored.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::cache;
use crate::program::build_id;

/// The file for a result, named by everything that the result depends on: these parts and this
/// build of raddle.
pub fn file(folder: &Path, parts: &[&[u8]], ending: &str) -> PathBuf {
    static RADDLE: LazyLock<String> =
        LazyLock::new(|| build_id(&std::env::current_exe().unwrap_or_default()));
    let mut hash = Sha256::new();
    for part in [RADDLE.as_bytes()].iter().chain(parts) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    folder.join(format!("{}.{ending}", cache::hex(&hash.finalize()[..16])))
}

pub fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    postcard::from_bytes(&std::fs::read(path).ok()?).ok()
}

pub fn write<T: Serialize>(path: Option<&Path>, what: &T) {
    if let (Some(path), Ok(bytes)) = (path, postcard::to_allocvec(what)) {
        let _ = cache::write_atomically(path, &bytes);
    }
}

/// Keeps only the newest files of a folder, within a number of files and of bytes in all.
pub fn trim(folder: &Path, most: usize, bytes: u64) {
    let Ok(found) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<_> = found
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?, entry.path())))
        .filter(|(meta, _)| meta.is_file())
        .filter_map(|(meta, path)| Some((std::cmp::Reverse(meta.modified().ok()?), meta.len(), path)))
        .collect();
    files.sort();
    let mut sum = 0;
    for (number, (_, len, path)) in files.into_iter().enumerate() {
        sum += len;
        if number >= most || sum > bytes {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn other_parts_are_another_file() {
        let here = Path::new("/c");
        assert_ne!(file(here, &[b"a", b"bc"], "x"), file(here, &[b"ab", b"c"], "x"));
        assert_eq!(file(here, &[b"a", b"bc"], "x"), file(here, &[b"a", b"bc"], "x"));
    }

    #[test]
    fn results_come_back_and_a_broken_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), &[b"a"], "x");
        assert_eq!(read::<Vec<String>>(&path), None);
        write(Some(&path), &["one", "two"]);
        assert_eq!(read::<[String; 2]>(&path).unwrap(), ["one", "two"]);
        std::fs::write(&path, [0xff; 9]).unwrap();
        assert_eq!(read::<Vec<String>>(&path), None);
    }

    #[test]
    fn the_oldest_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let named = |n: u64| folder.path().join(n.to_string());
        for n in 0..6 {
            std::fs::write(named(n), [0; 10]).unwrap();
            let file = std::fs::File::options().write(true).open(named(n)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1000 + n)).unwrap();
        }
        let left = || (0..6).filter(|n| named(*n).exists()).collect::<Vec<_>>();
        trim(folder.path(), 4, 1000);
        assert_eq!(left(), [2, 3, 4, 5]);
        trim(folder.path(), 4, 25);
        assert_eq!(left(), [4, 5]);
        trim(Path::new("/no such folder"), 1, 1);
    }
}
