//! What a process leaves for the driver: one record a line, as JSON.

use raddle_tsvd::PairState;
use serde::{Deserialize, Serialize};

/// Of this format.
pub const VERSION: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// Comes first.
    Begin {
        version: u32,
        pid: u32,
        /// Its version, as it says itself.
        runtime: Option<String>,
    },
    /// A call site that is watched now.
    Site {
        number: u32,
        /// Holds from build to build: the file, the method it is in, what it calls, which of those
        /// calls.
        name: String,
        callee: String,
        write: bool,
        place: Place,
    },
    /// Something that is not watched: where it is, and what it is one of (`calls by reflection`).
    Unseen {
        what: String,
        why: String,
    },
    Violation(Violation),
}

/// Where in the user's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// `Namespace.Class.Method`, as the user wrote it.
    pub method: String,
    /// The file of the module.
    pub module: String,
    /// From the PDB, if there is one.
    pub file: Option<String>,
    pub line: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The class whose contract was broken.
    pub class: String,
    pub rule: String,
    pub documentation: String,
    /// The one that came, and the one that was held.
    pub ends: [End; 2],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub thread: u32,
    pub site: u32,
    /// Innermost first; the call itself is in the first.
    pub stack: Vec<Place>,
}

/// A pair that an earlier run has learned of, which the driver leaves for processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPair {
    /// By [`Record::Site::name`].
    pub sites: [String; 2],
    /// As the core has them.
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
        let place = Place { method: "App.Main".into(), module: "a.dll".into(), file: None, line: Some(3) };
        let end = |thread| End { thread, site: 1, stack: vec![place.clone()] };
        let violation = Violation {
            class: "List".into(),
            rule: "one at a time".into(),
            documentation: String::new(),
            ends: [end(1), end(2)],
        };
        for record in [
            Record::Begin { version: VERSION, pid: 4, runtime: Some("4.0".into()) },
            Record::Site {
                number: 0,
                name: "a.dll: App.Main calls List.Add #1".into(),
                callee: "List.Add".into(),
                write: true,
                place: place.clone(),
            },
            Record::Unseen { what: "x".into(), why: "y".into() },
            Record::Violation(violation),
        ] {
            let text = serde_json::to_string(&record).unwrap();
            assert!(!text.contains('\n'));
            assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
        }
    }
}
