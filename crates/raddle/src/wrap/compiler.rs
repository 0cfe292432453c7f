//! Finds the real compiler behind `raddle cc`, and its family.
//!
//! The compiler is chosen in this order: a leading `--use COMPILER`; `RADDLE_CC` (for C) or
//! `RADDLE_CXX` (for C++); `cc` or `c++` on the PATH. The value may have several words, as in
//! `RADDLE_CC="ccache clang-19"`; `compiler_words` splits them.
//!
//! The family comes from the compiler's predefined macros, since a name says nothing (`cc` may be
//! either, and so may `ccache`). The answer is cached under the words, the file they resolve to,
//! its time and its size.

use super::cc::Dialect;
use super::compiler_words::{OpenQuote, split};
use raddle_harness::install::cache;
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compilers that link their runtime in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Gcc,
    Clang,
}

/// Why there is no compiler to execute.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    #[error("no compiler {name:?} on the PATH: install one, or set {variable} or --use to another")]
    NotFound { name: String, variable: &'static str },
    #[error("no compiler {name:?}: {variable} or --use must name an executable file{hint}")]
    NoFile { name: String, variable: &'static str, hint: &'static str },
    #[error("the compiler {value:?} has a quote without its end: mend {variable} or --use")]
    OpenQuote { value: String, variable: &'static str },
    #[error("{variable} is set to raddle itself: set it to the real compiler, as in {variable}=gcc")]
    IsRaddle { variable: &'static str },
    #[error("{name:?} does not say what it is: raddle works with gcc and clang")]
    Unknown { name: String },
    #[error("{name:?} builds for another machine; raddle instruments x86-64 Linux programs only")]
    Foreign { name: String },
}

/// The compiler to execute: a program and its first words.
#[derive(Clone, Debug)]
pub struct Compiler {
    words: Vec<OsString>,
    program: PathBuf,
}

impl Compiler {
    /// The compiler for `dialect`, or `chosen` if one was named on the command line.
    pub fn find(dialect: Dialect, chosen: Option<OsString>) -> Result<Compiler, CompilerError> {
        let (variable, default) = match dialect {
            Dialect::C => ("RADDLE_CC", "cc"),
            Dialect::Cxx => ("RADDLE_CXX", "c++"),
        };
        let value = chosen.or_else(|| std::env::var_os(variable)).unwrap_or_default();
        let mut words = split(&value, &|path| is_executable(Path::new(path))).map_err(|OpenQuote| {
            CompilerError::OpenQuote { value: value.to_string_lossy().into_owned(), variable }
        })?;
        if words.is_empty() {
            words.push(default.into());
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let me = std::env::current_exe().and_then(std::fs::canonicalize).ok();
        let mut candidates = lookup(&words[0], &path).peekable();
        if candidates.peek().is_none() {
            return Err(missing(&words, variable));
        }
        // A `cc` on the PATH that is a link to raddle would execute itself for ever.
        let program = candidates
            .find(|c| std::fs::canonicalize(c).ok() != me)
            .ok_or(CompilerError::IsRaddle { variable })?;
        Ok(Compiler { words, program })
    }

    /// A command line that begins with this compiler.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.words[1..]);
        command
    }

    /// The family, from the cache or by asking the compiler.
    pub fn family(&self) -> Result<Family, CompilerError> {
        let note = self.note();
        if let Some(known) = note.as_deref().and_then(recall) {
            return Ok(known);
        }
        let family = self.ask()?;
        if let Some(note) = note {
            // If this cannot be written, the next run asks again.
            let _ = remember(&note, family);
        }
        Ok(family)
    }

    fn ask(&self) -> Result<Family, CompilerError> {
        let output = self
            .command()
            .args(["-x", "c", "-dM", "-E", "/dev/null"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let macros = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        family_of_macros(&macros.unwrap_or_default(), &self.words[0].to_string_lossy())
    }

    /// The cache file of the family; `None` if there is no cache or no such compiler file.
    fn note(&self) -> Option<PathBuf> {
        let mut hash = Sha256::new();
        for word in &self.words {
            hash.update(word.as_bytes());
            hash.update([0]);
        }
        let file = std::fs::metadata(&self.program).ok()?;
        hash.update(self.program.as_os_str().as_bytes());
        for number in [file.mtime() as u64, file.mtime_nsec() as u64, file.size(), file.ino()] {
            hash.update(number.to_le_bytes());
        }
        let name = format!("compiler-{}", cache::hex(&hash.finalize()[..16]));
        Some(cache::root().ok()?.join(name))
    }
}

fn recall(note: &Path) -> Option<Family> {
    match std::fs::read(note).ok()?.as_slice() {
        b"gcc\n" => Some(Family::Gcc),
        b"clang\n" => Some(Family::Clang),
        _ => None,
    }
}

fn remember(note: &Path, family: Family) -> std::io::Result<()> {
    let text: &[u8] = match family {
        Family::Gcc => b"gcc\n",
        Family::Clang => b"clang\n",
    };
    cache::write_atomically(note, text)
}

fn family_of_macros(macros: &str, name: &str) -> Result<Family, CompilerError> {
    let defined = |wanted: &str| macros.lines().any(|l| l.split(' ').nth(1) == Some(wanted));
    let name = name.to_owned();
    let family = match (defined("__clang__"), defined("__GNUC__")) {
        (true, _) => Family::Clang,
        (false, true) => Family::Gcc,
        (false, false) => return Err(CompilerError::Unknown { name }),
    };
    let ours = defined("__x86_64__") && defined("__LP64__") && defined("__linux__");
    if ours { Ok(family) } else { Err(CompilerError::Foreign { name }) }
}

/// Nothing that can be executed has the name that is the first of `words`.
fn missing(words: &[OsString], variable: &'static str) -> CompilerError {
    let name = words[0].to_string_lossy().into_owned();
    if !name.contains('/') {
        return CompilerError::NotFound { name, variable };
    }
    let hint = if words.len() > 1 { "; quote a path that has blanks" } else { "" };
    CompilerError::NoFile { name, variable, hint }
}

/// Every executable that `name` could mean, in a shell's order.
pub fn lookup<'a>(name: &OsStr, path: &'a OsStr) -> impl Iterator<Item = PathBuf> + use<'a> {
    let plain = name.as_bytes().contains(&b'/').then(|| PathBuf::from(name));
    let name = if plain.is_some() { None } else { Some(name.to_owned()) };
    let on_path = name
        .into_iter()
        .flat_map(move |name| std::env::split_paths(path).map(move |folder| folder.join(&name)));
    plain.into_iter().chain(on_path).filter(|p| is_executable(p))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86_64: &str = "#define __x86_64__ 1\n#define __LP64__ 1\n#define __linux__ 1\n";

    #[test]
    fn families_by_macros() {
        let of = |text: &str| family_of_macros(text, "cc");
        assert_eq!(of(&format!("#define __GNUC__ 12\n{X86_64}")).unwrap(), Family::Gcc);
        let both = format!("#define __GNUC__ 4\n#define __clang__ 1\n{X86_64}");
        assert_eq!(of(&both).unwrap(), Family::Clang);
        assert!(matches!(of(X86_64), Err(CompilerError::Unknown { .. })));
        assert!(matches!(of(""), Err(CompilerError::Unknown { .. })));
        let arm = "#define __GNUC__ 12\n#define __aarch64__ 1\n#define __linux__ 1\n";
        assert!(matches!(of(arm), Err(CompilerError::Foreign { .. })));
    }

    #[test]
    fn lookup_follows_the_path_and_skips_what_cannot_run() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        for (dir, mode) in [(&a, 0o644), (&b, 0o755)] {
            std::fs::create_dir(dir).unwrap();
            std::fs::write(dir.join("cc"), "").unwrap();
            std::fs::set_permissions(dir.join("cc"), PermissionsExt::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([&a, &b]).unwrap();
        let found: Vec<_> = lookup(OsStr::new("cc"), &path).collect();
        assert_eq!(found, [b.join("cc")]);
        let direct: Vec<_> = lookup(b.join("cc").as_os_str(), OsStr::new("")).collect();
        assert_eq!(direct, [b.join("cc")]);
        assert_eq!(lookup(OsStr::new("nothing"), &path).count(), 0);
    }
}
