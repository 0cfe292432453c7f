//! How many planted thread-safety violations `raddle tsvd` finds, and at what price: section 5 of the TSVD paper (SOSP
//! 2019) over the programs of `corpus/tsvd`.
//!
//! 1. **A series is a way to run the tool**: a policy and its parameters, for so many runs. Each program is run so often
//!    with one trap file, so that each run has what the one before learned, and nothing of another series. Not every program
//!    is run in every series: see [`plan`].
//! 2. **Ground truth is planted.** The paper had to take what all tools found together for all there is. Here the pairs are
//!    in the programs' comments, so a finding that is none of them is a false report, and there must be none.
//! 3. **Overhead is time over time**: the target's own, from its start to its end with the tool's preparation in it, over
//!    the native time of the same program on the same machine in the same hour; natives and series take turns.
//! 4. **The record is kept as it grows** and is gone on with: what is in the file already is not run again. So a bench of
//!    an hour can be made in parts, and one that is interrupted loses one program of one series. The tables and plots can be
//!    made from the record alone. What in it was measured of an earlier version of the algorithm is left out, and that is said.
//!
//! [`program`] reads the suite, [`series`] says what to run, [`plan`] how much of it, [`bench`] runs it, [`record`] is what is kept, [`figures`]
//! is the arithmetic, [`report`] and [`plot`] what a person reads.

pub mod bench;
pub mod figures;
pub mod options;
pub mod plan;
pub mod plot;
pub mod program;
pub mod record;
pub mod report;
pub mod series;
