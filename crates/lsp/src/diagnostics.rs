//! Findings as diagnostics: one at each end, with the other ends and each step of the trace as
//! related locations.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Position, Range,
    Url,
};
use raddle_finding::render::{RenderOptions, StoryStep, steps};
use raddle_finding::{Finding, Frame};
use serde_json::json;

use crate::documents::Documents;
use crate::project::DiskFiles;
use crate::settings::EditorSettings;
use crate::text::Lines;

/// The server does not open larger files just to compute a column.
const LARGEST: u64 = 64 << 20;

/// URIs and lines of the files that findings name. Each file is looked up once.
pub struct FilePlaces<'a> {
    documents: &'a mut Documents,
    files: &'a DiskFiles,
    lines: HashMap<PathBuf, Option<Lines>>,
}

impl<'a> FilePlaces<'a> {
    pub fn new(documents: &'a mut Documents, files: &'a DiskFiles) -> FilePlaces<'a> {
        FilePlaces { documents, files, lines: HashMap::new() }
    }

    pub fn lines(&mut self, path: &Path) -> Option<&Lines> {
        if !self.lines.contains_key(path) {
            let text: Option<Arc<[u8]>> = match self.documents.get_mut(path) {
                Some(document) => Some(document.shared()),
                None => self.files.read(path, LARGEST),
            };
            self.lines.insert(path.to_path_buf(), text.map(Lines::new));
        }
        self.lines.get(path)?.as_ref()
    }

    fn uri(&self, path: &Path) -> Option<Url> {
        self.documents.uri(path)
    }

    /// The location of a frame, or None if its file cannot be named.
    fn location(&mut self, frame: &Frame) -> Option<(PathBuf, Location)> {
        let path = PathBuf::from(frame.file.as_deref()?);
        let line = frame.line.filter(|line| *line > 0)?;
        let uri = self.uri(&path)?;
        let range = match self.lines(&path) {
            Some(lines) => lines.range(line, frame.column),
            None => Range::new(Position::new(line - 1, 0), Position::new(line - 1, 0)),
        };
        Some((path, Location { uri, range }))
    }
}

/// The diagnostics of a finding, with the files they belong to. `source` says which command found
/// it.
pub fn of_finding(
    finding: &Finding,
    source: &str,
    settings: &EditorSettings,
    places: &mut FilePlaces<'_>,
) -> Vec<(PathBuf, Diagnostic)> {
    let Some(severity) = settings.severity(finding) else { return Vec::new() };
    let steps = steps(finding, &RenderOptions::default());
    let located: Vec<(StoryStep, PathBuf, Location)> = steps
        .into_iter()
        .filter_map(|step| {
            let (path, location) = places.location(&step.frame)?;
            Some((step, path, location))
        })
        .collect();
    let mut out: Vec<(PathBuf, Diagnostic)> = Vec::new();
    for (at, (step, path, location)) in located.iter().enumerate() {
        // Two threads at one place get one underline.
        let is_marked = out.iter().any(|(p, d)| p == path && d.range == location.range);
        if step.end.is_none() || is_marked {
            continue;
        }
        let others = located.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
        let related = others.map(|(step, _, location)| DiagnosticRelatedInformation {
            location: location.clone(),
            message: shorter(&step.text, path),
        });
        let diagnostic = Diagnostic {
            range: location.range,
            severity: Some(severity),
            code: Some(NumberOrString::String(finding.kind.name().into())),
            source: Some(source.into()),
            message: shorter(&message(finding, step), path),
            related_information: Some(related.collect()),
            data: Some(json!({ "id": finding.id, "kind": finding.kind.name() })),
            ..Diagnostic::default()
        };
        out.push((path.clone(), diagnostic));
    }
    for member in &finding.also {
        for (path, diagnostic) in of_finding(member, source, settings, places) {
            if !out.iter().any(|(p, d)| *p == path && d.range == diagnostic.range) {
                out.push((path, diagnostic));
            }
        }
    }
    out
}

/// Shortens the names of files beside `path` to their file names, because that is how the reader
/// knows them.
fn shorter(text: &str, path: &Path) -> String {
    match path.parent().filter(|folder| folder.parent().is_some()) {
        Some(folder) => text.replace(&format!("{}/", folder.display()), ""),
        None => text.to_owned(),
    }
}

/// The message: what the finding is, what happens here, and further notes.
fn message(finding: &Finding, here: &StoryStep) -> String {
    let mut text = finding.message.clone();
    text += &format!("\nhere, {}", here.text);
    for note in &finding.notes {
        text += "\n";
        text += note;
    }
    text
}

/// Why a file was not checked, or not completely, as a sentence. The checker's text continues after
/// the file's name.
pub fn sentence(why: &str) -> String {
    if is_partial(why) { why.to_owned() } else { format!("not checked: this file {why}") }
}

/// Whether part of the file was checked.
pub fn is_partial(why: &str) -> bool {
    why.starts_with("checked only in part")
}

/// The note on the first line of a file that was not checked, or not completely.
pub fn left_out(why: &str) -> Diagnostic {
    let start = Position::new(0, 0);
    Diagnostic {
        range: Range::new(start, start),
        severity: Some(DiagnosticSeverity::INFORMATION),
        code: Some(NumberOrString::String("not-checked".into())),
        source: Some("raddle".into()),
        message: sentence(why),
        ..Diagnostic::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::TextDocumentItem;
    use raddle_check::{CheckOptions, Source, check_sources};
    use raddle_finding::{Access, AccessOp, Confidence, Kind};

    const RACE: &str = "#include <pthread.h>\nint n;\nvoid *f(void *a) { /* 😀 */ n++; return 0; }\n\
        int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, f, 0);\n    n = 2;\n    pthread_join(t, 0);\n}\n";

    fn diagnose(finding: &Finding, settings: &EditorSettings) -> Vec<(PathBuf, Diagnostic)> {
        let mut documents = Documents::default();
        let uri = Url::parse("file:///w/a.c").unwrap();
        documents.open(TextDocumentItem::new(uri, "c".into(), 1, RACE.into()));
        let files = DiskFiles::default();
        of_finding(finding, "raddle", settings, &mut FilePlaces::new(&mut documents, &files))
    }

    fn race() -> Finding {
        let mut out = check_sources(&[Source::new("/w/a.c", RACE)], &CheckOptions::default());
        out.findings.remove(0)
    }

    #[test]
    fn each_end_is_underlined_and_names_the_other() {
        let diagnostics = diagnose(&race(), &EditorSettings::default());
        let mut starts: Vec<_> =
            diagnostics.iter().map(|(_, d)| (d.range.start.line, d.range.start.character)).collect();
        starts.sort_unstable();
        assert_eq!(starts, [(2, 28), (6, 4)], "in UTF-16");
        for (path, d) in &diagnostics {
            assert_eq!(path, Path::new("/w/a.c"));
            assert_eq!(d.range.end.character, d.range.start.character + 1, "`n`");
            assert_eq!(
                (d.severity, d.source.as_deref()),
                (Some(DiagnosticSeverity::WARNING), Some("raddle"))
            );
            assert_eq!(d.code, Some(NumberOrString::String("data-race".into())));
            assert!(d.message.starts_with("data race on `n`"), "{}", d.message);
            let related = d.related_information.as_ref().unwrap();
            let lines: Vec<u32> = related.iter().map(|r| r.location.range.start.line).collect();
            let other = if d.range.start.line == 2 { 6 } else { 2 };
            assert!(lines.contains(&other), "the other end: {lines:?}");
            assert!(lines.contains(&5), "where the thread was started: {lines:?}");
            assert!(lines.contains(&1), "what `n` is: {lines:?}");
            assert!(!lines.contains(&d.range.start.line), "itself: {lines:?}");
            let defined = related.iter().find(|r| r.location.range.start.line == 1).unwrap();
            assert!(defined.message.ends_with("defined at a.c:2"), "without its folder: {}", defined.message);
        }
    }

    #[test]
    fn two_threads_at_one_place_are_one_diagnostic() {
        let mut finding = race();
        finding.accesses[0] = finding.accesses[1].clone();
        finding.accesses[0].thread = "T7".into();
        let diagnostics = diagnose(&finding, &EditorSettings::default());
        assert_eq!(diagnostics.len(), 1);
        let related = diagnostics[0].1.related_information.as_ref().unwrap();
        assert!(related.iter().any(|r| r.message.contains("T7") || r.message.contains("T1")), "{related:?}");
    }

    #[test]
    fn findings_with_the_same_cause_are_underlined_too() {
        let mut finding = race();
        let mut further = finding.clone();
        further.id = "data-race-of-its-own".into();
        for frame in &mut further.accesses[0].stack {
            (frame.line, frame.column) = (Some(8), None);
        }
        finding.also = vec![further];
        let diagnostics = diagnose(&finding, &EditorSettings::default());
        assert_eq!(diagnostics.len(), 3, "the end that both have is underlined once: {diagnostics:#?}");
        let added = diagnostics.iter().find(|(_, d)| d.range.start.line == 7).unwrap();
        assert_eq!(added.1.data.as_ref().unwrap()["id"], "data-race-of-its-own");
    }

    #[test]
    fn what_is_switched_off_is_not_shown() {
        let settings = serde_json::json!({ "severity": { "kinds": { "data-race": "off" } } });
        assert!(diagnose(&race(), &EditorSettings::parse(&settings).unwrap()).is_empty());
    }

    #[test]
    fn places_that_are_nowhere_are_left_out() {
        let mut finding = Finding::new(Kind::DataRace, Confidence::Confirmed, "a race");
        let frame =
            |file: &str, line| Frame { file: Some(file.into()), line: Some(line), ..Frame::default() };
        for stack in [vec![frame("relative.c", 3)], vec![frame("/no/such/file.c", 4)], vec![]] {
            let access =
                Access { op: AccessOp::Read, size: 1, thread: "T1".into(), locks: vec![], lock: None, stack };
            finding.accesses.push(access);
        }
        let diagnostics = diagnose(&finding, &EditorSettings::default());
        assert_eq!(diagnostics.len(), 1, "a file that cannot be read still has an address");
        assert_eq!(diagnostics[0].1.range.start, Position::new(3, 0));
    }
}
