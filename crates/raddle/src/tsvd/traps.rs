//! What runs have learned about pairs of sites: those worth a delay, those that were caught, and
//! those that rest.
//!
//! A pair *rests* (extension 7 of `raddle_tsvd`) if a run has found it to be ordered, or has
//! delayed it in vain too often. The next runs of the same build leave it alone. The paper forgets
//! such a pair, so a lock-protected pair, which has near misses in every run, costs time in every
//! run. Inference may be wrong, so a resting pair is tried again later. Each time it is settled
//! again, it rests twice as long.

use std::collections::{BTreeMap, HashMap};

use raddle_tsvd::{ONE, PairState, TrapPair};

use super::pair_store::{Because, KeptPair, Resting, StoredPairs, build};
use super::sites::Registry;

type Key = (u32, u32);

/// What is known about a pair before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KnownPair {
    pair: TrapPair,
    /// For how many more runs it is left alone, if it rests.
    rest: u32,
}

/// What runs have learned so far.
#[derive(Debug, Default)]
pub struct Traps {
    /// From a file or the store, for sites that no process has had yet.
    kept: StoredPairs,
    /// How many pairs the file had at the beginning, and for how many of them some process had the
    /// sites.
    named: usize,
    met: usize,
    /// From earlier runs of this command, and from the file for sites that are known.
    known: HashMap<Key, KnownPair>,
    /// How many runs a pair rests the first time. For pairs that rested: how long the last time,
    /// and why.
    rest: u32,
    rested: HashMap<Key, (u32, PairState)>,
    /// The builds of files, computed on demand.
    builds: HashMap<std::path::PathBuf, Option<String>>,
}

impl Traps {
    pub fn new(kept: StoredPairs) -> Traps {
        Traps { named: kept.pairs.len(), kept, ..Traps::default() }
    }

    /// Makes pairs rest this many runs at first.
    pub fn resting(self, rest: u32) -> Traps {
        Traps { rest, ..self }
    }

    /// The initial pairs whose sites are known.
    pub fn pairs(&mut self, registry: &Registry) -> Vec<TrapPair> {
        self.meet(registry);
        self.known.values().map(|known| known.pair).collect()
    }

    /// Removes and returns what the file or store says about pairs whose sites are both of one
    /// kind.
    pub fn split_off(&mut self, is_of_kind: impl Fn(&str) -> bool) -> Traps {
        let both = |sites: &[String; 2]| sites.iter().all(|name| is_of_kind(name));
        let mut other = StoredPairs::default();
        other.builds = self.kept.builds.clone();
        other.pairs = self.kept.pairs.extract_if(.., |pair| both(&pair.sites)).collect();
        other.resting = self.kept.resting.extract_if(.., |resting| both(&resting.sites)).collect();
        self.named = self.kept.pairs.len();
        Traps { rest: self.rest, ..Traps::new(other) }
    }

    /// The initial pairs by the names of their sites, for processes that number their sites
    /// themselves.
    pub fn pairs_by_name(&mut self, registry: &Registry) -> Vec<([String; 2], TrapPair)> {
        let name = |number: u32| registry.sites.get(number as usize).map(|site| site.name.clone());
        let known = self.pairs(registry).into_iter();
        let known = known.filter_map(|pair| Some(([name(pair.site_a)?, name(pair.site_b)?], pair)));
        let strangers = self.kept.pairs.iter().map(|kept| (kept.sites.clone(), as_written(kept, (0, 0))));
        known.chain(strangers).collect()
    }

    /// How many pairs of the file or store name a site that no process had.
    pub fn strangers(&self) -> usize {
        self.named - self.met
    }

    pub fn named(&self) -> usize {
        self.named
    }

    /// Takes in what the processes of a run left.
    pub fn learn(&mut self, registry: &Registry, left: &[TrapPair]) {
        self.meet(registry);
        let before = std::mem::take(&mut self.known);
        let stays = |known: &KnownPair| match known.pair.state {
            PairState::Found => Some(*known),
            PairState::Dangerous => None,
            PairState::Ordered | PairState::Decayed => {
                Some(KnownPair { rest: known.rest.saturating_sub(1), ..*known })
            }
        };
        for (key, known) in &before {
            self.known.extend(stays(known).map(|known| (*key, known)));
        }
        for pair in left {
            let key = (pair.site_a, pair.site_b);
            // Every process gets these pairs, even one that does not use them. So an unchanged pair
            // says nothing.
            let was = before.get(&key).map(|known| known.pair);
            if was.is_some_and(|was| (was.state, was.probability) == (pair.state, pair.probability)) {
                if pair.state == PairState::Dangerous {
                    self.known.entry(key).or_insert(KnownPair { pair: *pair, rest: 0 });
                }
                continue;
            }
            let untouched = |known: &KnownPair| was == Some(known.pair);
            match self.known.get(&key) {
                Some(other) if !untouched(other) && weight(&other.pair) >= weight(pair) => {}
                _ => {
                    let rest = self.next_rest(pair);
                    self.known.insert(key, KnownPair { pair: *pair, rest });
                }
            }
        }
        for (key, known) in self.known.iter().filter(|(_, known)| is_settled(known.pair.state)) {
            if before.get(key).is_none_or(|was| !is_settled(was.pair.state)) && known.rest > 0 {
                self.rested.insert(*key, (known.rest, known.pair.state));
            }
        }
        self.known.retain(|_, known| !is_settled(known.pair.state) || known.rest > 0);
    }

    /// How many runs a pair in this state rests.
    fn next_rest(&self, pair: &TrapPair) -> u32 {
        if !is_settled(pair.state) {
            return 0;
        }
        let last = self.rested.get(&(pair.site_a, pair.site_b));
        last.map_or(self.rest, |(last, _)| last * 2).min(LONGEST_REST)
    }

    /// What to keep, for the file and the store.
    pub fn keep(&mut self, registry: &Registry) -> StoredPairs {
        let site = |number: u32| registry.sites.get(number as usize);
        let mut kept = StoredPairs::default();
        for (&(a, b), known) in &self.known {
            let probability = match known.pair.state {
                PairState::Found => 1.0,
                PairState::Dangerous => f64::from(known.pair.probability) / f64::from(ONE),
                PairState::Ordered | PairState::Decayed => continue,
            };
            if let (Some(a), Some(b)) = (site(a), site(b)) {
                let sites = [a.name.clone(), b.name.clone()];
                kept.pairs.push(KeptPair { sites, probability, gap_ms: f64::from(known.pair.gap) / 1e3 });
            }
        }
        for (key, &(of, state)) in &self.rested {
            let (Some(a), Some(b)) = (site(key.0), site(key.1)) else { continue };
            let builds = [a, b].map(|site| (file_of(&site.name), build_of(&mut self.builds, &site.path)));
            if let [(x, Some(one)), (y, Some(two))] = builds {
                let because = if state == PairState::Ordered { Because::Ordered } else { Because::Decayed };
                let runs = self.known.get(key).map_or(0, |known| known.rest);
                kept.builds.extend([(x, one), (y, two)]);
                kept.resting.push(Resting { sites: [a.name.clone(), b.name.clone()], because, runs, of });
            }
        }
        kept
    }

    /// Takes from the file what concerns sites that are now known.
    fn meet(&mut self, registry: &Registry) {
        if self.kept.pairs.is_empty() && self.kept.resting.is_empty() {
            return;
        }
        let numbers = registry.numbers_by_name();
        let key = |sites: &[String; 2]| {
            let [a, b] = sites.each_ref().map(|name| numbers.get(name.as_str()).copied());
            a.zip(b).map(|(a, b)| (a.min(b), a.max(b)))
        };
        let (known, builds) = (&mut self.known, &mut self.builds);
        let before = self.kept.pairs.len();
        self.kept.pairs.retain(|pair| match key(&pair.sites) {
            None => true,
            Some(key) => {
                let pair = as_written(pair, key);
                known.entry(key).or_insert(KnownPair { pair, rest: 0 });
                false
            }
        });
        self.met += before - self.kept.pairs.len();
        let same = |site: u32, told: &BTreeMap<String, String>, builds: &mut HashMap<_, _>| {
            let site = &registry.sites[site as usize];
            let then = told.get(&file_of(&site.name));
            then.is_some() && build_of(builds, &site.path).as_ref() == then
        };
        let told = &self.kept.builds;
        let (may_rest, rested) = (self.rest > 0, &mut self.rested);
        self.kept.resting.retain(|resting| match key(&resting.sites) {
            None => true,
            Some(key) => {
                let state = match resting.because {
                    Because::Ordered => PairState::Ordered,
                    Because::Decayed => PairState::Decayed,
                };
                if may_rest && same(key.0, told, builds) && same(key.1, told, builds) {
                    rested.insert(key, (resting.of.clamp(1, LONGEST_REST), state));
                    if resting.runs > 0 {
                        let rest = resting.runs.min(LONGEST_REST);
                        known.entry(key).or_insert(KnownPair { pair: new_pair(key, state), rest });
                    }
                }
                false
            }
        });
    }
}

/// The most runs that a pair rests.
const LONGEST_REST: u32 = 64;

/// If several processes report a pair, the one with the greatest weight counts.
fn weight(pair: &TrapPair) -> (u32, u32) {
    match pair.state {
        PairState::Found => (2, 0),
        PairState::Dangerous => (1, pair.probability),
        PairState::Ordered | PairState::Decayed => (0, 0),
    }
}

fn is_settled(state: PairState) -> bool {
    matches!(state, PairState::Ordered | PairState::Decayed)
}

/// The file in a site's name.
fn file_of(name: &str) -> String {
    name.split(": ").next().unwrap_or_default().to_owned()
}

fn build_of(
    builds: &mut HashMap<std::path::PathBuf, Option<String>>,
    path: &std::path::Path,
) -> Option<String> {
    builds.entry(path.to_owned()).or_insert_with(|| build(path)).clone()
}

/// A pair as the file has it.
fn as_written(kept: &KeptPair, key: Key) -> TrapPair {
    let probability = (kept.probability.clamp(0.0, 1.0) * f64::from(ONE)) as u32;
    let gap = (kept.gap_ms.max(0.0) * 1e3) as u32;
    TrapPair { probability, gap, ..new_pair(key, PairState::Dangerous) }
}

fn new_pair((site_a, site_b): Key, state: PairState) -> TrapPair {
    TrapPair { site_a, site_b, probability: 0, state, gap: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_one_kind_are_split_off_and_told_by_name() {
        let pair = |a: &str, b: &str| KeptPair { sites: [a.into(), b.into()], probability: 0.5, gap_ms: 1.0 };
        let pairs = vec![pair("a.dll: x", "a.dll: y"), pair("b: x", "b: y"), pair("a.dll: x", "b: y")];
        let mut kept = StoredPairs::default();
        kept.pairs = pairs;
        let mut native = Traps::new(kept);
        let mut other = native.split_off(|name| name.starts_with("a.dll"));
        assert_eq!((native.named(), other.named()), (2, 1));
        let (names, told) = other.pairs_by_name(&Registry::default()).remove(0);
        assert_eq!(
            (names, told.probability, told.gap),
            (["a.dll: x".into(), "a.dll: y".into()], ONE / 2, 1000)
        );
    }
    use crate::tsvd::sites::Numbered;
    use std::path::Path;

    fn registry_of(file: &Path, names: &[&str]) -> Registry {
        let mut registry = Registry::default();
        for (i, name) in names.iter().enumerate() {
            let site = Numbered {
                path: file.into(),
                address: i as u64,
                len: 5,
                operation: 0,
                tail: false,
                callee: "f".into(),
                name: format!("p: {name}"),
            };
            assert_eq!(registry.number(file, i as u64, || site), Some(i as u32));
        }
        registry
    }

    fn registry(names: &[&str]) -> Registry {
        registry_of("/p".as_ref(), names)
    }

    fn left(a: u32, b: u32, probability: u32, state: PairState) -> TrapPair {
        TrapPair { probability, ..new_pair((a, b), state) }
    }

    fn sorted(mut pairs: Vec<TrapPair>) -> Vec<TrapPair> {
        pairs.sort_by_key(|p| (p.site_a, p.site_b));
        pairs
    }

    fn reread(traps: &mut Traps, registry: &Registry) -> Traps {
        Traps::new(StoredPairs::read("f", &traps.keep(registry).text()).unwrap()).resting(traps.rest)
    }

    #[test]
    fn what_is_written_is_read_again_by_name() {
        let names = registry(&["x", "y"]);
        let mut traps = Traps::default();
        let far = TrapPair { gap: 150_000, ..left(0, 1, ONE / 2, PairState::Dangerous) };
        traps.learn(&names, &[far, left(1, 1, 0, PairState::Found)]);
        let mut again = reread(&mut traps, &names);
        // Another build has the same functions at other addresses.
        let pairs = sorted(again.pairs(&registry(&["new", "y", "x"])));
        let expected = [left(1, 1, ONE, PairState::Dangerous), TrapPair { site_a: 1, site_b: 2, ..far }];
        assert_eq!(pairs, expected, "a pair that was caught is to be tried again");
        assert_eq!((again.named(), again.strangers()), (2, 0));
        let mut other = reread(&mut traps, &names);
        assert!(other.pairs(&registry(&["x"])).is_empty());
        assert_eq!(other.strangers(), 2);
    }

    #[test]
    fn of_several_processes_the_one_that_knows_most_counts() {
        let names = registry(&["a", "b", "c", "d", "e"]);
        let mut traps = Traps::default();
        let all = [
            left(0, 1, ONE / 10, PairState::Dangerous),
            left(0, 1, ONE / 2, PairState::Dangerous),
            left(0, 2, 0, PairState::Ordered),
            left(0, 3, 0, PairState::Decayed),
            left(0, 4, 0, PairState::Found),
            left(0, 4, ONE, PairState::Dangerous),
        ];
        traps.learn(&names, &all);
        let expected = [left(0, 1, ONE / 2, PairState::Dangerous), left(0, 4, 0, PairState::Found)];
        assert_eq!(sorted(traps.pairs(&names)), expected, "and nothing rests");
        // The next run knows of nothing dangerous any more; what was caught stays caught.
        traps.learn(&names, &[]);
        assert_eq!(traps.pairs(&names), [left(0, 4, 0, PairState::Found)]);
    }

    #[test]
    fn a_process_that_only_was_told_of_a_pair_says_nothing() {
        let names = registry(&["a", "b"]);
        let mut traps = Traps::default().resting(2);
        let dangerous = left(0, 1, ONE, PairState::Dangerous);
        traps.learn(&names, &[dangerous]);
        traps.learn(&names, &[dangerous]);
        assert_eq!(traps.pairs(&names), [dangerous], "nobody has tried it yet");
        for run in
            [[dangerous, left(0, 1, 0, PairState::Ordered)], [left(0, 1, 0, PairState::Ordered), dangerous]]
        {
            let mut traps = reread(&mut traps, &names);
            traps.learn(&names, &run);
            assert_eq!(traps.pairs(&names)[0].state, PairState::Ordered);
        }
    }

    #[test]
    fn a_settled_pair_rests_for_some_runs_and_is_tried_again() {
        let names = registry(&["a", "b"]);
        let mut traps = Traps::default().resting(2);
        let ordered = left(0, 1, 0, PairState::Ordered);
        traps.learn(&names, &[ordered]);
        let mut rests = Vec::new();
        for _ in 0..3 {
            let mut runs = 0;
            while !traps.pairs(&names).is_empty() {
                traps.learn(&names, &[ordered]);
                runs += 1;
            }
            rests.push(runs);
            traps.learn(&names, &[ordered]);
        }
        assert_eq!(rests, [2, 4, 8], "each time twice as long");
        let mut paper = Traps::default();
        paper.learn(&names, &[ordered]);
        assert!(paper.pairs(&names).is_empty(), "the paper forgets it");
    }

    #[test]
    fn a_pair_of_the_file_that_was_settled_is_not_dangerous_again() {
        let names = registry(&["a", "b"]);
        let mut first = Traps::default();
        first.learn(&names, &[left(0, 1, ONE, PairState::Dangerous)]);
        let mut again = reread(&mut first, &names);
        again.learn(&names, &[left(0, 1, 0, PairState::Ordered)]);
        assert!(again.pairs(&names).is_empty());
    }

    #[test]
    fn pairs_rest_in_the_same_build_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("p");
        std::fs::write(&file, "with the lock").unwrap();
        let names = registry_of(&file, &["a", "b"]);
        let decayed = left(0, 1, 0, PairState::Decayed);
        let mut traps = Traps::default().resting(3);
        traps.learn(&names, &[decayed]);
        let mut same = reread(&mut traps, &names);
        assert_eq!(same.pairs(&names), [decayed]);
        same.learn(&names, &[decayed]);
        assert_eq!(same.keep(&names).resting[0].runs, 2);
        same.learn(&names, &[decayed]);
        same.learn(&names, &[decayed]);
        let mut over = reread(&mut same, &names);
        assert!(over.pairs(&names).is_empty());
        over.learn(&names, &[decayed]);
        let kept = over.keep(&names);
        assert_eq!((kept.resting[0].runs, kept.resting[0].of), (6, 6), "that it rested before is known");
        std::fs::write(&file, "without the lock").unwrap();
        assert!(reread(&mut traps, &names).pairs(&names).is_empty());
        assert!(reread(&mut traps, &names).resting(0).pairs(&names).is_empty(), "nor if nothing is to rest");
    }
}
