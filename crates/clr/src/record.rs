//! What a process leaves for the driver: one JSON record per line.

use raddle_tsvd::PairState;
use serde::{Deserialize, Serialize};

/// The version of this format.
pub const VERSION: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClrRecord {
    /// The first record.
    Begin {
        version: u32,
        pid: u32,
        /// The version that the runtime reports.
        runtime: Option<String>,
    },
    /// A call site that is now watched.
    Site {
        number: u32,
        /// Stable across builds: the file, the containing method, the callee, and which of its
        /// calls.
        name: String,
        callee: String,
        write: bool,
        place: UserFrame,
    },
    /// Something that is not watched: where it is, and what kind it is (`calls by reflection`).
    Unseen {
        what: String,
        why: String,
    },
    Violation(ClrViolation),
}

/// A place in the user's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserFrame {
    /// `Namespace.Class.Method`, as the user wrote it.
    pub method: String,
    /// The file of the module.
    pub module: String,
    /// From the PDB, if there is one.
    pub file: Option<String>,
    pub line: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClrViolation {
    /// The class whose contract was violated.
    pub class: String,
    pub rule: String,
    pub documentation: String,
    /// The thread that arrived, and the one that was held.
    pub ends: [CallEnd; 2],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallEnd {
    pub thread: u32,
    pub site: u32,
    /// Innermost first; the first frame contains the call itself.
    pub stack: Vec<UserFrame>,
}

/// A pair learned in an earlier run, which the driver leaves for processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPair {
    /// By [`ClrRecord::Site::name`].
    pub sites: [String; 2],
    /// As in the core.
    pub probability: u32,
    pub gap: u32,
    pub state: KnownState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownState {
    Dangerous,
    Ordered,
    Decayed,
    Found,
}

impl From<KnownState> for PairState {
    fn from(state: KnownState) -> PairState {
        match state {
            KnownState::Dangerous => PairState::Dangerous,
            KnownState::Ordered => PairState::Ordered,
            KnownState::Decayed => PairState::Decayed,
            KnownState::Found => PairState::Found,
        }
    }
}

impl From<PairState> for KnownState {
    fn from(state: PairState) -> KnownState {
        match state {
            PairState::Dangerous => KnownState::Dangerous,
            PairState::Ordered => KnownState::Ordered,
            PairState::Decayed => KnownState::Decayed,
            PairState::Found => KnownState::Found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_there_and_back() {
        let place =
            UserFrame { method: "App.Main".into(), module: "a.dll".into(), file: None, line: Some(3) };
        let end = |thread| CallEnd { thread, site: 1, stack: vec![place.clone()] };
        let violation = ClrViolation {
            class: "List".into(),
            rule: "one at a time".into(),
            documentation: String::new(),
            ends: [end(1), end(2)],
        };
        for record in [
            ClrRecord::Begin { version: VERSION, pid: 4, runtime: Some("4.0".into()) },
            ClrRecord::Site {
                number: 0,
                name: "a.dll: App.Main calls List.Add #1".into(),
                callee: "List.Add".into(),
                write: true,
                place: place.clone(),
            },
            ClrRecord::Unseen { what: "x".into(), why: "y".into() },
            ClrRecord::Violation(violation),
        ] {
            let text = serde_json::to_string(&record).unwrap();
            assert!(!text.contains('\n'));
            assert_eq!(serde_json::from_str::<ClrRecord>(&text).unwrap(), record);
        }
    }
}
