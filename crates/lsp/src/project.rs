//! Which files form a program with the file that is being edited, and how the server reads them.
//!
//! A file of `compile_commands.json` belongs with the other files of that list, each with its
//! macros and include folders. A file without such a list belongs with the C files beside it. A C#
//! file belongs with the files of its project, or else with those beside it. The server looks for
//! the list from the file's folder upward, in each folder and in its subfolder `build`. The list is
//! data from a repository: `raddle_check::c::commands` says what the server takes from it.
//!
//! Files on disk are not trusted either. The server opens only regular files up to a certain size,
//! so an include of a device or a pipe counts as an include that was not found.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use raddle_check::Source;
use raddle_check::c::Includes;
use raddle_check::c::commands::{CompileCommand, FolderKind, parse};
use raddle_store::home::{project_root, real};

use crate::documents::BufferText;
use crate::settings::{CheckScope, EditorSettings};

/// The most files of a program, and the most bytes of all of them. The server checks a larger
/// program file by file.
const MOST_FILES: usize = 2000;
const MOST_BYTES: usize = 32 << 20;
/// The largest list of commands, and the largest header.
const LARGEST_LIST: u64 = 128 << 20;
const LARGEST_HEADER: u64 = 16 << 20;

/// The open buffers by path. They take precedence over files on disk.
pub type Overlay = Arc<BTreeMap<PathBuf, BufferText>>;

/// The folders to search for includes, in order.
pub type IncludeFolders = Arc<[(PathBuf, FolderKind)]>;

/// A file of a program, with its include folders.
#[derive(Clone)]
pub struct ProgramFile {
    pub source: Source,
    pub folders: IncludeFolders,
}

/// Identifies a state of a file.
type State = (u64, i64, i64, u64);

fn state(path: &Path, largest: u64) -> Option<State> {
    let meta = std::fs::metadata(path).ok()?;
    let fits = meta.is_file() && meta.len() <= largest;
    fits.then(|| (meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.len()))
}

/// A file's content and the state in which it was read.
type Kept = (State, Arc<[u8]>);

/// Files on disk. Each is read once for each of its states.
#[derive(Default)]
pub struct DiskFiles(Mutex<HashMap<PathBuf, Kept>>);

impl DiskFiles {
    pub fn read(&self, path: &Path, largest: u64) -> Option<Arc<[u8]>> {
        let now = state(path, largest)?;
        let mut known = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((then, text)) = known.get(path)
            && *then == now
        {
            return Some(text.clone());
        }
        let text: Arc<[u8]> = std::fs::read(path).ok()?.into();
        known.insert(path.to_path_buf(), (now, text.clone()));
        Some(text)
    }

    /// Forgets and returns the files that have changed since they were read.
    pub fn changed(&self) -> Vec<PathBuf> {
        let mut known = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let gone = |(path, (then, _)): (&PathBuf, &Kept)| {
            (state(path, u64::MAX) != Some(*then)).then(|| path.clone())
        };
        let changed: Vec<PathBuf> = known.iter().filter_map(gone).collect();
        changed.iter().for_each(|path| drop(known.remove(path)));
        changed
    }
}

/// Resolves a member's `#include`: in open buffers and on disk, beside the including file and in
/// the include folders.
pub struct Folders {
    pub folders: IncludeFolders,
    pub overlay: Overlay,
    pub files: Arc<DiskFiles>,
}

impl Includes for Folders {
    fn find(&self, from: &str, name: &str, angled: bool) -> Option<(Arc<str>, Arc<[u8]>)> {
        let beside = Path::new(from).parent().filter(|_| !angled).map(Path::to_path_buf);
        let listed = self.folders.iter().filter(|(_, kind)| !angled || *kind != FolderKind::Quoted);
        beside.into_iter().chain(listed.map(|(folder, _)| folder.clone())).find_map(|folder| {
            let path = real(&folder.join(name));
            let text = match self.overlay.get(&path) {
                Some(BufferText::Here(text)) => text.clone(),
                Some(BufferText::TooLarge(_)) => return None,
                None => self.files.read(&path, LARGEST_HEADER)?,
            };
            Some((path.to_string_lossy().as_ref().into(), text))
        })
    }
}

/// Finds the program of a file, and caches lists of commands.
pub struct Projects {
    pub files: Arc<DiskFiles>,
    lists: HashMap<PathBuf, (State, Arc<List>)>,
}

/// The C files of a compile_commands.json.
#[derive(Default)]
struct List(BTreeMap<PathBuf, (IncludeFolders, CompileCommand)>);

impl Projects {
    pub fn new() -> Projects {
        Projects { files: Arc::default(), lists: HashMap::new() }
    }

    /// The file and the files that form a program with it, itself first. For a header, only the
    /// files that may include it.
    pub fn program(
        &mut self,
        focus: &Path,
        overlay: &Overlay,
        settings: &EditorSettings,
    ) -> Vec<ProgramFile> {
        let list = self.list_for(focus);
        let own = self.member(focus, list.as_deref(), overlay, settings);
        if settings.scope == CheckScope::File || focus.is_relative() {
            return own.into_iter().collect();
        }
        let others = if is_csharp(focus) {
            let root = project_root(focus.parent().unwrap_or(Path::new("/")));
            crate::csharp_project::files_with(focus, &root, MOST_FILES)
        } else {
            self.with_c(focus, list.as_deref())
        };
        if others.len() > MOST_FILES {
            return own.into_iter().collect();
        }
        let others = others.iter().filter(|path| *path != focus);
        let others: Vec<ProgramFile> =
            others.filter_map(|path| self.member(path, list.as_deref(), overlay, settings)).collect();
        if others.iter().map(|member| member.source.text.len()).sum::<usize>() > MOST_BYTES {
            return own.into_iter().collect();
        }
        own.into_iter().chain(others).collect()
    }

    /// The C files that go with one.
    fn with_c(&self, focus: &Path, list: Option<&List>) -> Vec<PathBuf> {
        match list {
            Some(list) if list.0.contains_key(focus) || is_header(focus) => list.0.keys().cloned().collect(),
            _ => neighbours(focus),
        }
    }

    fn member(
        &self,
        path: &Path,
        list: Option<&List>,
        overlay: &Overlay,
        settings: &EditorSettings,
    ) -> Option<ProgramFile> {
        let text = match overlay.get(path) {
            Some(BufferText::Here(text)) => text.clone(),
            Some(BufferText::TooLarge(_)) => return None,
            None => self.files.read(path, settings.largest_file as u64)?,
        };
        let mut source = Source::new(&path.to_string_lossy(), []);
        // The text is shared with the buffer, not copied.
        source.text = text;
        if is_csharp(path) {
            let root = project_root(path.parent().unwrap_or(Path::new("/")));
            let project = crate::csharp_project::project_of(path, &root);
            let symbols =
                project.as_deref().map(|p| crate::csharp_project::read(p).symbols).unwrap_or_default();
            let macros = symbols.into_iter().map(|s| (s, Some(String::new()))).collect();
            let group = project.map(|p| p.to_string_lossy().into_owned());
            let source = source.with_macros(macros).with_group(group.as_deref());
            return Some(ProgramFile { source, folders: Arc::from([]) });
        }
        // A header has no command; one of the files beside it will do.
        let beside = || {
            let list = list?;
            list.0.iter().find(|(file, _)| file.parent() == path.parent()).or_else(|| list.0.iter().next())
        };
        let command =
            list.and_then(|list| list.0.get_key_value(path)).or_else(|| is_header(path).then(beside)?);
        Some(match command {
            Some((_, (folders, command))) => {
                ProgramFile { source: source.with_macros(command.macros.clone()), folders: folders.clone() }
            }
            None => ProgramFile { source, folders: Arc::from([]) },
        })
    }

    /// The list of commands that a file belongs to.
    fn list_for(&mut self, file: &Path) -> Option<Arc<List>> {
        let folder = file.parent()?;
        let root = project_root(folder);
        let within = folder.ancestors().take_while(|folder| folder.starts_with(&root));
        let path = within
            .flat_map(|folder| {
                [folder.join("compile_commands.json"), folder.join("build/compile_commands.json")]
            })
            .find(|path| path.is_file())?;
        let now = state(&path, LARGEST_LIST)?;
        if let Some((then, list)) = self.lists.get(&path)
            && *then == now
        {
            return Some(list.clone());
        }
        let list = Arc::new(List::read(&path));
        self.lists.insert(path, (now, list.clone()));
        Some(list)
    }
}

impl List {
    /// A list that cannot be read counts as empty, so the file is checked anyway.
    fn read(path: &Path) -> List {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut out = BTreeMap::new();
        for command in parse(&text).unwrap_or_default().all {
            let base = folder.join(&command.directory);
            let file = real(&base.join(&command.file));
            if !is_c(&file) {
                continue;
            }
            let folders = command.folders.iter().map(|(path, kind)| (base.join(path), *kind)).collect();
            out.entry(file).or_insert((folders, command));
        }
        List(out)
    }
}

/// The C files beside a file, in order.
fn neighbours(file: &Path) -> Vec<PathBuf> {
    let Some(Ok(entries)) = file.parent().map(std::fs::read_dir) else { return Vec::new() };
    let mut out: Vec<PathBuf> =
        entries.flatten().take(10 * MOST_FILES).map(|entry| entry.path()).filter(|path| is_c(path)).collect();
    out.sort();
    out
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e))
}

/// A C file that is compiled by itself.
pub fn is_c(path: &Path) -> bool {
    has_extension(path, &["c", "i"])
}

pub fn is_csharp(path: &Path) -> bool {
    has_extension(path, &["cs"])
}

pub fn is_header(path: &Path) -> bool {
    has_extension(path, &["h"])
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new(files: &[(&str, &str)]) -> Folder {
            let folder = Folder(tempfile::tempdir().unwrap());
            std::fs::create_dir(folder.path(".git")).unwrap();
            for (name, text) in files {
                std::fs::create_dir_all(folder.path(name).parent().unwrap()).unwrap();
                std::fs::write(folder.path(name), text).unwrap();
            }
            folder
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        /// The names of the files that are checked together with `name`.
        fn program(&self, name: &str, settings: &EditorSettings) -> Vec<String> {
            let members = Projects::new().program(&self.path(name), &Overlay::default(), settings);
            let top = self.path("");
            let name = |m: &ProgramFile| {
                Path::new(&*m.source.path).strip_prefix(&top).unwrap().display().to_string()
            };
            members.iter().map(name).collect()
        }
    }

    fn default() -> EditorSettings {
        EditorSettings::default()
    }

    #[test]
    fn without_a_list_the_c_files_of_the_folder_go_together() {
        let folder = Folder::new(&[("b.c", ""), ("a.c", ""), ("c.cpp", ""), ("x.h", ""), ("sub/d.c", "")]);
        assert_eq!(folder.program("b.c", &default()), ["b.c", "a.c"]);
        let alone = EditorSettings { scope: CheckScope::File, ..default() };
        assert_eq!(folder.program("b.c", &alone), ["b.c"]);
        assert!(folder.program("none.c", &alone).is_empty());
    }

    #[test]
    fn a_list_gives_files_macros_and_folders() {
        let list = r#"[{"directory":"..","file":"src/a.c","command":"cc -DX=1 -Iinc -c src/a.c"},
            {"directory":"..","file":"src/b.c","command":"cc src/b.c"},
            {"directory":"..","file":"src/gone.c","command":"cc src/gone.c"},
            {"directory":"..","file":"src/p.cc","command":"c++ src/p.cc"}]"#;
        let folder = Folder::new(&[
            ("build/compile_commands.json", list),
            ("src/a.c", ""),
            ("src/b.c", ""),
            ("src/other.c", ""),
            ("inc/x.h", "int x;"),
        ]);
        assert_eq!(folder.program("src/a.c", &default()), ["src/a.c", "src/b.c"]);
        assert_eq!(
            folder.program("src/other.c", &default()),
            ["src/other.c", "src/a.c", "src/b.c"],
            "beside it"
        );
        let members = Projects::new().program(&folder.path("src/a.c"), &Overlay::default(), &default());
        assert_eq!(&*members[0].source.macros, [("X".to_string(), Some("1".to_string()))]);
        let files = Arc::new(DiskFiles::default());
        let includes = Folders { folders: members[0].folders.clone(), overlay: Overlay::default(), files };
        let (path, text) = includes.find(&members[0].source.path, "x.h", true).unwrap();
        assert_eq!((Path::new(&*path), &*text), (folder.path("inc/x.h").as_path(), b"int x;".as_slice()));
    }

    #[test]
    fn a_list_that_lies_is_no_list() {
        for list in ["", "{}", "[1,2]", r#"[{"file":"/dev/zero","command":"cc"}]"#] {
            let folder = Folder::new(&[("compile_commands.json", list), ("a.c", "")]);
            assert_eq!(folder.program("a.c", &default()), ["a.c"], "{list}");
        }
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = Folder::new(&[("big.h", "0123456789")]);
        let files = DiskFiles::default();
        std::os::unix::fs::symlink(folder.path("loop.h"), folder.path("loop.h")).unwrap();
        for path in ["/dev/zero", "/proc/self", "/no/such/file"] {
            assert!(files.read(Path::new(path), 99).is_none(), "{path}");
        }
        assert!(files.read(&folder.path("loop.h"), 99).is_none());
        assert!(files.read(&folder.path("big.h"), 9).is_none());
        assert!(files.read(&folder.path("big.h"), 10).is_some());
    }

    #[test]
    fn a_file_that_changed_is_named_once() {
        let folder = Folder::new(&[("a.h", "1"), ("b.h", "1")]);
        let files = DiskFiles::default();
        for name in ["a.h", "b.h"] {
            files.read(&folder.path(name), 99).unwrap();
        }
        assert!(files.changed().is_empty());
        std::fs::write(folder.path("a.h"), "22").unwrap();
        assert_eq!(files.changed(), [folder.path("a.h")]);
        assert!(files.changed().is_empty());
        assert_eq!(&*files.read(&folder.path("a.h"), 99).unwrap(), b"22");
    }

    #[test]
    fn an_open_header_goes_before_the_disk() {
        let folder = Folder::new(&[("x.h", "disk"), ("a.c", "")]);
        let text: Arc<[u8]> = b"buffer".as_slice().into();
        let overlay: Overlay = Arc::new([(folder.path("x.h"), BufferText::Here(text))].into());
        let includes = Folders { folders: Arc::from([]), overlay, files: Arc::default() };
        let from = folder.path("a.c").display().to_string();
        assert_eq!(&*includes.find(&from, "./x.h", false).unwrap().1, b"buffer");
        assert!(includes.find(&from, "x.h", true).is_none(), "angled is not beside");
    }
}
