//! Programs to explore, compiled by raddle's wrappers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::error::BenchError;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    C,
    Cpp,
    Rust,
}

impl Language {
    pub const ALL: [Language; 3] = [Language::C, Language::Cpp, Language::Rust];

    pub fn of(file: &Path) -> Option<Language> {
        Language::ALL.into_iter().find(|language| file.extension().is_some_and(|e| e == language.extension()))
    }

    pub fn extension(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cc",
            Language::Rust => "rs",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::Cpp => "C++",
            Language::Rust => "Rust",
        }
    }
}

/// A test of the speed bench in one language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpeedSource {
    pub test: &'static str,
    pub language: Language,
    pub text: &'static str,
}

macro_rules! source {
    ($test:literal, $language:ident, $file:literal) => {
        SpeedSource {
            test: $test,
            language: Language::$language,
            text: include_str!(concat!("../../explore/", $file)),
        }
    };
}

/// The three tests, each in C and in Rust.
pub const SOURCES: [SpeedSource; 6] = [
    source!("mutex", C, "mutex.c"),
    source!("mutex", Rust, "mutex.rs"),
    source!("atomicity", C, "atomicity.c"),
    source!("atomicity", Rust, "atomicity.rs"),
    source!("abba", C, "abba.c"),
    source!("abba", Rust, "abba.rs"),
];

/// The programs with and without hand-overs; see `pingpong.c`.
pub const PINGPONG: SpeedSource = source!("pingpong", C, "pingpong.c");
pub const SOLO: SpeedSource = source!("solo", C, "solo.c");
/// The hand-overs of one execution of `pingpong.c` beyond those of `solo.c`.
pub const HAND_OVERS: u32 = 1000;

impl SpeedSource {
    /// The binary, built anew in a folder.
    pub fn build(&self, raddle: &Path, folder: &Path) -> Result<PathBuf, BenchError> {
        let file = folder.join(format!("{}.{}", self.test, self.language.extension()));
        fs::write(&file, self.text).map_err(BenchError::file("write", &file))?;
        build(raddle, &file, &[], &folder.join(format!("{}-{}", self.test, self.language.extension())))
    }
}

/// Builds a program as the corpus does: with light optimisation and debug information.
pub fn build(raddle: &Path, file: &Path, flags: &[String], binary: &Path) -> Result<PathBuf, BenchError> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let language = Language::of(file).ok_or_else(|| BenchError::MalformedKernel {
        kernel: name.clone(),
        what: "a known extension".into(),
    })?;
    let mut command = Command::new(raddle);
    let words: &[&str] = match language {
        Language::C => &["cc", "-g", "-pthread"],
        Language::Cpp => &["c++", "-g", "-pthread"],
        Language::Rust => &["rustc", "--edition", "2021", "-g", "-Copt-level=1"],
    };
    command.args(words).args(flags);
    if flags.is_empty() && language != Language::Rust {
        command.arg("-O1");
    }
    command.arg(file).arg("-o").arg(binary);
    let output = command.output().map_err(BenchError::file("run", raddle))?;
    if output.status.success() {
        return Ok(binary.to_owned());
    }
    let diagnostics = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(BenchError::Build { kernel: name, tool: "raddle explore".to_owned(), diagnostics })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_there_in_c_and_in_rust() {
        for test in ["mutex", "atomicity", "abba"] {
            let languages: Vec<Language> =
                SOURCES.iter().filter(|source| source.test == test).map(|source| source.language).collect();
            assert_eq!(languages, [Language::C, Language::Rust], "{test}");
        }
        assert!(SOURCES.iter().all(|source| source.text.starts_with("// ")));
    }

    #[test]
    fn hand_overs_are_those_of_the_source() {
        let rounds = format!("i < {}", HAND_OVERS / 2);
        assert_eq!(PINGPONG.text.matches(&rounds).count(), 2);
        let operations = |text: &str| text.matches("sem_post(").count() + text.matches("sem_wait(").count();
        assert_eq!((operations(PINGPONG.text), operations(SOLO.text)), (4, 4));
        assert_eq!(SOLO.text.matches(&rounds).count(), 1);
    }

    #[test]
    fn languages_are_known_by_extension() {
        assert_eq!(Language::of(Path::new("a/b.cc")), Some(Language::Cpp));
        assert_eq!(Language::of(Path::new("b.h")), None);
    }
}
