//! A run under the race detector, from its options to its findings.

mod covered;
pub mod explain;
pub mod session;

use raddle_wire::config;

/// The detector's state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectorMode {
    /// Pure happens-before: no false report on correct code.
    Hb,
    /// Locksets as well: finds races that this run happened to order, may report false ones.
    Hybrid,
    /// Hybrid, but memory counts only once a second thread has accessed it.
    Fast,
}

impl DetectorMode {
    fn of_the_runtime(self) -> config::ConfigMode {
        match self {
            DetectorMode::Hb => config::ConfigMode::HappensBefore,
            DetectorMode::Hybrid => config::ConfigMode::Hybrid,
            DetectorMode::Fast => config::ConfigMode::Fast,
        }
    }
}

/// What to look for, and what to ignore.
#[derive(Clone, Debug)]
pub struct DetectionOptions {
    pub mode: DetectorMode,
    /// How much of the past is kept for the stack of the earlier access: 0 none, 2 most.
    pub history: u8,
    pub init_state: bool,
    /// The memory, in bytes, at which the detector's state is flushed.
    pub memory_limit: Option<u64>,
    pub lock_order: bool,
    pub mutex_bugs: bool,
    pub thread_leaks: bool,
    pub signal_bugs: bool,
    pub condvar_mutexes_order: bool,
    /// `fun:NAME`, `file:PATH`, `module:NAME`.
    pub ignore: Vec<String>,
    /// Whether to leave out calls of probes that another probe covers
    /// (`raddle_binary::flow::CoveredCall`).
    pub leave_out_covered: bool,
}

impl DetectionOptions {
    /// Looks for everything.
    pub fn new(mode: DetectorMode) -> DetectionOptions {
        DetectionOptions {
            mode,
            history: 1,
            init_state: false,
            memory_limit: None,
            lock_order: true,
            mutex_bugs: true,
            thread_leaks: true,
            signal_bugs: true,
            condvar_mutexes_order: false,
            ignore: Vec::new(),
            leave_out_covered: false,
        }
    }
}
