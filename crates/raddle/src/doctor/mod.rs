//! `raddle doctor`: what works on this machine, and what to do about the rest.
//!
//! Each check examines one thing and ends in a [`Check`]: ok, a warning (something raddle can do
//! without), or a failure (`raddle run` cannot work), with the remedy as a command if there is one.
//! Examination and judgement are separate: the judging functions take plain values and are tested
//! with them.

mod compilers;
mod dotnet;
mod machine;
mod program;

use crate::exit;
use crate::report::{TextTo, terminal};
use clap::ValueEnum;
use raddle_finding::visible;
use raddle_harness::say;
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

/// The arguments of `raddle doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to write the checks
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// A program: say how much of it `raddle run` can watch
    #[arg(value_name = "PROGRAM")]
    program: Option<std::ffi::OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// How one thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    /// Raddle works without it, with less.
    Warn,
    /// `raddle run` cannot work.
    Fail,
}

/// One thing looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Check {
    name: String,
    status: Status,
    detail: String,
    remedy: Option<String>,
}

impl Check {
    fn ok(name: &str, detail: impl Into<String>) -> Check {
        Check { name: name.into(), status: Status::Ok, detail: detail.into(), remedy: None }
    }

    fn warn(name: &str, detail: impl Into<String>, remedy: impl Into<String>) -> Check {
        let remedy = Some(remedy.into());
        Check { name: name.into(), status: Status::Warn, detail: detail.into(), remedy }
    }

    fn fail(name: &str, detail: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check { status: Status::Fail, ..Check::warn(name, detail, remedy) }
    }
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Report<'a> {
    schema: &'static str,
    version: &'static str,
    works: bool,
    checks: &'a [Check],
}

/// Looks at everything and prints it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut checks = machine::checks();
    checks.extend(compilers::checks());
    checks.push(dotnet::check());
    checks.extend(args.program.as_ref().map(program::check));
    let works = works(&checks);
    match args.format {
        Format::Text => say::print(&text(&checks, works, terminal::width(TextTo::Stdout))),
        Format::Json => {
            let version = env!("CARGO_PKG_VERSION");
            let report = Report { schema: "raddle.doctor/1", version, works, checks: &checks };
            say::print(&(serde_json::to_string_pretty(&report)? + "\n"));
        }
    }
    Ok(ExitCode::from(if works { exit::CLEAN } else { exit::FAILURE }))
}

/// The columns of a status and the blanks after it.
const MARK: usize = 6;
/// With less room than this, what was found is not put beside the name.
const LEAST_DETAIL: usize = 30;

fn works(checks: &[Check]) -> bool {
    checks.iter().all(|c| c.status != Status::Fail)
}

/// A table: the status, the name, and what was found, wrapped within its column. Remedies stay on
/// one line, since they are meant to be copied.
fn text(checks: &[Check], works: bool, columns: usize) -> String {
    let names = checks.iter().map(|c| visible(&c.name));
    let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
    // Where it is narrow, what was found stands below the name.
    let table = MARK + width + 2;
    let is_narrow = columns < table + LEAST_DETAIL;
    let hang = if is_narrow { MARK } else { table };
    let mut out = String::new();
    for Check { name, status, detail, remedy } in checks {
        // Both may name a file of the user's.
        let (name, detail) = (visible(name), visible(detail));
        let mark = match status {
            Status::Ok => "ok  ",
            Status::Warn => "warn",
            Status::Fail => "FAIL",
        };
        let detail = say::broken(&detail, columns, hang, hang);
        let indent = " ".repeat(hang);
        // Writing to a String cannot fail.
        let _ = match is_narrow {
            true => writeln!(out, "{mark}  {name}\n{indent}{detail}"),
            false => writeln!(out, "{mark}  {name:width$}  {detail}"),
        };
        if let Some(remedy) = remedy {
            let _ = writeln!(out, "{indent}-> {remedy}");
        }
    }
    let verdict = if works { "raddle run works here" } else { "raddle run does not work here yet" };
    let _ = writeln!(out, "\n{verdict}.");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Check> {
        vec![Check::ok("kernel", "Linux 6"), Check::warn("gdb", "not found", "apt install gdb")]
    }

    #[test]
    fn only_a_failure_stops_run() {
        assert!(works(&some()));
        let mut checks = some();
        checks.push(Check::fail("address space", "limited", "ulimit -v unlimited"));
        assert!(!works(&checks));
    }

    #[test]
    fn the_text_has_each_remedy_under_its_check() {
        let expected = "ok    kernel  Linux 6\nwarn  gdb     not found\n              -> apt install gdb\n\n\
            raddle run works here.\n";
        assert_eq!(text(&some(), true, 80), expected);
    }

    #[test]
    fn the_text_keeps_to_the_width() {
        let checks = [
            Check::ok("gcc", "gcc (Debian 12.2.0) 12.2.0; builds and runs with raddle's runtime"),
            Check::ok("memory", "much"),
        ];
        let wide = "ok    gcc     gcc (Debian 12.2.0) 12.2.0; builds and\n              \
            runs with raddle's runtime\nok    memory  much\n";
        assert!(text(&checks, true, 54).starts_with(wide), "{}", text(&checks, true, 54));
        let narrow = "ok    gcc\n      gcc (Debian 12.2.0) 12.2.0; builds\n      \
            and runs with raddle's runtime\nok    memory\n      much\n";
        assert!(text(&checks, true, 40).starts_with(narrow), "{}", text(&checks, true, 40));
    }

    #[test]
    fn names_of_files_cannot_write_to_the_terminal() {
        let checks = [Check::warn("a\u{1b}[31m", "there is no `a\u{1b}[31m`", "build it")];
        let text = text(&checks, true, 80);
        assert!(!text.contains('\u{1b}') && text.contains("no `a\\u{1b}[31m`"), "{text}");
    }

    #[test]
    fn the_json_names_its_schema() {
        let checks = some();
        let report = Report { schema: "raddle.doctor/1", version: "1", works: true, checks: &checks };
        let json = serde_json::to_value(report).unwrap();
        assert_eq!(json["checks"][1]["status"], "warn");
        assert_eq!(json["checks"][1]["remedy"], "apt install gdb");
        assert!(json["checks"][0]["remedy"].is_null());
    }
}
