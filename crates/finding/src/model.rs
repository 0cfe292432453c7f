//! What every command of raddle hands to its user: findings, with both (or all) ends of each.
//!
//! The JSON of a [`Report`] is the contract of `raddle.findings/1`: the fields named there keep
//! their names and meaning; others may be added.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the JSON document.
pub const SCHEMA: &str = "raddle.findings/1";

/// Key of `stats`: how many findings a suppression file took out.
pub const STAT_SUPPRESSED: &str = "suppressed";
/// The key of `stats` for what was looked at, as a sentence that a report ends with.
pub const STAT_LOOKED_AT: &str = "looked_at";

/// Key of `stats`: how many findings were left out because the baseline knows them.
pub const STAT_BASELINE: &str = "baseline";

/// One run of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub schema: String,
    pub command: String,
    pub target: Vec<String>,
    /// Flat: numbers, booleans and strings only.
    pub stats: BTreeMap<String, Stat>,
    pub findings: Vec<Finding>,
    /// What could happen and was neither shown nor ruled out, the likeliest first, those with one
    /// cause together. Not findings: they count for nothing, and are there only if they were asked
    /// for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<Finding>,
    /// Sentences about what was looked at and how it ended, for who reads that nothing was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coverage: Vec<String>,
}

impl Report {
    /// An empty report of `command` on `target`.
    pub fn new(command: impl Into<String>, target: Vec<String>) -> Report {
        Report {
            schema: SCHEMA.to_owned(),
            command: command.into(),
            target,
            stats: BTreeMap::new(),
            findings: Vec::new(),
            suspects: Vec::new(),
            coverage: Vec::new(),
        }
    }
}

/// A value of `stats`.
#[derive(Debug, Clone, PartialEq)]
pub enum Stat {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
}

/// One bug.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable from run to run: kind and places, never addresses. Filled in by [`crate::identity`].
    pub id: String,
    /// The files or the command that the finding is about, where several programs of a project are
    /// looked at ([`crate::subject`]). The id and the subject together name one bug of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    pub kind: Kind,
    pub confidence: Confidence,
    /// One sentence.
    pub message: String,
    /// The file that replays it.
    pub schedule: Option<String>,
    /// A race has two, the later one first: `[0]` is now, `[1]` is earlier. A lock-order cycle has
    /// one for each edge, in the order of the cycle.
    pub accesses: Vec<Access>,
    /// What the racing address is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// The contract that was broken, by name. Given where another one could be broken at the same
    /// places: it is then part of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The threads that `accesses` and `location` name, with where each was created.
    #[serde(default)]
    pub threads: Vec<Thread>,
    /// The locks that `accesses` name.
    #[serde(default)]
    pub locks: Vec<Lock>,
    /// The execution in which it happens, where there is one to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleaving: Option<Interleaving>,
    /// One paragraph for a reader who does not know raddle: what goes wrong, in which order, and
    /// what would mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The commands of raddle that suspected it or saw it, where several looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detectors: Vec<String>,
    /// How often it was seen.
    #[serde(default)]
    pub occurrences: u64,
    /// Further sentences for the reader: what could not be restored, what would confirm it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Further findings with the same cause, each whole and with an id of its own
    /// ([`crate::cause`]). They are counted in `occurrences`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Finding>,
}

impl Finding {
    /// A finding seen once, with no end yet and no id.
    pub fn new(kind: Kind, confidence: Confidence, message: impl Into<String>) -> Finding {
        Finding {
            id: String::new(),
            subject: None,
            kind,
            confidence,
            message: message.into(),
            schedule: None,
            accesses: Vec::new(),
            location: None,
            contract: None,
            threads: Vec::new(),
            locks: Vec::new(),
            interleaving: None,
            explanation: None,
            detectors: Vec::new(),
            occurrences: 1,
            notes: Vec::new(),
            also: Vec::new(),
        }
    }

    /// What the finding is stored and decided by: `assertion-0123456789abcdef@build/queue_test`, or
    /// the id alone without a subject.
    pub fn key(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{}@{subject}", self.id),
            None => self.id.clone(),
        }
    }
}

/// An execution as a table with one column a thread and one row a step, from top to bottom as it
/// happened. Only the steps that matter are in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Interleaving {
    /// What the thread of each of [`Finding::accesses`] does there: ``waits for L2 `b` ``. Empty:
    /// as the access says.
    pub deeds: Vec<String>,
    /// The columns, by [`Thread::label`].
    pub threads: Vec<String>,
    pub rows: Vec<Row>,
}

/// A step of an execution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The column.
    pub thread: usize,
    /// ``locks L1 `a` ``
    pub text: String,
    pub frame: Option<Frame>,
    /// The thread of the row above could have gone on, and this one was let run in its place.
    pub preempts: bool,
    /// How often in a row.
    pub times: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    DataRace,
    AtomicityViolation,
    LockOrder,
    Deadlock,
    Livelock,
    Starvation,
    ThreadSafetyViolation,
    Assertion,
    Crash,
    Hang,
    ExitStatus,
    UseAfterFree,
    DoubleFree,
    Leak,
    DoubleLock,
    UnlockNotHeld,
    LockLeak,
    SignalUnsafeCall,
    SignalSpoilsErrno,
    ErrorMessage,
    Output,
    Invariant,
    UninitializedRead,
    NonDeterminism,
    /// `ANNOTATE_EXPECT_RACE` named an address on which no race was found.
    ExpectedRaceMissing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    Suspected,
    Confirmed,
}

/// One end of a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Access {
    pub op: Op,
    /// Bytes; 0 where it makes no sense.
    pub size: u64,
    /// `T2 (worker)`, as in [`Thread::label`].
    pub thread: String,
    /// Labels of [`Lock`]s held, `L1`; a lock held for reading is `L1 (read)`.
    pub locks: Vec<String>,
    /// The label of the lock that [`Op::Lock`] or [`Op::Unlock`] is about; None for every other
    /// operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// Innermost first. Empty when the history no longer reaches back that far.
    pub stack: Vec<Frame>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
    Free,
    Allocate,
    /// Acquires a lock while holding others: one edge of a lock-order cycle.
    Lock,
    Unlock,
    Call,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// File name of the executable or library.
    pub module: Option<String>,
    /// Offset within the module, for frames without debug information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The first line of the function, so that an identity survives edits above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function_line: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Location {
    /// A global or static variable.
    Global { name: String, offset: u64, size: u64, module: String, file: Option<String>, line: Option<u32> },
    /// A heap block.
    Heap { offset: u64, size: u64, thread: String, stack: Vec<Frame> },
    /// The stack of a thread.
    Stack { thread: String },
    /// Thread-local storage of a thread.
    Tls { thread: String },
    /// Anything else that is mapped.
    Mapped { name: String },
    /// No memory: a file descriptor.
    Descriptor { number: u64 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// `T2 (worker)`; `T0 (main)` is the main thread.
    pub label: String,
    pub name: Option<String>,
    /// The label of the thread that created it, and where. None for the main thread.
    pub created_by: Option<String>,
    pub stack: Vec<Frame>,
    /// False: it had ended when the finding was made.
    pub running: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lock {
    /// `L1`.
    pub label: String,
    /// What it is: `mutex`, `rwlock`, `spinlock`, `std::sync::Mutex`, `annotated lock`.
    pub what: String,
    /// A global's name and offset, where known.
    pub name: Option<String>,
    /// Where it was taken, innermost first; one for each access that held it.
    pub taken: Vec<Taken>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    pub thread: String,
    pub stack: Vec<Frame>,
}
