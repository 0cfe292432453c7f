//! What `raddle conseq` finds, compared with `raddle run`, an atomicity-violation detector and
//! itself with critical reads off; and what it costs.
//!
//! This follows section 10 of the ConSeq paper (Zhang et al., ASPLOS 2011): its tables 3 and 4
//! (found, and false), 5 (sites and reads), 6 (time and size), section 10.3 (MaxDistance 1 to 5)
//! and 10.4 (the tester). The programs are those of `corpus/conseq`, each with its correct twin.
//!
//! 1. **Found** means that the failure that the program's own comment expects is confirmed, with a
//!    schedule that replays. For the other columns, a race or an atomicity violation counts
//!    wherever it is, which is in their favour.
//! 2. **False** means any confirmed finding on a correct twin. For the columns that confirm
//!    nothing, it means any finding at all.
//! 3. **Overhead** covers all executions of a traced run, including one that learns what is shared,
//!    compared with the plain program built by the same compiler. Process start and stop are in
//!    both. The kernels are those of the race detector's bench, at their reduced size: at the quick
//!    size, both times are those of starting a process. A traced run is scheduled, so it uses one
//!    processor where the plain program uses several; that is part of the cost. Reading the trace
//!    counts as analysis.

pub mod options;
pub mod report;
pub mod suite;

pub use options::ConseqOptions;
pub use suite::{SuiteRecord, run};
