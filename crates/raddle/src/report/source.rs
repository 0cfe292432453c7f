//! Lines of source for a report, and which files they may come from.
//!
//! File names come from debug information and from `#line`, so whoever wrote the source controls
//! them. `#line 1 "/home/me/.ssh/id_rsa"` must not put a line of that file into a report, which may
//! be published. So lines are quoted only from regular files in these folders:
//!
//! - the project of the current folder, of the program, and of what is checked;
//! - the projects that the program was compiled from, by the names that the compiler was given on
//!   its command line;
//! - the headers and sources of the system and of Rust.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use raddle_binary::Module;
use raddle_finding::Report;
use raddle_store::home::{project_root, real};

/// Nobody writes a larger file by hand.
const LARGEST: u64 = 64 << 20;

/// Reads each file once.
pub struct SourceFiles {
    /// The program that was run, if one was.
    program: Option<PathBuf>,
    folders: Vec<PathBuf>,
    compiled: OnceCell<BTreeSet<PathBuf>>,
    texts: RefCell<HashMap<String, Option<String>>>,
}

impl SourceFiles {
    pub fn of(report: &Report) -> SourceFiles {
        let is_check = report.command == "check";
        let named: Vec<PathBuf> = report.target.iter().map(PathBuf::from).collect();
        let (program, checked) = if is_check { (None, &named[..]) } else { (named.first(), &named[..0]) };
        let mut folders: Vec<PathBuf> = std::env::current_dir().iter().map(|d| project_root(d)).collect();
        folders.extend(checked.iter().chain(program).map(|path| project_root(folder_of(path))));
        folders.extend(of_the_system().iter().map(|folder| real(folder)));
        SourceFiles {
            program: program.cloned(),
            folders,
            compiled: OnceCell::new(),
            texts: RefCell::default(),
        }
    }

    /// The line, counted from 1, without its line break.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(file.into()).or_insert_with(|| self.read(Path::new(file)));
        text.as_deref()?.lines().nth(line.checked_sub(1)? as usize).map(str::to_owned)
    }

    fn read(&self, file: &Path) -> Option<String> {
        // Links are resolved: one in the project may lead out of it.
        let path = file.canonicalize().ok()?;
        let meta = std::fs::metadata(&path).ok()?;
        if !meta.is_file() || meta.len() > LARGEST || !self.may_be_quoted(&path) {
            return None;
        }
        std::fs::read_to_string(path).ok()
    }

    fn may_be_quoted(&self, path: &Path) -> bool {
        let is_in = |folder: &PathBuf| path.starts_with(folder);
        // Reading all debug information is only for files that are in no other folder.
        self.folders.iter().any(is_in) || self.compiled().iter().any(is_in)
    }

    fn compiled(&self) -> &BTreeSet<PathBuf> {
        self.compiled.get_or_init(|| {
            let module = self.program.as_deref().and_then(|program| Module::open(program).ok());
            let folders = module.map(|module| module.source_folders()).unwrap_or_default();
            folders.iter().filter(|folder| folder.is_absolute()).map(|folder| project_root(folder)).collect()
        })
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        _ if path.is_dir() => path,
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Where compilers and package managers keep published sources.
fn of_the_system() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let of = |variable: &str, default: &str| {
        let set = std::env::var_os(variable).filter(|v| !v.is_empty()).map(PathBuf::from);
        set.or_else(|| home.as_ref().map(|home| home.join(default)))
    };
    let mut folders: Vec<PathBuf> =
        ["/usr/include", "/usr/lib", "/usr/local/include", "/usr/src"].map(PathBuf::from).into();
    if let Some(cargo) = of("CARGO_HOME", ".cargo") {
        folders.extend([cargo.join("registry/src"), cargo.join("git/checkouts")]);
    }
    folders.extend(of("RUSTUP_HOME", ".rustup").map(|rustup| rustup.join("toolchains")));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_project_are_quoted() {
        let top = tempfile::tempdir().unwrap();
        let (project, outside) = (top.path().join("project"), top.path().join("outside"));
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(project.join("src/a.c"), "one\ntwo\n").unwrap();
        std::fs::write(outside.join("secret.env"), "TOKEN=1\n").unwrap();
        std::os::unix::fs::symlink(outside.join("secret.env"), project.join("src/b.c")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            project.join("fifo"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        let target = project.join("src").display().to_string();
        let files = SourceFiles::of(&Report::new("check", vec![target]));
        let line = |path: PathBuf, n| files.line(&path.display().to_string(), n);
        assert_eq!(line(project.join("src/a.c"), 2).as_deref(), Some("two"));
        assert_eq!(line(project.join("src/a.c"), 0), None);
        assert_eq!(line(outside.join("secret.env"), 1), None);
        assert_eq!(line(project.join("src/../../outside/secret.env"), 1), None);
        assert_eq!(line(project.join("src/b.c"), 1), None, "a link leads out of it");
        assert_eq!(line(project.join("fifo"), 1), None, "and does not wait");
    }
}
