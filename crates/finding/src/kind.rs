//! The name and meaning of each kind of finding, in one table, so that a SARIF rule, an HTML
//! heading and a terminal line say the same.

use std::fmt;

use crate::model::{AccessOp, Confidence, Kind};

impl Kind {
    /// Every kind, in the order of the enum.
    pub const ALL: [Kind; 25] = [
        Kind::DataRace,
        Kind::AtomicityViolation,
        Kind::LockOrder,
        Kind::Deadlock,
        Kind::Livelock,
        Kind::Starvation,
        Kind::ThreadSafetyViolation,
        Kind::Assertion,
        Kind::Crash,
        Kind::Hang,
        Kind::ExitStatus,
        Kind::UseAfterFree,
        Kind::DoubleFree,
        Kind::Leak,
        Kind::DoubleLock,
        Kind::UnlockNotHeld,
        Kind::LockLeak,
        Kind::SignalUnsafeCall,
        Kind::SignalSpoilsErrno,
        Kind::ErrorMessage,
        Kind::Output,
        Kind::Invariant,
        Kind::UninitializedRead,
        Kind::NonDeterminism,
        Kind::ExpectedRaceMissing,
    ];

    /// The name in JSON, in ids and in the documentation: `data-race`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::DataRace => "data-race",
            Kind::AtomicityViolation => "atomicity-violation",
            Kind::LockOrder => "lock-order",
            Kind::Deadlock => "deadlock",
            Kind::Livelock => "livelock",
            Kind::Starvation => "starvation",
            Kind::ThreadSafetyViolation => "thread-safety-violation",
            Kind::Assertion => "assertion",
            Kind::Crash => "crash",
            Kind::Hang => "hang",
            Kind::ExitStatus => "exit-status",
            Kind::UseAfterFree => "use-after-free",
            Kind::DoubleFree => "double-free",
            Kind::Leak => "leak",
            Kind::DoubleLock => "double-lock",
            Kind::UnlockNotHeld => "unlock-not-held",
            Kind::LockLeak => "lock-leak",
            Kind::SignalUnsafeCall => "signal-unsafe-call",
            Kind::SignalSpoilsErrno => "signal-spoils-errno",
            Kind::ErrorMessage => "error-message",
            Kind::Output => "output",
            Kind::Invariant => "invariant",
            Kind::UninitializedRead => "uninitialized-read",
            Kind::NonDeterminism => "non-determinism",
            Kind::ExpectedRaceMissing => "expected-race-missing",
        }
    }

    /// The name in words: `data race`.
    pub fn title(self) -> String {
        match self {
            Kind::ThreadSafetyViolation => "thread-safety violation".into(),
            Kind::NonDeterminism => "non-determinism".into(),
            Kind::UseAfterFree => "use after free".into(),
            Kind::ExitStatus => "failing exit status".into(),
            Kind::LockOrder => "lock-order cycle".into(),
            Kind::SignalUnsafeCall => "unsafe call in a signal handler".into(),
            Kind::SignalSpoilsErrno => "signal handler spoils errno".into(),
            Kind::Assertion => "failed assertion".into(),
            Kind::Invariant => "broken invariant".into(),
            Kind::Output => "wrong output".into(),
            Kind::ErrorMessage => "error message".into(),
            other => other.name().replace('-', " "),
        }
    }

    /// What it means, for someone who sees it for the first time.
    pub fn explanation(self) -> &'static str {
        match self {
            Kind::DataRace => {
                "Two threads access the same memory, at least one of them writes, and nothing orders the two accesses."
            }
            Kind::AtomicityViolation => {
                "Operations that belong together were interleaved with another thread's access to the same data."
            }
            Kind::LockOrder => {
                "Threads take the same locks in different orders; under another interleaving each waits for the next for ever."
            }
            Kind::Deadlock => "Threads wait for each other in a circle, and none can go on.",
            Kind::Livelock => "Threads keep reacting to each other and none makes progress.",
            Kind::Starvation => {
                "A thread spins without yielding, and the thread it waits for need not be scheduled."
            }
            Kind::ThreadSafetyViolation => {
                "Two threads were inside calls that the library forbids to overlap."
            }
            Kind::Assertion => "An assertion failed, a Rust panic unwound, or an exception was not caught.",
            Kind::Crash => "The program was ended by a fatal signal or by abort.",
            Kind::Hang => "The program made no progress until its time was up.",
            Kind::ExitStatus => "The program ended with a status that says it failed.",
            Kind::UseAfterFree => "Memory is accessed after it was freed.",
            Kind::DoubleFree => "The same block is freed twice.",
            Kind::Leak => "A thread or a block of memory is never given back.",
            Kind::DoubleLock => "A thread locks a lock that it already holds and that does not allow it.",
            Kind::UnlockNotHeld => "A thread unlocks a lock that it does not hold.",
            Kind::LockLeak => "A thread ends, or a lock is destroyed, while the lock is still held.",
            Kind::SignalUnsafeCall => {
                "A signal handler calls a function that is not async-signal-safe; it may have interrupted that very function."
            }
            Kind::SignalSpoilsErrno => {
                "A signal handler changes errno and does not restore it; the code that it interrupts may read the wrong error."
            }
            Kind::ErrorMessage => "An error message can appear under another interleaving.",
            Kind::Output => "A wrong value can be printed under another interleaving.",
            Kind::Invariant => "A value left the range that it kept in the passing runs.",
            Kind::UninitializedRead => "A value is read that no thread need have written yet.",
            Kind::NonDeterminism => "The output differs between schedules.",
            Kind::ExpectedRaceMissing => {
                "The program announced a race with ANNOTATE_EXPECT_RACE, and none was found there."
            }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Confidence::Suspected => "suspected",
            Confidence::Confirmed => "confirmed",
        })
    }
}

impl fmt::Display for AccessOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            AccessOp::Read => "read",
            AccessOp::Write => "write",
            AccessOp::AtomicRead => "atomic read",
            AccessOp::AtomicWrite => "atomic write",
            AccessOp::Free => "free",
            AccessOp::Allocate => "allocation",
            AccessOp::Lock => "lock",
            AccessOp::Unlock => "unlock",
            AccessOp::Call => "call",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_one_in_json() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }

    #[test]
    fn all_lists_each_kind_once() {
        let mut names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Kind::ALL.len());
    }

    #[test]
    fn explanations_are_sentences() {
        for kind in Kind::ALL {
            assert!(kind.explanation().ends_with('.'), "{kind}");
            assert!(!kind.title().is_empty());
        }
    }
}
