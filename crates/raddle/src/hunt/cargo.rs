//! `cargo raddle hunt`: the test programs of a crate or workspace.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;

use super::prey::Prey;
use crate::wrap::test_programs;

/// Builds the tests with instrumentation and returns their programs. `arguments` are cargo's:
/// `--package`, `--release` …
pub fn test_programs(arguments: &[OsString]) -> Result<Vec<Prey>> {
    let prey = |program: test_programs::TestProgram| Prey {
        words: vec![program.path],
        surroundings: program.surroundings,
        ..Prey::default()
    };
    Ok(test_programs::build(arguments)?.into_iter().map(prey).collect())
}

/// What is said if the tests are configured for nextest, which a hunt through cargo does not read.
pub fn says_of_nextest(folder: &Path) -> Option<String> {
    let crates = folder.ancestors().filter(|f| f.join("Cargo.toml").is_file());
    let config = crates.map(|f| f.join(".config/nextest.toml")).find(|config| config.is_file())?;
    Some(format!(
        "{} was not read: `raddle hunt -- cargo raddle nextest run` hunts the tests as nextest runs them",
        config.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_of_nextest_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (root, member) = (folder.path(), folder.path().join("a"));
        std::fs::create_dir_all(root.join(".config")).unwrap();
        std::fs::create_dir(&member).unwrap();
        std::fs::write(member.join("Cargo.toml"), "").unwrap();
        std::fs::write(root.join(".config/nextest.toml"), "").unwrap();
        assert_eq!(says_of_nextest(&member), None, "the folder above is no workspace");
        std::fs::write(root.join("Cargo.toml"), "").unwrap();
        let said = says_of_nextest(&member).unwrap();
        assert!(
            said.contains("/.config/nextest.toml was not read") && said.contains("cargo raddle nextest run")
        );
    }
}
