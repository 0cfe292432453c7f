//! Which folder is the project, and where its store is.
//!
//! The project of a folder is the nearest folder upward that has `raddle.toml` or `.git`; else the
//! nearest that has `compile_commands.json`; else the folder itself. `compile_commands.json` comes
//! second because it often lies in a build folder below the project. `raddle run` in that folder
//! must refer to the same project as the editor in `src`.

use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use raddle_finding::subject::clean;
use sha2::{Digest, Sha256};

use crate::StoreError;

/// The variable that names the store's folder, whatever the project.
pub const OVERRIDE: &str = "RADDLE_STORE";

/// The root of the project that `folder` lies in.
pub fn project_root(folder: &Path) -> PathBuf {
    let folder = real(folder);
    let nearest =
        |names: &[&str]| folder.ancestors().find(|a| names.iter().any(|name| a.join(name).exists()));
    let root = nearest(&["raddle.toml", ".git"]).or_else(|| nearest(&["compile_commands.json"]));
    root.map(Path::to_path_buf).unwrap_or(folder)
}

/// The folder of the store for the project that `folder` lies in.
pub fn folder_for(folder: &Path) -> Result<PathBuf, StoreError> {
    folder_by(folder, &|name| std::env::var_os(name))
}

/// Whether the store's folder was named by the user.
pub fn is_named() -> bool {
    std::env::var_os(OVERRIDE).is_some_and(|value| !value.is_empty())
}

/// Like [`folder_for`], with an environment given by the caller.
pub fn folder_by(folder: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set(OVERRIDE) {
        return Ok(folder);
    }
    // The specification says to ignore a relative path.
    let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let state = match state {
        Some(state) => state,
        None => set("HOME").ok_or(StoreError::NoHome)?.join(".local/state"),
    };
    Ok(state.join("raddle/projects").join(name_of(&project_root(folder))))
}

/// `name-1f2e3d4c5b6a7980`: the folder's own name for people, and the hash of its path to make it
/// unique.
fn name_of(root: &Path) -> String {
    let digest = Sha256::digest(root.as_os_str().as_bytes());
    let name = root.file_name().map_or("root".into(), |name| name.to_string_lossy());
    let mut text: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    text.truncate(60);
    text.push('-');
    for byte in &digest[..8] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The path with links resolved where it exists, and always without `.` and `..`, so that one file
/// has one name.
pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| clean(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        (dir, path)
    }

    #[test]
    fn the_project_is_the_nearest_mark() {
        let (_dir, top) = folder();
        let deep = top.join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(project_root(&deep), deep, "no mark: the folder itself");
        std::fs::write(top.join("a/b/compile_commands.json"), "[]").unwrap();
        assert_eq!(project_root(&deep), top.join("a/b"));
        std::fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(project_root(&deep), top, "a build folder in a repository is no project");
        std::fs::write(top.join("a/raddle.toml"), "").unwrap();
        assert_eq!(project_root(&deep), top.join("a"));
    }

    #[test]
    fn the_state_folder_and_its_override() {
        let (_dir, top) = folder();
        std::fs::create_dir(top.join(".git")).unwrap();
        let with = |pairs: &[(&str, &str)]| {
            let pairs: Vec<(String, OsString)> =
                pairs.iter().map(|(n, v)| (n.to_string(), OsString::from(v))).collect();
            folder_by(&top, &move |name| pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone()))
        };
        assert_eq!(with(&[("RADDLE_STORE", "/s"), ("HOME", "/h")]).unwrap(), Path::new("/s"));
        let own = with(&[("HOME", "/h")]).unwrap();
        assert!(own.starts_with("/h/.local/state/raddle/projects"), "{own:?}");
        let state = with(&[("HOME", "/h"), ("XDG_STATE_HOME", "/x")]).unwrap();
        assert!(state.starts_with("/x/raddle/projects"), "{state:?}");
        let relative = with(&[("HOME", "/h"), ("XDG_STATE_HOME", "x"), ("RADDLE_STORE", "")]).unwrap();
        assert_eq!(relative, own);
        assert!(matches!(with(&[]), Err(StoreError::NoHome)));
    }

    #[test]
    fn names_are_plain_and_differ_by_the_whole_path() {
        let name = name_of(Path::new("/a/my prójekt"));
        assert!(name.starts_with("my_pr_jekt-") && name.is_ascii(), "{name}");
        assert_ne!(name_of(Path::new("/a/x")), name_of(Path::new("/b/x")));
        assert!(name_of(Path::new("/")).starts_with("root-"));
        assert!(name_of(Path::new(&format!("/{}", "x".repeat(250)))).len() < 100);
    }

    #[test]
    fn one_file_has_one_name() {
        let (_dir, top) = folder();
        std::fs::write(top.join("a.c"), "").unwrap();
        std::os::unix::fs::symlink(&top, top.join("link")).unwrap();
        assert_eq!(real(&top.join("link/./link/a.c")), top.join("a.c"));
        assert_eq!(real(Path::new("/no/such/../file.c")), Path::new("/no/file.c"));
    }
}
