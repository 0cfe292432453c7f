//! `raddle run`: watch a program, and every instrumented process it starts, for data races and lock-order cycles.
//!
//! ```text
//! target    what is to be run, and whether raddle can watch it
//! session   the folder through which driver and runtimes talk; plans; the memory limit
//! launch    start, signals, wait
//! collect   logs back into processes: modules, stacks, threads, raw findings
//! explain   raw findings into findings: places, names, locks, cycles
//! ```
//!
//! What becomes of the findings then is the same for every command: [`crate::report`].

pub mod args;
pub mod collect;
pub mod explain;
pub mod launch;
mod openmp;
pub mod session;
pub mod target;
mod tsan_options;

pub use args::{Args, Options};

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use raddle_finding::Stat;

use crate::report::{Settler, TextTo};

/// Runs the target and reports what was found.
pub fn run(args: Args) -> Result<ExitCode> {
    let begun = Instant::now();
    let options = tsan_options::merge(args.options, std::env::var("TSAN_OPTIONS").ok().as_deref());
    // Everything that can be wrong with the request is found out before the target runs.
    let settler = Settler::new(&options.report, TextTo::Stderr)?;
    let program = target::find(&args.command)?;
    let runtime = crate::install::Runtime::open()?;
    let session = session::Session::open(&options)?;

    let status = launch::run(&program, &args.command, &runtime, &session)?;
    let served = session.close();
    let processes = collect::read(served.dir())?;
    target::complain(&program, &processes)?;
    let left = processes.iter().filter(|p| p.is_running()).count();
    if left > 0 {
        eprintln!("raddle: {left} watched process(es) still run; what they do from now on is not reported");
    }

    let mut report = explain::report(&args.command, &processes, &options);
    report.stats.insert("seconds".into(), Stat::Float(begun.elapsed().as_secs_f64()));
    report.stats.insert("processes_left".into(), Stat::Int(left as i64));
    report.stats.insert("target_status".into(), Stat::Int(status.code() as i64));
    // As if raddle had not been there. A status of 256 and more does not exist.
    settler.settle(report, status.code() as u8)
}
