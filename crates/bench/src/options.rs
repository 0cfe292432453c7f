//! The command line.
//!
//! `--quick` changes the defaults of other options, which still overrule it. So what clap parses
//! (`…Args`) has options where the benches' own types (`…Options`) have values.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, value_parser};

use crate::conseq;
use crate::conseq::options::ConseqArgs;
use crate::error::BenchError;
use crate::explore::options::{EffectArgs, EffectOptions, SpeedArgs, SpeedOptions, seconds};
use crate::explore::peer::Peer;
use crate::kernel::{self, Kernel};
use crate::tool::{self, CCompiler, Tool};
use crate::tsvd::options::{TsvdArgs, TsvdOptions};

const STATUS: &str = "\
Exit status: 0 all was measured; 1 a run failed, gave a wrong checksum, or raddle in mode hb reported \
something on a kernel, all of which are correct, or `tsvd` what nobody planted; 2 the bench could not do \
its job.";

const TSVD_FILES: &str = "\
A record that --json names and that exists is continued. Of a file that --markdown names, only the part \
between its marks is replaced if it has them.";

/// What raddle and its peers cost, as ratios to the plain program.
#[derive(Parser)]
#[command(name = "raddle-bench", after_help = STATUS, args_override_self = true)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Measure, and print the tables
    Run(RunArgs),
    /// Compare two records of `run --json`
    Compare {
        /// The earlier record
        old: PathBuf,
        /// The later record
        new: PathBuf,
    },
    /// Schedules a second of `raddle explore`, beside shuttle and loom, which need a raddle-bench
    /// built with `--features peers`
    ExploreSpeed(SpeedArgs),
    /// Executions to the first failure, by strategy
    ExploreEffect(EffectArgs),
    /// Planted violations found by `raddle tsvd`, by policy, and at what price
    #[command(after_help = TSVD_FILES)]
    Tsvd(TsvdArgs),
    /// What `raddle conseq` finds and costs
    Conseq(ConseqArgs),
    /// Kernels and tools
    List,
    /// One peer on one test, in a process of its own
    #[command(hide = true)]
    Peer {
        /// shuttle-random, shuttle-dfs or loom
        #[arg(value_parser = Peer::parse)]
        peer: Peer,
        /// A test of `explore-speed`
        test: String,
        /// For how long
        #[arg(value_parser = seconds)]
        seconds: f64,
    },
    /// Runs a program and writes down what it used
    #[command(hide = true)]
    Measure {
        /// The program and its arguments, after `--`
        #[arg(last = true, required = true)]
        program: Vec<OsString>,
    },
    /// Record what a command prints as an animated SVG
    Record(RecordArgs),
    /// Draw the charts that the pages of a folder ask for
    Charts {
        /// The folder of the pages
        pages: PathBuf,
    },
}

/// A recording of a terminal.
#[derive(Args, Debug)]
pub struct RecordArgs {
    /// The picture
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// The command as the picture shows it
    #[arg(long)]
    pub title: String,
    /// Width of the terminal
    #[arg(long, default_value_t = 100)]
    pub columns: usize,
    /// Height of the terminal
    #[arg(long, default_value_t = 34)]
    pub rows: usize,
    /// What to run, after `--`
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

/// Options that all benches have.
#[derive(Args, Clone, PartialEq, Debug, Default)]
pub struct OutputOptions {
    /// The raddle to measure [default: raddle on the search path]
    #[arg(long, value_name = "PATH")]
    pub raddle: Option<PathBuf>,
    /// Tiny sizes and one round: does everything work?
    #[arg(long)]
    pub quick: bool,
    /// Write the record here
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the tables here, for the docs
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Build here, and keep what was built
    #[arg(long, value_name = "FOLDER")]
    pub work: Option<PathBuf>,
}

#[derive(Args)]
struct RunArgs {
    /// Only these kernels
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    kernels: Vec<String>,
    /// Only these tools (and native): gcc-tsan, clang-tsan, helgrind, drd, raddle-hb,
    /// raddle-hybrid, raddle-fast, or one history as raddle-hb/1
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    tools: Vec<String>,
    /// Gcc and clang with or without a version; helgrind and drd run on what the first of them
    /// builds [default: gcc,clang-19]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    compilers: Vec<String>,
    /// Rounds over all kernels and tools, at most
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(1..))]
    reps: u32,
    /// After the first round, start nothing that would likely end later
    #[arg(long, value_name = "SECONDS", default_value_t = 840, value_parser = value_parser!(u32).range(1..))]
    budget: u32,
    /// End a single run after this long
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Debug)]
pub enum BenchCommand {
    Run(Box<RunOptions>),
    Compare {
        old: PathBuf,
        new: PathBuf,
    },
    ExploreSpeed(Box<SpeedOptions>),
    ExploreEffect(Box<EffectOptions>),
    Tsvd(Box<TsvdOptions>),
    Conseq(Box<conseq::ConseqOptions>),
    Peer {
        peer: Peer,
        test: String,
        seconds: f64,
    },
    Measure(Vec<OsString>),
    Record(RecordArgs),
    Charts(PathBuf),
    List,
    /// No command was given: its text is the help.
    Help(String),
}

#[derive(Debug)]
pub struct RunOptions {
    pub kernels: Vec<Kernel>,
    pub tools: Vec<Tool>,
    /// The tools were named on the command line. An absent one is then an error instead of a note.
    pub tools_named: bool,
    pub compilers: Vec<CCompiler>,
    pub compilers_named: bool,
    pub reps: u32,
    pub budget: Duration,
    pub limit: Duration,
    pub output: OutputOptions,
    /// The command line for the record, without folders, which are private.
    pub command: String,
}

/// Reads the words after the program's name. `--help` is an [`BenchError::Arguments`], too.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<BenchCommand, BenchError> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let command = shown(&arguments);
    let name = OsString::from("raddle-bench");
    let cli = Cli::try_parse_from([name].into_iter().chain(arguments)).map_err(BenchError::Arguments)?;
    Ok(match cli.verb {
        None => BenchCommand::Help(Cli::command().render_help().to_string()),
        Some(Verb::Run(args)) => BenchCommand::Run(Box::new(args.options(command)?)),
        Some(Verb::Compare { old, new }) => BenchCommand::Compare { old, new },
        Some(Verb::ExploreSpeed(args)) => BenchCommand::ExploreSpeed(Box::new(args.options(command))),
        Some(Verb::ExploreEffect(args)) => BenchCommand::ExploreEffect(Box::new(args.options(command))),
        Some(Verb::Tsvd(args)) => BenchCommand::Tsvd(Box::new(args.options(command))),
        Some(Verb::Conseq(args)) => BenchCommand::Conseq(Box::new(args.options(command))),
        Some(Verb::List) => BenchCommand::List,
        Some(Verb::Peer { peer, test, seconds }) => BenchCommand::Peer { peer, test, seconds },
        Some(Verb::Measure { program }) => BenchCommand::Measure(program),
        Some(Verb::Record(args)) => BenchCommand::Record(args),
        Some(Verb::Charts { pages }) => BenchCommand::Charts(pages),
    })
}

impl RunArgs {
    fn options(self, command: String) -> Result<RunOptions, BenchError> {
        let (tools, mut compilers) = (named(self.tools), named(self.compilers));
        let (tools_named, compilers_named) = (!tools.is_empty(), !compilers.is_empty());
        if !compilers_named {
            compilers = ["gcc", "clang-19"].map(str::to_owned).to_vec();
        }
        Ok(RunOptions {
            kernels: kernel::select(&named(self.kernels))?,
            tools: tool::select(&tools)?,
            tools_named,
            compilers: compilers.iter().map(|name| CCompiler::new(name)).collect::<Result<_, _>>()?,
            compilers_named,
            reps: self.reps,
            budget: Duration::from_secs(self.budget.into()),
            limit: Duration::from_secs(self.limit.into()),
            output: self.output,
            command,
        })
    }
}

/// A list without the empty words that `a,,b` and an empty value have.
pub(crate) fn named(list: Vec<String>) -> Vec<String> {
    list.into_iter().filter(|name| !name.is_empty()).collect()
}

fn shown(arguments: &[OsString]) -> String {
    let words = arguments.iter().map(|argument| {
        let name = if argument.as_encoded_bytes().starts_with(b"raddle-") {
            None // a tool such as raddle-hb/1, not a path
        } else {
            Path::new(argument).file_name()
        };
        name.unwrap_or(argument).to_string_lossy().into_owned()
    });
    ["raddle-bench".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> Result<RunOptions, BenchError> {
        match parse(["run"].into_iter().chain(line.split_whitespace()).map(OsString::from))? {
            BenchCommand::Run(options) => Ok(*options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_options_everything_is_measured_with_both_compilers() {
        let options = run("").unwrap();
        assert_eq!(options.kernels.len(), kernel::all().unwrap().len());
        assert_eq!(options.tools, Tool::all());
        assert_eq!(options.compilers.iter().map(CCompiler::c).collect::<Vec<_>>(), ["gcc", "clang-19"]);
        assert!(!options.tools_named && !options.compilers_named && !options.output.quick);
        assert!(options.budget < Duration::from_secs(900));
    }

    #[test]
    fn every_option_is_taken() {
        let options =
            run("--kernels lu,sort --tools raddle-hb,gcc-tsan --compilers gcc-12 --raddle /x/raddle \
                           --reps 5 --budget 60 --limit 7 --quick --json a.json --markdown b.md --work w")
            .unwrap();
        assert_eq!((options.kernels.len(), options.tools.len(), options.compilers.len()), (2, 4, 1));
        assert!(options.tools_named && options.compilers_named && options.output.quick);
        assert_eq!((options.reps, options.budget.as_secs(), options.limit.as_secs()), (5, 60, 7));
        assert_eq!(options.output.raddle, Some("/x/raddle".into()));
        assert_eq!(
            (options.output.json, options.output.markdown, options.output.work),
            (Some("a.json".into()), Some("b.md".into()), Some("w".into()))
        );
    }

    #[test]
    fn the_command_of_the_record_has_no_folders() {
        let options = run("--raddle /home/someone/raddle --json /tmp/a.json --tools raddle-hb/1").unwrap();
        assert_eq!(options.command, "raddle-bench run --raddle raddle --json a.json --tools raddle-hb/1");
    }

    #[test]
    fn mistakes_are_named() {
        let message = |line: &str| run(line).unwrap_err().to_string();
        assert!(message("--reps 0").contains("invalid value '0' for '--reps <N>'"));
        assert!(message("--json").contains("a value is required for '--json <FILE>'"));
        assert!(message("--fast").contains("unexpected argument '--fast'"));
        assert!(message("--kernels nope").contains("no kernel is called `nope`"));
        assert!(message("--compilers icc").contains("`icc` is neither gcc nor clang"));
        let other = |words: &[&str]| parse(words.iter().map(OsString::from)).unwrap_err().to_string();
        assert!(other(&["compare", "a"]).contains("<NEW>"));
        assert!(other(&["measure", "a"]).contains("unexpected argument 'a'"));
        assert!(other(&["walk"]).contains("unrecognized subcommand 'walk'"));
    }

    #[test]
    fn the_definition_is_sound_and_the_last_of_two_counts() {
        Cli::command().debug_assert();
        assert_eq!(run("--reps 2 --reps 4").unwrap().reps, 4);
        assert!(matches!(parse([]).unwrap(), BenchCommand::Help(text) if text.contains("explore-effect")));
    }

    #[test]
    fn what_is_measured_keeps_its_own_options() {
        let BenchCommand::Measure(program) =
            parse(["measure", "--", "prog", "--", "--quick"].map(OsString::from)).unwrap()
        else {
            panic!("no measure")
        };
        assert_eq!(program, ["prog", "--", "--quick"].map(OsString::from));
    }
}
