//! What every command of raddle gives to its user: findings, with both (or all) ends of each.
//!
//! The JSON of a [`Report`] is the contract of `raddle.findings/1`: the fields named there keep
//! their names and meaning; others may be added.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the JSON document.
pub const SCHEMA: &str = "raddle.findings/1";

/// Key of `stats`: how many findings a suppression file removed.
pub const STAT_SUPPRESSED: &str = "suppressed";
/// Key of `stats`: what was examined, as a sentence at the end of a report.
pub const STAT_LOOKED_AT: &str = "looked_at";

/// Key of `stats`: how many findings were left out because the baseline has them.
pub const STAT_BASELINE: &str = "baseline";

/// One run of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// The subcommand of raddle: `run`.
    pub command: String,
    /// The command line of the examined program.
    pub target: Vec<String>,
    /// Flat: numbers, booleans and strings only.
    pub stats: BTreeMap<String, Stat>,
    /// After grouping, no two share an id.
    pub findings: Vec<Finding>,
    /// What could happen and was neither shown nor ruled out, likeliest first, grouped by cause.
    /// These are not findings: they count for nothing, and are present only on request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<Finding>,
    /// Sentences about what was examined and how it ended, for a reader who sees that nothing was
    /// found.
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
    /// A count, or a time in the unit that its key names.
    Int(i64),
    /// A ratio or a time; never NaN or infinite, which JSON cannot hold.
    Float(f64),
    /// Whether something holds of the whole run.
    Bool(bool),
    /// A name or a sentence.
    Text(String),
}

/// One bug.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The same in every run: made of kind and places, never of addresses. Filled in by
    /// [`crate::identity`].
    pub id: String,
    /// The files or the command that the finding is about, if several programs of a project are
    /// examined ([`crate::subject`]). The id and the subject together identify one bug of the
    /// project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What goes wrong.
    pub kind: Kind,
    /// Whether it was seen to happen.
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
    /// The name of the broken contract. Given if another contract could be broken at the same
    /// places: then it is part of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The signal handler in which it happens, if the finding is about what handlers may do. The
    /// findings of one handler have one cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The threads that `accesses` and `location` mention, and where each was created.
    #[serde(default)]
    pub threads: Vec<ThreadInfo>,
    /// The locks that `accesses` name.
    #[serde(default)]
    pub locks: Vec<Lock>,
    /// The execution in which it happens, if there is one to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleaving: Option<Interleaving>,
    /// All steps of that execution, for a reader who wants more than the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// One paragraph for a reader who does not know raddle: what goes wrong, in which order, and
    /// what would fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The commands of raddle that suspected it or saw it, if several looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detectors: Vec<String>,
    /// From `hunt`: how the suspicion was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Settlement>,
    /// The test in which it was found, if a suite was run test by test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// What people decided about it, if the report comes from a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triage: Option<Triage>,
    /// How often it was seen.
    #[serde(default)]
    pub occurrences: u64,
    /// Further sentences for the reader: what could not be restored, what would confirm it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Further findings with the same cause, each complete and with its own id ([`crate::cause`]).
    /// `occurrences` includes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Finding>,
}

impl Finding {
    /// A finding seen once, without ends and id.
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
            handler: None,
            threads: Vec::new(),
            locks: Vec::new(),
            interleaving: None,
            timeline: None,
            explanation: None,
            detectors: Vec::new(),
            verdict: None,
            test: None,
            triage: None,
            occurrences: 1,
            notes: Vec::new(),
            also: Vec::new(),
        }
    }

    /// The key under which a finding is stored and decided:
    /// `assertion-0123456789abcdef@build/queue_test`, or the id alone without a subject.
    pub fn key(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{}@{subject}", self.id),
            None => self.id.clone(),
        }
    }
}

/// An execution as a table with one column per thread and one row per step, in order from top to
/// bottom. It has only the steps that matter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Interleaving {
    /// What the thread of each of [`Finding::accesses`] does there: ``waits for L2 `b` ``. Empty:
    /// see the access.
    pub deeds: Vec<String>,
    /// The columns, by [`ThreadInfo::label`].
    pub threads: Vec<String>,
    /// In the order of the execution.
    pub rows: Vec<Row>,
}

/// An execution step by step, with the locks that were held in between.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The lanes, by [`ThreadInfo::label`].
    pub threads: Vec<String>,
    /// How many steps came before the first of `steps`.
    #[serde(default)]
    pub left_out: u64,
    /// The places of the steps, each once.
    pub frames: Vec<Frame>,
    /// In the order in which they happened.
    pub steps: Vec<TimelineStep>,
    /// Which locks were held in the meantime, in no order.
    #[serde(default)]
    pub held: Vec<LockSpan>,
}

/// A step of a [`Timeline`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineStep {
    /// The lane.
    pub thread: usize,
    /// ``locks L1 `a` ``
    pub text: String,
    /// Where it is, in [`Timeline::frames`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<usize>,
    /// Its number in the schedule, from 0. `None`: it is not a step of the scheduler, such as a
    /// racing access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// What was read or written, if known: `3`, or `2 → 3` for a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// One of the steps that explain the finding.
    #[serde(default, skip_serializing_if = "is_false")]
    pub matters: bool,
    /// Whether the thread of the step before could have continued.
    #[serde(default, skip_serializing_if = "is_false")]
    pub preempts: bool,
}

/// A lock while a thread holds it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LockSpan {
    /// [`Lock::label`].
    pub lock: String,
    /// The variable that is the lock, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The lane.
    pub thread: usize,
    /// The first step with the lock, in [`Timeline::steps`]; 0 if it was taken before them.
    pub from: usize,
    /// The step that releases it. None: it is held to the end.
    pub until: Option<usize>,
    /// Held for reading, together with others.
    #[serde(default, skip_serializing_if = "is_false")]
    pub read: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A step of an execution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The column.
    pub thread: usize,
    /// ``locks L1 `a` ``
    pub text: String,
    /// The code that makes the step. `None`: it is in no code of the program.
    pub frame: Option<Frame>,
    /// The thread of the row above could have continued, and this one ran in its place.
    pub preempts: bool,
    /// How often in succession.
    pub times: u64,
}

/// What goes wrong. [`Kind::explanation`] has the sentence for the reader, [`Kind::name`] the word
/// in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Two unordered accesses to the same memory, at least one of them a write.
    DataRace,
    /// Another thread's access came between two that belong together.
    AtomicityViolation,
    /// A cycle in the order in which threads take locks; none of them need have waited.
    LockOrder,
    /// Threads that wait for each other, seen waiting or inferred to be able to.
    Deadlock,
    /// Threads that keep running without progress.
    Livelock,
    /// A thread that spins without yielding and so can keep out the one it waits for.
    Starvation,
    /// Two overlapping calls that a library's contract forbids to overlap.
    ThreadSafetyViolation,
    /// A failed assertion, a panic that unwound, or an uncaught exception.
    Assertion,
    /// A fatal signal, or abort.
    Crash,
    /// No progress until the time was up.
    Hang,
    /// The program ended with a status other than zero.
    ExitStatus,
    /// An access to memory that was freed.
    UseAfterFree,
    /// A block that is freed twice.
    DoubleFree,
    /// A thread or a block that is never released.
    Leak,
    /// A thread locks a non-recursive lock that it holds.
    DoubleLock,
    /// A thread unlocks a lock that it does not hold.
    UnlockNotHeld,
    /// A thread ends, or a lock is destroyed, with the lock held.
    LockLeak,
    /// A signal handler calls a function that is not async-signal-safe.
    SignalUnsafeCall,
    /// A signal handler changes `errno` and does not restore it.
    SignalSpoilsErrno,
    /// The program reports an error under another schedule.
    ErrorMessage,
    /// The program prints another value under another schedule.
    Output,
    /// A value breaks a rule that it kept in all passing runs.
    Invariant,
    /// A read that no write need precede.
    UninitializedRead,
    /// The output differs from one schedule to another.
    NonDeterminism,
    /// `ANNOTATE_EXPECT_RACE` named an address on which no race was found.
    ExpectedRaceMissing,
}

/// How much is known about whether the finding is real.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// An argument says that it can happen.
    Suspected,
    /// Raddle saw it happen.
    Confirmed,
}

/// How a suspicion was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Settlement {
    /// It was seen to happen.
    Confirmed,
    /// It cannot happen.
    Refuted,
    /// Neither was shown.
    Open,
}

/// What people decided about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Triage {
    /// `fixed`, `benign`, `wontfix`, or `regression` for one that was seen after it was fixed.
    pub decision: String,
    /// The reason, in the words of the person who decided.
    pub reason: String,
}

/// One end of a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// What the thread does.
    pub op: AccessOp,
    /// Bytes; 0 where it does not apply.
    pub size: u64,
    /// `T2 (worker)`, as in [`ThreadInfo::label`].
    pub thread: String,
    /// Labels of [`Lock`]s held, `L1`; a lock held for reading is `L1 (read)`.
    pub locks: Vec<String>,
    /// The label of the lock of [`AccessOp::Lock`] or [`AccessOp::Unlock`]; `None` for every other operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// Innermost first. Empty when the history no longer reaches back that far.
    pub stack: Vec<Frame>,
}

/// What a thread does at one end of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessOp {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// A load by an atomic operation that writes nothing.
    AtomicRead,
    /// A store or a read-modify-write by an atomic operation.
    AtomicWrite,
    /// Frees a block of memory.
    Free,
    /// Obtains a block of memory.
    Allocate,
    /// Acquires a lock while holding others: one edge of a lock-order cycle.
    Lock,
    /// Releases a lock.
    Unlock,
    /// Calls a function that a contract or a signal handler forbids there.
    Call,
}

/// One call of a stack. Calls that the compiler inlined have their own frames.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Demangled. `None`: the module has no symbol there.
    pub function: Option<String>,
    /// The name in the debug information. `None`: there is none.
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1.
    pub column: Option<u32>,
    /// File name of the executable or library.
    pub module: Option<String>,
    /// Offset within the module, for frames without debug information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The first line of the function, so that the id survives edits above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function_line: Option<u32>,
}

/// What an address belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Location {
    /// A global or static variable.
    Global {
        /// Demangled.
        name: String,
        /// Bytes from the start of the variable to the address.
        offset: u64,
        /// Bytes of the whole variable; 0 if the symbol has none.
        size: u64,
        /// File name of the executable or library that has it.
        module: String,
        /// Where it is declared, if debug information says so.
        file: Option<String>,
        /// The line of the declaration.
        line: Option<u32>,
    },
    /// A heap block.
    Heap {
        /// Bytes from the start of the block to the address.
        offset: u64,
        /// The requested bytes.
        size: u64,
        /// The label of the thread that allocated it.
        thread: String,
        /// Where it was allocated, innermost first.
        stack: Vec<Frame>,
    },
    /// The stack of a thread.
    Stack {
        /// Its label.
        thread: String,
    },
    /// Thread-local storage of a thread.
    Tls {
        /// Its label.
        thread: String,
    },
    /// Anything else that is mapped.
    Mapped {
        /// What is mapped there: a file, or a word in brackets.
        name: String,
    },
    /// Not memory but a file descriptor.
    Descriptor {
        /// The program's number for it.
        number: u64,
    },
}

/// A thread that a finding mentions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// `T2 (worker)`; `T0 (main)` is the main thread.
    pub label: String,
    /// What the program calls it, without the number.
    pub name: Option<String>,
    /// The label of the thread that created it. None for the main thread.
    pub created_by: Option<String>,
    /// Where it was created, innermost first.
    pub stack: Vec<Frame>,
    /// False: it had ended when the finding was made.
    pub running: bool,
}

/// A lock that a finding mentions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lock {
    /// `L1`.
    pub label: String,
    /// What it is: `mutex`, `rwlock`, `spinlock`, `std::sync::Mutex`, `annotated lock`.
    pub what: String,
    /// A global's name and offset, if known.
    pub name: Option<String>,
    /// Where it was taken, once for each access that held it.
    pub taken: Vec<Taken>,
}

/// One acquisition of a lock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// The label of the thread that took it.
    pub thread: String,
    /// Where, innermost first.
    pub stack: Vec<Frame>,
}
