//! What the machine found, in its own terms: instructions and addresses. `report` turns it into
//! findings.

use raddle_finding::{AccessOp, Kind};

/// One end of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawAccess {
    pub op: AccessOp,
    pub size: u32,
    pub thread: usize,
    /// Innermost first.
    pub stack: Vec<u32>,
    pub locks: Vec<RawHeld>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawHeld {
    pub lock: u64,
    pub shared: bool,
    pub stack: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawThread {
    pub index: usize,
    pub function: u32,
    pub parent: Option<usize>,
    pub stack: Vec<u32>,
    pub running: bool,
    pub handler: bool,
    pub timer: bool,
}

/// A part of an object with a class: a named field or element, or the whole object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectPart {
    pub class: u32,
    pub name: Option<String>,
}

/// Where an address lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawPlace {
    Global { index: usize, offset: u32 },
    Heap { offset: u32, size: u32, thread: usize, stack: Vec<u32>, part: Option<ObjectPart> },
    Stack { thread: usize, function: u32, offset: u32 },
    Tls { thread: usize, offset: u32 },
    Unknown,
}

/// The key by which a finding is counted: its kind, and the instructions at its ends.
pub type FindingKey = (Kind, u32, u32);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawFinding {
    pub kind: Kind,
    pub key: FindingKey,
    pub accesses: Vec<RawAccess>,
    pub address: Option<u64>,
    pub place: RawPlace,
    pub threads: Vec<RawThread>,
    /// The places of the locks that accesses mention, for their names.
    pub locks: Vec<(u64, RawPlace)>,
    /// For each access of a deadlock, what it waits for, in words. For other kinds, what else the
    /// reader should know.
    pub waits: Vec<String>,
    /// The entry of the run, and its seed.
    pub entry: super::EntryStart,
    pub seed: u64,
}
