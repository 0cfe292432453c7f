//! The command `raddle-bench`; see the crate's documentation for what it promises.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use raddle_bench::error::{BenchError, EXIT_CANNOT, EXIT_FAILURES};
use raddle_bench::explore::options::{EffectOptions, SpeedOptions};
use raddle_bench::explore::{effect, effect_report, peer, speed, speed_report};
use raddle_bench::options::{self, BenchCommand, OutputOptions, RunOptions};
use raddle_bench::results::{BenchResults, SCHEMA};
use raddle_bench::runner::WorkFolder;
use raddle_bench::tool::Tool;
use raddle_bench::tsvd::options::TsvdOptions;
use raddle_bench::tsvd::{bench as tsvd_bench, report as tsvd_report};
use raddle_bench::{bars, compare, kernel, machine, measure, recording, report, runner};
use serde::Serialize;

fn main() -> ExitCode {
    match execute(env::args_os().skip(1).collect()) {
        Ok(code) => code,
        Err(BenchError::Arguments(error)) => error.exit(),
        Err(error) => {
            eprintln!("raddle-bench: {error}");
            ExitCode::from(EXIT_CANNOT)
        }
    }
}

fn execute(arguments: Vec<OsString>) -> Result<ExitCode, BenchError> {
    match options::parse(arguments)? {
        BenchCommand::Run(options) => return run(&options),
        BenchCommand::Compare { old, new } => print!("{}", compare::markdown(&read(&old)?, &read(&new)?)),
        BenchCommand::Measure(program) => {
            let file = env::var_os(measure::USAGE_FILE).map(PathBuf::from);
            let file = file
                .ok_or_else(|| BenchError::Usage(format!("`measure` needs {} set", measure::USAGE_FILE)))?;
            let status = measure::launch(&program, &file)?;
            return Ok(ExitCode::from(u8::try_from(status).unwrap_or(EXIT_CANNOT)));
        }
        BenchCommand::ExploreSpeed(options) => return explore_speed(&options),
        BenchCommand::ExploreEffect(options) => return explore_effect(&options),
        BenchCommand::Tsvd(options) => return tsvd(&options),
        BenchCommand::Conseq(options) => return conseq(&options),
        BenchCommand::Peer { peer, test, seconds } => {
            let pace = peer::run(peer, &test, seconds)?;
            println!("{}", serde_json::to_string(&pace).expect("a pace is plain data"));
        }
        BenchCommand::Record(args) => {
            let lines = recording::record(&args.command)?;
            let svg = recording::draw(&args.title, &lines, args.columns, args.rows);
            fs::write(&args.output, svg).map_err(BenchError::file("write", &args.output))?;
        }
        BenchCommand::Charts(pages) => {
            for (path, chart) in bars::of_folder(&pages)? {
                fs::write(&path, chart).map_err(BenchError::file("write", &path))?;
                println!("{}", path.display());
            }
        }
        BenchCommand::List => list()?,
        BenchCommand::Help(text) => print!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn run(options: &RunOptions) -> Result<ExitCode, BenchError> {
    let launcher = env::current_exe().map_err(BenchError::Launch)?;
    let results = runner::run(options, launcher)?;
    let tables = report::markdown(&results);
    publish(&results, &tables, options.output.json.as_deref(), options.output.markdown.as_deref())?;
    let false_reports =
        results.series.iter().any(|series| series.reported && !series.key.tool.may_report_falsely());
    let sound = results.failures.is_empty() && !false_reports;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURES) })
}

fn explore_speed(options: &SpeedOptions) -> Result<ExitCode, BenchError> {
    let (output, work) = (&options.output, WorkFolder::new(options.output.work.as_deref())?);
    let speed = speed::run(options, raddle(output)?, &work.path)?;
    publish(&speed, &speed_report::markdown(&speed), output.json.as_deref(), output.markdown.as_deref())?;
    Ok(if speed.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURES) })
}

fn explore_effect(options: &EffectOptions) -> Result<ExitCode, BenchError> {
    let (output, work) = (&options.output, WorkFolder::new(options.output.work.as_deref())?);
    let effect = effect::run(options, raddle(output)?, &work.path)?;
    publish(&effect, &effect_report::markdown(&effect), output.json.as_deref(), output.markdown.as_deref())?;
    Ok(if effect.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURES) })
}

fn tsvd(options: &TsvdOptions) -> Result<ExitCode, BenchError> {
    let output = &options.output;
    let record = match &options.from {
        Some(file) => tsvd_bench::kept(file)?,
        None => {
            let work = WorkFolder::new(output.work.as_deref())?;
            let launcher = env::current_exe().map_err(BenchError::Launch)?;
            tsvd_bench::run(options, raddle(output)?, launcher, &work.path)?
        }
    };
    if let Some(folder) = &options.plots {
        tsvd_report::plots(&record, folder)?;
    }
    let tables = tsvd_report::markdown(&record);
    publish(&record, &tables, output.json.as_deref(), None)?;
    if let Some(path) = &output.markdown {
        let document = fs::read_to_string(path).unwrap_or_default();
        fs::write(path, tsvd_report::put_into(&document, &tables))
            .map_err(BenchError::file("write", path))?;
    }
    let false_reports = record.rows.iter().any(|row| !row.false_reports.is_empty());
    let sound = record.failures.is_empty() && !false_reports;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURES) })
}

fn conseq(options: &raddle_bench::conseq::ConseqOptions) -> Result<ExitCode, BenchError> {
    let (output, work) = (&options.output, WorkFolder::new(options.output.work.as_deref())?);
    let bench = raddle_bench::conseq::run(options, raddle(output)?, &work.path)?;
    let tables = raddle_bench::conseq::report::markdown(&bench);
    publish(&bench, &tables, output.json.as_deref(), output.markdown.as_deref())?;
    Ok(if bench.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURES) })
}

/// The absolute path of raddle, because searches run in folders of their own.
fn raddle(output: &OutputOptions) -> Result<PathBuf, BenchError> {
    let name = output.raddle.as_deref().unwrap_or(Path::new("raddle"));
    let missing = || BenchError::MissingProgram {
        program: name.display().to_string(),
        remedy: "build it, or say where it is with --raddle".to_owned(),
    };
    let found = machine::find_program(name).ok_or_else(missing)?;
    fs::canonicalize(&found).map_err(BenchError::file("find", &found))
}

/// Writes the record and the tables to the requested files, and prints the tables.
fn publish(
    record: &impl Serialize,
    tables: &str,
    json: Option<&Path>,
    markdown: Option<&Path>,
) -> Result<(), BenchError> {
    if let Some(path) = json {
        let text = serde_json::to_string_pretty(record).expect("a record is plain data");
        fs::write(path, text + "\n").map_err(BenchError::file("write", path))?;
    }
    if let Some(path) = markdown {
        fs::write(path, tables).map_err(BenchError::file("write", path))?;
    }
    print!("{tables}");
    Ok(())
}

fn read(path: &Path) -> Result<BenchResults, BenchError> {
    let text = fs::read_to_string(path).map_err(BenchError::file("read", path))?;
    let bad = |what: String| BenchError::BadResults { path: path.to_owned(), what };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    match value.get("schema").and_then(|schema| schema.as_str()) {
        Some(SCHEMA) => serde_json::from_value(value).map_err(|error| bad(error.to_string())),
        Some(other) => Err(bad(format!("its schema is `{other}`, and this program reads `{SCHEMA}`"))),
        None => Err(bad("it has no schema".to_owned())),
    }
}

fn list() -> Result<(), BenchError> {
    for kernel in kernel::all()? {
        println!("{:12} {}", kernel.name, kernel.summary);
    }
    println!();
    for tool in Tool::all() {
        println!("{tool}");
    }
    Ok(())
}
