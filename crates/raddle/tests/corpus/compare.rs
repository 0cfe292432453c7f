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

pub fn compare(outcome: &Outcome, files: &[PathBuf], program: &Program, mode: &str) -> Result<(), String> {
    let expected = &program.expected[mode];
    let findings = outcome.report["findings"].as_array().ok_or("the report has no findings")?;
    let mut met = Vec::new();
    let judged = if program.anything.contains(&mode) { &[][..] } else { &findings[..] };
    for finding in judged {
        let kind = finding["kind"].as_str().unwrap_or("");
        let ends = ends(finding, files);
        let group = find(expected, kind, &ends).ok_or_else(|| format!("not expected: {kind} {ends:?}"))?;
        met.push(group);
    }
    if let Some(missing) = expected.keys().find(|g| !met.contains(g)) {
        return Err(format!("expected, not found: {} #{}", missing.0, missing.1));
    }
    let status = if findings.is_empty() { program.exit } else { 66 };
    if outcome.status as i64 != status {
        return Err(format!("exit status {} instead of {status}", outcome.status));
    }
    let target = outcome.report["stats"]["target_status"].as_i64();
    if target != Some(program.exit) {
        return Err(format!("the target's status is {target:?} instead of {}", program.exit));
    }
    Ok(())
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

/// The group all of whose ends are marked.
fn find<'a>(expected: &'a Groups, kind: &str, ends: &[End]) -> Option<&'a (String, u32)> {
    let fits = |mark: &Mark, end: &End| {
        // A stack that is no longer known matches by the operation alone.
        (mark.line as u64 == end.line || end.unknown) && (mark.ops.is_empty() || mark.ops.contains(&end.op))
    };
    let all_fit = |marks: &Vec<Mark>| ends.iter().all(|e| marks.iter().any(|m| fits(m, e)));
    expected.iter().find(|(group, marks)| group.0 == kind && all_fit(marks)).map(|(group, _)| group)
}
