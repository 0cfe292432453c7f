//! One way to run a target, for every command.
//!
//! ```text
//! install, embedded       the runtime that raddle carries, unpacked
//! glibc                   whether it loads on this system
//! session_folder          a private folder that driver and runtimes share
//! questions               what runtimes ask through it, and the answers
//! target, program         what is to be run, and whether raddle can watch it
//! relocated               the code of a program that is not instrumented, copied with probes
//! launch, openmp          a process of the target, signals, waiting
//! interrupt               Ctrl-C while a search is under way
//! detection               a run under the race detector, from its options to its findings
//! collect                 the logs of a session: processes, modules, stacks, threads, raw findings
//! worker, crew            a process whose threads the runtime schedules: orders in, traces out
//! watch, shared_file      what is recorded of an execution besides its steps
//! verdict, monitors       how an execution ended: passed, or which failure
//! gaps, unseen            why executions may exist that no schedule leads to
//! check                   what to look for in an execution that ended well
//! describe                a failure as a finding: places, names, locks held, the table
//! schedule, schedule_files  the `.raddle` file, and where it is written
//! point_code              what the machine code says about scheduling points
//! processor_time          whether a process computes or is stuck
//! cases                   the tests of a test program
//! places, rust_sites      addresses as functions, lines and variables; sites in Rust's std
//! say, threads            sentences on stderr; threads of the driver
//! ```
//!
//! Commands ask for runs and judge them. Only this crate knows how to make a run. It knows nothing
//! of command lines, terminals or exit statuses.

pub mod cases;
pub mod check;
pub mod collect;
pub mod crew;
pub mod describe;
pub mod detection;
mod embedded;
pub mod gaps;
pub mod glibc;
pub mod install;
pub mod interrupt;
pub mod launch;
#[doc(hidden)]
pub mod made_up;
pub mod monitors;
mod openmp;
pub mod places;
pub mod point_code;
pub mod processor_time;
pub mod program;
pub mod questions;
pub mod relocated;
pub mod rust_sites;
pub mod say;
pub mod schedule;
pub mod schedule_files;
pub mod session_folder;
mod shared_file;
pub mod target;
pub mod threads;
pub mod unseen;
pub mod verdict;
pub mod watch;
pub mod worker;
