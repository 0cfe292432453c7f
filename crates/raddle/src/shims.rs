//! `raddle shims DIR`: each wrapper as a single word, for build systems that need one.
//!
//! `raddle-cc`, `raddle-c++`, `raddle-rustc` and `raddle-rustdoc` are symbolic links to raddle,
//! which looks at the name it was called by. CMake's `CMAKE_C_COMPILER` and cargo's `RUSTC_WRAPPER`
//! take a path without arguments, so `raddle cc` would not work there.

use crate::wrap::cc::Dialect;
use crate::wrap::rustc::RustTool;
use anyhow::Context;
use raddle_harness::install::cache;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A wrapper, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shim {
    Cc(Dialect),
    Rust(RustTool),
}

const SHIMS: &[(&str, Shim)] = &[
    ("raddle-cc", Shim::Cc(Dialect::C)),
    ("raddle-c++", Shim::Cc(Dialect::Cxx)),
    ("raddle-rustc", Shim::Rust(RustTool::Rustc)),
    ("raddle-rustdoc", Shim::Rust(RustTool::Rustdoc)),
];

/// The wrapper for a program name, if it is one.
pub fn by_name(program: &OsStr) -> Option<Shim> {
    let name = Path::new(program).file_name()?;
    SHIMS.iter().find(|(shim, _)| name == *shim).map(|(_, shim)| *shim)
}

/// Writes the links into `folder`; creates the folder if necessary. Replaces existing links. A file
/// of that name that is not a link is kept, and is an error.
pub fn write(folder: &Path) -> anyhow::Result<()> {
    let me = std::env::current_exe().context("cannot find the raddle binary")?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (name, _) in SHIMS {
        let path = folder.join(name);
        link(&me, &path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn link(to: &Path, path: &Path) -> std::io::Result<()> {
    if std::fs::read_link(path).is_ok_and(|old| old == to) {
        return Ok(());
    }
    if std::fs::symlink_metadata(path).is_ok_and(|m| !m.is_symlink()) {
        let error = "a file of that name is there and is not a link of raddle's";
        return Err(std::io::Error::new(ErrorKind::AlreadyExists, error));
    }
    // By rename, since a build may be using the old link.
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    symlink(to, &fresh)?;
    std::fs::rename(&fresh, path)
}

/// The links in a folder of raddle's own, for `cargo raddle`.
pub fn private() -> anyhow::Result<PathBuf> {
    let me = std::env::current_exe().context("cannot find the raddle binary")?;
    let name = cache::hex(&Sha256::digest(me.as_os_str().as_bytes())[..8]);
    let folder = cache::root()?.join(format!("shims-{name}"));
    write(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let of = |name: &str| by_name(OsStr::new(name));
        assert_eq!(of("raddle-cc"), Some(Shim::Cc(Dialect::C)));
        assert_eq!(of("/usr/bin/raddle-c++"), Some(Shim::Cc(Dialect::Cxx)));
        assert_eq!(of("raddle-rustc"), Some(Shim::Rust(RustTool::Rustc)));
        for other in ["raddle", "cc", "raddle-cc-2", ""] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn links_are_written_renewed_and_files_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        write(&bin).unwrap();
        let me = std::env::current_exe().unwrap();
        for (name, _) in SHIMS {
            assert_eq!(std::fs::read_link(bin.join(name)).unwrap(), me);
        }
        let stale = bin.join("raddle-cc");
        std::fs::remove_file(&stale).unwrap();
        symlink("/nonexistent", &stale).unwrap();
        write(&bin).unwrap();
        assert_eq!(std::fs::read_link(&stale).unwrap(), me);

        std::fs::remove_file(&stale).unwrap();
        std::fs::write(&stale, "mine").unwrap();
        assert!(write(&bin).is_err());
        assert_eq!(std::fs::read_to_string(&stale).unwrap(), "mine");
    }
}
