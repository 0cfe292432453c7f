//! The project that a C# file belongs to: the nearest `.csproj` above it.
//!
//! It is data from a repository. The server reads only its own text, up to a size, and takes only
//! names from it ([`raddle_check::csharp::project`]). It does not look at anything named outside of
//! its folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_check::csharp::project::{Project, read_project};

/// The maximum size of a project file.
const LARGEST: u64 = 4 << 20;
/// The maximum number of folders examined above a file, and below a project.
const HIGHEST: usize = 32;
const DEEPEST: usize = 32;

/// The maximum number of projects read in one folder.
const MOST_PROJECTS: usize = 64;

/// The project file of a C# file, not above `root`.
pub fn project_of(file: &Path, root: &Path) -> Option<PathBuf> {
    let folders = file.parent()?.ancestors().take(HIGHEST);
    folders.take_while(|f| f.starts_with(root)).find_map(|f| projects_in(f, root).into_iter().next())
}

/// The project files of a folder, in order. A link that leads out of `root` is left out.
fn projects_in(folder: &Path, root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let stays_within = |path: &Path| {
        let is_link = std::fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink());
        let leads_to = |p: &Path| std::fs::canonicalize(p).ok();
        !is_link || leads_to(path).zip(leads_to(root)).is_some_and(|(to, root)| to.starts_with(root))
    };
    let is_project =
        |p: &PathBuf| p.extension().is_some_and(|e| e == "csproj") && p.is_file() && stays_within(p);
    let mut out: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(is_project).collect();
    out.sort();
    out.truncate(MOST_PROJECTS);
    out
}

/// The contents of project files, each read once. They are needed for every file of a folder.
#[derive(Default)]
pub struct Projects {
    known: Mutex<HashMap<PathBuf, Arc<Project>>>,
}

impl Projects {
    pub fn read(&self, path: &Path) -> Arc<Project> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(path.to_path_buf()).or_insert_with(|| Arc::new(read(path))).clone()
    }

    /// The projects that were not read completely, each with a sentence.
    pub fn left_out(&self) -> Vec<(PathBuf, String)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out: Vec<(PathBuf, String)> =
            known.iter().filter_map(|(path, p)| Some((path.clone(), p.left_out.clone()?))).collect();
        out.sort();
        out
    }

    /// Why no project beside the nearest one of a file compiles it, if that is so.
    pub fn not_compiled(&self, file: &Path, root: &Path) -> Option<String> {
        let nearest = project_of(file, root)?;
        let folder = nearest.parent()?;
        let relative = file.strip_prefix(folder).ok()?.to_string_lossy().into_owned();
        let compiles = projects_in(folder, root).iter().any(|p| self.read(p).compiles(&relative));
        let name = nearest.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (!compiles).then(|| format!("is not compiled by {name}"))
    }
}

/// Reads a project file. One that is too large or unreadable is empty, with the reason.
pub fn read(path: &Path) -> Project {
    let bytes = match std::fs::metadata(path) {
        Ok(meta) if meta.len() > LARGEST => {
            Err(format!("is larger than {} MB and was not read", LARGEST >> 20))
        }
        _ => std::fs::read(path).map_err(|e| format!("could not be read: {}", e.kind())),
    };
    match bytes {
        Ok(bytes) => read_project(&String::from_utf8_lossy(&bytes)),
        Err(why) => Project { left_out: Some(why), ..read_project("") },
    }
}

/// The C# files of the project of a file, or those beside it; at most `most`.
pub fn files_with(file: &Path, root: &Path, most: usize) -> Vec<PathBuf> {
    let mut out = Vec::new();
    match project_of(file, root).and_then(|p| p.parent().map(Path::to_path_buf)) {
        Some(folder) => below(&folder, DEEPEST, most, &mut out),
        None => below(file.parent().unwrap_or(root), 0, most, &mut out),
    }
    out.sort();
    out
}

fn below(folder: &Path, depth: usize, most: usize, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_file() && path.extension().is_some_and(|e| e == "cs") && out.len() <= most {
            out.push(path);
        } else if kind.is_dir() && depth > 0 && !is_made(&path) {
            below(&path, depth - 1, most, out);
        }
    }
}

/// Whether a folder holds build output.
fn is_made(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || name == "bin" || name == "obj" || name == "node_modules"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_project_and_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (name, text) in [
            ("app/app.csproj", "<Project Sdk=\"x\"><DefineConstants>A</DefineConstants></Project>"),
            ("app/a.cs", ""),
            ("app/sub/b.cs", ""),
            ("app/obj/made.cs", ""),
            ("lone/c.cs", ""),
            ("lone/sub/d.cs", ""),
        ] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), text).unwrap();
        }
        let project = project_of(&at("app/sub/b.cs"), dir.path()).unwrap();
        assert_eq!(project, at("app/app.csproj"));
        assert_eq!(read(&project).symbols, ["A"]);
        assert_eq!(files_with(&at("app/sub/b.cs"), dir.path(), 10), [at("app/a.cs"), at("app/sub/b.cs")]);
        assert_eq!(project_of(&at("lone/c.cs"), dir.path()), None);
        assert_eq!(files_with(&at("lone/c.cs"), dir.path(), 10), [at("lone/c.cs")]);
        // Nothing above the root is examined.
        assert_eq!(project_of(&at("app/sub/b.cs"), &at("app/sub")), None);
    }

    #[test]
    fn a_file_that_its_project_removes_is_not_compiled() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let text = "<Project Sdk=\"x\"><Compile Remove=\"old\\*.cs\" /></Project>";
        std::fs::create_dir_all(at("old")).unwrap();
        std::fs::write(at("app.csproj"), text).unwrap();
        let not_compiled = |file: &Path| Projects::default().not_compiled(file, dir.path());
        let why = not_compiled(&at("old/a.cs"));
        assert_eq!(why.as_deref(), Some("is not compiled by app.csproj"));
        assert_eq!(not_compiled(&at("a.cs")), None);
        // Another project in the folder may compile it.
        std::fs::write(at("all.csproj"), "<Project Sdk=\"x\"></Project>").unwrap();
        assert_eq!(not_compiled(&at("old/a.cs")), None);
    }

    #[test]
    fn a_project_that_is_too_large_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("app.csproj");
        std::fs::File::create(&path).unwrap().set_len(LARGEST + 1).unwrap();
        let projects = Projects::default();
        assert_eq!(projects.not_compiled(&dir.path().join("a.cs"), dir.path()), None);
        assert_eq!(projects.left_out(), [(path, "is larger than 4 MB and was not read".to_string())]);
    }

    #[test]
    fn a_project_that_is_a_link_out_of_the_folder_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("root/app")).unwrap();
        std::fs::write(at("outside.csproj"), "<Project Sdk=\"x\"><Compile Remove=\"**\" /></Project>")
            .unwrap();
        std::os::unix::fs::symlink(at("outside.csproj"), at("root/app/app.csproj")).unwrap();
        let (file, root) = (at("root/app/a.cs"), at("root"));
        assert_eq!(project_of(&file, &root), None);
        assert_eq!(Projects::default().not_compiled(&file, &root), None);
        // A link that stays within the folder is a project.
        std::fs::write(at("root/inside.csproj"), "<Project Sdk=\"x\"></Project>").unwrap();
        std::os::unix::fs::symlink(at("root/inside.csproj"), at("root/app/b.csproj")).unwrap();
        assert_eq!(project_of(&file, &root), Some(at("root/app/b.csproj")));
    }
}
