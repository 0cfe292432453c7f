//! Quick fixes for findings, and code lenses for functions that start threads.

use std::collections::HashMap;
use std::path::Path;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeLens, Command, Diagnostic, NumberOrString, Position,
    Range, TextEdit, Url, WorkspaceEdit,
};
use raddle_check::CheckedFunction;
use serde_json::json;

use crate::text::{Lines, units};

/// The client's command that asks the user for a reason.
pub const ASK: &str = "raddle.ignore";

/// Ready-made reasons, by kind. They end up in the source like any other reason.
const REASONS: &[(&str, &[&str])] = &[
    ("data-race", &["the value may be out of date", "ordered in a way that raddle does not see"]),
    ("deadlock", &["these threads never run at the same time"]),
    ("lock-order", &["these threads never run at the same time"]),
    ("lock-leak", &["the lock is released elsewhere"]),
];
const ANY_REASON: &[&str] = &["checked by hand"];

/// The quick fixes for a range of lines: `// raddle: ignore <reason>` at the end of each line that
/// has a finding.
pub fn fixes(
    uri: &Url,
    lines: &Lines,
    wanted: Range,
    diagnostics: &[Diagnostic],
    asks: bool,
) -> Vec<CodeActionOrCommand> {
    let mut out = Vec::new();
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        let line = diagnostic.range.start.line;
        let Some(NumberOrString::String(kind)) = &diagnostic.code else { continue };
        let is_wanted = wanted.start.line <= line && line <= wanted.end.line && kind != "not-checked";
        // A second finding on a line has the same fix.
        let is_again =
            diagnostics[..at].iter().any(|d| d.range.start.line == line && d.code == diagnostic.code);
        let Some(text) = lines.line(line + 1).filter(|_| is_wanted && !is_again) else { continue };
        for reason in reasons(kind) {
            let (position, before, after) = mark(line, text);
            let edit = TextEdit::new(Range::new(position, position), format!("{before}{reason}{after}"));
            let edit = WorkspaceEdit::new(HashMap::from([(uri.clone(), vec![edit])]));
            out.push(action(format!("Ignore: {reason}"), diagnostic, Some(edit), None));
        }
        if asks {
            let title = "Ignore, with a reason…".to_owned();
            let (position, before, after) = mark(line, text);
            let place = json!({ "uri": uri, "position": position, "before": before, "after": after });
            let arguments = vec![place];
            let ask = Command { title: title.clone(), command: ASK.into(), arguments: Some(arguments) };
            out.push(action(title, diagnostic, None, Some(ask)));
        }
    }
    out
}

fn action(
    title: String,
    diagnostic: &Diagnostic,
    edit: Option<WorkspaceEdit>,
    command: Option<Command>,
) -> CodeActionOrCommand {
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic.clone()]),
        edit,
        command,
        ..CodeAction::default()
    })
}

fn reasons(kind: &str) -> &'static [&'static str] {
    REASONS.iter().find(|(k, _)| *k == kind).map_or(ANY_REASON, |(_, reasons)| reasons)
}

/// Where a line, from 0, takes a mark, and the text before and after the reason. In a macro that
/// continues on the next line, nothing may follow the backslash, and `//` would swallow the next
/// line.
fn mark(line: u32, text: &[u8]) -> (Position, &'static str, &'static str) {
    let text = text.trim_ascii_end();
    let (end, before, after) = match text.strip_suffix(b"\\") {
        Some(rest) => (rest.trim_ascii_end(), " /* raddle: ignore ", " */"),
        None => (text, " // raddle: ignore ", ""),
    };
    (Position::new(line, units(end)), before, after)
}

/// The lenses of a file: functions that start threads, with what the checker did about them.
pub fn lenses<'a>(path: &Path, checked: impl Iterator<Item = &'a CheckedFunction>) -> Vec<CodeLens> {
    let mut out: Vec<CodeLens> = Vec::new();
    for function in checked.filter(|c| Path::new(&*c.path) == path && (c.may_start || c.threads > 1)) {
        let lens = lens(function.line.saturating_sub(1), function.lens());
        // If several programs share a file, the first one provides the lens.
        if !out.iter().any(|other| other.range == lens.range) {
            out.push(lens);
        }
    }
    out
}

pub fn lens(line: u32, title: String) -> CodeLens {
    let at = Position::new(line, 0);
    // A command without a name is a title that cannot be clicked.
    let command = Command { title, command: String::new(), arguments: None };
    CodeLens { range: Range::new(at, at), command: Some(command), data: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::offset;
    use raddle_check::ignore::ignored_lines;
    use raddle_check::{CheckOptions, Source, check_sources};

    fn diagnostic(line: u32, kind: &str) -> Diagnostic {
        let at = Position::new(line, 1);
        let code = Some(NumberOrString::String(kind.into()));
        Diagnostic { range: Range::new(at, at), code, ..Diagnostic::default() }
    }

    fn fixes_for(text: &str, diagnostics: &[Diagnostic], asks: bool) -> Vec<CodeAction> {
        let uri = Url::parse("file:///a.c").unwrap();
        let everywhere = Range::new(Position::new(0, 0), Position::new(99, 0));
        let lines = Lines::new(text.as_bytes().into());
        let only = |fix| match fix {
            CodeActionOrCommand::CodeAction(action) => action,
            CodeActionOrCommand::Command(command) => panic!("{command:?}"),
        };
        fixes(&uri, &lines, everywhere, diagnostics, asks).into_iter().map(only).collect()
    }

    fn applied(text: &str, fix: &CodeAction) -> String {
        let edits = fix.edit.as_ref().unwrap().changes.as_ref().unwrap().values().next().unwrap();
        let (start, end) = (offset(text, edits[0].range.start), offset(text, edits[0].range.end));
        format!("{}{}{}", &text[..start], edits[0].new_text, &text[end..])
    }

    #[test]
    fn a_fix_is_what_the_checker_reads() {
        for text in [
            "int x;\nn++;  \nint y;\n",
            "int x;\nn++; /* ü😀 */ // why\nint y;\n",
            "\nn++;",
            "\r\nn++;\r\nm\r\n",
        ] {
            let fixes = fixes_for(text, &[diagnostic(1, "data-race")], false);
            assert_eq!(fixes.len(), 2);
            let marked = applied(text, &fixes[0]);
            let ignored = ignored_lines(marked.as_bytes());
            assert_eq!(
                ignored.get(&2).map(String::as_str),
                Some("the value may be out of date"),
                "{marked:?}"
            );
            assert_eq!(marked.lines().count(), text.lines().count());
        }
    }

    #[test]
    fn a_macro_stays_whole() {
        let text = "#define F \\\n    n++; \\\n    m++;\n";
        let marked = applied(text, &fixes_for(text, &[diagnostic(1, "deadlock")], false)[0]);
        assert!(
            marked.contains("n++; /* raddle: ignore these threads never run at the same time */ \\\n"),
            "{marked}"
        );
    }

    #[test]
    fn a_line_is_offered_once_and_only_where_it_was_asked_for() {
        let twice = [diagnostic(0, "data-race"), diagnostic(0, "data-race"), diagnostic(200, "data-race")];
        assert_eq!(fixes_for("n++;\n", &twice, false).len(), 2);
        assert!(fixes_for("n++;\n", &[diagnostic(0, "not-checked")], true).is_empty());
    }

    #[test]
    fn a_client_that_asks_gets_the_place() {
        let fixes = fixes_for("n++;\n", &[diagnostic(0, "leak")], true);
        let titles: Vec<_> = fixes.iter().map(|f| f.title.as_str()).collect();
        assert_eq!(titles, ["Ignore: checked by hand", "Ignore, with a reason…"]);
        let place = &fixes[1].command.as_ref().unwrap().arguments.as_ref().unwrap()[0];
        assert_eq!((&place["before"], &place["after"]), (&json!(" // raddle: ignore "), &json!("")));
        assert_eq!(place["position"], json!({ "line": 0, "character": 4 }));
    }

    #[test]
    fn functions_that_start_threads_have_lenses() {
        let text = "#include <pthread.h>\nvoid *f(void *a) { return a; }\nint plain(void) { return 1; }\n\
            int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return pthread_join(t, 0); }\n";
        let out = check_sources(&[Source::new("/a.c", text)], &CheckOptions::default());
        let lenses = lenses(Path::new("/a.c"), out.checked.iter());
        assert_eq!(lenses.len(), 1);
        assert_eq!(lenses[0].range.start.line, 3);
        let title = &lenses[0].command.as_ref().unwrap().title;
        assert!(title.starts_with("checked, 2 threads, "), "{title}");
        assert!(super::lenses(Path::new("/b.c"), out.checked.iter()).is_empty());
    }
}
