//! What `raddle hunt` knows about a program: suspicions, evidence and verdicts.
//!
//! Every detector of raddle can *suspect*: `run` from locksets and lock orders, `check` from the
//! source, `conseq` from slices, `tsvd` from near misses. Only an execution can *confirm*. This
//! crate keeps the two apart.
//!
//! ```text
//! detectors ── suspicion ──► Ledger ── queue, by worth ──► settler (in crate `raddle`)
//!                              ▲                                    │
//!                              └── confirmed / witnessed / space ◄──┘
//! ```
//!
//! - [`target`]: a suspicion: two or more places, a variable or locks, and what would show it.
//!   Suspicions with one cause are one target, which names every detector that raised it.
//! - [`ledger`]: all targets and all confirmed findings, and how evidence changes them.
//! - [`plan`]: which target is settled first, and how the time is divided.
//! - [`control`]: whether a schedule decides how the program ends, or something else does.
//! - [`explain`]: a confirmed finding in one paragraph.
//!
//! # Verdicts
//!
//! A target is **confirmed** if an execution showed it and a second execution, in a fresh process,
//! showed it again. It is **refuted** if something rules it out: all schedules of the program were
//! executed and watched for it. Otherwise it is **open**, with a list of what was tried. Executing
//! only some of the schedules, however many, refutes nothing. An open target is **explained** if
//! its detector says what spoke against it in the executions that it made. That proves nothing, and
//! is counted apart.
//!
//! Invariants, checked by the property tests of [`ledger`]:
//! - Evidence may arrive in any order: the verdicts are the same.
//! - A confirmed target stays confirmed. A refuted target that an execution then shows is
//!   confirmed: an observation outweighs an argument.
//! - Nothing that only one process has seen is confirmed.
//! - A space (all schedules of one program) refutes only what its executions were watched for, and
//!   nothing that only the source shows: the program may not come to these places with these
//!   arguments.
//! - An argument is about the suspicion that it came with. Another suspicion of the same cause
//!   without one leaves the target open.
//!
//! The crate is pure: it opens no file, starts no thread, reads no clock.

pub mod control;
pub mod explain;
pub mod ledger;
pub mod plan;
pub mod target;

pub use ledger::{Confirmed, Counts, Ledger, Space, Verdict};
pub use target::{Argument, Detector, Goal, Target};
