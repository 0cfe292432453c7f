//! `cargo raddle …` is `raddle cargo …`: cargo finds a subcommand by the name `cargo-raddle`.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Cargo passes the name of the subcommand as the first argument.
    if args.first().is_some_and(|first| first == "raddle") {
        args.remove(0);
    }
    let own_version = args.first().is_some_and(|first| first == "--version" || first == "-V");
    // The two are usually installed side by side; otherwise the PATH is searched.
    let beside = std::env::current_exe().ok().map(|me| me.with_file_name("raddle"));
    let raddle = beside.filter(|path| path.is_file()).unwrap_or_else(|| "raddle".into());
    let error = Command::new(&raddle).args((!own_version).then_some("cargo")).args(args).exec();
    let why = format!("raddle: cannot run {}: {error}; install raddle beside cargo-raddle", raddle.display());
    // Not by `eprintln!`, which panics if nobody reads.
    let _ = writeln!(std::io::stderr(), "{why}");
    ExitCode::from(2)
}
