//! The command `raddle-bench`; see the crate's documentation for what it promises.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use raddle_bench::error::{EXIT_CANNOT, EXIT_FAILURES, Error};
use raddle_bench::options::{self, Command, RunOptions};
use raddle_bench::results::{Results, SCHEMA};
use raddle_bench::tool::Tool;
use raddle_bench::{compare, kernel, measure, report, runner};

fn main() -> ExitCode {
    match execute(env::args_os().skip(1).collect()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("raddle-bench: {error}");
            ExitCode::from(EXIT_CANNOT)
        }
    }
}

fn execute(arguments: Vec<OsString>) -> Result<ExitCode, Error> {
    match options::parse(arguments)? {
        Command::Run(options) => return run(&options),
        Command::Compare { old, new } => print!("{}", compare::markdown(&read(&old)?, &read(&new)?)),
        Command::Measure(program) => {
            let file = env::var_os(measure::USAGE_FILE).map(PathBuf::from);
            let file =
                file.ok_or_else(|| Error::Usage(format!("`measure` needs {} set", measure::USAGE_FILE)))?;
            let status = measure::launch(&program, &file)?;
            return Ok(ExitCode::from(u8::try_from(status).unwrap_or(EXIT_CANNOT)));
        }
        Command::List => list()?,
        Command::Help => print!("{}", options::HELP),
    }
    Ok(ExitCode::SUCCESS)
}

fn run(options: &RunOptions) -> Result<ExitCode, Error> {
    let launcher = env::current_exe().map_err(Error::Launch)?;
    let results = runner::run(options, launcher)?;
    let tables = report::markdown(&results);
    if let Some(path) = &options.json {
        let text = serde_json::to_string_pretty(&results).expect("a record is plain data");
        fs::write(path, text + "\n").map_err(Error::file("write", path))?;
    }
    if let Some(path) = &options.markdown {
        fs::write(path, &tables).map_err(Error::file("write", path))?;
    }
    print!("{tables}");
    let false_reports =
        results.series.iter().any(|series| series.reported && !series.key.tool.may_report_falsely());
    let sound = results.failures.is_empty() && !false_reports;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURES) })
}

fn read(path: &Path) -> Result<Results, Error> {
    let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
    let bad = |what: String| Error::BadResults { path: path.to_owned(), what };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    match value.get("schema").and_then(|schema| schema.as_str()) {
        Some(SCHEMA) => serde_json::from_value(value).map_err(|error| bad(error.to_string())),
        Some(other) => Err(bad(format!("its schema is `{other}`, and this program reads `{SCHEMA}`"))),
        None => Err(bad("it has no schema".to_owned())),
    }
}

fn list() -> Result<(), Error> {
    for kernel in kernel::all()? {
        println!("{:12} {}", kernel.name, kernel.summary);
    }
    println!();
    for tool in Tool::all() {
        println!("{tool}");
    }
    Ok(())
}
