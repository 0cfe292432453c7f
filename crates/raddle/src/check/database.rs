//! compile_commands.json: where it is, and which of its entries belongs to a file.
//!
//! It is searched beside a file and above it, in each folder also in the usual build folders.
//! `raddle_check::c::commands` decides what its flags may mean; this module only assigns them to
//! files.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use raddle_check::c::commands::{self, Commands, CompileCommand};

use super::includes::read_bounded;
use super::left_out::LeftOut;

const NAME: &str = "compile_commands.json";

/// Where build systems put it, relative to a folder of the project.
const BUILD_FOLDERS: &[&str] = &["", "build", "builddir", "_build", "out"];

/// How many folders up it is searched, and how large it may be.
const MOST_LEVELS: usize = 20;
const LARGEST: u64 = 128 << 20;

/// The most refused flags that are named.
const MOST_NAMED: usize = 5;

/// The entries of one compile_commands.json by the real path of their file.
type Entries = Arc<HashMap<PathBuf, Arc<CompileCommand>>>;

#[derive(Default)]
pub struct Databases {
    /// The one given on the command line; then it is the only one.
    fixed: Option<Entries>,
    by_folder: HashMap<PathBuf, Option<Entries>>,
    by_path: HashMap<PathBuf, Option<Entries>>,
}

impl Databases {
    pub fn open(given: Option<&Path>, left_out: &mut LeftOut) -> Result<Databases> {
        let mut out = Databases::default();
        if let Some(path) = given {
            let text = read_bounded(path, LARGEST)
                .map_err(|why| anyhow::anyhow!("{} {why}", path.display()))
                .context("cannot use --compile-commands")?;
            let parsed = commands::parse(&String::from_utf8_lossy(&text))
                .with_context(|| format!("cannot use {}", path.display()))?;
            out.fixed = Some(entries(path, parsed, left_out));
        }
        Ok(out)
    }

    /// The entry for a file, by its real path.
    pub fn entry(&mut self, real: &Path, left_out: &mut LeftOut) -> Option<Arc<CompileCommand>> {
        if let Some(fixed) = &self.fixed {
            return fixed.get(real).cloned();
        }
        let entries = self.for_folder(real.parent()?, MOST_LEVELS, left_out)?;
        entries.get(real).cloned()
    }

    /// The nearest database applies to a folder.
    fn for_folder(&mut self, folder: &Path, levels: usize, left_out: &mut LeftOut) -> Option<Entries> {
        if let Some(known) = self.by_folder.get(folder) {
            return known.clone();
        }
        let here =
            BUILD_FOLDERS.iter().map(|b| folder.join(b).join(NAME)).find_map(|p| self.load(&p, left_out));
        let found = match (here, folder.parent()) {
            (Some(here), _) => Some(here),
            (None, Some(above)) if levels > 0 => self.for_folder(above, levels - 1, left_out),
            _ => None,
        };
        self.by_folder.insert(folder.into(), found.clone());
        found
    }

    fn load(&mut self, path: &Path, left_out: &mut LeftOut) -> Option<Entries> {
        if let Some(known) = self.by_path.get(path) {
            return known.clone();
        }
        let loaded = std::fs::symlink_metadata(path).is_ok().then(|| read(path, left_out)).flatten();
        self.by_path.insert(path.into(), loaded.clone());
        loaded
    }
}

/// A database that cannot be used is reported and ignored.
fn read(path: &Path, left_out: &mut LeftOut) -> Option<Entries> {
    let name = path.display().to_string();
    let text = match read_bounded(path, LARGEST) {
        Ok(text) => text,
        Err(why) => {
            left_out.note(&name, &format!("not used: it {why}"));
            return None;
        }
    };
    match commands::parse(&String::from_utf8_lossy(&text)) {
        Ok(parsed) => Some(entries(path, parsed, left_out)),
        Err(why) => {
            left_out.note(&name, &format!("not used: {why}"));
            None
        }
    }
}

fn entries(database: &Path, parsed: Commands, left_out: &mut LeftOut) -> Entries {
    let beside = database.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut out = HashMap::new();
    let mut refused = BTreeSet::new();
    let mut missing = 0u32;
    for mut command in parsed.all {
        let folder = beside.join(&command.directory);
        refused.extend(command.refused.iter().cloned());
        let Ok(real) = std::fs::canonicalize(folder.join(&command.file)) else {
            missing += 1;
            continue;
        };
        command.directory = std::path::absolute(&folder).unwrap_or(folder).to_string_lossy().into_owned();
        // A file that is built more than once is checked with its first command.
        out.entry(real).or_insert_with(|| Arc::new(command));
    }
    let name = database.display().to_string();
    if parsed.is_cut {
        left_out.note(&name, &format!("of its commands the first {} were used", commands::MOST_COMMANDS));
    }
    if missing > 0 {
        left_out.note(
            &name,
            &format!(
                "{} that it names cannot be found",
                raddle_harness::say::count(missing, "file", "files")
            ),
        );
    }
    if !refused.is_empty() {
        let flags: Vec<&str> = refused.iter().take(MOST_NAMED).map(String::as_str).collect();
        let more = if refused.len() > MOST_NAMED { ", …" } else { "" };
        let flags = flags.join(", ");
        left_out.note(&name, &format!("flags that could run or load something were not used: {flags}{more}"));
    }
    Arc::new(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = std::fs::canonicalize(dir.path()).unwrap();
        (dir, root)
    }

    #[test]
    fn the_nearest_one_above_or_in_a_build_folder_is_used() {
        let near = r#"[{"directory": "..", "file": "sub/a.c", "command": "cc -DNEAR a.c"}]"#;
        let far = r#"[{"directory": "..", "file": "src/b.c", "command": "cc -DFAR b.c"}]"#;
        let (_dir, root) = project(&[
            ("src/sub/a.c", ""),
            ("src/sub/c.c", ""),
            ("src/b.c", ""),
            ("src/build/compile_commands.json", near),
            ("build/compile_commands.json", far),
        ]);
        let mut left = LeftOut::default();
        let mut all = Databases::open(None, &mut left).unwrap();
        let macros = |c: Option<Arc<CompileCommand>>| c.map(|c| c.macros[0].0.clone());
        assert_eq!(macros(all.entry(&root.join("src/sub/a.c"), &mut left)).as_deref(), Some("NEAR"));
        assert_eq!(macros(all.entry(&root.join("src/sub/c.c"), &mut left)), None);
        // The nearer database does not contain it, and the farther one is not used.
        assert_eq!(macros(all.entry(&root.join("src/b.c"), &mut left)), None);
        let mut given = Databases::open(Some(&root.join("build/compile_commands.json")), &mut left).unwrap();
        assert_eq!(macros(given.entry(&root.join("src/b.c"), &mut left)).as_deref(), Some("FAR"));
    }

    #[test]
    fn lies_and_dangerous_flags_are_named_once() {
        let json = r#"[{"directory": "/nowhere", "file": "gone.c", "command": "cc gone.c"},
            {"directory": ".", "file": "a.c", "command": "cc -fplugin=./e.so -fplugin=./e.so -DX a.c"}]"#;
        let (_dir, root) = project(&[("a.c", ""), ("compile_commands.json", json)]);
        let mut left = LeftOut::default();
        let mut all = Databases::open(None, &mut left).unwrap();
        assert!(all.entry(&root.join("a.c"), &mut left).is_some());
        assert!(all.entry(&root.join("a.c"), &mut left).is_some());
        let text = left.summary().unwrap();
        assert!(text.contains("1 file that it names cannot be found"), "{text}");
        assert!(text.contains("were not used: -fplugin=./e.so"), "{text}");
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn what_is_no_database_is_named_and_passed_over_unless_it_was_asked_for() {
        let (_dir, root) = project(&[("a.c", ""), ("compile_commands.json", "{")]);
        let mut left = LeftOut::default();
        let mut all = Databases::open(None, &mut left).unwrap();
        assert!(all.entry(&root.join("a.c"), &mut left).is_none());
        assert!(left.summary().unwrap().contains("not used"));
        assert!(Databases::open(Some(&root.join("compile_commands.json")), &mut left).is_err());
        assert!(Databases::open(Some(&root.join("no.json")), &mut left).is_err());
    }
}
