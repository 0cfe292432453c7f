//! The command lines of the two benches.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, value_parser};

use super::effect::STRATEGIES;
use crate::options::{OutputOptions, named};

#[derive(Clone, PartialEq, Debug)]
pub struct SpeedOptions {
    pub tests: Vec<String>,
    pub rounds: u32,
    /// The duration of one sample.
    pub seconds: f64,
    pub jobs: Vec<u16>,
    pub output: OutputOptions,
    pub command: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct EffectOptions {
    pub suite: PathBuf,
    /// Parts of program names. All programs if empty.
    pub only: Vec<String>,
    pub strategies: Vec<String>,
    pub schedules: u64,
    pub seeds: u64,
    /// The time limit of one search.
    pub seconds: f64,
    /// Whether to measure the default strategy, as users run it.
    pub default: bool,
    pub output: OutputOptions,
    pub command: String,
}

const TESTS: [&str; 3] = ["mutex", "atomicity", "abba"];

/// The options of `explore-speed`.
#[derive(Args)]
pub(crate) struct SpeedArgs {
    /// Only these tests
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = TESTS)]
    only: Vec<String>,
    /// The best of so many counts [default: 3]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// For each figure [default: 1.5]
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<f64>,
    /// Growth with jobs
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = "1,2",
          value_parser = value_parser!(u16).range(1..))]
    jobs: Vec<u16>,
    #[command(flatten)]
    output: OutputOptions,
}

/// The options of `explore-effect`.
#[derive(Args)]
pub(crate) struct EffectArgs {
    /// The programs
    #[arg(long, value_name = "FOLDER", default_value = "corpus/explore/suite")]
    suite: PathBuf,
    /// Programs with A or B in their names
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    only: Vec<String>,
    /// Only these strategies
    #[arg(long, value_name = "A,B", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(STRATEGIES.map(|(name, _)| name)))]
    strategies: Vec<String>,
    /// The most of one search [default: 10000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    schedules: Option<u32>,
    /// For the strategies that draw lots [default: 3]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    seeds: Option<u32>,
    /// For each search, at most [default: 60]
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<f64>,
    /// Whether the default is tried with 60 seconds and two jobs
    #[arg(long, value_name = "yes|no", action = ArgAction::Set, default_value = "yes",
          value_parser = PossibleValuesParser::new(["yes", "no"]).map(|word| word == "yes"))]
    default: bool,
    #[command(flatten)]
    output: OutputOptions,
}

impl SpeedArgs {
    pub(crate) fn options(self, command: String) -> SpeedOptions {
        let (rounds, sample) = if self.output.quick { (1, 0.5) } else { (3, 1.5) };
        SpeedOptions {
            tests: in_usual_order(&self.only, &TESTS),
            rounds: self.rounds.unwrap_or(rounds),
            seconds: self.seconds.unwrap_or(sample),
            jobs: self.jobs,
            output: self.output,
            command,
        }
    }
}

impl EffectArgs {
    pub(crate) fn options(self, command: String) -> EffectOptions {
        let (schedules, seeds, limit) = if self.output.quick { (1000, 1, 10.0) } else { (10_000, 3, 60.0) };
        EffectOptions {
            suite: self.suite,
            only: named(self.only),
            strategies: in_usual_order(&self.strategies, &STRATEGIES.map(|(name, _)| name)),
            schedules: self.schedules.unwrap_or(schedules).into(),
            seeds: self.seeds.unwrap_or(seeds).into(),
            seconds: self.seconds.unwrap_or(limit),
            default: self.default,
            output: self.output,
            command,
        }
    }
}

/// The chosen names in the usual order, whatever the order of the arguments; all if none is chosen.
fn in_usual_order(chosen: &[String], all: &[&str]) -> Vec<String> {
    let wanted = |name: &&&str| chosen.is_empty() || chosen.iter().any(|c| c == *name);
    all.iter().filter(wanted).map(|&name| name.to_owned()).collect()
}

/// A duration in seconds, which may have a fraction.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds < 1e6);
    seconds.ok_or_else(|| "needs seconds above zero".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::BenchError;
    use crate::explore::peer::Peer;
    use crate::options::{BenchCommand, parse};

    fn command(line: &str) -> Result<BenchCommand, BenchError> {
        parse(line.split_whitespace().map(Into::into))
    }

    fn speed(line: &str) -> Result<SpeedOptions, BenchError> {
        match command(&format!("explore-speed {line}"))? {
            BenchCommand::ExploreSpeed(options) => Ok(*options),
            other => panic!("{other:?}"),
        }
    }

    fn effect(line: &str) -> Result<EffectOptions, BenchError> {
        match command(&format!("explore-effect {line}"))? {
            BenchCommand::ExploreEffect(options) => Ok(*options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_option_of_speed_is_taken() {
        let options = speed("--only abba,mutex --rounds 5 --seconds 0.25 --jobs 1,2,4 --raddle /x/raddle --json a --markdown b --work c")
        .unwrap();
        assert_eq!(
            (options.tests.join(","), options.rounds, options.seconds),
            ("mutex,abba".into(), 5, 0.25)
        );
        assert_eq!(options.jobs, [1, 2, 4]);
        assert_eq!(options.output.raddle, Some("/x/raddle".into()));
        assert!(
            options.output.json.is_some()
                && options.output.markdown.is_some()
                && options.output.work.is_some()
        );
        assert!(
            options.command.starts_with("raddle-bench explore-speed --only")
                && !options.command.contains("/x")
        );
    }

    #[test]
    fn every_option_of_effect_is_taken() {
        let options = effect(
            "--suite s --only a,b --strategies pct,dfs --schedules 7 --seeds 20 --seconds 9 --default no",
        )
        .unwrap();
        assert_eq!((options.suite, options.only.len()), (PathBuf::from("s"), 2));
        assert_eq!(options.strategies, ["dfs", "pct"]);
        assert_eq!((options.schedules, options.seeds, options.seconds, options.default), (7, 20, 9.0, false));
    }

    #[test]
    fn quick_is_less_of_everything_and_can_be_overruled() {
        let (full, quick) = (effect("").unwrap(), effect("--quick").unwrap());
        assert!(full.schedules > quick.schedules && full.seeds > quick.seeds && full.seconds > quick.seconds);
        assert_eq!(full.strategies.len(), STRATEGIES.len());
        let (full, quick) = (speed("").unwrap(), speed("--quick --rounds 2").unwrap());
        assert!(full.seconds > quick.seconds && quick.rounds == 2);
    }

    #[test]
    fn mistakes_are_named() {
        let speed = |line| speed(line).unwrap_err().to_string();
        let unknown = speed("--only nope");
        assert!(unknown.contains("invalid value 'nope'") && unknown.contains("mutex, atomicity, abba"));
        assert!(speed("--jobs 0").contains("invalid value '0' for '--jobs <A,B>'"));
        assert!(speed("--seconds soon").contains("needs seconds above zero"));
        assert!(speed("--fast 1").contains("unexpected argument '--fast'"));
        assert!(speed("fast").contains("unexpected argument 'fast'"));
        assert!(speed("--json").contains("a value is required for '--json <FILE>'"));
        let effect = |line| effect(line).unwrap_err().to_string();
        assert!(effect("--strategies best").contains("invalid value 'best'"));
        assert!(effect("--default maybe").contains("[possible values: yes, no]"));
    }

    #[test]
    fn a_peer_has_a_test_and_a_time() {
        let refused = command("peer chess mutex 1").unwrap_err().to_string();
        assert!(refused.contains("there are shuttle-random, shuttle-dfs, loom"), "{refused}");
        assert!(command("peer loom mutex").is_err());
        let BenchCommand::Peer { peer, test, seconds } = command("peer loom mutex 0.5").unwrap() else {
            panic!("no peer")
        };
        assert_eq!((peer, test.as_str(), seconds), (Peer::Loom, "mutex", 0.5));
    }
}
