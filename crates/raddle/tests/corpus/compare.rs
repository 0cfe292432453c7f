//! Findings against expectations.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::build::Outcome;
use crate::expect::{Groups, Mark, Program};

/// One end of a finding, as the corpus sees it.
#[derive(Debug)]
struct End {
    op: String,
    /// The innermost line of the program's own source; 0 if the stack has none.
    line: u64,
    /// The report has no stack at all.
    unknown: bool,
}

/// How a run differs from what is expected of it.
pub enum Difference {
    /// A finding, or a status, that there should not be.
    Wrong(String),
    /// A finding that there should be.
    Missing(String),
}

impl From<String> for Difference {
    fn from(text: String) -> Difference {
        Difference::Wrong(text)
    }
}

pub fn compare(
    outcome: &Outcome,
    files: &[PathBuf],
    program: &Program,
    mode: &str,
) -> Result<(), Difference> {
    let find = |expected: &Groups, kind: &str, ends: &[End]| find(expected, kind, ends, fits).cloned();
    compare_by(outcome, files, program, mode, find)
}

/// The same for a program without probes of its own: the line next to a marked one will do, whether
/// an access was atomic need not be known, and no race is confirmed.
pub fn verdict(outcome: &Outcome, file: &Path, program: &Program, mode: &str) -> Result<(), Difference> {
    let findings = outcome.report["findings"].as_array().into_iter().flatten();
    for finding in findings.flat_map(members) {
        if finding["kind"] == "data-race" && finding["confidence"] != "suspected" {
            return Err(format!("a race in machine code is {}", finding["confidence"]).into());
        }
    }
    let nearly = |mark: &Mark, end: &End, slack: u64| {
        let does = |op: &String| op.trim_start_matches("atomic-") == end.op.trim_start_matches("atomic-");
        (end.unknown || u64::from(mark.line).abs_diff(end.line) <= slack)
            && (mark.ops.is_empty() || mark.ops.iter().any(does))
    };
    let find = |expected: &Groups, kind: &str, ends: &[End]| {
        let within = |slack| find(expected, kind, ends, |m, e| nearly(m, e, slack)).cloned();
        within(0).or_else(|| within(1))
    };
    compare_by(outcome, &[file.to_path_buf()], program, mode, find)
}

fn compare_by(
    outcome: &Outcome,
    files: &[PathBuf],
    program: &Program,
    mode: &str,
    find: impl Fn(&Groups, &str, &[End]) -> Option<(String, u32)>,
) -> Result<(), Difference> {
    let expected = &program.expected[mode];
    let findings =
        outcome.report["findings"].as_array().ok_or_else(|| "the report has no findings".to_string())?;
    let mut met = Vec::new();
    let judged = if program.anything.contains(&mode) { &[][..] } else { &findings[..] };
    for finding in judged.iter().flat_map(members) {
        let kind = finding["kind"].as_str().unwrap_or("");
        let ends = ends(finding, files);
        let group = find(expected, kind, &ends).ok_or_else(|| format!("not expected: {kind} {ends:?}"))?;
        met.push(group);
    }
    let status = if findings.is_empty() { program.exit } else { 66 };
    if outcome.status as i64 != status {
        return Err(format!("exit status {} instead of {status}", outcome.status).into());
    }
    let target = outcome.report["stats"]["target_status"].as_i64();
    if target != Some(program.exit) {
        return Err(format!("the target's status is {target:?} instead of {}", program.exit).into());
    }
    match expected.keys().find(|g| !met.contains(*g)) {
        Some((kind, number)) => Err(Difference::Missing(format!("expected, not found: {kind} #{number}"))),
        None => Ok(()),
    }
}

/// A finding and those that it lists because they have the same cause: each is judged by itself.
fn members(finding: &Value) -> impl Iterator<Item = &Value> {
    std::iter::once(finding).chain(finding["also"].as_array().into_iter().flatten())
}

fn ends(finding: &Value, files: &[PathBuf]) -> Vec<End> {
    let own = |frame: &&Value| {
        let name = frame["file"].as_str().and_then(|f| Path::new(f).file_name());
        name.is_some_and(|n| files.iter().any(|f| f.file_name() == Some(n)))
    };
    let end = |access: &Value| End {
        op: access["op"].as_str().unwrap_or("").into(),
        line: access["stack"].as_array().and_then(|s| s.iter().find(own)?["line"].as_u64()).unwrap_or(0),
        unknown: access["stack"].as_array().is_none_or(|s| s.is_empty()),
    };
    finding["accesses"].as_array().into_iter().flatten().map(end).collect()
}

fn fits(mark: &Mark, end: &End) -> bool {
    // A stack that is no longer known matches by the operation alone.
    (mark.line as u64 == end.line || end.unknown) && (mark.ops.is_empty() || mark.ops.contains(&end.op))
}

/// The group all of whose ends are marked.
fn find<'a>(
    expected: &'a Groups,
    kind: &str,
    ends: &[End],
    fits: impl Fn(&Mark, &End) -> bool,
) -> Option<&'a (String, u32)> {
    let all_fit = |marks: &Vec<Mark>| ends.iter().all(|e| marks.iter().any(|m| fits(m, e)));
    expected.iter().find(|(group, marks)| group.0 == kind && all_fit(marks)).map(|(group, _)| group)
}
