//! Where the built-in preprocessor looks for included files.
//!
//! It looks beside the including file and in the folders that compile_commands.json names. Without
//! that file, it does not know where headers are, so it also looks in the folders above the file
//! and their `include`, up to the folder that the user named. If a header with a folder in its name
//! is not found, it looks for the header without the folder. Last, if exactly one header below the
//! folders that the user named has that name, it takes that: a build would name its folder. It does
//! not read the system's own headers: the checker has its own declarations for what it knows of
//! them.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use raddle_check::c::Includes;
use raddle_check::c::commands::{CompileCommand, FolderKind};
use raddle_check::{CheckOutcome, ignore};

/// The largest header, and the most bytes of headers in memory.
const LARGEST: u64 = 16 << 20;
const MOST_KEPT: usize = 256 << 20;

/// How many folders above a file are searched for its headers.
const MOST_LEVELS: usize = 8;

/// Reads a regular file of at most `most` bytes, or says why not. Opening a pipe or a device would
/// block.
pub fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let wrong = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => "is not there".to_string(),
        std::io::ErrorKind::PermissionDenied => "may not be read".to_string(),
        kind => format!("cannot be read: {kind}"),
    };
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(wrong)?;
    let meta = file.metadata().map_err(wrong)?;
    if !meta.is_file() {
        return Err("is not a regular file".into());
    }
    if meta.len() > most {
        return Err(format!("is {} MB; files above {} MB are left out", meta.len() >> 20, most >> 20));
    }
    let mut text = Vec::with_capacity(meta.len() as usize);
    // It may grow while it is being read.
    file.take(most).read_to_end(&mut text).map_err(wrong)?;
    Ok(text)
}

/// The most headers, and levels of folders, that are looked at to find one by its name alone.
const MOST_HEADERS: usize = 100_000;
const DEEPEST: usize = 16;

/// Words in a path that say for which systems a header is not, and for which it is.
const OTHER_SYSTEMS: &[&str] =
    &["win", "win32", "windows", "msvc", "mac", "macos", "macosx", "darwin", "vxworks", "rtems", "os2"];
const OUR_SYSTEMS: &[&str] = &["linux", "posix", "unix", "pthread", "pthreads"];

/// Names that mean the system's header, wherever a project has one of that name.
const OF_THE_SYSTEM: &[&str] = &[
    "assert.h",
    "ctype.h",
    "errno.h",
    "fcntl.h",
    "float.h",
    "getopt.h",
    "inttypes.h",
    "limits.h",
    "locale.h",
    "malloc.h",
    "math.h",
    "memory.h",
    "poll.h",
    "pthread.h",
    "sched.h",
    "semaphore.h",
    "setjmp.h",
    "signal.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "strings.h",
    "syslog.h",
    "threads.h",
    "time.h",
    "unistd.h",
    "wchar.h",
];

/// Headers, each read once.
#[derive(Default)]
pub struct Headers {
    kept: Mutex<Kept>,
    /// The folders that the user named.
    folders: Vec<PathBuf>,
    /// The headers below them by the last part of their names, once somebody asks.
    by_name: OnceLock<HashMap<String, Vec<PathBuf>>>,
}

#[derive(Default)]
struct Kept {
    bytes: usize,
    /// `None` for a name that is not a header.
    texts: HashMap<PathBuf, Option<Arc<[u8]>>>,
}

impl Headers {
    pub fn below(named: &[PathBuf]) -> Headers {
        Headers { folders: named.iter().filter(|p| p.is_dir()).cloned().collect(), ..Headers::default() }
    }

    /// The only header below the named folders with this name, or the only one of them for systems
    /// like this one. A `config.h` somewhere else may be of another build or of another system.
    fn only_one_named(&self, name: &str) -> Option<PathBuf> {
        let file = name.rsplit('/').next()?;
        if OF_THE_SYSTEM.contains(&file) || file == "config.h" || name.contains("..") {
            return None;
        }
        let candidates = self.by_name.get_or_init(|| headers_below(&self.folders)).get(file)?;
        let fits: Vec<&PathBuf> = candidates.iter().filter(|p| p.ends_with(name)).collect();
        let names = |path: &Path, systems: &[&str]| {
            let mut parts = path.components().map(|c| c.as_os_str().to_string_lossy().to_ascii_lowercase());
            parts.any(|part| systems.contains(&part.as_str()))
        };
        let ours: Vec<&&PathBuf> = fits.iter().filter(|p| names(p, OUR_SYSTEMS)).collect();
        match (&fits[..], &ours[..]) {
            ([only], _) if !names(only, OTHER_SYSTEMS) => Some((*only).clone()),
            (_, [only]) if !names(only, OTHER_SYSTEMS) => Some((**only).clone()),
            _ => None,
        }
    }

    fn read(&self, path: &Path) -> Option<Arc<[u8]>> {
        if let Ok(kept) = self.kept.lock()
            && let Some(known) = kept.texts.get(path)
        {
            return known.clone();
        }
        let text: Option<Arc<[u8]>> = read_bounded(path, LARGEST).ok().map(Into::into);
        if let Ok(mut kept) = self.kept.lock() {
            kept.bytes += text.as_ref().map_or(0, |t| t.len());
            if kept.bytes < MOST_KEPT {
                kept.texts.insert(path.into(), text.clone());
            }
        }
        text
    }
}

/// The headers below folders, by the last part of their names. Links and hidden folders are left
/// out.
fn headers_below(folders: &[PathBuf]) -> HashMap<String, Vec<PathBuf>> {
    let mut found: HashMap<String, Vec<PathBuf>> = HashMap::new();
    let mut left: Vec<(PathBuf, usize)> = folders.iter().map(|f| (f.clone(), 0)).collect();
    let mut count = 0;
    while let Some((folder, level)) = left.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && level < DEEPEST && !name.starts_with('.') {
                left.push((path, level + 1));
            } else if kind.is_file() && name.ends_with(".h") && count < MOST_HEADERS {
                count += 1;
                found.entry(name).or_default().push(path);
            }
        }
    }
    found.values_mut().for_each(|paths| paths.sort_unstable());
    found
}

/// The includes of one file.
pub struct IncludeSearch<'a> {
    headers: &'a Headers,
    /// Whether a build says where headers are.
    is_built: bool,
    quoted: Vec<PathBuf>,
    angled: Vec<PathBuf>,
}

impl<'a> IncludeSearch<'a> {
    pub fn new(headers: &'a Headers, file: &Path, command: Option<&CompileCommand>) -> IncludeSearch<'a> {
        let (mut quoted, mut angled) = (Vec::new(), Vec::new());
        for (folder, kind) in command.iter().flat_map(|c| &c.folders) {
            let path = command.map(|c| Path::new(&c.directory).join(folder)).unwrap_or_default();
            match kind {
                FolderKind::Quoted => quoted.push(path),
                FolderKind::Both | FolderKind::System => angled.push(path),
            }
        }
        for above in file.ancestors().skip(1).take(MOST_LEVELS) {
            angled.push(above.to_path_buf());
            angled.push(above.join("include"));
        }
        IncludeSearch { headers, is_built: command.is_some(), quoted, angled }
    }
}

impl IncludeSearch<'_> {
    /// A file with that name other than `except`.
    fn find_in(
        &self,
        folders: &[PathBuf],
        name: &str,
        except: Option<&str>,
    ) -> Option<(Arc<str>, Arc<[u8]>)> {
        folders.iter().find_map(|folder| {
            let path = folder.join(name);
            if except.is_some_and(|other| path == Path::new(other)) {
                return None;
            }
            let text = self.headers.read(&path)?;
            Some((path.to_string_lossy().as_ref().into(), text))
        })
    }
}

impl Includes for IncludeSearch<'_> {
    fn find(&self, from: &str, name: &str, angled: bool) -> Option<(Arc<str>, Arc<[u8]>)> {
        let beside = Path::new(from).parent().filter(|_| !angled).map(Path::to_path_buf);
        let quoted = self.quoted.iter().filter(|_| !angled).cloned();
        let folders: Vec<PathBuf> =
            beside.into_iter().chain(quoted).chain(self.angled.iter().cloned()).collect();
        // `"library/part.h"` may be its installed name, while the sources have it without the
        // folder.
        let bare = name.rsplit_once('/').map(|(_, file)| file).filter(|_| !angled);
        let elsewhere = || {
            let path = self.headers.only_one_named(name).filter(|_| !angled && !self.is_built)?;
            let text = self.headers.read(&path)?;
            Some((path.to_string_lossy().as_ref().into(), text))
        };
        self.find_in(&folders, name, None)
            .or_else(|| self.find_in(&folders, bare?, Some(from)))
            .or_else(elsewhere)
    }
}

/// Applies `raddle: ignore` in headers: the checker sees only the comments of the files it was
/// given.
pub fn apply_ignores(outcome: &mut CheckOutcome) {
    let mut lines: HashMap<String, _> = HashMap::new();
    for finding in outcome.findings.iter().chain(&outcome.guesses) {
        for file in finding.accesses.iter().filter_map(|a| a.stack.first()?.file.clone()) {
            lines.entry(file).or_insert_with_key(|path| {
                read_bounded(Path::new(path), LARGEST).map(|t| ignore::ignored_lines(&t)).unwrap_or_default()
            });
        }
    }
    outcome.ignore(|path, line| lines.get(path)?.get(&line).cloned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_then_named_folders_then_above() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["src/x.h", "include/x.h", "include/y.h", "deps/z.h", "deps/y.h"] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), name).unwrap();
        }
        let headers = Headers::default();
        let command = CompileCommand {
            directory: dir.path().to_string_lossy().into_owned(),
            folders: vec![("deps".into(), FolderKind::Both)],
            ..CompileCommand::default()
        };
        let file = at("src/a.c");
        let find = |command, name: &str, angled| {
            let search = IncludeSearch::new(&headers, &file, command);
            search
                .find(&file.to_string_lossy(), name, angled)
                .map(|f| String::from_utf8_lossy(&f.1).into_owned())
        };
        assert_eq!(find(None, "x.h", false).as_deref(), Some("src/x.h"));
        assert_eq!(find(None, "y.h", true).as_deref(), Some("include/y.h"));
        assert_eq!(find(Some(&command), "y.h", true).as_deref(), Some("deps/y.h"));
        assert_eq!(find(None, "z.h", true), None);
        // The name under which it would be installed.
        assert_eq!(find(None, "library/x.h", false).as_deref(), Some("src/x.h"));
        assert_eq!(find(None, "library/x.h", true), None);
        // A header that includes another one of its own name does not include itself.
        let asks = at("src/x.h");
        let other =
            IncludeSearch::new(&headers, &file, None).find(&asks.to_string_lossy(), "library/x.h", false);
        assert_eq!(other.map(|f| PathBuf::from(&*f.0)), Some(at("include/x.h")));
    }

    #[test]
    fn the_only_header_of_a_name_is_found_anywhere_below() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let names = [
            "lib/os/os.h",
            "lib/os/linux/port.h",
            "lib/os/rtems/port.h",
            "a/two.h",
            "b/two.h",
            "win32/only.h",
            "lib/os/config.h",
            "lib/os/string.h",
            ".git/hidden.h",
            "lib/x/part.h",
        ];
        for name in names {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), name).unwrap();
        }
        let file = at("samples/a.c");
        let command = CompileCommand::default();
        let find = |headers: &Headers, command, name: &str, angled| {
            let found =
                IncludeSearch::new(headers, &file, command).find(&file.to_string_lossy(), name, angled);
            found.map(|f| String::from_utf8_lossy(&f.1).into_owned())
        };
        let below = Headers::below(&[dir.path().to_path_buf()]);
        assert_eq!(find(&below, None, "os.h", false).as_deref(), Some("lib/os/os.h"));
        assert_eq!(find(&below, None, "x/part.h", false).as_deref(), Some("lib/x/part.h"));
        assert_eq!(find(&below, None, "port.h", false).as_deref(), Some("lib/os/linux/port.h"));
        for name in ["two.h", "only.h", "config.h", "string.h", "hidden.h", "y/os.h", "../lib/os/os.h"] {
            assert_eq!(find(&below, None, name, false), None, "{name}");
        }
        assert_eq!(find(&below, None, "os.h", true), None);
        assert_eq!(find(&below, Some(&command), "os.h", false), None);
        // A file that was named alone has no folder to look in.
        assert_eq!(find(&Headers::below(std::slice::from_ref(&file)), None, "os.h", false), None);
    }

    #[test]
    fn only_regular_files_of_a_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_bounded(dir.path(), 10), Err("is not a regular file".into()));
        assert_eq!(read_bounded(Path::new("/dev/zero"), 10), Err("is not a regular file".into()));
        let path = dir.path().join("f");
        std::fs::write(&path, "0123456789").unwrap();
        assert_eq!(read_bounded(&path, 10).unwrap().len(), 10);
        assert!(read_bounded(&path, 9).is_err());
        assert_eq!(read_bounded(&dir.path().join("no"), 9), Err("is not there".into()));
    }
}
