//! What an installed Rust toolchain says about itself.

use super::TARGET;
use raddle_harness::install::cache;
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::Command;

/// A toolchain: its compiler and where its libraries are.
#[derive(Clone, Debug)]
pub struct Toolchain {
    pub sysroot: PathBuf,
    /// All of `rustc -vV`.
    pub verbose_version: String,
}

/// Why a toolchain cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    #[error("cannot run {rustc}: install Rust, or set RUSTC")]
    NoRustc { rustc: String, source: std::io::Error },
    #[error("{rustc} {args} failed: {stderr}")]
    Failed { rustc: String, args: String, stderr: String },
    #[error("this Rust toolchain has no standard library for {TARGET}: rustup target add {TARGET}")]
    NoStd,
    #[error(
        "this Rust toolchain has no rust-lld (looked for {path}), which instruments std: use a \
         toolchain from rustup rather than a distribution's"
    )]
    NoLld { path: PathBuf },
}

impl Toolchain {
    /// Asks `rustc` about itself.
    pub fn of(rustc: &OsStr) -> Result<Toolchain, ToolchainError> {
        let verbose_version = String::from_utf8_lossy(&ask(rustc, &["-vV"])?).into_owned();
        let mut sysroot = ask(rustc, &["--print", "sysroot"])?;
        while sysroot.last() == Some(&b'\n') {
            sysroot.pop();
        }
        Ok(Toolchain { sysroot: OsString::from_vec(sysroot).into(), verbose_version })
    }

    /// The value behind `NAME:` in the verbose version.
    pub fn field(&self, name: &str) -> Option<&str> {
        let value =
            |line: &'_ str| -> Option<usize> { line.strip_prefix(name)?.strip_prefix(": ").map(str::len) };
        self.verbose_version.lines().find_map(|l| value(l).map(|n| &l[l.len() - n..]))
    }

    /// A name for what depends on exactly this toolchain and this raddle.
    pub fn key(&self, recipe: u32) -> String {
        let mut hash = Sha256::new();
        hash.update(&self.verbose_version);
        hash.update(self.sysroot.as_os_str().as_bytes());
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(recipe.to_le_bytes());
        let release = self.field("release").unwrap_or("unknown");
        format!("{release}-{}", cache::hex(&hash.finalize()[..8]))
    }

    /// The toolchain's own linker, which also runs passes over bitcode.
    pub fn lld(&self) -> Result<PathBuf, ToolchainError> {
        let rustlib = self.sysroot.join("lib/rustlib");
        if !rustlib.join(TARGET).join("lib").is_dir() {
            return Err(ToolchainError::NoStd);
        }
        let host = self.field("host").unwrap_or(TARGET);
        let path = rustlib.join(host).join("bin/rust-lld");
        if path.is_file() { Ok(path) } else { Err(ToolchainError::NoLld { path }) }
    }
}

fn ask(rustc: &OsStr, args: &[&str]) -> Result<Vec<u8>, ToolchainError> {
    let name = || rustc.to_string_lossy().into_owned();
    let output = Command::new(rustc)
        .args(args)
        .output()
        .map_err(|source| ToolchainError::NoRustc { rustc: name(), source })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Err(ToolchainError::Failed { rustc: name(), args: args.join(" "), stderr })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toolchain(sysroot: &str) -> Toolchain {
        let verbose_version = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\n\
            commit-hash: 5980\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        Toolchain { sysroot: sysroot.into(), verbose_version: verbose_version.into() }
    }

    #[test]
    fn fields() {
        let toolchain = toolchain("/t");
        assert_eq!(toolchain.field("host"), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(toolchain.field("release"), Some("1.95.0"));
        assert_eq!(toolchain.field("LLVM version"), None);
    }

    #[test]
    fn keys_differ_by_toolchain_and_recipe() {
        let key = toolchain("/t").key(1);
        assert!(key.starts_with("1.95.0-"), "{key}");
        assert_eq!(key, toolchain("/t").key(1));
        assert_ne!(key, toolchain("/t").key(2));
        assert_ne!(key, toolchain("/u").key(1));
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let toolchain = toolchain(folder.path().to_str().unwrap());
        assert!(matches!(toolchain.lld(), Err(ToolchainError::NoStd)));
        std::fs::create_dir_all(folder.path().join("lib/rustlib").join(TARGET).join("lib")).unwrap();
        assert!(matches!(toolchain.lld(), Err(ToolchainError::NoLld { .. })));
        assert!(matches!(
            Toolchain::of(OsStr::new("/nonexistent/rustc")),
            Err(ToolchainError::NoRustc { .. })
        ));
        assert!(matches!(Toolchain::of(OsStr::new("false")), Err(ToolchainError::Failed { .. })));
    }
}
