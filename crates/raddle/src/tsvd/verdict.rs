//! The verdict of the tests themselves. A test that sleeps and then assumes that others are done
//! may fail because of one delay, which says nothing about the program under test. So a command
//! that failed in a run with delays runs once more without raddle, and that result is its verdict.
//! What was caught stays caught.
//!
//! Only the whole command can run again: raddle does not know what a test is.

use anyhow::Result;
use raddle_harness::say::{count, say};

/// How the runs of a command ended.
#[derive(Debug, Default)]
pub struct CommandVerdict {
    failed: Option<Failed>,
}

/// The first run that failed.
#[derive(Debug, Clone, Copy)]
struct Failed {
    status: i32,
    delays: u64,
}

/// The status to return.
#[derive(Debug, PartialEq, Eq)]
pub struct Settled {
    pub status: i32,
    /// The status with delays, if it is not the verdict.
    pub delayed: Option<i32>,
}

impl CommandVerdict {
    /// Takes in a finished run. A test that fails in one run has failed.
    pub fn add(&mut self, status: i32, delays: u64) {
        if status != 0 && self.failed.is_none() {
            self.failed = Some(Failed { status, delays });
        }
    }

    /// `again` runs the command without raddle. `None` if that makes no sense.
    pub fn settle(self, again: Option<impl FnOnce() -> Result<i32>>) -> Result<Settled> {
        let Some(Failed { status, delays }) = self.failed else {
            return Ok(Settled { status: 0, delayed: None });
        };
        let Some(again) = again.filter(|_| delays > 0) else { return Ok(Settled { status, delayed: None }) };
        let made = count(delays, "delay", "delays");
        say!("the command failed (status {status}) with {made}: running it again without raddle");
        let own = again()?;
        if own == 0 {
            say!(
                "it failed with {made}, and passes without: some test depends on timing; raddle passes on its success"
            );
        } else {
            say!("it also fails without delays (status {own})");
        }
        Ok(Settled { status: own, delayed: Some(status) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(runs: &[(i32, u64)], own: i32) -> (Settled, bool) {
        let mut verdict = CommandVerdict::default();
        runs.iter().for_each(|(status, delays)| verdict.add(*status, *delays));
        let mut ran = false;
        let again = || {
            ran = true;
            Ok(own)
        };
        (verdict.settle(Some(again)).unwrap(), ran)
    }

    #[test]
    fn a_failure_with_delays_is_looked_at_again() {
        assert_eq!(settle(&[(3, 2)], 0), (Settled { status: 0, delayed: Some(3) }, true));
        assert_eq!(settle(&[(3, 2)], 4), (Settled { status: 4, delayed: Some(3) }, true));
    }

    #[test]
    fn one_without_delays_or_none_at_all_is_not() {
        assert_eq!(settle(&[(3, 0)], 0), (Settled { status: 3, delayed: None }, false));
        assert_eq!(settle(&[(0, 5), (0, 5)], 1), (Settled { status: 0, delayed: None }, false));
    }

    #[test]
    fn of_several_runs_the_first_that_failed_counts() {
        assert_eq!(settle(&[(0, 1), (3, 0), (4, 1)], 0), (Settled { status: 3, delayed: None }, false));
    }

    #[test]
    fn who_does_not_want_it_gets_the_first_verdict() {
        let mut verdict = CommandVerdict::default();
        verdict.add(3, 2);
        let none: Option<fn() -> Result<i32>> = None;
        assert_eq!(verdict.settle(none).unwrap(), Settled { status: 3, delayed: None });
    }
}
