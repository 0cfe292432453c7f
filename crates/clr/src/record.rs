//! What a process leaves for the driver: one record a line, as JSON.

use serde::{Deserialize, Serialize};

/// Of this format.
pub const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// Comes first.
    Begin {
        version: u32,
        pid: u32,
    },
    /// A call site that is watched now.
    Site {
        number: u32,
        callee: String,
        write: bool,
        place: Place,
    },
    /// Something that is not watched, and why.
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
            Record::Begin { version: VERSION, pid: 4 },
            Record::Site { number: 0, callee: "List.Add".into(), write: true, place: place.clone() },
            Record::Unseen { what: "x".into(), why: "y".into() },
            Record::Violation(violation),
        ] {
            let text = serde_json::to_string(&record).unwrap();
            assert!(!text.contains('\n'));
            assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
        }
    }
}
