//! The baseline: what is already known, so that only new findings fail a build.
//!
//! The file is JSON, meant to be committed and reviewed. It has a version and one line per finding,
//! sorted by id, so a bug fixed or added is one line of a diff, and two branches seldom conflict.
//!
//! ```json
//! {
//!   "schema": "raddle.baseline/1",
//!   "findings": [
//!     { "id": "data-race-3b140ee238330318", "kind": "data-race", "message": "…" }
//!   ]
//! }
//! ```
//!
//! Only the id is compared, and the subject ([`crate::subject`]) if an entry has one; kind and
//! message are for the reader. An entry without a subject stands for every finding with its id. The
//! kind is text here, so that this raddle can read a file from a newer raddle with kinds that it
//! does not know.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cause;
use crate::model::{Finding, Report};

/// The version of the file.
pub const SCHEMA: &str = "raddle.baseline/1";

/// The findings of a baseline file, by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<String, BaselineEntry>,
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineEntry {
    /// [`Finding::id`]: all that is compared.
    pub id: String,
    /// [`Finding::subject`], if the baseline distinguishes programs of a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// [`Kind::name`](crate::Kind::name), or a kind that this version does not know.
    pub kind: String,
    /// One line.
    pub message: String,
}

impl BaselineEntry {
    fn key(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{}@{subject}", self.id),
            None => self.id.clone(),
        }
    }
}

/// The result of [`Baseline::split`].
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Findings that the baseline does not have, in the order of the report.
    pub new: Vec<Finding>,
    /// Findings that it has, in the order of the report.
    pub known: Vec<Finding>,
    /// Entries that the report does not have: fixed, or not seen in this run.
    pub stale: Vec<BaselineEntry>,
}

/// Why a baseline file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaselineError {
    /// Not valid JSON of a baseline.
    Malformed {
        /// The name given to [`Baseline::load`].
        file: String,
        /// The parser's message, with line and column.
        reason: String,
    },
    /// JSON of some other kind.
    NotABaseline {
        /// The name given to [`Baseline::load`].
        file: String,
    },
    /// A version that this raddle does not read.
    Version {
        /// The name given to [`Baseline::load`].
        file: String,
        /// The schema that the file names.
        found: String,
    },
}

impl Baseline {
    /// Reads the text of a file; `file` is its name, for errors.
    pub fn load(file: &str, text: &str) -> Result<Baseline, BaselineError> {
        let malformed = |error: serde_json::Error| BaselineError::Malformed {
            file: file.to_owned(),
            reason: error.to_string(),
        };
        let text = text.trim_start_matches('\u{feff}');
        match serde_json::from_str::<Header>(text).map_err(malformed)?.schema {
            Some(schema) if schema == SCHEMA => {}
            Some(schema) if schema.starts_with("raddle.baseline/") => {
                return Err(BaselineError::Version { file: file.to_owned(), found: schema });
            }
            _ => return Err(BaselineError::NotABaseline { file: file.to_owned() }),
        }
        let document: Document = serde_json::from_str(text).map_err(malformed)?;
        Ok(Baseline { entries: document.findings.into_iter().map(|entry| (entry.key(), entry)).collect() })
    }

    /// The baseline with which `report` has nothing new.
    pub fn of(report: &Report) -> Baseline {
        let entries = report.findings.iter().flat_map(members).map(|finding| {
            let message = finding.message.split_whitespace().collect::<Vec<_>>().join(" ");
            let (id, subject) = (finding.id.clone(), finding.subject.clone());
            let entry = BaselineEntry { id, subject, kind: finding.kind.name().to_owned(), message };
            (entry.key(), entry)
        });
        Baseline { entries: entries.collect() }
    }

    /// The text of the file, ending in a line break. The same findings give the same bytes.
    pub fn write(&self) -> String {
        let mut text = format!("{{\n  \"schema\": {},\n  \"findings\": [", quoted(SCHEMA));
        for (at, entry) in self.entries.values().enumerate() {
            text.push_str(if at == 0 { "\n" } else { ",\n" });
            let subject = entry.subject.as_ref().map(|s| format!("\"subject\": {}, ", quoted(s)));
            text.push_str(&format!(
                "    {{ \"id\": {}, {}\"kind\": {}, \"message\": {} }}",
                quoted(&entry.id),
                subject.unwrap_or_default(),
                quoted(&entry.kind),
                quoted(&entry.message)
            ));
        }
        text.push_str(if self.entries.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        text
    }

    /// Sorted by id.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &BaselineEntry> {
        self.entries.values()
    }

    /// Whether the finding is known: with its subject, or by its id in an older file.
    pub fn contains(&self, finding: &Finding) -> bool {
        self.entries.contains_key(&finding.key()) || self.entries.contains_key(&finding.id)
    }

    /// Separates what is new in `report` from what is known, keeping the order. The ids must be
    /// assigned. A finding with several members ([`Finding::also`]) is taken apart: each member is
    /// new or known by its own id.
    pub fn split(&self, report: &Report) -> Split {
        let (known, new) = report
            .findings
            .iter()
            .cloned()
            .flat_map(cause::apart)
            .partition(|finding| self.contains(finding));
        let seen: BTreeSet<String> =
            report.findings.iter().flat_map(members).flat_map(|f| [f.id.clone(), f.key()]).collect();
        let stale =
            self.entries.iter().filter(|(key, _)| !seen.contains(*key)).map(|(_, e)| e.clone()).collect();
        Split { new, known, stale }
    }
}

/// The finding itself and those with the same cause.
fn members(finding: &Finding) -> impl Iterator<Item = &Finding> {
    std::iter::once(finding).chain(&finding.also)
}

#[derive(Deserialize)]
struct Header {
    schema: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    findings: Vec<BaselineEntry>,
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BaselineError::Malformed { file, reason } => {
                write!(f, "{file}: the baseline cannot be read: {reason}; write it anew or restore it")
            }
            BaselineError::NotABaseline { file } => {
                write!(f, "{file}: not a baseline file; expected `\"schema\": \"{SCHEMA}\"`")
            }
            BaselineError::Version { file, found } => write!(
                f,
                "{file}: the baseline has version `{}`, and this raddle reads `{SCHEMA}`; write it anew or use the raddle that wrote it",
                found.escape_debug()
            ),
        }
    }
}

impl std::error::Error for BaselineError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccessOp, Kind};
    use crate::sample::{access, finding, frame};

    fn report(functions: &[&str]) -> Report {
        let mut report = Report::new("run", vec!["./a.out".into()]);
        report.findings = functions
            .iter()
            .map(|name| {
                finding(Kind::DataRace, vec![access(AccessOp::Write, "T1", vec![frame(name, "a.c", 2, 1)])])
            })
            .collect();
        report
    }

    #[test]
    fn what_is_written_is_read_and_nothing_is_new() {
        let report = report(&["f", "g", "h"]);
        let baseline = Baseline::load("b", &Baseline::of(&report).write()).unwrap();
        let split = baseline.split(&report);
        assert_eq!((split.new.len(), split.known.len(), split.stale.len()), (0, 3, 0));
        let empty = Baseline::default();
        assert_eq!(Baseline::load("b", &empty.write()).unwrap(), empty);
    }

    #[test]
    fn new_known_and_stale() {
        let baseline = Baseline::of(&report(&["f", "gone"]));
        let now = report(&["new", "f"]);
        let split = baseline.split(&now);
        assert_eq!(split.new, now.findings[..1]);
        assert_eq!(split.known, now.findings[1..]);
        assert_eq!(split.stale.len(), 1);
        assert_eq!(split.stale[0].id, report(&["gone"]).findings[0].id);
    }

    #[test]
    fn a_new_reader_of_a_known_cause_is_new() {
        let race = |reader: &str| {
            let ends = vec![
                access(AccessOp::Write, "T1", vec![frame("tick", "a.c", 2, 1)]),
                access(AccessOp::Read, "T2", vec![frame(reader, "a.c", 9, 8)]),
            ];
            let mut race = finding(Kind::DataRace, ends);
            race.location = Some(crate::sample::global("now"));
            race
        };
        let of = |readers: &[&str]| {
            let mut report = Report::new("run", vec![]);
            report.findings = cause::together(crate::group::group(readers.iter().map(|r| race(r)).collect()));
            assert_eq!(report.findings.len(), 1);
            report
        };
        let baseline = Baseline::of(&of(&["show", "print"]));
        assert_eq!(baseline.entries().len(), 2);
        let again = baseline.split(&of(&["print", "show"]));
        assert_eq!((again.new.len(), again.known.len(), again.stale.len()), (0, 2, 0));
        let more = baseline.split(&of(&["print", "show", "log"]));
        assert_eq!((more.new.len(), more.known.len()), (1, 2));
        assert_eq!(more.new[0].accesses[1].stack[0].function.as_deref(), Some("log"));
    }

    #[test]
    fn the_order_of_findings_does_not_show() {
        assert_eq!(
            Baseline::of(&report(&["f", "g", "h"])).write(),
            Baseline::of(&report(&["h", "f", "g"])).write()
        );
    }

    #[test]
    fn one_line_a_finding_whatever_the_message() {
        let mut report = report(&["f"]);
        report.findings[0].message = "a \"b\"\n\tc \\ \u{1b}".into();
        let text = Baseline::of(&report).write();
        assert_eq!(text.lines().count(), 6, "{text}");
        let read = Baseline::load("b", &text).unwrap();
        assert_eq!(read.entries().next().unwrap().message, "a \"b\" c \\ \u{1b}");
    }

    #[test]
    fn errors_say_what_to_do() {
        let error = |text| Baseline::load("base.json", text).unwrap_err();
        assert!(matches!(error("{"), BaselineError::Malformed { .. }));
        assert!(error("{").to_string().starts_with("base.json: the baseline cannot be read: EOF"));
        assert!(
            error("{\n\"schema\": \"raddle.baseline/1\", \"findings\": [{}] }")
                .to_string()
                .contains("line 2")
        );
        assert_eq!(error("{}"), BaselineError::NotABaseline { file: "base.json".into() });
        assert_eq!(
            error(r#"{"schema":"raddle.findings/1"}"#).to_string(),
            "base.json: not a baseline file; expected `\"schema\": \"raddle.baseline/1\"`"
        );
        assert_eq!(
            error(r#"{"schema":"raddle.baseline/2","entries":{}}"#),
            BaselineError::Version { file: "base.json".into(), found: "raddle.baseline/2".into() }
        );
    }
}
