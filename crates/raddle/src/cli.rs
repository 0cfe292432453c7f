//! The command line of `raddle`.

use crate::{check, conseq, doctor, explore, hunt, lsp, manuals, replay, run, similar, tsvd, view};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Finds concurrency bugs in Linux programs, makes them happen, and explains them
#[derive(Debug, Parser)]
#[command(name = "raddle", version, propagate_version = false, arg_required_else_help = true,
    subcommand_help_heading = "Commands", after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Find all that can be proven in a minute:
  raddle hunt -- ./queue_test

Find races in one run:
  CC=\"raddle cc\" CXX=\"raddle c++\" make         # any make, autotools
  raddle shims ~/bin                           # once, for CMake:
  cmake -DCMAKE_C_COMPILER=raddle-cc -DCMAKE_CXX_COMPILER=raddle-c++ ..
  raddle run -- ./my_server --selftest

Search interleavings, and repeat a failure:
  raddle explore -- ./queue_test
  raddle replay queue_test-deadlock-1.raddle

Catch thread-safety violations in ordinary test runs, without a special build:
  raddle tsvd -- ctest --output-on-failure

Rust:
  cargo raddle test

Check source code without building it:
  raddle check src/

Exit status: 0 no findings, 66 findings, 2 raddle could not do its job.
The compiler wrappers exit with the compiler's status.";

#[derive(Debug, Subcommand)]
pub enum Command {
    Hunt(Box<hunt::Args>),

    List(hunt::decisions::ListArgs),

    Show(hunt::decisions::ShowArgs),

    Triage(hunt::decisions::TriageArgs),

    Merge(hunt::decisions::MergeArgs),

    Diff(hunt::diff::DiffArgs),

    Report(view::ReportArgs),

    View(view::ViewArgs),

    Verify(hunt::verify::VerifyArgs),

    Build(hunt::build::BuildArgs),

    Run(Box<run::Args>),

    Explore(Box<explore::Args>),

    Replay(Box<replay::Args>),

    Conseq(Box<conseq::Args>),

    Check(Box<check::Args>),

    Tsvd(Box<tsvd::Args>),

    Instrument(Box<tsvd::InstrumentArgs>),

    /// Compile or link C with instrumentation, in place of cc
    ///
    /// Accepts every option of gcc or clang and passes it on. Adds -fsanitize=thread, raddle's
    /// runtime instead of the compiler's, the include folder of <raddle/annotations.h>, the macro
    /// __RADDLE__, and -g1 for line numbers unless you give -g.
    #[command(after_help = CC_HELP, disable_help_flag = true)]
    Cc(CompilerArgs),

    /// Compile or link C++ with instrumentation, in place of c++
    ///
    /// Like `raddle cc`, but RADDLE_CXX names the real compiler, and the default is c++.
    #[command(name = "c++", after_help = CC_HELP, disable_help_flag = true)]
    Cxx(CompilerArgs),

    /// Compile Rust and its standard library with instrumentation, in place of rustc
    ///
    /// The first use of a toolchain instruments its standard library, which takes some seconds.
    /// For cargo projects use `cargo raddle`.
    #[command(disable_help_flag = true)]
    Rustc(CompilerArgs),

    /// Build, run or test a cargo project with instrumentation (same as `cargo raddle`)
    Cargo(CargoArgs),

    /// Create raddle-cc, raddle-c++ and raddle-rustc, for tools that need one-word compiler names
    Shims {
        /// A folder on the PATH
        dir: PathBuf,
    },

    /// Check what works on this machine, and say how to fix the rest
    ///
    /// Exit status: 0 when `raddle run` can work here, 2 otherwise.
    Doctor(doctor::Args),

    Lsp(lsp::Args),

    Completions(manuals::CompletionsArgs),

    Man(manuals::ManArgs),
}

impl Command {
    /// Whether it puts raddle's runtime into programs. A command that only builds or reads does
    /// not.
    pub fn starts_programs(&self) -> bool {
        matches!(
            self,
            Command::Hunt(_)
                | Command::Verify(_)
                | Command::Run(_)
                | Command::Explore(_)
                | Command::Replay(_)
                | Command::Conseq(_)
                | Command::Tsvd(_)
                | Command::Cargo(_)
        )
    }
}

const CC_HELP: &str = "\
The real compiler is, in this order:
  --use COMPILER     as the first words: raddle cc --use clang-19 -c a.c
  RADDLE_CC          for raddle cc; may have several words: \"ccache gcc\". Quotes work
                     as in a shell: \"ccache '/opt/my tools/gcc' -O1\"
  RADDLE_CXX         for raddle c++
  cc, c++            on the PATH

For `raddle tsvd`:
  --tsvd             as one of the first words, or RADDLE_TSVD=1: does not instrument, but
                     prevents inlining of small functions, so that their calls can be watched

RADDLE_NO_DEBUG_INFO=1 leaves out the -g1.
Refused with exit status 2: -static, other sanitizers, other architectures.";

/// The words of a wrapped command line. They are taken raw, before clap sees them; this is
/// for the help.
#[derive(Debug, clap::Args)]
pub struct CompilerArgs {
    /// The compiler's own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub words: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Options of `raddle run` go before cargo's subcommand:
  cargo raddle --mode hybrid test -- --nocapture
  cargo raddle build --release
  cargo raddle run --bin server -- --selftest
  cargo raddle hunt --minutes 5              # all tests, one by one; options of `raddle hunt`
  cargo raddle explore --seconds 300         # the same with `raddle explore`

Instrumented builds go to target/raddle.")]
pub struct CargoArgs {
    #[command(flatten)]
    pub options: run::DetectorOptions,

    /// Cargo's subcommand and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "CARGO ARGS")]
    pub cargo: Vec<OsString>,
}

/// What is wrong with the words, what may have been meant, and where to read on.
pub fn sentence(error: &clap::Error, args: &[OsString]) -> String {
    let text = error.to_string();
    let first: Vec<&str> = text.split("\n\n").next().unwrap_or("").lines().map(str::trim).collect();
    let wrong = first.join(" ");
    let wrong = wrong.strip_prefix("error: ").unwrap_or(&wrong);
    let commands = Cli::command();
    let word = args.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let help = match commands.find_subcommand(word) {
        Some(_) => format!("raddle {word} --help"),
        None => "raddle --help".into(),
    };
    if let Some(owners) = owners(error, &commands) {
        return format!("{wrong}; it is an option of {owners}; `{help}` lists what is possible");
    }
    match meant(error, &commands) {
        Some(meant) => format!("{wrong}; did you mean `{meant}`? `{help}` lists what is possible"),
        None => format!("{wrong}; `{help}` lists what is possible"),
    }
}

/// The commands that have an option which the called one has not.
fn owners(error: &clap::Error, commands: &clap::Command) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let name = option.strip_prefix("--").filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let has_it = |command: &&clap::Command| command.get_arguments().any(|a| a.get_long() == Some(name));
    let owners = commands.get_subcommands().filter(has_it);
    let mut names: Vec<String> = owners.map(|c| format!("`raddle {}`", c.get_name())).collect();
    let last = names.pop()?;
    Some(if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) })
}

fn meant(error: &clap::Error, commands: &clap::Command) -> Option<String> {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) {
        // clap adds `help` only when it parses.
        let known = commands.get_subcommands().map(clap::Command::get_name).chain(["help"]);
        // The word may be a program instead of a command.
        let program = || std::path::Path::new(word).is_file().then(|| format!("raddle run -- {word}"));
        return similar::nearest(word, known).map(str::to_owned).or_else(program);
    }
    // The suggestions of clap, the best first or last.
    match error.get(ContextKind::SuggestedArg).or_else(|| error.get(ContextKind::SuggestedValue)) {
        Some(ContextValue::String(word)) => return Some(word.clone()),
        Some(ContextValue::Strings(words)) => return words.last().cloned(),
        _ => {}
    }
    // clap does not see that two letters of a short word are swapped.
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidValue) else { return None };
    let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue) else { return None };
    similar::nearest(word, known.iter().map(String::as_str)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    /// clap wraps what is longer, also in the middle of an example's comment.
    #[test]
    fn examples_in_the_help_fit_into_100_columns() {
        let mut commands = vec![Cli::command()];
        commands.extend(Cli::command().get_subcommands().cloned());
        for command in commands {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let long = text.lines().find(|line| line.len() > 100);
            assert_eq!(long, None, "in the help of {}", command.get_name());
        }
    }

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn an_error_says_what_was_meant_and_whose_help_to_read() {
        let said = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            sentence(&parse(line).unwrap_err(), &words)
        };
        let unknown = said("raddle exlpore -- x");
        assert!(unknown.contains("did you mean `explore`? `raddle --help`"), "{unknown}");
        let option = said("raddle run --mdoe hb -- x");
        assert!(option.contains("did you mean `--mode`? `raddle run --help`"), "{option}");
        let value = said("raddle run --mode hybird -- x");
        assert!(value.contains("did you mean `hybrid`?"), "{value}");
        let short = said("raddle explore --strategy dsf -- x");
        assert!(short.contains("did you mean `dfs`?"), "{short}");
        assert!(said("raddle hlep").contains("did you mean `help`?"));
        assert!(said("raddle explore").ends_with("; `raddle explore --help` lists what is possible"));
        assert!(said("raddle qqqqqqq").ends_with("; `raddle --help` lists what is possible"));
        assert!(said("raddle tsvd --no-such -- x").contains("`raddle tsvd --help`"));
        let one = said("raddle run --sites-only -- x");
        assert!(one.contains("; it is an option of `raddle conseq`; `raddle run --help`"), "{one}");
        let several = said("raddle run --strategy pct -- x");
        assert!(several.contains("it is an option of `raddle explore`"), "{several}");
    }

    #[test]
    fn run_takes_its_options_and_the_target() {
        let Command::Run(args) = parse(
            "raddle run --mode hybrid --history 2 --ignore fun:a --ignore file:b -o x -- ./p --mode y -- z",
        )
        .unwrap()
        .command
        else {
            panic!("not run")
        };
        assert_eq!(args.options.mode, run::args::ModeArg::Hybrid);
        assert_eq!(args.options.history, 2);
        assert_eq!(args.options.ignore, ["fun:a", "file:b"]);
        assert_eq!(args.command, ["./p", "--mode", "y", "--", "z"]);
    }

    #[test]
    fn run_without_a_target_or_with_a_bad_value_is_refused() {
        for line in [
            "raddle run",
            "raddle run --mode",
            "raddle run --history 3 -- x",
            "raddle run --mode eager -- x",
            "raddle run --exit-code 256 -- x",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn explore_and_replay_take_their_options() {
        let line =
            "raddle explore --seconds 0.5 --jobs 2 --only fun:f --strategy pct -o x -- ./p --seconds y";
        let Command::Explore(args) = parse(line).unwrap().command else { panic!("not explore") };
        assert_eq!((args.search.seconds, args.search.jobs), (Some(0.5), 2));
        assert_eq!(args.search.strategy, "pct");
        assert_eq!(args.command, ["./p", "--seconds", "y"]);
        let Command::Replay(args) = parse("raddle replay --times 100 a.raddle").unwrap().command else {
            panic!("not replay")
        };
        assert_eq!((args.times, args.file), (100, PathBuf::from("a.raddle")));
        for line in [
            "raddle explore",
            "raddle replay",
            "raddle replay --gdb --times 2 a",
            "raddle explore --strategy x -- y",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn cargo_takes_options_first_and_leaves_the_rest_alone() {
        let Command::Cargo(args) =
            parse("raddle cargo --mode fast test --release -- --nocapture --mode").unwrap().command
        else {
            panic!("not cargo")
        };
        assert_eq!(args.options.mode, run::args::ModeArg::Fast);
        assert_eq!(args.cargo, ["test", "--release", "--", "--nocapture", "--mode"]);
    }
}
