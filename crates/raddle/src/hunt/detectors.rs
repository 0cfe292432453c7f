//! The options with which a hunt runs the other commands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;

use super::args::Args;
use crate::cli::{Cli, Command};
use crate::{check, conseq, explore, tsvd};

/// Parses a command line, so that every option that is not given has its default.
fn parse(words: Vec<OsString>, command: &[OsString]) -> Command {
    let quiet = ["--format", "json", "--no-store"].map(OsString::from);
    let mut line: Vec<OsString> = vec!["raddle".into()];
    line.extend(words);
    line.extend(quiet);
    line.push("--".into());
    line.extend(command.iter().cloned());
    Cli::try_parse_from(line).expect("a hunt gives no option that there is not").command
}

fn words<const N: usize>(words: [&str; N]) -> Vec<OsString> {
    words.map(OsString::from).into()
}

/// The option that keeps a test program from being split again. A command that selects one test is
/// not split, and must be recognised as such: the test harness is not part of the test.
fn whole(command: &[OsString]) -> Option<OsString> {
    (command.len() == 1).then(|| "--whole".into())
}

/// A hunt with defaults that writes its schedules to a folder.
pub fn hunt(schedules_to: &Path) -> Args {
    let mut line = words(["hunt", "--schedules-to"]);
    line.push(schedules_to.into());
    match parse(line, &["none".into()]) {
        Command::Hunt(args) => *args,
        other => unreachable!("{other:?}"),
    }
}

/// `only`: patterns of `--only`, to which preemptions are confined; empty for a search at large.
pub fn explore(args: &Args, command: &[OsString], only: &[String], seed: u64) -> explore::Args {
    let mut options = words(["--races"]);
    for pattern in only {
        options.extend(words(["--only", pattern]));
    }
    search(args, command, options, seed)
}

/// A search in which atomic loads read older values, too.
pub fn older_values(args: &Args, command: &[OsString], seed: u64) -> explore::Args {
    search(args, command, words(["--memory", "c11"]), seed)
}

fn search(args: &Args, command: &[OsString], options: Vec<OsString>, seed: u64) -> explore::Args {
    let mut line = words(["explore", "--seed", &seed.to_string()]);
    line.extend(options);
    line.extend(whole(command));
    line.extend(words(["--jobs", &args.jobs.to_string(), "--schedules-to"]));
    line.push(args.schedules_to.clone().into());
    match parse(line, command) {
        Command::Explore(args) => *args,
        other => unreachable!("{other:?}"),
    }
}

pub fn conseq(args: &Args, command: &[OsString], limit: Duration) -> conseq::Args {
    let seconds = limit.as_secs_f64().max(0.1).to_string();
    let mut line = words(["conseq", "--suspects", "--dismissed"]);
    line.extend(whole(command));
    line.extend(words(["--seconds", &seconds, "--schedules-to"]));
    line.push(args.schedules_to.clone().into());
    match parse(line, command) {
        Command::Conseq(args) => *args,
        other => unreachable!("{other:?}"),
    }
}

pub fn check(source: &Path) -> check::Args {
    let paths: [OsString; 1] = [PathBuf::from(source).into()];
    match parse(words(["check"]), &paths) {
        Command::Check(args) => *args,
        other => unreachable!("{other:?}"),
    }
}

/// `traps`: a file with what earlier runs have learned, for these runs to add to.
pub fn tsvd(command: &[OsString], traps: Option<&Path>) -> tsvd::Args {
    let mut line = words(["tsvd", "--runs", "2", "--no-retry"]);
    if let Some(traps) = traps {
        line.extend(["--trap-file".into(), traps.into()]);
    }
    match parse(line, command) {
        Command::Tsvd(args) => *args,
        other => unreachable!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_given_what_it_knows() {
        let Command::Hunt(hunt) =
            Cli::try_parse_from(["raddle", "hunt", "--jobs", "2", "--", "p", "-x"]).unwrap().command
        else {
            panic!("not hunt")
        };
        let args = explore(&hunt, &hunt.command, &["fun:f".into()], 7);
        assert_eq!((args.search.seed, args.search.jobs, args.search.races), (7, 2, true));
        let older = older_values(&hunt, &hunt.command, 7).search;
        assert!(older.memory != args.search.memory && !older.races);
        assert_eq!((args.search.only, args.command), (vec!["fun:f".to_owned()], hunt.command.clone()));
        assert!(conseq(&hunt, &hunt.command, Duration::from_secs(3)).suspects);
        assert_eq!(tsvd(&hunt.command, None).options.runs, 2);
        let traps = Path::new("traps.json");
        assert_eq!(tsvd(&hunt.command, Some(traps)).options.trap_file.as_deref(), Some(traps));
        assert_eq!(check(Path::new("a.c")).paths, [PathBuf::from("a.c")]);
    }
}
