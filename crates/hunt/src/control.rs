//! A control experiment: does the schedule decide how an execution ends?
//!
//! A schedule fails, and by now the program also fails in ordinary runs, which it did not at first.
//! There are two explanations. Either the program has a bug that shows by itself, now and then or
//! nearly always; then the schedule is its proof. Or something that an earlier execution left
//! behind, such as a file that is half written, makes every execution fail; then the schedule
//! proves nothing. Ordinary runs cannot tell the two apart: a bug that shows in nine of ten runs
//! shows in many runs in a row.
//!
//! Executions under control can. They differ in nothing but their choices. So the schedule
//! and one that passes are executed in turns, each in a fresh process, in the order of
//! [`PATTERN`]. If each ends as before, then the choices decide: with what was left behind
//! alone, the other schedule would have failed too. A thing that comes and goes by itself would
//! have to come and go in this very order, which has no period.
//!
//! What remains possible is a failure that needs both the schedule and the thing that was left
//! behind. It is a bug all the same: the program fails in some schedules and passes in others, in a
//! state in which it puts itself.
//!
//! If no schedule passes, nothing is shown, and the failure stays open.

/// What an execution of the experiment follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// The schedule that fails.
    Failing,
    /// Another one, which has passed once.
    Passing,
}

use Followed::{Failing, Passing};

/// The executions of the experiment, in their order.
pub const PATTERN: [Followed; 8] = [Failing, Passing, Failing, Passing, Failing, Failing, Passing, Passing];

/// Whether the schedule decides, by whether each execution of [`PATTERN`] failed with the failure
/// in question. An execution that came to nothing, or that failed in another way, is `None`. The
/// experiment may end early; then nothing is shown.
pub fn decides(failed: &[Option<bool>]) -> bool {
    failed.len() == PATTERN.len()
        && PATTERN.iter().zip(failed).all(|(followed, failed)| *failed == Some(*followed == Failing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment(ends: impl Fn(usize, Followed) -> Option<bool>) -> bool {
        decides(&PATTERN.iter().enumerate().map(|(i, f)| ends(i, *f)).collect::<Vec<_>>())
    }

    #[test]
    fn the_schedule_decides_if_it_always_fails_and_the_other_never() {
        assert!(experiment(|_, followed| Some(followed == Failing)));
    }

    #[test]
    fn something_left_behind_decides_nothing() {
        assert!(!experiment(|_, _| Some(true)), "all executions fail by now");
        assert!(!experiment(|_, _| Some(false)), "it is gone again");
        for gone in 0..PATTERN.len() {
            assert!(!experiment(|i, _| Some(i < gone)), "it goes after {gone} executions");
            assert!(!experiment(|i, _| Some(i >= gone)), "it comes after {gone} executions");
        }
    }

    #[test]
    fn something_that_comes_and_goes_decides_nothing() {
        for period in 2..PATTERN.len() {
            for which in 0..1_u32 << period {
                assert!(!experiment(|i, _| Some(which >> (i % period) & 1 == 1)), "{period} {which:b}");
            }
        }
    }

    #[test]
    fn an_experiment_with_a_gap_decides_nothing() {
        for gap in 0..PATTERN.len() {
            assert!(!experiment(|i, followed| (i != gap).then_some(followed == Failing)), "{gap}");
            let short: Vec<_> = PATTERN[..gap].iter().map(|f| Some(*f == Failing)).collect();
            assert!(!decides(&short), "{gap}");
        }
    }
}
