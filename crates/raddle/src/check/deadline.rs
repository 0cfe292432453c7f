//! The time limit of a whole `check`.
//!
//! Steps bound the work of each program, but not the time of all of them: a project may have
//! hundreds of programs, and a busy machine takes many times as long for a step. When the limit
//! passes, files that were not read and programs that were not begun are left out, the programs
//! that are being checked keep what they have found, and the report says all of that. A limit that
//! is not reached changes nothing, so the same seed still gives the same findings.
//!
//! Linking and the analyses before the first run of a program are not interrupted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub struct Deadline {
    begun: Instant,
    limit: Duration,
    passed: AtomicBool,
}

impl Deadline {
    pub fn after(seconds: f64) -> Self {
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Self { begun: Instant::now(), limit, passed: AtomicBool::new(false) }
    }

    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Whether the limit has passed. Once it has, it stays so.
    pub fn is_past(&self) -> bool {
        if self.begun.elapsed() >= self.limit {
            self.passed.store(true, Ordering::Relaxed);
        }
        self.passed.load(Ordering::Relaxed)
    }

    /// Does some work beside a thread that sets a flag when the limit passes. The flag is for code
    /// that has no clock.
    pub fn watch<T>(&self, work: impl FnOnce(&AtomicBool) -> T) -> T {
        let (done, ended) = (Mutex::new(false), Condvar::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut guard = done.lock().unwrap_or_else(PoisonError::into_inner);
                while !*guard && !self.is_past() {
                    let left = self.limit.saturating_sub(self.begun.elapsed());
                    guard = ended.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0;
                }
            });
            let _at_end = NotifyAtEnd { done: &done, ended: &ended };
            work(&self.passed)
        })
    }
}

/// Ends the watching thread, after a panic too: the scope waits for it.
struct NotifyAtEnd<'a> {
    done: &'a Mutex<bool>,
    ended: &'a Condvar,
}

impl Drop for NotifyAtEnd<'_> {
    fn drop(&mut self) {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.notify_all();
    }
}

/// What became of the programs of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProgramCounts {
    pub all: u64,
    /// Raddle itself failed on them.
    pub failed: u64,
    /// The time limit passed before or while they were checked.
    pub not_begun: u64,
    pub cut_short: u64,
}

impl ProgramCounts {
    /// What the time limit left out, for the report.
    pub fn left_by_time(&self, seconds: f64) -> Option<String> {
        let mut parts = Vec::new();
        for (n, what) in [(self.not_begun, "not checked"), (self.cut_short, "checked only in part")] {
            if n > 0 {
                parts.push(format!("{n} {what}"));
            }
        }
        (!parts.is_empty()).then(|| {
            let all = super::counted(self.all, "program", "programs");
            format!("the time limit of {seconds} s (--seconds) has passed: of {all} {}", parts.join(", "))
        })
    }

    pub fn left_by_failure(&self) -> Option<String> {
        (self.failed > 0).then(|| {
            let all = super::counted(self.all, "program", "programs");
            format!("raddle itself failed on {} of {all}", self.failed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_set_when_the_limit_passes_and_not_before() {
        let far = Deadline::after(1e9);
        assert!(!far.watch(|flag| flag.load(Ordering::Relaxed)) && !far.is_past());
        let near = Deadline::after(0.001);
        // Without the watching thread this would not end.
        near.watch(|flag| {
            while !flag.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
        assert!(near.is_past());
    }

    #[test]
    fn sentences_say_how_many_of_how_many() {
        let counts = ProgramCounts { all: 12, failed: 1, not_begun: 3, cut_short: 1 };
        assert_eq!(
            counts.left_by_time(300.0).unwrap(),
            "the time limit of 300 s (--seconds) has passed: of 12 programs 3 not checked, 1 checked only in part"
        );
        assert_eq!(counts.left_by_failure().unwrap(), "raddle itself failed on 1 of 12 programs");
        assert_eq!(ProgramCounts { all: 12, ..ProgramCounts::default() }.left_by_time(1.0), None);
    }
}
