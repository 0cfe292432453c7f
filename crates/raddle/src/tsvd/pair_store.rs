//! What is kept about pairs between commands: in the project's store, or in a file that can be
//! committed with the sources.
//!
//! In a file, a site is named by its program or library, the calling function, the called function,
//! and which of those calls it is. So a pair survives a rebuild that does not touch its functions.
//! A pair that was caught is written as one to try again, with probability 1: a bug that is still
//! there must be reported again. Resting pairs are kept with the builds of their files: the next
//! build may lack a lock, so they are tried again there.

use raddle_base::hash::Fnv64;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result};
use raddle_store::{Category, Store, StoreError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::args::DelayOptions;
use super::session::Common;
use super::traps::Traps;
use crate::report::output::OutputFile;
use raddle_harness::say::say;

pub const SCHEMA: &str = "raddle.traps/2";
/// The version without gaps and resting pairs.
const SCHEMA_1: &str = "raddle.traps/1";

#[derive(Debug, Error)]
pub enum TrapError {
    #[error("{file} is no trap file: {why}")]
    Syntax { file: String, why: String },
    #[error(
        "{file} is a trap file of another version ({found}): remove it, or write it anew with this raddle"
    )]
    Version { file: String, found: String },
}

/// The content of the file, and of the store.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct StoredPairs {
    schema: String,
    pub pairs: Vec<KeptPair>,
    #[serde(default)]
    pub resting: Vec<Resting>,
    /// The builds of the files with resting pairs, by file name.
    #[serde(default)]
    pub builds: BTreeMap<String, String>,
}

/// A pair to begin with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptPair {
    pub sites: [String; 2],
    pub probability: f64,
    /// The shortest time between the two; zero: unknown.
    #[serde(default)]
    pub gap_ms: f64,
}

/// A pair that is left alone, or was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Resting {
    pub sites: [String; 2],
    pub because: Because,
    /// For how many more runs it rests; zero: it is tried again.
    pub runs: u32,
    /// Out of this many in all. The next time it is twice that.
    pub of: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Because {
    /// The two were seen to be ordered.
    Ordered,
    /// They were delayed in vain too often.
    Decayed,
}

impl StoredPairs {
    pub fn read(file: &str, text: &str) -> Result<StoredPairs, TrapError> {
        let kept: StoredPairs = serde_json::from_str(text)
            .map_err(|e| TrapError::Syntax { file: file.into(), why: e.to_string() })?;
        if ![SCHEMA, SCHEMA_1].contains(&kept.schema.as_str()) {
            return Err(TrapError::Version { file: file.into(), found: kept.schema });
        }
        Ok(kept)
    }

    pub fn text(mut self) -> String {
        self.schema = SCHEMA.into();
        self.pairs.sort_by(|x, y| x.sites.cmp(&y.sites));
        self.resting.sort_by(|x, y| x.sites.cmp(&y.sites));
        serde_json::to_string_pretty(&self).expect("strings and numbers only") + "\n"
    }
}

/// The build of a file: a hash of all its words (FNV-1a). `None`: it cannot be read.
pub fn build(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let (words, rest) = bytes.as_chunks::<8>();
    let rest = rest.iter().map(|byte| u64::from(*byte));
    let mut sum = Fnv64::new();
    words.iter().map(|word| u64::from_le_bytes(*word)).chain(rest).for_each(|word| sum.write_word(word));
    Some(format!("{:016x}", sum.finish()))
}

/// Where pairs are kept: a file if one was named, else the project's store.
pub struct Keeper {
    file: Option<(OutputFile, std::path::PathBuf)>,
    store: Option<Store>,
    /// The key in the store: each command learns for itself.
    name: String,
    fresh: bool,
}

impl Keeper {
    pub fn new(options: &DelayOptions, command: &[OsString]) -> Result<Keeper> {
        let file = match &options.trap_file {
            Some(path) => Some((OutputFile::new("the trap file", path)?, path.clone())),
            None => None,
        };
        let off =
            options.report.no_store || std::env::var_os("RADDLE_NO_STORE").is_some_and(|v| !v.is_empty());
        let folder = std::env::current_dir().ok().filter(|_| !off && file.is_none());
        let store = folder.and_then(|folder| match Store::open_for_project(&folder) {
            Ok(store) => Some(store),
            Err(StoreError::NoHome) => None,
            Err(why) => {
                say!("pairs of earlier runs are not known: {why}");
                None
            }
        });
        let name = command.iter().map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ");
        Ok(Keeper { file, store, name, fresh: options.fresh })
    }

    pub fn read(&self) -> Result<Traps> {
        if self.fresh {
            return Ok(Traps::default());
        }
        if let Some((_, path)) = &self.file {
            if !path.exists() {
                return Ok(Traps::default());
            }
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the trap file {}", path.display()))?;
            return Ok(Traps::new(StoredPairs::read(&path.display().to_string(), &text)?));
        }
        let kept = self.store.as_ref().and_then(|s| s.kept(Category::Trap, &self.name).ok().flatten());
        // The store's content is raddle's own. A version that is not understood counts as missing.
        let kept = kept.and_then(|b| StoredPairs::read("the store", &String::from_utf8(b).ok()?).ok());
        Ok(kept.map(Traps::new).unwrap_or_default())
    }

    /// `more`: what to keep besides the pairs of native code.
    pub fn write(&self, common: &Common, more: StoredPairs) -> Result<()> {
        let registry = common.registry.lock().expect("nobody panics with the registry");
        let mut kept = common.traps.lock().expect("nobody panics with the traps").keep(&registry);
        kept.pairs.extend(more.pairs);
        kept.resting.extend(more.resting);
        kept.builds.extend(more.builds);
        let text = kept.text();
        if let Some((file, _)) = &self.file {
            file.write(&text)?;
        }
        if let Some(store) = &self.store
            && let Err(why) = store.keep(Category::Trap, &self.name, text.as_bytes(), SystemTime::now())
        {
            say!("the pairs of this run are not kept: {why}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_trap_file_is_refused() {
        let refused = |text: &str| StoredPairs::read("f.json", text).unwrap_err().to_string();
        assert!(refused("[]").starts_with("f.json is no trap file"));
        assert!(refused(r#"{"schema":"raddle.traps/3","pairs":[]}"#).contains("another version"));
    }

    #[test]
    fn a_file_of_the_first_version_is_read() {
        let text = r#"{"schema":"raddle.traps/1","pairs":[{"sites":["x","y"],"probability":0.5}]}"#;
        let kept = StoredPairs::read("f", text).unwrap();
        assert_eq!((kept.pairs[0].probability, kept.pairs[0].gap_ms, kept.resting.len()), (0.5, 0.0, 0));
        assert!(kept.text().contains(SCHEMA));
    }

    #[test]
    fn a_build_is_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let sum = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            build(&folder.path().join(name)).unwrap()
        };
        assert_eq!(sum("a", b"0123456789"), sum("b", b"0123456789"));
        assert_ne!(sum("a", b"0123456789"), sum("b", b"0123456780"));
        assert_ne!(sum("a", b"0123456789"), sum("b", b"1123456789"));
        assert_eq!(build(&folder.path().join("none")), None);
    }
}
