//! The results of analysing a file, kept between commands: disassembling a large program takes
//! longer than starting it.
//!
//! The user's cache folder has one file for each analysed program or library. It is named by
//! everything that the result depends on: the content of the file (its build id, plus size and
//! modification time, since `strip` keeps the id; a hash of all of it if there is no id), the
//! lists, and the build of raddle. So after a rebuild, or with other lists, raddle finds nothing
//! and writes another file. The oldest files are removed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::api::Catalogue;
use super::sites::{self, AnalysedFile, FileAnalysis};
use raddle_harness::install::{cache, results};
use raddle_harness::program::build_id;

/// The most files in the cache, and their most bytes in all.
const MOST: usize = 256;
const MOST_BYTES: u64 = 256 << 20;

/// The sites of a file, from the cache if it has been analysed before.
pub fn look(path: &Path, catalogue: &Catalogue) -> AnalysedFile {
    let folder = cache::root().ok().map(|root| root.join("tsvd"));
    look_in(folder.as_deref(), path, catalogue)
}

fn look_in(folder: Option<&Path>, path: &Path, catalogue: &Catalogue) -> AnalysedFile {
    let Some((folder, kept)) = folder.and_then(|f| Some((f, name(f, path, catalogue)?))) else {
        return AnalysedFile::new(path, sites::look(path, catalogue));
    };
    if let Some(found) = results::read::<FileAnalysis>(&kept) {
        return AnalysedFile::new(path, found);
    }
    let found = sites::look(path, catalogue);
    // The file may have been replaced while it was being read.
    if name(folder, path, catalogue).as_ref() == Some(&kept) {
        let _ = std::fs::create_dir_all(folder);
        results::write(Some(&kept), &found);
        results::trim(folder, MOST, MOST_BYTES);
    }
    AnalysedFile::new(path, found)
}

fn name(folder: &Path, path: &Path, catalogue: &Catalogue) -> Option<PathBuf> {
    let meta = std::fs::metadata(path).ok()?;
    let numbers = [meta.len(), meta.mtime() as u64, meta.mtime_nsec() as u64].map(u64::to_le_bytes).concat();
    let id = build_id(path);
    let parts = [&catalogue.digest[..], id.as_bytes(), &numbers];
    Some(results::file(folder, &parts, "sites"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect()
    }

    fn catalogue(list: &str) -> Catalogue {
        let text = format!(
            "[[tsvd.list]]\nlibrary = \"ours\"\n[[tsvd.list.class]]\nname = \"x\"\nwrite = [\"{list}\"]\n"
        );
        Catalogue::load(&[("raddle.toml".into(), text)]).unwrap()
    }

    #[test]
    fn a_file_is_looked_at_once_until_it_or_the_lists_change() {
        let folder = tempfile::tempdir().unwrap();
        let (program, cache) = (folder.path().join("program"), folder.path().join("cache"));
        std::fs::copy("/bin/true", &program).unwrap();
        let lists = catalogue("one");
        let first = look_in(Some(&cache), &program, &lists);
        assert_eq!(files(&cache).len(), 1);
        // The cached result is used.
        let kept = files(&cache).remove(0);
        let mut other = first.found.clone();
        other.has_symbols = !other.has_symbols;
        results::write(Some(&kept), &other);
        assert_eq!(look_in(Some(&cache), &program, &lists).found, other);
        // A broken file is written again.
        std::fs::write(&kept, "broken").unwrap();
        assert_eq!(look_in(Some(&cache), &program, &lists).found, first.found);
        assert_eq!(look_in(Some(&cache), &program, &lists).found, first.found);
        assert_eq!(files(&cache).len(), 1);
        look_in(Some(&cache), &program, &catalogue("two"));
        assert_eq!(files(&cache).len(), 2, "other lists");
        std::fs::copy("/bin/cat", &program).unwrap();
        look_in(Some(&cache), &program, &lists);
        assert_eq!(files(&cache).len(), 3, "another program of that name");
        assert_eq!(look_in(None, &program, &lists).found, sites::look(&program, &lists), "no cache folder");
    }

    #[test]
    fn the_same_content_at_another_time_is_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let (program, cache) = (folder.path().join("program"), folder.path().join("cache"));
        std::fs::copy("/bin/true", &program).unwrap();
        let time = |seconds| {
            let file = std::fs::File::options().write(true).open(&program).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
            look_in(Some(&cache), &program, &catalogue("one"));
            files(&cache).len()
        };
        assert_eq!([time(1), time(1), time(2)], [1, 1, 2]);
    }
}
