//! Which buffer is checked when.
//!
//! One check runs at a time. An edit cancels it. After a pause, the edited buffer is checked first,
//! then the other open buffers, because code that they share with it may have changed. Time is a
//! parameter, so tests need no clock.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub struct CheckSchedule {
    waiting: VecDeque<PathBuf>,
    running: Option<Running>,
    /// No check begins before this.
    rest: Option<Instant>,
    generation: u64,
}

#[derive(Debug)]
struct Running {
    generation: u64,
    path: PathBuf,
    cancel: Arc<AtomicBool>,
}

/// A check that may begin.
#[derive(Debug)]
pub struct Turn {
    pub generation: u64,
    pub path: PathBuf,
    pub cancel: Arc<AtomicBool>,
}

impl CheckSchedule {
    /// Schedules checks of the buffers `first` and `others`, in this order, after a pause.
    pub fn edited(
        &mut self,
        first: Option<PathBuf>,
        others: impl Iterator<Item = PathBuf>,
        now: Instant,
        rest: Duration,
    ) {
        self.cancel();
        // Buffers whose check was cut off get another turn.
        let before: Vec<PathBuf> =
            self.running.iter().map(|r| r.path.clone()).chain(self.waiting.drain(..)).collect();
        for path in first.into_iter().chain(others).chain(before) {
            if !self.waiting.contains(&path) {
                self.waiting.push_back(path);
            }
        }
        self.rest = Some(now + rest);
    }

    /// Handles a closed buffer: cancels its check.
    pub fn closed(&mut self, path: &Path) {
        self.waiting.retain(|waiting| waiting != path);
        if self.running.as_ref().is_some_and(|running| running.path == path) {
            self.cancel();
        }
    }

    fn cancel(&self) {
        if let Some(running) = &self.running {
            running.cancel.store(true, Ordering::Relaxed);
        }
    }

    /// The time of the next check, if nothing else happens.
    pub fn due(&self) -> Option<Instant> {
        if self.running.is_some() || self.waiting.is_empty() { None } else { self.rest }
    }

    /// The next check, if one may begin now.
    pub fn next(&mut self, now: Instant) -> Option<Turn> {
        if self.running.is_some() || self.rest.is_some_and(|rest| now < rest) {
            return None;
        }
        let path = self.waiting.pop_front()?;
        self.generation += 1;
        let cancel = Arc::new(AtomicBool::new(false));
        self.running =
            Some(Running { generation: self.generation, path: path.clone(), cancel: cancel.clone() });
        Some(Turn { generation: self.generation, path, cancel })
    }

    /// Whether an answer refers to the current buffers.
    pub fn is_current(&self, generation: u64) -> bool {
        let running = self.running.as_ref().filter(|running| running.generation == generation);
        running.is_some_and(|running| !running.cancel.load(Ordering::Relaxed))
    }

    /// Handles the end of a check.
    pub fn ended(&mut self, generation: u64) {
        self.running.take_if(|running| running.generation == generation);
    }
}

impl Drop for CheckSchedule {
    fn drop(&mut self) {
        self.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: Duration = Duration::from_millis(40);

    struct Clock(CheckSchedule, Instant);

    impl Clock {
        fn new() -> Clock {
            Clock(CheckSchedule::default(), Instant::now())
        }
        fn edit(&mut self, first: &str, others: &[&str]) {
            let others = others.iter().map(PathBuf::from);
            self.0.edited(Some(first.into()), others, self.1, REST);
        }
        fn wait(&mut self, milliseconds: u64) {
            self.1 += Duration::from_millis(milliseconds);
        }
        fn turn(&mut self) -> Option<Turn> {
            self.0.next(self.1)
        }
    }

    #[test]
    fn nothing_begins_before_the_rest_is_over() {
        let mut clock = Clock::new();
        assert!(clock.turn().is_none() && clock.0.due().is_none());
        clock.edit("a", &[]);
        assert_eq!(clock.0.due(), Some(clock.1 + REST));
        clock.wait(39);
        assert!(clock.turn().is_none());
        clock.edit("a", &[]);
        clock.wait(39);
        assert!(clock.turn().is_none(), "each keystroke begins it anew");
        clock.wait(1);
        assert_eq!(clock.turn().unwrap().path, Path::new("a"));
        assert!(clock.turn().is_none(), "one at a time");
    }

    #[test]
    fn an_edit_cancels_what_runs_and_goes_first() {
        let mut clock = Clock::new();
        clock.edit("a", &["b"]);
        clock.wait(40);
        let turn = clock.turn().unwrap();
        assert!(clock.0.is_current(turn.generation));
        clock.edit("b", &["a"]);
        assert!(turn.cancel.load(Ordering::Relaxed));
        assert!(!clock.0.is_current(turn.generation), "its answers are about the past");
        clock.wait(40);
        assert!(clock.turn().is_none(), "it has not stopped yet");
        clock.0.ended(turn.generation);
        let order: Vec<_> = std::iter::from_fn(|| {
            let turn = clock.turn()?;
            clock.0.ended(turn.generation);
            Some(turn.path)
        })
        .collect();
        assert_eq!(order, [Path::new("b"), Path::new("a")]);
    }

    #[test]
    fn who_was_cut_off_has_his_turn_again() {
        let mut clock = Clock::new();
        clock.edit("a", &[]);
        clock.wait(40);
        let turn = clock.turn().unwrap();
        clock.edit("b", &[]);
        clock.wait(40);
        clock.0.ended(turn.generation);
        let turn = clock.turn().unwrap();
        assert_eq!(turn.path, Path::new("b"));
        clock.0.ended(turn.generation);
        assert_eq!(clock.turn().unwrap().path, Path::new("a"));
    }

    #[test]
    fn a_closed_buffer_is_not_checked() {
        let mut clock = Clock::new();
        clock.edit("a", &["b"]);
        clock.0.closed(Path::new("b"));
        clock.wait(40);
        let turn = clock.turn().unwrap();
        clock.0.closed(Path::new("a"));
        assert!(turn.cancel.load(Ordering::Relaxed));
        clock.0.ended(turn.generation);
        assert!(clock.turn().is_none());
    }
}
