//! Where `.raddle` files are written, and under which names.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::say::say;
use crate::worker::Recipe;

/// The file name of the program.
pub fn program_name(recipe: &Recipe) -> String {
    recipe.program.path.file_name().map_or("program".into(), |n| n.to_string_lossy().into_owned())
}

/// The path for the report. A full disk is no reason to withhold a finding.
pub fn or_without(written: Result<PathBuf>) -> Option<String> {
    let told = |e: &anyhow::Error| say!("{e:#}, so there is no schedule to replay");
    written.inspect_err(told).ok().map(|path| path.display().to_string())
}

/// File names have at most 255 bytes. What follows the program's name fits into the rest.
const LONGEST: usize = 200;

/// Writes `folder/NAME-1.raddle`, or the next free number. Overwrites a file of the same failure.
pub fn write_new(folder: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let cut = name.len().saturating_sub(LONGEST);
    let name = (cut..).find_map(|at| name.get(at..)).unwrap_or(name);
    for n in 1.. {
        let path = match folder == Path::new(".") {
            true => PathBuf::from(format!("{name}-{n}.raddle")),
            false => folder.join(format!("{name}-{n}.raddle")),
        };
        if is_of_same_failure(&path, text) {
            // Written under another name first: a half-written file could not be replayed.
            let fresh = path.with_extension("raddle-new");
            let written = std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, &path));
            return match written {
                Ok(()) => Ok(path),
                Err(e) => {
                    let _ = std::fs::remove_file(&fresh);
                    Err(e).with_context(|| format!("cannot write {}", path.display()))
                }
            };
        }
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                if let Err(e) = std::io::Write::write_all(&mut file, text.as_bytes()) {
                    // Half a schedule is useless.
                    let _ = std::fs::remove_file(&path);
                    return Err(e).with_context(|| format!("cannot write {}", path.display()));
                }
                return Ok(path);
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e).with_context(|| format!("cannot write {}", path.display())),
        }
    }
    unreachable!("there is always another number")
}

/// Whether the file replays the same failure as `text`: the same command, folder and failure
/// number.
fn is_of_same_failure(path: &Path, text: &str) -> bool {
    let head = |text: &str| {
        let head: serde_json::Value = serde_json::from_str(text.lines().next()?).ok()?;
        let expected = &head["expected"];
        let known_by =
            [&head["command"], &head["folder"], &expected["kind"], &expected["number"], &expected["check"]];
        Some(known_by.map(serde_json::Value::clone))
    };
    let Ok(old) = std::fs::read_to_string(path) else { return false };
    matches!((head(&old), head(text)), (Some(a), Some(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_failure_never_overwrites_an_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let one = write_new(folder.path(), "a-deadlock", "one").unwrap();
        let two = write_new(folder.path(), "a-deadlock", "two").unwrap();
        assert_eq!(one, folder.path().join("a-deadlock-1.raddle"));
        assert_eq!(two, folder.path().join("a-deadlock-2.raddle"));
        assert_eq!(std::fs::read_to_string(one).unwrap(), "one");
    }

    #[test]
    fn the_same_failure_is_written_to_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let text = |number: u32, rest: &str| {
            format!(
                "{{\"command\":[\"./a\"],\"folder\":\"/\",\"expected\":{{\"kind\":\"deadlock\",\"number\":{number}}}}}\n{rest}"
            )
        };
        let write = |text: &str| write_new(folder.path(), "a-deadlock", text).unwrap();
        let (one, two) = (write(&text(1, "0 Lock")), write(&text(2, "0 Lock")));
        assert_ne!(one, two);
        assert_eq!((write(&text(2, "1 Lock")), write(&text(1, "1 Lock"))), (two, one.clone()));
        assert_eq!(std::fs::read_to_string(one).unwrap(), text(1, "1 Lock"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_program_with_a_long_name_gets_a_file_that_ends_as_others_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = write_new(folder.path(), &format!("{}-deadlock", "ü".repeat(127)), "one").unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.ends_with("ü-deadlock-1.raddle") && name.len() < 255, "{name}");
    }

    #[test]
    fn what_can_not_be_written_is_said_and_done_without() {
        let nowhere = write_new(Path::new("/dev/null/folder"), "a-deadlock", "one");
        assert_eq!(or_without(nowhere), None);
    }
}
