//! The `raddle` command.
//!
//! There is one module per subcommand. Only this crate knows the command line, terminals and exit
//! codes; the library crates do the work of the subcommands.

mod check;
mod cli;
mod conseq;
mod doctor;
mod exit;
mod explore;
mod fatal_signals;
mod hunt;
mod lsp;
mod manuals;
mod option_values;
mod replay;
mod report;
mod run;
mod settings;
mod shims;
mod similar;
mod sysroot;
mod tsvd;
mod view;
mod wrap;

use clap::Parser;
use clap::error::ErrorKind;
use cli::{Cli, Command};
use rustix::process::{Resource, getrlimit};
use shims::Shim;
use std::ffi::OsString;
use std::process::ExitCode;
use wrap::cc::Dialect;
use wrap::rustc::RustTool;

/// The least stack that every command gets by with, in an unoptimised build too.
const STACK: u64 = 8 << 20;

fn main() -> ExitCode {
    fatal_signals::catch();
    // Less is left to the first thread by a `ulimit -s`, which is meant for the program.
    let is_small = getrlimit(Resource::Stack).current.is_some_and(|bytes| bytes < STACK);
    let roomy = || std::thread::Builder::new().stack_size(STACK as usize).spawn(work).ok();
    match is_small.then(roomy).flatten() {
        Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        None => work(),
    }
}

fn work() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let code = dispatch(args).unwrap_or_else(|error| exit::failure(&error));
    if code == ExitCode::from(exit::FAILURE) {
        raddle_harness::say::speak_up();
    }
    code
}

fn dispatch(args: Vec<OsString>) -> anyhow::Result<ExitCode> {
    if let Some((shim, words)) = wrapped(&args) {
        return match shim {
            Shim::Cc(dialect) => wrap::cc::run(dialect, words),
            Shim::Rust(tool) => wrap::rustc::run(tool, words),
        };
    }
    let args = settings::apply(args)?;
    let command = parse(&args)?.command;
    if command.starts_programs() {
        raddle_harness::glibc::require()?;
    }
    match command {
        Command::Hunt(args) => hunt::run(*args),
        Command::List(args) => hunt::decisions::list(&args),
        Command::Show(args) => hunt::decisions::show(&args),
        Command::Triage(args) => hunt::decisions::triage(&args),
        Command::Merge(args) => hunt::decisions::merge(&args),
        Command::Diff(args) => hunt::diff::run(&args),
        Command::Report(args) => view::report(&args),
        Command::View(args) => view::view(&args),
        Command::Verify(args) => hunt::verify::run(&args),
        Command::Build(args) => hunt::build::run(&args),
        Command::Run(args) => run::run(*args),
        Command::Explore(args) => explore::run(*args),
        Command::Replay(args) => replay::run(*args),
        Command::Conseq(args) => conseq::run(*args),
        Command::Check(args) => check::run(*args),
        Command::Tsvd(args) => tsvd::run(*args),
        Command::Instrument(args) => tsvd::instrument(&args),
        Command::Cargo(cargo) if cargo.cargo[0] == "hunt" || cargo.cargo[0] == "explore" => {
            let words = [OsString::from("raddle"), cargo.cargo[0].clone(), "--cargo".into()];
            let line: Vec<OsString> = words.into_iter().chain(cargo.cargo[1..].iter().cloned()).collect();
            dispatch(line)
        }
        Command::Cargo(cargo) => {
            // Raw, so that `raddle run` parses them itself and no default is spelt out.
            let options = &args[2..args.len() - cargo.cargo.len()];
            wrap::cargo::run(options, &cargo.cargo)
        }
        Command::Shims { dir } => shims::write(&dir).map(|()| ExitCode::from(exit::CLEAN)),
        Command::Doctor(args) => doctor::run(&args),
        Command::Lsp(args) => lsp::run(&args),
        Command::Completions(args) => manuals::completions(&args),
        Command::Man(args) => manuals::man(&args),
        // Handled above, before clap. Clap knows these commands only to print their help.
        Command::Cc(args) | Command::Cxx(args) | Command::Rustc(args) => {
            anyhow::bail!("unexpected {:?}", args.words)
        }
    }
}

/// Reports a wrong command line in one sentence. clap prints help and version itself.
fn parse(args: &[OsString]) -> anyhow::Result<Cli> {
    Cli::try_parse_from(args).or_else(|error| {
        // Without a subcommand raddle did nothing, and exits with the status for that.
        if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            error.exit();
        }
        anyhow::bail!(cli::sentence(&error, args))
    })
}

/// The wrapper that raddle was called as, by its own name or by the first word, and its arguments.
///
/// A compiler's command line does not go through clap: every word is the compiler's.
fn wrapped(args: &[OsString]) -> Option<(Shim, Vec<OsString>)> {
    if let Some(shim) = args.first().and_then(|name| shims::by_name(name)) {
        return Some((shim, args[1..].to_vec()));
    }
    let shim = match args.get(1)?.to_str()? {
        "cc" => Shim::Cc(Dialect::C),
        "c++" => Shim::Cc(Dialect::Cxx),
        "rustc" => Shim::Rust(RustTool::Rustc),
        _ => return None,
    };
    Some((shim, args[2..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<(Shim, Vec<OsString>)> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        wrapped(&words)
    }

    #[test]
    fn wrappers_by_word_and_by_name() {
        let version = vec![OsString::from("--version")];
        assert_eq!(of("raddle cc --version"), Some((Shim::Cc(Dialect::C), version.clone())));
        assert_eq!(of("/x/raddle-c++ --version"), Some((Shim::Cc(Dialect::Cxx), version.clone())));
        assert_eq!(of("raddle rustc --version"), Some((Shim::Rust(RustTool::Rustc), version)));
        assert_eq!(of("raddle-cc cc"), Some((Shim::Cc(Dialect::C), vec!["cc".into()])));
        assert_eq!(of("raddle run -- cc"), None);
        assert_eq!(of("raddle"), None);
    }
}
