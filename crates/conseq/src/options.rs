//! What to look for, and how far.

use serde::{Deserialize, Serialize};

use crate::analysis::SiteKind;

/// The paper's MaxDistance.
pub const MAX_DISTANCE: u32 = 4;

/// Options of [`crate::analyse`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// The kinds of sites wanted, `--sites`.
    pub kinds: Vec<SiteKind>,
    /// `--max-distance`.
    pub max_distance: u32,
    /// When a slice continues in the callers of a function.
    pub callers: Callers,
    /// The deepest nesting of calls that a slice follows.
    pub max_depth: u32,
    /// Functions of the program whose calls are sites.
    pub custom: CustomNames,
    /// Reads whose invariants make them sites: `CriticalRead::address` of each.
    pub invariants: Vec<u64>,
}

/// When a slice continues from the start of a function in its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callers {
    /// Never. A site in a function that only checks its arguments then has no critical reads.
    Never,
    /// If the site depends on no shared read of its own function or of what that calls. Such a
    /// function only checks or reports its arguments, and its callers matter.
    WhenNeeded,
    /// Always. This finds more reads and costs more.
    Always,
}

/// Names of reporting functions of the program, from `raddle.toml`: as declared, mangled,
/// demangled, or demangled without parameters, with `*` for any run of characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomNames {
    /// Calls that are sites of the kind [`SiteKind::Assert`].
    pub assert: Vec<String>,
    /// Calls that are sites of the kind [`SiteKind::Error`].
    pub error: Vec<String>,
    /// Calls that are sites of the kind [`SiteKind::Output`].
    pub output: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kinds: SiteKind::ALL.to_vec(),
            max_distance: MAX_DISTANCE,
            callers: Callers::WhenNeeded,
            max_depth: 3,
            custom: CustomNames::default(),
            invariants: Vec::new(),
        }
    }
}
