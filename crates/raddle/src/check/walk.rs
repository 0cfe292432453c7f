//! Finds the source files below paths.
//!
//! A file that the user named is taken unless its extension belongs to another language. In
//! folders, files ending in `.c` or `.cs` are taken. A C# project or solution stands for its
//! folder. Links are followed as long as they stay below the named folder and do not lead back to a
//! folder that contains them. Everything is visited in the order of names, so that the same tree
//! gives the same result.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use thiserror::Error;

use super::left_out::LeftOut;

/// The most files, entries of folders, and levels of folders that are visited.
const MOST_FILES: usize = 20_000;
const MOST_ENTRIES: usize = 2_000_000;
const DEEPEST: usize = 64;

/// Folders in which build systems and package managers keep code of others.
const NOT_THE_PROJECT: &[&str] = &["CMakeFiles", "node_modules", "autom4te.cache"];

#[derive(Debug, Error)]
enum WalkError {
    #[error("there is no {0}")]
    Missing(String),
    #[error("cannot read {0}: {1}")]
    Unreadable(String, std::io::ErrorKind),
}

/// The C and C# files that the paths name, each once.
pub fn files(paths: &[PathBuf], left_out: &mut LeftOut) -> Result<Vec<PathBuf>> {
    let mut walk = Walk { found: Vec::new(), seen: HashSet::new(), entries: 0, left_out };
    for path in paths {
        let name = || path.display().to_string();
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                let root =
                    std::fs::canonicalize(path).map_err(|e| WalkError::Unreadable(name(), e.kind()))?;
                walk.folder(path, &root, &mut vec![identity(&meta)]);
            }
            Ok(meta) if meta.is_file() && is_project(path) => {
                let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let root =
                    std::fs::canonicalize(folder).map_err(|e| WalkError::Unreadable(name(), e.kind()))?;
                let folder_meta =
                    std::fs::metadata(folder).map_err(|e| WalkError::Unreadable(name(), e.kind()))?;
                walk.folder(folder, &root, &mut vec![identity(&folder_meta)]);
            }
            Ok(meta) if meta.is_file() && !may_be_source(path) => {
                walk.left_out.file(path, "is neither C nor C# by its name, and only these are checked");
            }
            Ok(meta) => walk.file(path, &meta),
            // A link that exists but leads nowhere is a file left out. A name that does not exist
            // is an error.
            Err(e) if std::fs::symlink_metadata(path).is_ok() => walk.left_out.file(path, &why(&e)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(WalkError::Missing(name()).into());
            }
            Err(e) => return Err(WalkError::Unreadable(name(), e.kind()).into()),
        }
    }
    Ok(walk.found)
}

/// Whether a file is a C# project or solution.
fn is_project(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "csproj" || e == "sln" || e == "slnx")
}

/// Whether a file in a folder is source.
fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "c" || e == "cs")
}

/// Whether a named file may be C or C#: its extension is `.cs`, `.c`, `.h`, `.i`, `.inc` and the
/// like, or it has none.
fn may_be_source(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    extension.is_none_or(|e| {
        matches!(e.as_str(), "cs" | "c" | "h" | "i" | "inc" | "in" | "def" | "tmpl" | "y" | "l")
    })
}

fn identity(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

fn why(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "is a link that leads nowhere".into(),
        std::io::ErrorKind::PermissionDenied => "may not be read".into(),
        // std has no stable name for ELOOP.
        _ if error.raw_os_error() == Some(libc::ELOOP) => "is a link that leads to itself".into(),
        kind => format!("cannot be read: {kind}"),
    }
}

struct Walk<'a> {
    found: Vec<PathBuf>,
    /// Files and folders that have been visited.
    seen: HashSet<(u64, u64)>,
    entries: usize,
    left_out: &'a mut LeftOut,
}

impl Walk<'_> {
    fn file(&mut self, path: &Path, meta: &Metadata) {
        if !meta.is_file() {
            self.left_out.file(path, "is not a regular file");
        } else if self.seen.insert(identity(meta)) {
            if self.found.len() < MOST_FILES {
                self.found.push(tidy(path));
            } else {
                self.left_out.file(path, &format!("is beyond the first {MOST_FILES} files"));
            }
        }
    }

    /// `above`: this folder and the folders that contain it.
    fn folder(&mut self, path: &Path, root: &Path, above: &mut Vec<(u64, u64)>) {
        if above.last().is_some_and(|id| !self.seen.insert(*id)) {
            return;
        }
        if above.len() > DEEPEST {
            self.left_out.note(
                &path.display().to_string(),
                &format!("lies more than {DEEPEST} folders deep, left out"),
            );
            return;
        }
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(e) => return self.left_out.note(&path.display().to_string(), &why(&e)),
        };
        let mut paths: Vec<PathBuf> =
            entries.flatten().map(|e| e.path()).take(MOST_ENTRIES.saturating_sub(self.entries)).collect();
        self.entries += paths.len();
        if self.entries >= MOST_ENTRIES {
            let what = format!("more than {MOST_ENTRIES} files and folders, the rest was left out");
            self.left_out.note(&path.display().to_string(), &what);
        }
        paths.sort();
        for path in paths {
            self.entry(&path, root, above);
        }
    }

    fn entry(&mut self, path: &Path, root: &Path, above: &mut Vec<(u64, u64)>) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_source = is_source(path);
        let Ok(plain) = std::fs::symlink_metadata(path) else { return };
        let is_link = plain.is_symlink();
        if !is_source && !plain.is_dir() && !is_link {
            return;
        }
        let meta = match std::fs::metadata(path) {
            Ok(meta) => meta,
            Err(e) if is_source => return self.left_out.file(path, &why(&e)),
            Err(_) => return,
        };
        if meta.is_dir() && (name.starts_with('.') || NOT_THE_PROJECT.contains(&&*name)) {
            return;
        }
        if is_link && (meta.is_dir() || is_source) && !self.stays_within(path, root) {
            return;
        }
        if !meta.is_dir() {
            if is_source {
                self.file(path, &meta);
            }
            return;
        }
        if is_link && above.contains(&identity(&meta)) {
            return self
                .left_out
                .note(&path.display().to_string(), "is a link to a folder that it lies in, not followed");
        }
        above.push(identity(&meta));
        self.folder(path, root, above);
        above.pop();
    }

    fn stays_within(&mut self, link: &Path, root: &Path) -> bool {
        let within = std::fs::canonicalize(link).is_ok_and(|target| target.starts_with(root));
        if !within {
            let what = "is a link that leads out of the folder, not followed";
            self.left_out.note(&link.display().to_string(), what);
        }
        within
    }
}

/// Turns `./src/a.c` into `src/a.c`.
fn tidy(path: &Path) -> PathBuf {
    path.strip_prefix(".").unwrap_or(path).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(root: &Path, left_out: &mut LeftOut) -> Vec<String> {
        let found = files(&[root.to_path_buf()], left_out).unwrap();
        found.iter().map(|f| f.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn c_files_below_a_folder_in_order_and_nothing_hidden() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b/x.c", "a.c", "a.h", ".git/z.c", "CMakeFiles/id.c", "b/c/y.c", "b/data.bin"] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let mut left = LeftOut::default();
        assert_eq!(names(dir.path(), &mut left), ["a.c", "b/c/y.c", "b/x.c"]);
        assert_eq!(left.summary(), None);
    }

    #[test]
    fn loops_of_links_end_and_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("d")).unwrap();
        std::fs::write(at("d/a.c"), "").unwrap();
        symlink(dir.path(), at("d/up")).unwrap();
        symlink("self.c", at("self.c")).unwrap();
        symlink("nowhere", at("gone.c")).unwrap();
        symlink("/", at("d/out")).unwrap();
        symlink("d/a.c", at("same.c")).unwrap();
        let mut left = LeftOut::default();
        assert_eq!(names(dir.path(), &mut left), ["d/a.c"]);
        let text = left.summary().unwrap();
        for part in [
            "d/up: is a link to a folder that it lies in",
            "self.c is a link that leads to itself",
            "gone.c is a link that leads nowhere",
            "d/out: is a link that leads out of the folder",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(left.files(), 2);
    }

    #[test]
    fn a_named_file_is_taken_once_and_a_name_that_is_not_there_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program.inc");
        std::fs::write(&path, "").unwrap();
        let mut left = LeftOut::default();
        assert_eq!(files(&[path.clone(), path.clone()], &mut left).unwrap(), [path]);
        let missing = files(&[dir.path().join("no.c")], &mut left).unwrap_err();
        assert!(missing.to_string().starts_with("there is no "), "{missing}");
    }
}
