//! The command lines of the two benches, and of a peer.

use std::ffi::OsString;
use std::path::PathBuf;
use std::slice::Iter;

use super::effect::STRATEGIES;
use super::peer::Peer;
use crate::error::Error;
use crate::options::{list, number, shown};

/// Options of both benches.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Output {
    pub raddle: Option<PathBuf>,
    pub json: Option<PathBuf>,
    pub markdown: Option<PathBuf>,
    pub work: Option<PathBuf>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SpeedOptions {
    pub tests: Vec<String>,
    pub rounds: u32,
    /// The duration of one sample.
    pub seconds: f64,
    pub jobs: Vec<u16>,
    pub output: Output,
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
    pub output: Output,
    pub command: String,
}

const TESTS: [&str; 3] = ["mutex", "atomicity", "abba"];

/// The options of `explore-speed`.
pub fn speed(arguments: &[OsString]) -> Result<SpeedOptions, Error> {
    let mut options = SpeedOptions {
        tests: TESTS.map(str::to_owned).to_vec(),
        rounds: 3,
        seconds: 1.5,
        jobs: vec![1, 2],
        output: Output::default(),
        command: shown("explore-speed", arguments),
    };
    if arguments.iter().any(|argument| argument == "--quick") {
        (options.rounds, options.seconds) = (1, 0.5);
    }
    each(arguments, &mut options.output, |name, value| {
        match name {
            "--only" => options.tests = known(&list(value), &TESTS, "test")?,
            "--rounds" => options.rounds = number(name, value)?,
            "--seconds" => options.seconds = seconds(name, value)?,
            "--jobs" => options.jobs = jobs(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(options)
}

/// The options of `explore-effect`.
pub fn effect(arguments: &[OsString]) -> Result<EffectOptions, Error> {
    let names = STRATEGIES.map(|(name, _)| name);
    let mut options = EffectOptions {
        suite: PathBuf::from("corpus/explore/suite"),
        only: Vec::new(),
        strategies: names.map(str::to_owned).to_vec(),
        schedules: 10_000,
        seeds: 3,
        seconds: 60.0,
        default: true,
        output: Output::default(),
        command: shown("explore-effect", arguments),
    };
    if arguments.iter().any(|argument| argument == "--quick") {
        (options.schedules, options.seeds, options.seconds) = (1000, 1, 10.0);
    }
    each(arguments, &mut options.output, |name, value| {
        match name {
            "--suite" => options.suite = value.into(),
            "--only" => options.only = list(value),
            "--strategies" => options.strategies = known(&list(value), &names, "strategy")?,
            "--schedules" => options.schedules = number(name, value)?.into(),
            "--seeds" => options.seeds = number(name, value)?.into(),
            "--seconds" => options.seconds = seconds(name, value)?,
            "--default" => options.default = yes(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(options)
}

/// The job of a peer: `TOOL TEST SECONDS`.
pub fn peer(arguments: &[OsString]) -> Result<(Peer, String, f64), Error> {
    let [tool, test, time] = arguments else {
        return Err(Error::Usage("`peer` needs a tool, a test and seconds".to_owned()));
    };
    let name = tool.to_string_lossy();
    let peer = Peer::by_name(&name).ok_or_else(|| Error::Usage(format!("no peer is called `{name}`")))?;
    Ok((peer, test.to_string_lossy().into_owned(), seconds("peer", time)?))
}

/// Parses options with values, and `--quick`. `take` returns whether it knows an option.
pub(crate) fn each(
    arguments: &[OsString],
    output: &mut Output,
    mut take: impl FnMut(&str, &OsString) -> Result<bool, Error>,
) -> Result<(), Error> {
    let mut rest: Iter<'_, OsString> = arguments.iter();
    while let Some(argument) = rest.next() {
        let name = argument.to_string_lossy();
        if name == "--quick" {
            continue;
        }
        let unknown = || Error::Usage(format!("no option is called `{name}`"));
        if !name.starts_with("--") {
            return Err(unknown());
        }
        let value = rest.next().ok_or_else(|| Error::Usage(format!("`{name}` needs a value")))?;
        let file = || Some(PathBuf::from(value));
        match &*name {
            "--raddle" => output.raddle = file(),
            "--json" => output.json = file(),
            "--markdown" => output.markdown = file(),
            "--work" => output.work = file(),
            _ if take(&name, value)? => {}
            _ => return Err(unknown()),
        }
    }
    Ok(())
}

/// The chosen names in the usual order, whatever the order of the arguments.
fn known(chosen: &[String], all: &[&str], what: &str) -> Result<Vec<String>, Error> {
    match chosen.iter().find(|name| !all.contains(&name.as_str())) {
        Some(name) => {
            Err(Error::Usage(format!("no {what} is called `{name}`; there are {}", all.join(", "))))
        }
        None => {
            Ok(all.iter().filter(|name| chosen.iter().any(|c| c == *name)).map(|&n| n.to_owned()).collect())
        }
    }
}

fn jobs(value: &OsString) -> Result<Vec<u16>, Error> {
    let parse = |text: &String| text.parse().ok().filter(|jobs| *jobs > 0);
    let jobs: Option<Vec<u16>> = list(value).iter().map(parse).collect();
    jobs.ok_or_else(|| {
        Error::Usage(format!("`--jobs` needs numbers above zero, as in 1,2, not `{}`", value.display()))
    })
}

fn seconds(name: &str, value: &OsString) -> Result<f64, Error> {
    let seconds = value.to_str().and_then(|text| text.parse::<f64>().ok());
    seconds
        .filter(|seconds| *seconds > 0.0 && *seconds < 1e6)
        .ok_or_else(|| Error::Usage(format!("`{name}` needs seconds above zero, not `{}`", value.display())))
}

fn yes(name: &str, value: &OsString) -> Result<bool, Error> {
    match value.to_str() {
        Some("yes") => Ok(true),
        Some("no") => Ok(false),
        _ => Err(Error::Usage(format!("`{name}` needs yes or no, not `{}`", value.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn every_option_of_speed_is_taken() {
        let options = speed(&words(
            "--only abba,mutex --rounds 5 --seconds 0.25 --jobs 1,2,4 --raddle /x/raddle --json a --markdown b --work c",
        ))
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
        let options = effect(&words(
            "--suite s --only a,b --strategies pct,dfs --schedules 7 --seeds 20 --seconds 9 --default no",
        ))
        .unwrap();
        assert_eq!((options.suite, options.only.len()), (PathBuf::from("s"), 2));
        assert_eq!(options.strategies, ["dfs", "pct"]);
        assert_eq!((options.schedules, options.seeds, options.seconds, options.default), (7, 20, 9.0, false));
    }

    #[test]
    fn quick_is_less_of_everything_and_can_be_overruled() {
        let (full, quick) = (effect(&[]).unwrap(), effect(&words("--quick")).unwrap());
        assert!(full.schedules > quick.schedules && full.seeds > quick.seeds && full.seconds > quick.seconds);
        assert_eq!(full.strategies.len(), STRATEGIES.len());
        let (full, quick) = (speed(&[]).unwrap(), speed(&words("--quick --rounds 2")).unwrap());
        assert!(full.seconds > quick.seconds && quick.rounds == 2);
    }

    #[test]
    fn mistakes_are_named() {
        let speed = |line| speed(&words(line)).unwrap_err().to_string();
        assert!(speed("--only nope").contains("no test is called `nope`; there are mutex, atomicity, abba"));
        assert!(speed("--jobs 0").contains("`--jobs` needs numbers above zero"));
        assert!(speed("--seconds soon").contains("`--seconds` needs seconds above zero, not `soon`"));
        assert!(speed("--fast 1").contains("no option is called `--fast`"));
        assert!(speed("fast").contains("no option is called `fast`"));
        assert!(speed("--json").contains("`--json` needs a value"));
        let effect = |line| effect(&words(line)).unwrap_err().to_string();
        assert!(effect("--strategies best").contains("no strategy is called `best`"));
        assert!(effect("--default maybe").contains("yes or no, not `maybe`"));
        assert!(peer(&words("chess mutex 1")).unwrap_err().to_string().contains("no peer is called `chess`"));
        assert!(peer(&words("loom mutex")).is_err());
        assert_eq!(peer(&words("loom mutex 0.5")).unwrap(), (Peer::Loom, "mutex".to_owned(), 0.5));
    }
}
