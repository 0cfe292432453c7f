//! What a user can set. docs/editors.md documents each setting.

use std::collections::BTreeMap;
use std::time::Duration;

use lsp_types::DiagnosticSeverity;
use raddle_check::Budget;
use raddle_check::interp::Bounds;
use raddle_finding::{Confidence, Finding};
use serde::Deserialize;
use serde_json::Value;

/// Settings for the client that share the section.
const CLIENT_KEYS: &[&str] = &["server", "trace"];

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct EditorSettings {
    /// Check C files as the user types.
    pub enable: bool,
    /// Which files are checked together.
    pub scope: CheckScope,
    pub bounds: BoundsSettings,
    pub severity: Severity,
    /// Milliseconds without an edit before a check begins.
    pub debounce: u64,
    /// The server skips buffers and files with more bytes than this.
    pub largest_file: usize,
    /// Show what other commands have found.
    pub stored: bool,
    pub code_lens: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckScope {
    /// The file together with the files of its program: those of compile_commands.json, else those
    /// of its folder.
    Program,
    /// The file alone.
    File,
}

/// Bounds of a check; see [`Budget`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct BoundsSettings {
    /// Steps of the first, quick check.
    pub quick_steps: u64,
    /// Steps of the thorough check after it. 0 turns it off.
    pub steps: u64,
    /// Steps of one run.
    pub run_steps: u64,
    /// Runs from one entry.
    pub runs: u32,
    /// Bytes of the simulated heap.
    pub heap: usize,
    pub seed: u64,
}

/// How a finding is shown: by its kind if listed, else by its confidence.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Severity {
    pub confirmed: Level,
    pub suspected: Level,
    /// By the names of kinds: `data-race`, `deadlock`, …
    pub kinds: BTreeMap<String, Level>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    Error,
    Warning,
    Information,
    Hint,
    Off,
}

impl Default for EditorSettings {
    fn default() -> Self {
        Self {
            enable: true,
            scope: CheckScope::Program,
            bounds: BoundsSettings::default(),
            severity: Severity::default(),
            debounce: 40,
            largest_file: 4 << 20,
            stored: true,
            code_lens: true,
        }
    }
}

impl Default for BoundsSettings {
    fn default() -> Self {
        let (quick, full) = (Budget::interactive(), Budget::default());
        Self {
            quick_steps: quick.steps,
            steps: full.steps,
            run_steps: full.run.steps,
            runs: full.runs,
            heap: full.run.heap,
            seed: full.seed,
        }
    }
}

impl Default for Severity {
    fn default() -> Self {
        Self { confirmed: Level::Error, suspected: Level::Warning, kinds: BTreeMap::new() }
    }
}

impl EditorSettings {
    /// Reads what a client sends: the settings themselves, or an object that has them under
    /// `raddle`.
    pub fn parse(value: &Value) -> Result<EditorSettings, String> {
        let own = value.get("raddle").unwrap_or(value);
        if own.is_null() {
            return Ok(EditorSettings::default());
        }
        let mut own = own.clone();
        if let Some(keys) = own.as_object_mut() {
            // VS Code also sends the settings for its extension.
            keys.retain(|key, _| !CLIENT_KEYS.contains(&key.as_str()));
        }
        serde_json::from_value(own).map_err(|why| format!("raddle's settings are not used: {why}"))
    }

    pub fn debounce(&self) -> Duration {
        Duration::from_millis(self.debounce.min(10_000))
    }

    /// The budget of the quick check.
    pub fn quick(&self) -> Budget {
        let bounds = &self.bounds;
        let quick = Budget::interactive();
        let run = Bounds { steps: quick.run.steps.min(bounds.run_steps), heap: bounds.heap, ..quick.run };
        Budget {
            run,
            steps: bounds.quick_steps,
            runs: quick.runs.min(bounds.runs),
            seed: bounds.seed,
            ..quick
        }
    }

    /// The budget of the thorough check.
    pub fn full(&self) -> Budget {
        let bounds = &self.bounds;
        let full = Budget::default();
        let run = Bounds { steps: bounds.run_steps, heap: bounds.heap, ..full.run };
        Budget { run, steps: bounds.steps, runs: bounds.runs, seed: bounds.seed, ..full }
    }

    /// The severity of a finding. None: the finding is not shown.
    pub fn severity(&self, finding: &Finding) -> Option<DiagnosticSeverity> {
        let by_confidence = match finding.confidence {
            Confidence::Confirmed => self.severity.confirmed,
            Confidence::Suspected => self.severity.suspected,
        };
        match self.severity.kinds.get(finding.kind.name()).copied().unwrap_or(by_confidence) {
            Level::Error => Some(DiagnosticSeverity::ERROR),
            Level::Warning => Some(DiagnosticSeverity::WARNING),
            Level::Information => Some(DiagnosticSeverity::INFORMATION),
            Level::Hint => Some(DiagnosticSeverity::HINT),
            Level::Off => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::Kind;
    use serde_json::json;

    #[test]
    fn what_is_not_set_keeps_its_default() {
        let settings =
            EditorSettings::parse(&json!({ "bounds": { "steps": 5 }, "scope": "file", "debounce": 7 }))
                .unwrap();
        assert_eq!(
            (settings.full().steps, settings.scope, settings.debounce().as_millis()),
            (5, CheckScope::File, 7)
        );
        assert_eq!(settings.quick().steps, Budget::interactive().steps);
        assert_eq!(EditorSettings::parse(&Value::Null).unwrap(), EditorSettings::default());
        let others = json!({ "server": { "path": "raddle" }, "trace": { "server": "off" } });
        assert_eq!(EditorSettings::parse(&others).unwrap(), EditorSettings::default());
        assert!(!EditorSettings::parse(&json!({ "raddle": { "enable": false } })).unwrap().enable);
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (value, named) in [
            (json!({ "scope": "world" }), "world"),
            (json!({ "bounds": { "steps": -1 } }), "-1"),
            (json!({ "severty": {} }), "severty"),
            (json!(3), "3"),
        ] {
            let why = EditorSettings::parse(&value).unwrap_err();
            assert!(why.contains(named), "{why}");
        }
    }

    #[test]
    fn severity_is_by_kind_then_by_confidence() {
        let settings =
            json!({ "severity": { "suspected": "hint", "kinds": { "deadlock": "error", "leak": "off" } } });
        let settings = EditorSettings::parse(&settings).unwrap();
        let of = |kind, confidence| settings.severity(&Finding::new(kind, confidence, ""));
        assert_eq!(of(Kind::DataRace, Confidence::Confirmed), Some(DiagnosticSeverity::ERROR));
        assert_eq!(of(Kind::DataRace, Confidence::Suspected), Some(DiagnosticSeverity::HINT));
        assert_eq!(of(Kind::Deadlock, Confidence::Suspected), Some(DiagnosticSeverity::ERROR));
        assert_eq!(of(Kind::Leak, Confidence::Confirmed), None);
    }

    #[test]
    fn a_run_of_the_quick_check_is_no_longer_than_any() {
        let settings =
            EditorSettings::parse(&json!({ "bounds": { "runSteps": 10, "runs": 3, "heap": 99 } })).unwrap();
        let quick = settings.quick();
        assert_eq!((quick.run.steps, quick.runs, quick.run.heap), (10, 3, 99));
    }
}
