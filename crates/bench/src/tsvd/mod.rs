//! How many planted thread-safety violations `raddle tsvd` finds, and at what cost: section 5 of
//! the TSVD paper (SOSP 2019) over the programs of `corpus/tsvd`.
//!
//! 1. **A series is a way to run the tool**: a policy and its parameters, for a number of runs. All
//!    these runs of a program share one trap file. So each run has what the previous ones learned,
//!    and nothing of another series. Not every program is run in every series: see [`plan`].
//! 2. **Ground truth is planted.** The paper had to assume that all tools together found
//!    everything. Here the pairs are in the programs' comments. A finding that is none of them is a
//!    false report, and there must be none.
//! 3. **Overhead is a ratio of times**: the target's own time, from its start to its end and
//!    including the tool's preparation, divided by the native time of the same program on the same
//!    machine in the same hour. Native runs and series take turns.
//! 4. **The record is saved as it grows**, and a later bench continues it: what is in the file
//!    already is not run again. So a bench of an hour can be made in parts, and an interrupted one
//!    loses one program of one series. The tables and plots can be made from the record alone.
//!    Results of an earlier version of the algorithm are left out, and the bench says so.
//!
//! [`program`] reads the suite, [`series`] says what to run, [`plan`] how much of it, and [`bench`]
//! runs it. [`record`] is what is stored, [`figures`] is the arithmetic, and [`report`] and
//! [`plot`] write for people.

pub mod bench;
pub mod figures;
pub mod options;
pub mod plan;
pub mod plot;
pub mod program;
pub mod record;
pub mod report;
pub mod series;
