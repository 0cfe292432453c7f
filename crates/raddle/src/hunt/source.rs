//! `raddle hunt bank.c`: builds a source file first.
//!
//! The program goes into raddle's cache, under a name made of the source's path. It stays there,
//! since schedules name it and `raddle replay` needs it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::prey::Prey;
use raddle_harness::install::cache;

/// The wrapper that builds a file, chosen by its extension.
fn wrapper(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()? {
        "c" => Some("cc"),
        "cc" | "cpp" | "cxx" | "C" => Some("c++"),
        "rs" => Some("rustc"),
        _ => None,
    }
}

/// Whether the words are a source file and compiler options rather than a program.
pub fn is_source(words: &[OsString]) -> bool {
    let path = words.first().map(PathBuf::from).unwrap_or_default();
    wrapper(&path).is_some() && path.is_file()
}

/// Builds the file and returns the program to hunt.
pub fn build(words: &[OsString]) -> Result<Prey> {
    let source = PathBuf::from(&words[0]);
    let tool = wrapper(&source).context("not a source file")?;
    let real = std::fs::canonicalize(&source).with_context(|| format!("cannot read {}", source.display()))?;
    let name = cache::hex(&Sha256::digest(real.as_os_str().as_bytes())[..8]);
    let folder = cache::root()?.join("hunted").join(name);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let program = folder.join(source.file_stem().unwrap_or_default());
    let raddle = std::env::current_exe().context("cannot find the raddle binary")?;
    let mut command = Command::new(raddle);
    command.arg(tool).arg("-g");
    if tool != "rustc" {
        command.args(["-O1", "-pthread"]);
    }
    command.arg(&source).args(&words[1..]).arg("-o").arg(&program);
    let status =
        command.status().with_context(|| format!("cannot start the compiler for {}", source.display()))?;
    anyhow::ensure!(status.success(), "{} could not be built", source.display());
    Ok(Prey { words: vec![program.into()], sources: vec![source], given: words.to_vec(), ..Prey::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_known_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            vec![OsString::from(path)]
        };
        for name in ["a.c", "a.cc", "a.cpp", "a.rs"] {
            assert!(is_source(&file(name)), "{name}");
        }
        assert!(!is_source(&file("a.sh")) && !is_source(&file("a")));
        assert!(!is_source(&[folder.path().join("missing.c").into()]));
    }
}
