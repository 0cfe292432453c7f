//! What `raddle conseq` finds, beside `raddle run`, an atomicity-violation detector and itself with critical reads off; and what it costs.
//!
//! After section 10 of the ConSeq paper (Zhang et al., ASPLOS 2011): its tables 3 and 4 (found, and false), 5 (sites and reads), 6 (time and
//! size), section 10.3 (MaxDistance 1 to 5) and 10.4 (the tester). The programs are those of `corpus/conseq`, each with its correct twin.
//!
//! 1. **Found** is what the program's own comment expects, confirmed, with a schedule that replays. A race or an atomicity violation counts
//!    for the other columns wherever it is: that is in their favour.
//! 2. **False** is anything confirmed on a correct twin; for the columns that confirm nothing, anything at all.
//! 3. **Overhead** is that of all executions of a traced run, one that learns what is shared included, against the plain program
//!    built by the same compiler; process start and stop are in both. The kernels are those of the race detector's bench, at their reduced
//!    size: at the quick one both times are those of starting a process. A traced run is scheduled, so it uses one processor where the
//!    plain program uses several: that is part of the price. Reading the trace counts as analysis.

pub mod options;
pub mod report;
pub mod suite;

pub use options::Options;
pub use suite::{Bench, run};
