//! Schedules a second: what is measured, in which order, and the record.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::options::SpeedOptions;
use super::peer::{Pace, Peer};
use super::search::{Explorer, Request, SearchResult, pin};
use super::subject::{HAND_OVERS, Language, PINGPONG, SOLO, SOURCES, SpeedSource};
use crate::error::BenchError;
use crate::machine::{MachineInfo, today};
use crate::results::Absent;
use crate::runner::progress;

/// Changes when a reader of the older form would misread it.
pub const SCHEMA: &str = "raddle.bench.explore-speed/1";

/// The strategies that are measured: the simplest, which shuttle uses too, and the default.
pub const STRATEGIES: [&str; 2] = ["random", "portfolio"];

/// Far more seconds than one schedule needs.
const START_UP_LIMIT: f64 = 60.0;

/// The engine that executes the schedules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Raddle, restoring the program's memory.
    InPlace,
    /// Raddle, with a process for each schedule.
    Fork,
    Peer(Peer),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SpeedKey {
    pub test: String,
    pub language: Language,
    pub engine: Engine,
    /// Raddle's strategy. A peer's strategy is in its name.
    pub strategy: Option<String>,
    pub jobs: u16,
    pub pinned: bool,
}

impl SpeedKey {
    /// The label for use in a sentence.
    pub fn label(&self) -> String {
        let engine = match self.engine {
            Engine::InPlace => "in place".to_owned(),
            Engine::Fork => "fork".to_owned(),
            Engine::Peer(peer) => peer.to_string(),
        };
        let strategy = self.strategy.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        let jobs = if self.jobs > 1 { format!(" with {} jobs", self.jobs) } else { String::new() };
        let pinned = if self.pinned { ", one core" } else { "" };
        format!("{} in {}, {engine}{strategy}{jobs}{pinned}", self.test, self.language.name())
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sample {
    pub schedules: u64,
    pub seconds: f64,
    /// The search had nothing left to try before its time was over.
    pub exhausted: bool,
    /// The number of failures found. For raddle, each kind and place counts once; for a peer, every
    /// failure counts.
    pub failures: u64,
}

impl Sample {
    pub fn rate(&self) -> f64 {
        self.schedules as f64 / self.seconds
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Series {
    pub key: SpeedKey,
    pub samples: Vec<Sample>,
}

impl Series {
    pub fn best(&self) -> Option<&Sample> {
        self.samples.iter().max_by(|a, b| a.rate().total_cmp(&b.rate()))
    }
}

/// The time of a search of one schedule: the first runs and the start of the worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StartUp {
    pub test: String,
    pub language: Language,
    pub seconds: Vec<f64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SpeedFailure {
    pub key: SpeedKey,
    pub reason: String,
}

/// The record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Speed {
    pub schema: String,
    pub date: String,
    pub command: String,
    pub machine: MachineInfo,
    pub rounds: u32,
    /// The duration of each sample.
    pub seconds: f64,
    pub tests: Vec<String>,
    pub series: Vec<Series>,
    pub start_up: Vec<StartUp>,
    /// Steps of one execution of the programs with and without hand-overs. They must be equal.
    pub steps: BTreeMap<String, u64>,
    pub failures: Vec<SpeedFailure>,
    pub absent: Vec<Absent>,
}

impl Speed {
    pub fn best(&self, key: &SpeedKey) -> Option<&Sample> {
        self.series.iter().find(|series| series.key == *key)?.best()
    }

    pub fn rate(&self, key: &SpeedKey) -> Option<f64> {
        self.best(key).map(Sample::rate)
    }

    pub fn start_up(&self, test: &str, language: Language) -> Option<f64> {
        let found = self.start_up.iter().find(|s| s.test == test && s.language == language)?;
        crate::stats::least(found.seconds.iter().copied())
    }

    /// Nanoseconds for one step of `solo.c`, and the additional nanoseconds for one hand-over of
    /// `pingpong.c`. Everything else is the same in both.
    pub fn hand_over(&self) -> Option<(f64, f64)> {
        let seconds = |source: &SpeedSource| Some(1.0 / self.rate(&hand_over_key(source))?);
        let (with, without) = (seconds(&PINGPONG)?, seconds(&SOLO)?);
        let steps = *self.steps.get(SOLO.test)?;
        if self.steps.get(PINGPONG.test) != Some(&steps) || steps == 0 {
            return None;
        }
        Some((without / steps as f64 * 1e9, (with - without) / f64::from(HAND_OVERS) * 1e9))
    }
}

pub fn raddle_key(test: &str, language: Language, engine: Engine, strategy: &str, pinned: bool) -> SpeedKey {
    SpeedKey { test: test.to_owned(), language, engine, strategy: Some(strategy.to_owned()), jobs: 1, pinned }
}

/// Peers run pinned, because they have one thread each.
pub fn peer_key(test: &str, peer: Peer) -> SpeedKey {
    let (test, engine) = (test.to_owned(), Engine::Peer(peer));
    SpeedKey { test, language: Language::Rust, engine, strategy: None, jobs: 1, pinned: true }
}

pub fn hand_over_key(source: &SpeedSource) -> SpeedKey {
    raddle_key(source.test, source.language, Engine::InPlace, "random", true)
}

/// Scaling with jobs is measured on the first test, in place.
pub fn jobs_key(test: &str, language: Language, strategy: &str, jobs: u16) -> SpeedKey {
    SpeedKey { jobs, ..raddle_key(test, language, Engine::InPlace, strategy, false) }
}

/// All series. Those that will be compared are next to each other.
pub fn plan(tests: &[String], jobs: &[u16]) -> Vec<SpeedKey> {
    let mut keys = Vec::new();
    for test in tests {
        for source in SOURCES.iter().filter(|source| source.test == test) {
            for (engine, strategy) in [Engine::InPlace, Engine::Fork]
                .into_iter()
                .flat_map(|engine| STRATEGIES.map(|strategy| (engine, strategy)))
            {
                let key = |pinned| raddle_key(test, source.language, engine, strategy, pinned);
                keys.extend([key(true), key(false)]);
            }
        }
        keys.extend(Peer::ALL.map(|peer| peer_key(test, peer)));
    }
    let first = tests.first().map(String::as_str).unwrap_or_default();
    for language in [Language::C, Language::Rust] {
        for strategy in STRATEGIES {
            // One job without a pin is already in the plan.
            let more = jobs.iter().filter(|&&jobs| jobs > 1);
            keys.extend(more.map(|&jobs| jobs_key(first, language, strategy, jobs)));
        }
    }
    keys.extend([PINGPONG, SOLO].iter().map(hand_over_key));
    keys
}

/// Measures everything.
pub fn run(options: &SpeedOptions, raddle: PathBuf, folder: &Path) -> Result<Speed, BenchError> {
    let mut bench = Bench::new(options, raddle, folder)?;
    let keys = plan(&options.tests, &options.jobs);
    let keys: Vec<SpeedKey> = keys.into_iter().filter(|key| bench.is_possible(key)).collect();
    bench.speed.series = keys.iter().map(|key| Series { key: key.clone(), samples: Vec::new() }).collect();
    for round in 1..=options.rounds {
        for key in &keys {
            progress(&format!("round {round}: {}", key.label()));
            bench.sample(key);
        }
        bench.start_up();
    }
    progress("");
    Ok(bench.speed)
}

struct Bench<'a> {
    options: &'a SpeedOptions,
    explorer: Explorer,
    binaries: BTreeMap<(String, Language), PathBuf>,
    speed: Speed,
}

impl Bench<'_> {
    fn new<'a>(options: &'a SpeedOptions, raddle: PathBuf, folder: &Path) -> Result<Bench<'a>, BenchError> {
        let mut binaries = BTreeMap::new();
        let chosen = |source: &&SpeedSource| options.tests.iter().any(|test| test == source.test);
        for source in SOURCES.iter().filter(chosen).chain([&PINGPONG, &SOLO]) {
            let binary = source.build(&raddle, folder)?;
            binaries.insert((source.test.to_owned(), source.language), binary);
        }
        let folder = fs::canonicalize(folder).map_err(BenchError::file("find", folder))?;
        let speed = Speed {
            schema: SCHEMA.to_owned(),
            date: today(),
            command: options.command.clone(),
            machine: MachineInfo::look([raddle.as_path(), Path::new("gcc"), Path::new("rustc")]),
            rounds: options.rounds,
            seconds: options.seconds,
            tests: options.tests.clone(),
            series: Vec::new(),
            start_up: Vec::new(),
            steps: BTreeMap::new(),
            failures: Vec::new(),
            absent: Vec::new(),
        };
        let binaries = binaries
            .into_iter()
            .map(|(key, path)| Ok((key, fs::canonicalize(&path).map_err(BenchError::file("find", &path))?)))
            .collect::<Result<_, BenchError>>()?;
        Ok(Bench { options, explorer: Explorer { raddle, folder }, binaries, speed })
    }

    /// Returns whether the series can be measured, and notes the reason if not.
    fn is_possible(&mut self, key: &SpeedKey) -> bool {
        let Engine::Peer(peer) = key.engine else { return true };
        let (what, reason) = match (Peer::AVAILABLE, peer.unfit(&key.test)) {
            (true, None) => return true,
            (false, _) => {
                (peer.to_string(), "this raddle-bench was built without the feature `peers`".to_owned())
            }
            (true, Some(reason)) => (format!("{peer} on {}", key.test), reason.to_owned()),
        };
        let absent = Absent { what, reason };
        if !self.speed.absent.contains(&absent) {
            self.speed.absent.push(absent);
        }
        false
    }

    fn sample(&mut self, key: &SpeedKey) {
        if self.speed.failures.iter().any(|failure| failure.key == *key) {
            return;
        }
        let sample = match key.engine {
            Engine::Peer(peer) => self.peer(key, peer),
            Engine::InPlace | Engine::Fork => self.search(key),
        };
        let series = self.speed.series.iter_mut().find(|series| series.key == *key);
        let series = series.expect("run() made one for each key");
        match sample {
            Ok(sample) => series.samples.push(sample),
            Err(reason) => {
                series.samples.clear();
                self.speed.failures.push(SpeedFailure { key: key.clone(), reason });
            }
        }
    }

    fn search(&mut self, key: &SpeedKey) -> Result<Sample, String> {
        let request = Request {
            jobs: key.jobs,
            fork: key.engine == Engine::Fork,
            keep_going: true,
            pinned: key.pinned,
            ..Request::new(key.strategy.as_deref().unwrap_or("portfolio"), self.options.seconds)
        };
        let search = self.explorer.run(self.binary(key), &request)?;
        if search.fork != request.fork {
            return Err("it fell back to a process for each schedule".to_owned());
        }
        check_findings(key, &search)?;
        Ok(Sample {
            schedules: search.schedules,
            seconds: search.seconds,
            exhausted: search.exhausted,
            failures: search.kinds.len() as u64,
        })
    }

    fn peer(&self, key: &SpeedKey, peer: Peer) -> Result<Sample, String> {
        let program = env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(["peer", peer.name(), &key.test, &self.options.seconds.to_string()]);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        pin(&mut command);
        let output = command.output().map_err(|error| error.to_string())?;
        let pace: Pace = serde_json::from_slice(&output.stdout)
            .map_err(|_| format!("it ended with status {}", output.status.code().unwrap_or(-1)))?;
        Ok(Sample {
            schedules: pace.schedules,
            seconds: pace.seconds,
            exhausted: pace.completed > 1,
            failures: pace.failures,
        })
    }

    fn start_up(&mut self) {
        for ((test, language), binary) in &self.binaries {
            let request =
                Request { schedules: Some(1), pinned: true, ..Request::new("random", START_UP_LIMIT) };
            let Ok(search) = self.explorer.run(binary, &request) else { continue };
            if [PINGPONG.test, SOLO.test].contains(&test.as_str()) {
                self.speed.steps.insert(test.clone(), search.steps_max);
                continue;
            }
            let known = self.speed.start_up.iter_mut().find(|s| s.test == *test && s.language == *language);
            match known {
                Some(known) => known.seconds.push(search.seconds),
                None => self.speed.start_up.push(StartUp {
                    test: test.clone(),
                    language: *language,
                    seconds: vec![search.seconds],
                }),
            }
        }
    }

    fn binary(&self, key: &SpeedKey) -> &Path {
        &self.binaries[&(key.test.clone(), key.language)]
    }
}

/// A search with wrong findings has no rate.
fn check_findings(key: &SpeedKey, search: &SearchResult) -> Result<(), String> {
    let expected = match key.test.as_str() {
        "atomicity" => Some("assertion"),
        "abba" => Some("deadlock"),
        _ => None,
    };
    match search.kinds.iter().find(|kind| Some(kind.as_str()) != expected) {
        Some(kind) => Err(format!("it reported `{kind}`, which is not there")),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn speed(series: &[(SpeedKey, u64, f64)]) -> Speed {
        let sample =
            |schedules: u64, seconds: f64| Sample { schedules, seconds, exhausted: false, failures: 0 };
        let series = series.iter().map(|(key, schedules, seconds)| Series {
            key: key.clone(),
            samples: vec![sample(1, 1.0), sample(*schedules, *seconds)],
        });
        Speed {
            schema: SCHEMA.to_owned(),
            date: "2026-01-31".to_owned(),
            command: "raddle-bench explore-speed".to_owned(),
            machine: crate::results::tests::results(&[], Vec::new()).machine,
            rounds: 2,
            seconds: 1.0,
            tests: vec!["mutex".to_owned()],
            series: series.collect(),
            start_up: vec![StartUp {
                test: "mutex".to_owned(),
                language: Language::C,
                seconds: vec![0.2, 0.1],
            }],
            steps: BTreeMap::new(),
            failures: Vec::new(),
            absent: Vec::new(),
        }
    }

    #[test]
    fn the_best_rate_of_the_rounds_counts() {
        let key = raddle_key("mutex", Language::C, Engine::InPlace, "random", true);
        let speed = speed(&[(key.clone(), 100, 0.5)]);
        assert_eq!(speed.rate(&key), Some(200.0));
        assert_eq!(speed.start_up("mutex", Language::C), Some(0.1));
        assert_eq!(speed.start_up("mutex", Language::Rust), None);
    }

    #[test]
    fn a_hand_over_is_what_remains_of_the_difference() {
        let pair = [(hand_over_key(&PINGPONG), 1000, 1.0), (hand_over_key(&SOLO), 1000, 0.9)];
        let mut speed = speed(&pair);
        speed.steps = [(PINGPONG.test.to_owned(), 2000), (SOLO.test.to_owned(), 2000)].into();
        let (step, hand_over) = speed.hand_over().unwrap();
        assert!((step - 450.0).abs() < 1e-6 && (hand_over - 100.0).abs() < 1e-6, "{step} {hand_over}");
        speed.steps.insert(SOLO.test.to_owned(), 1999);
        assert_eq!(speed.hand_over(), None, "with other steps the difference says nothing");
    }

    #[test]
    fn the_plan_has_each_series_once() {
        let keys = plan(&["mutex".to_owned(), "abba".to_owned()], &[1, 2, 4]);
        let distinct: std::collections::BTreeSet<&SpeedKey> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        // Two tests in two languages with 8 series each and 3 peers; more jobs; with and without
        // hand-overs.
        assert_eq!(keys.len(), 2 * (2 * 8 + 3) + 2 * 2 * 2 + 2);
        assert!(keys.contains(&jobs_key("mutex", Language::Rust, "portfolio", 1)));
    }

    #[test]
    fn what_is_not_there_is_not_counted() {
        let key = |test| raddle_key(test, Language::C, Engine::InPlace, "random", true);
        let search = |kind: &str| {
            let text = format!(
                r#"{{"stats": {{"schedules": 1, "seconds": 1, "exhausted": true, "fork": false, "steps_max": 1}},
                    "findings": [{{"kind": "{kind}"}}]}}"#
            );
            SearchResult::parse(&text).unwrap()
        };
        assert_eq!(check_findings(&key("abba"), &search("deadlock")), Ok(()));
        assert!(check_findings(&key("abba"), &search("crash")).unwrap_err().contains("`crash`"));
        assert!(check_findings(&key("mutex"), &search("deadlock")).is_err());
    }

    #[test]
    fn a_record_is_read_again() {
        let speed = speed(&[(peer_key("mutex", Peer::Loom), 5, 1.0)]);
        let text = serde_json::to_string(&speed).unwrap();
        assert_eq!(serde_json::from_str::<Speed>(&text).unwrap(), speed);
    }
}
