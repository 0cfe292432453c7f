//! Helpers to write findings in tests.

use crate::model::*;

/// A frame; an empty file or a zero line means "unknown".
pub fn frame(function: &str, file: &str, line: u32, function_line: u32) -> Frame {
    Frame {
        function: Some(function.into()),
        file: (!file.is_empty()).then(|| file.into()),
        line: (line > 0).then_some(line),
        column: None,
        module: Some("a.out".into()),
        offset: None,
        function_line: (function_line > 0).then_some(function_line),
    }
}

pub fn access(op: AccessOp, thread: &str, stack: Vec<Frame>) -> Access {
    Access { op, size: 4, thread: thread.into(), locks: vec![], lock: None, stack }
}

/// A confirmed finding, its id filled in.
pub fn finding(kind: Kind, accesses: Vec<Access>) -> Finding {
    let mut finding = Finding::new(kind, Confidence::Confirmed, format!("{} here", kind.title()));
    finding.accesses = accesses;
    finding.id = crate::identity::id(&finding);
    finding
}

pub fn global(name: &str) -> Location {
    Location::Global { name: name.into(), offset: 0, size: 4, module: "a.out".into(), file: None, line: None }
}
