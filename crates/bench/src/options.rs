//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::conseq;
use crate::error::Error;
use crate::explore::options::{self as explore, EffectOptions, SpeedOptions};
use crate::explore::peer::Peer;
use crate::kernel::{self, Kernel};
use crate::tool::{self, Compiler, Tool};
use crate::tsvd::options::{self as tsvd, TsvdOptions};

pub const HELP: &str = "\
raddle-bench: what raddle and its peers cost, as ratios to the plain program

    raddle-bench run [OPTIONS]            measure, and print the tables
    raddle-bench compare OLD.json NEW.json
    raddle-bench explore-speed [OPTIONS]  schedules a second of `raddle explore`, beside shuttle and loom
    raddle-bench explore-effect [OPTIONS] executions to the first failure, by strategy
    raddle-bench tsvd [OPTIONS]           planted violations found by `raddle tsvd`, by policy, and at what price
    raddle-bench conseq [OPTIONS]         what `raddle conseq` finds and costs
    raddle-bench list                     kernels and tools
    raddle-bench help

OPTIONS of run
    --kernels A,B      only these kernels
    --tools A,B        only these tools (and native): gcc-tsan, clang-tsan, helgrind, drd,
                       raddle-hb, raddle-hybrid, raddle-fast, or one history as raddle-hb/1
    --compilers A,B    gcc and clang with or without a version [gcc,clang-19];
                       helgrind and drd run on what the first of them builds
    --raddle PATH      the raddle to measure [raddle on the search path]
    --reps N           rounds over all kernels and tools, at most [3]
    --budget SECONDS   after the first round, start nothing that would likely end later [840]
    --limit SECONDS    end a single run after this long [120]
    --quick            tiny sizes and one round: does everything work?
    --json FILE        the record, for compare
    --markdown FILE    the tables, for the docs
    --work FOLDER      build here, and keep the binaries

OPTIONS of explore-speed and explore-effect: --raddle, --quick, --json, --markdown and --work as above, and
    --only A,B         tests of mutex, atomicity, abba; of the suite, programs with A or B in their names
    --seconds N        for each figure [1.5]; for each search, at most [60]
  of explore-speed
    --rounds N         the best of so many counts [3]
    --jobs A,B         growth with jobs [1,2]
  of explore-effect
    --suite FOLDER     the programs [corpus/explore/suite]
    --strategies A,B   only these
    --schedules N      the most of one search [10000]
    --seeds N          for the strategies that draw lots [3]
    --default yes|no   whether the default is tried with 60 seconds and two jobs [yes]
OPTIONS of tsvd: --raddle, --quick, --json (gone on with if it exists), --markdown (only the part between its marks is
replaced if it has them) and --work as above, and
    --suite FOLDER     the programs [corpus/tsvd]
    --only A,B         programs with A or B in their names
    --parts A,B        of policies, ablation, sensitivity, runs (to 50), tries [the first four]
    --policies A,B     only these of tsvd, tsvd-hb, dynamic-random, static-random
    --runs N           of each policy [10]; other series have two
    --reps N           native runs of each program [2]
    --jobs N           programs at a time [1]
    --time-limit SECONDS   leave out what will not end by then; the same command later makes it
    --from FILE        run nothing: the tables and plots of this record
    --plots FOLDER     draw the figures there
OPTIONS of conseq: --raddle, --quick, --json, --markdown and --work as above, and
    --suite FOLDER     the programs [corpus/conseq]
    --only A,B         programs with A or B in their names
    --distances N      MaxDistance from 1 to this [5]
    --kernels A,B      on which overhead is measured [stencil,hashtable,queue,wordcount]
Shuttle and loom need a raddle-bench built with `--features peers`.

Exit status: 0 all was measured; 1 a run failed, gave a wrong checksum, or raddle in mode hb reported something on
a kernel, all of which are correct, or `tsvd` what nobody planted; 2 the bench could not do its job.
";

#[derive(Debug)]
pub enum Command {
    Run(Box<RunOptions>),
    Compare { old: PathBuf, new: PathBuf },
    ExploreSpeed(Box<SpeedOptions>),
    ExploreEffect(Box<EffectOptions>),
    Tsvd(Box<TsvdOptions>),
    Conseq(Box<conseq::Options>),
    Peer { peer: Peer, test: String, seconds: f64 },
    Measure(Vec<OsString>),
    List,
    Help,
}

#[derive(Debug)]
pub struct RunOptions {
    pub kernels: Vec<Kernel>,
    pub tools: Vec<Tool>,
    /// The tools were named on the command line. An absent one is then an error instead of a note.
    pub tools_named: bool,
    pub compilers: Vec<Compiler>,
    pub compilers_named: bool,
    pub raddle: Option<PathBuf>,
    pub reps: u32,
    pub budget: Duration,
    pub limit: Duration,
    pub quick: bool,
    pub json: Option<PathBuf>,
    pub markdown: Option<PathBuf>,
    pub work: Option<PathBuf>,
    /// The command line for the record, without folders, which are private.
    pub command: String,
}

pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.is_empty() {
        return Ok(Command::Help);
    }
    let command = arguments.remove(0);
    match command.to_str() {
        Some("run") => parse_run(&arguments).map(|options| Command::Run(Box::new(options))),
        Some("compare") => match <[OsString; 2]>::try_from(arguments) {
            Ok([old, new]) => Ok(Command::Compare { old: old.into(), new: new.into() }),
            Err(_) => Err(Error::Usage("`compare` needs two files".to_owned())),
        },
        Some("measure") => match arguments.split_first() {
            Some((dashes, program)) if dashes == "--" => Ok(Command::Measure(program.to_vec())),
            _ => Err(Error::Usage("`measure` needs a program after `--`".to_owned())),
        },
        Some("explore-speed") => explore::speed(&arguments).map(|o| Command::ExploreSpeed(Box::new(o))),
        Some("explore-effect") => explore::effect(&arguments).map(|o| Command::ExploreEffect(Box::new(o))),
        Some("tsvd") => tsvd::parse(&arguments).map(|o| Command::Tsvd(Box::new(o))),
        Some("conseq") => conseq::options::parse(&arguments).map(|o| Command::Conseq(Box::new(o))),
        Some("peer") => {
            explore::peer(&arguments).map(|(peer, test, seconds)| Command::Peer { peer, test, seconds })
        }
        Some("list") => Ok(Command::List),
        Some("help" | "--help" | "-h") => Ok(Command::Help),
        _ => Err(Error::Usage(format!("no command is called `{}`", command.display()))),
    }
}

fn parse_run(arguments: &[OsString]) -> Result<RunOptions, Error> {
    let (mut kernels, mut tools, mut compilers) = (Vec::new(), Vec::new(), Vec::new());
    let mut options = RunOptions {
        kernels: Vec::new(),
        tools: Vec::new(),
        tools_named: false,
        compilers: Vec::new(),
        compilers_named: false,
        raddle: None,
        reps: 3,
        budget: Duration::from_secs(840),
        limit: Duration::from_secs(120),
        quick: false,
        json: None,
        markdown: None,
        work: None,
        command: shown("run", arguments),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let name = argument.to_string_lossy();
        if name == "--quick" {
            options.quick = true;
            continue;
        }
        let mut value = || rest.next().ok_or_else(|| Error::Usage(format!("`{name}` needs a value")));
        match &*name {
            "--kernels" => kernels = list(value()?),
            "--tools" => tools = list(value()?),
            "--compilers" => compilers = list(value()?),
            "--raddle" => options.raddle = Some(value()?.into()),
            "--reps" => options.reps = number(&name, value()?)?,
            "--budget" => options.budget = Duration::from_secs(number(&name, value()?)?.into()),
            "--limit" => options.limit = Duration::from_secs(number(&name, value()?)?.into()),
            "--json" => options.json = Some(value()?.into()),
            "--markdown" => options.markdown = Some(value()?.into()),
            "--work" => options.work = Some(value()?.into()),
            _ => return Err(Error::Usage(format!("no option is called `{name}`"))),
        }
    }
    options.tools_named = !tools.is_empty();
    options.compilers_named = !compilers.is_empty();
    if compilers.is_empty() {
        compilers = ["gcc", "clang-19"].map(str::to_owned).to_vec();
    }
    options.kernels = kernel::select(&kernels)?;
    options.tools = tool::select(&tools)?;
    options.compilers = compilers.iter().map(|name| Compiler::new(name)).collect::<Result<_, _>>()?;
    Ok(options)
}

pub(crate) fn list(value: &OsString) -> Vec<String> {
    value.to_string_lossy().split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

pub(crate) fn number(name: &str, value: &OsString) -> Result<u32, Error> {
    let number = value.to_str().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
    number
        .ok_or_else(|| Error::Usage(format!("`{name}` needs a number above zero, not `{}`", value.display())))
}

pub(crate) fn shown(command: &str, arguments: &[OsString]) -> String {
    let words = arguments.iter().map(|argument| {
        let name = if argument.as_encoded_bytes().starts_with(b"raddle-") {
            None // a tool such as raddle-hb/1, not a path
        } else {
            Path::new(argument).file_name()
        };
        name.unwrap_or(argument).to_string_lossy().into_owned()
    });
    ["raddle-bench".to_owned(), command.to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> Result<RunOptions, Error> {
        match parse(["run"].into_iter().chain(line.split_whitespace()).map(OsString::from))? {
            Command::Run(options) => Ok(*options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_options_everything_is_measured_with_both_compilers() {
        let options = run("").unwrap();
        assert_eq!(options.kernels.len(), kernel::all().unwrap().len());
        assert_eq!(options.tools, Tool::all());
        assert_eq!(options.compilers.iter().map(Compiler::c).collect::<Vec<_>>(), ["gcc", "clang-19"]);
        assert!(!options.tools_named && !options.compilers_named && !options.quick);
        assert!(options.budget < Duration::from_secs(900));
    }

    #[test]
    fn every_option_is_taken() {
        let options =
            run("--kernels lu,sort --tools raddle-hb,gcc-tsan --compilers gcc-12 --raddle /x/raddle \
                           --reps 5 --budget 60 --limit 7 --quick --json a.json --markdown b.md --work w")
            .unwrap();
        assert_eq!((options.kernels.len(), options.tools.len(), options.compilers.len()), (2, 4, 1));
        assert!(options.tools_named && options.compilers_named && options.quick);
        assert_eq!((options.reps, options.budget.as_secs(), options.limit.as_secs()), (5, 60, 7));
        assert_eq!(options.raddle, Some("/x/raddle".into()));
        assert_eq!(
            (options.json, options.markdown, options.work),
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
        assert!(message("--reps 0").contains("`--reps` needs a number above zero, not `0`"));
        assert!(message("--json").contains("`--json` needs a value"));
        assert!(message("--fast").contains("no option is called `--fast`"));
        assert!(message("--kernels nope").contains("no kernel is called `nope`"));
        assert!(message("--compilers icc").contains("`icc` is neither gcc nor clang"));
        let other = |words: &[&str]| parse(words.iter().map(OsString::from)).unwrap_err().to_string();
        assert!(other(&["compare", "a"]).contains("needs two files"));
        assert!(other(&["measure", "a"]).contains("after `--`"));
        assert!(other(&["walk"]).contains("no command is called `walk`"));
    }

    #[test]
    fn what_is_measured_keeps_its_own_options() {
        let Command::Measure(program) =
            parse(["measure", "--", "prog", "--", "--quick"].map(OsString::from)).unwrap()
        else {
            panic!("no measure")
        };
        assert_eq!(program, ["prog", "--", "--quick"].map(OsString::from));
    }
}
