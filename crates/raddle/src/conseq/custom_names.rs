//! Names of the program's own reporting functions, from the nearest `raddle.toml`:
//!
//! ```toml
//! [conseq]
//! assert = ["my_assert_failed", "Check::*"]
//! error = ["log_error"]
//! output = ["send_reply"]
//! ```

use crate::settings;
use std::path::Path;

use raddle_conseq::CustomNames;
use serde::Deserialize;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum CustomError {
    #[error("{0} cannot be read: {1}")]
    Unreadable(String, std::io::Error),
    #[error("{0}: {1}")]
    NotUnderstood(String, String),
    #[error("{0}")]
    Unknown(String),
}

/// Other commands have their own tables.
#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    conseq: Table,
}

#[derive(Default, Deserialize)]
struct Table {
    #[serde(default)]
    assert: Vec<String>,
    #[serde(default)]
    error: Vec<String>,
    #[serde(default)]
    output: Vec<String>,
}

/// The names for the project that contains `folder`; none if it has no such file.
pub fn names(folder: &Path) -> Result<CustomNames, CustomError> {
    let Some(path) = folder.ancestors().map(|f| f.join("raddle.toml")).find(|f| f.is_file()) else {
        return Ok(CustomNames::default());
    };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|e| CustomError::Unreadable(name.clone(), e))?;
    let names = parse(&text).map_err(|e| CustomError::NotUnderstood(name, e))?;
    settings::refuse_unknown(&text, &path, "conseq").map_err(|e| CustomError::Unknown(e.to_string()))?;
    Ok(names)
}

fn parse(text: &str) -> Result<CustomNames, String> {
    let file: File = toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |s| text[..s.start.min(text.len())].lines().count().max(1));
        format!("line {line}: {}", e.message())
    })?;
    let Table { assert, error, output } = file.conseq;
    Ok(CustomNames { assert, error, output })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_other_tables_passed_over() {
        let names =
            parse("[tsvd]\nx = 1\n[conseq]\nassert = [\"my_assert\"]\nerror = [\"log_*\"]\n").unwrap();
        assert_eq!((names.assert, names.error), (vec!["my_assert".to_owned()], vec!["log_*".to_owned()]));
        assert_eq!(parse("").unwrap(), CustomNames::default());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let e = parse("[conseq]\nassert = 3\n").unwrap_err();
        assert!(e.starts_with("line 2"), "{e}");
    }

    #[test]
    fn the_nearest_file_counts() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("raddle.toml"), "[conseq]\noutput = [\"reply\"]\n").unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(names(&below).unwrap().output, ["reply"]);
        std::fs::write(folder.path().join("raddle.toml"), "[conseq]\nasserts = []\n").unwrap();
        assert!(names(&below).unwrap_err().to_string().contains("did you mean `assert`?"));
    }
}
