//! Pairs of sites that are worth a delay, from run to run: in memory within one command, in the project's store, and in a
//! file that can go with the sources.
//!
//! In a file a site is named by its program or library, the function it is in, the function it calls, and which of those
//! calls it is, so that a pair outlives a rebuild that does not touch its functions. A pair that was caught goes into the file
//! as one to try again, with probability 1: a bug that is still there is to be reported again.

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::SystemTime;

use anyhow::{Context, Result};
use raddle_store::{Store, StoreError, What};
use raddle_tsvd::{ONE, PairState, TrapPair};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::args::Options;
use super::session::Common;
use super::sites::Registry;
use crate::report::output::OutputFile;

pub const SCHEMA: &str = "raddle.traps/1";

#[derive(Debug, Error)]
pub enum TrapError {
    #[error("{file} is no trap file: {why}")]
    Syntax { file: String, why: String },
    #[error(
        "{file} is a trap file of another version ({found}): remove it, or write it anew with this raddle"
    )]
    Version { file: String, found: String },
}

/// The file, and what is in the store.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    schema: String,
    pairs: Vec<KeptPair>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptPair {
    sites: [String; 2],
    probability: f64,
}

/// What runs have learned so far.
#[derive(Debug, Default)]
pub struct Traps {
    /// From a file or the store.
    named: Vec<KeptPair>,
    /// From earlier runs of this command.
    learned: HashMap<(u32, u32), (u32, PairState)>,
}

impl Traps {
    pub fn read(file: &str, text: &str) -> Result<Traps, TrapError> {
        let kept: Kept = serde_json::from_str(text)
            .map_err(|e| TrapError::Syntax { file: file.into(), why: e.to_string() })?;
        if kept.schema != SCHEMA {
            return Err(TrapError::Version { file: file.into(), found: kept.schema });
        }
        Ok(Traps { named: kept.pairs, learned: HashMap::new() })
    }

    /// The pairs to begin with whose sites are known. Those of earlier runs of this command count for more.
    pub fn pairs(&self, registry: &Registry) -> Vec<TrapPair> {
        let mut pairs: HashMap<(u32, u32), TrapPair> = HashMap::new();
        if !self.named.is_empty() {
            let numbers = registry.numbers_by_name();
            for pair in &self.named {
                let [a, b] = pair.sites.each_ref().map(|name| numbers.get(name.as_str()).copied());
                if let (Some(a), Some(b)) = (a, b) {
                    let probability = (pair.probability.clamp(0.0, 1.0) * f64::from(ONE)) as u32;
                    let key = (a.min(b), a.max(b));
                    pairs.insert(key, new_pair(key, probability, PairState::Dangerous));
                }
            }
        }
        for (&key, &(probability, state)) in &self.learned {
            pairs.insert(key, new_pair(key, probability, state));
        }
        pairs.into_values().collect()
    }

    /// How many pairs of the file or store name a site that no process had.
    pub fn strangers(&self, registry: &Registry) -> usize {
        if self.named.is_empty() {
            return 0;
        }
        let numbers = registry.numbers_by_name();
        self.named.iter().filter(|p| p.sites.iter().any(|s| !numbers.contains_key(s.as_str()))).count()
    }

    pub fn named(&self) -> usize {
        self.named.len()
    }

    /// What the processes of a run have left: those pairs that one of them still holds dangerous, or caught.
    pub fn learn(&mut self, runs: impl Iterator<Item = TrapPair>) {
        let found_before = self.learned.iter().filter(|(_, (_, state))| *state == PairState::Found);
        let mut now: HashMap<(u32, u32), (u32, PairState)> = found_before.map(|(k, v)| (*k, *v)).collect();
        for pair in runs {
            let entry = (pair.probability, pair.state);
            match pair.state {
                PairState::Found => drop(now.insert((pair.site_a, pair.site_b), entry)),
                PairState::Dangerous => {
                    let known = now.entry((pair.site_a, pair.site_b)).or_insert(entry);
                    known.0 = known.0.max(pair.probability);
                }
                PairState::Ordered | PairState::Decayed => {}
            }
        }
        self.learned = now;
    }

    /// For the file and the store.
    pub fn write(&self, registry: &Registry) -> String {
        let mut pairs: Vec<KeptPair> = self
            .learned
            .iter()
            .filter_map(|(&(a, b), &(probability, state))| {
                let name = |site: u32| registry.sites.get(site as usize).map(|s| s.name.clone());
                let probability =
                    if state == PairState::Found { 1.0 } else { f64::from(probability) / f64::from(ONE) };
                Some(KeptPair { sites: [name(a)?, name(b)?], probability })
            })
            .collect();
        pairs.sort_by(|x, y| x.sites.cmp(&y.sites));
        let kept = Kept { schema: SCHEMA.into(), pairs };
        serde_json::to_string_pretty(&kept).expect("strings and numbers only") + "\n"
    }
}

/// Where pairs come from and go to: a file if one was named, else the project's store.
pub struct Keeper {
    file: Option<(OutputFile, std::path::PathBuf)>,
    store: Option<Store>,
    /// Under which the store has them: each command learns for itself.
    name: String,
    fresh: bool,
}

impl Keeper {
    pub fn new(options: &Options, command: &[OsString]) -> Result<Keeper> {
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
                eprintln!("raddle: pairs of earlier runs are not known: {why}");
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
            return Ok(Traps::read(&path.display().to_string(), &text)?);
        }
        let kept = self.store.as_ref().and_then(|s| s.kept(What::Trap, &self.name).ok().flatten());
        // What the store has is raddle's own; a version that is not understood is as good as none.
        Ok(kept.and_then(|b| Traps::read("the store", &String::from_utf8(b).ok()?).ok()).unwrap_or_default())
    }

    pub fn write(&self, common: &Common) -> Result<()> {
        let registry = common.registry.lock().expect("nobody panics with the registry");
        let text = common.traps.lock().expect("nobody panics with the traps").write(&registry);
        if let Some((file, _)) = &self.file {
            file.write(&text)?;
        }
        if let Some(store) = &self.store
            && let Err(why) = store.keep(What::Trap, &self.name, text.as_bytes(), SystemTime::now())
        {
            eprintln!("raddle: the pairs of this run are not kept: {why}");
        }
        Ok(())
    }
}

fn new_pair((site_a, site_b): (u32, u32), probability: u32, state: PairState) -> TrapPair {
    TrapPair { site_a, site_b, probability, state }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tsvd::sites::Numbered;

    fn registry(names: &[&str]) -> Registry {
        let mut registry = Registry::default();
        for (i, name) in names.iter().enumerate() {
            let site = Numbered {
                path: "/p".into(),
                address: i as u64,
                len: 5,
                operation: 0,
                tail: false,
                callee: "f".into(),
                name: (*name).into(),
            };
            assert_eq!(registry.number("/p".as_ref(), i as u64, || site), Some(i as u32));
        }
        registry
    }

    fn learned(a: u32, b: u32, probability: u32, state: PairState) -> TrapPair {
        TrapPair { site_a: a, site_b: b, probability, state }
    }

    #[test]
    fn what_is_written_is_read_again_by_name() {
        let mut traps = Traps::default();
        traps.learn(
            [learned(0, 1, ONE / 2, PairState::Dangerous), learned(1, 1, 0, PairState::Found)].into_iter(),
        );
        let text = traps.write(&registry(&["x", "y"]));
        let again = Traps::read("f", &text).unwrap();
        // Another build has the same functions elsewhere.
        let elsewhere = registry(&["new", "y", "x"]);
        let mut pairs = again.pairs(&elsewhere);
        pairs.sort_by_key(|p| (p.site_a, p.site_b));
        let expected =
            [learned(1, 1, ONE, PairState::Dangerous), learned(1, 2, ONE / 2, PairState::Dangerous)];
        assert_eq!(pairs, expected, "a pair that was caught is to be tried again");
        assert_eq!((again.named(), again.strangers(&elsewhere)), (2, 0));
        assert_eq!(again.strangers(&registry(&["x"])), 2);
        assert!(again.pairs(&registry(&["x"])).is_empty());
    }

    #[test]
    fn of_several_processes_the_one_that_knows_most_counts() {
        let mut traps = Traps::default();
        let all = [
            learned(0, 1, ONE / 10, PairState::Dangerous),
            learned(0, 1, ONE / 2, PairState::Dangerous),
            learned(0, 2, 0, PairState::Ordered),
            learned(0, 3, 0, PairState::Decayed),
            learned(0, 4, ONE, PairState::Dangerous),
            learned(0, 4, 0, PairState::Found),
        ];
        traps.learn(all.into_iter());
        let names = registry(&["a", "b", "c", "d", "e"]);
        let mut pairs = traps.pairs(&names);
        pairs.sort_by_key(|p| p.site_b);
        let expected = [learned(0, 1, ONE / 2, PairState::Dangerous), learned(0, 4, 0, PairState::Found)];
        assert_eq!(pairs, expected);
        // The next run holds nothing dangerous any more; what was caught stays caught.
        traps.learn(std::iter::empty());
        assert_eq!(traps.pairs(&names), [learned(0, 4, 0, PairState::Found)]);
    }

    #[test]
    fn what_is_no_trap_file_is_refused() {
        let refused = |text: &str| Traps::read("f.json", text).unwrap_err().to_string();
        assert!(refused("[]").starts_with("f.json is no trap file"));
        assert!(refused(r#"{"schema":"raddle.traps/2","pairs":[]}"#).contains("another version"));
        assert!(Traps::read("f", r#"{"schema":"raddle.traps/1","pairs":[]}"#).is_ok());
    }
}
