//! The progress of a search: one line on a terminal that is overwritten.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::search::{Search, SearchClock, lock};
use crate::report::{TextTo, terminal};
use raddle_harness::say;

const EVERY: Duration = Duration::from_millis(250);

/// Another part of raddle shows its own line.
static HIDDEN: AtomicBool = AtomicBool::new(false);

/// Shows no line from now on.
pub fn hide() {
    HIDDEN.store(true, Ordering::Relaxed);
}

/// Writes the line until `ended` is closed. Without a terminal, writes nothing.
pub fn show(search: &Mutex<Search>, clock: &SearchClock, ended: &Receiver<()>) {
    if HIDDEN.load(Ordering::Relaxed) || say::is_quiet() || !terminal::has_live_line() {
        return;
    }
    while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        let left = clock.deadline.saturating_duration_since(Instant::now());
        let text = line(&lock(search), clock.begun.elapsed().as_secs_f64(), left);
        let text: String = text.chars().take(terminal::width(TextTo::Stderr).saturating_sub(1)).collect();
        let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
    }
    let _ = write!(std::io::stderr(), "\r\x1b[K");
}

/// `portfolio, 4310 a second, 42 s left: 5,310 schedules; bound 2: 1,204 made, 331 known to be
/// left, 62% done`
pub fn line(search: &Search, seconds: f64, left: Duration) -> String {
    let pace = search.schedules as f64 / seconds.max(0.001);
    let found = match search.failures.len() {
        0 => String::new(),
        n => format!(", {n} failing"),
    };
    // Without a time limit, decades are left.
    let left = match left.as_secs() {
        seconds if seconds < 1_000_000 => format!(", {seconds} s left"),
        _ => String::new(),
    };
    format!("{}, {pace:.0} a second{found}{left}: {}", search.strategy.name(), search.strategy.progress())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::search::Searcher;
    use raddle_harness::verdict::Usual;

    #[test]
    fn the_line_says_what_it_does_and_how_fast() {
        let strategy = Searcher::by_name("random", 1, raddle_explore::Limits::default()).unwrap();
        let mut search = Search::new(strategy, Usual::default(), None, false);
        search.schedules = 500;
        let left = Duration::from_secs(58);
        assert_eq!(line(&search, 2.0, left), "random, 250 a second, 58 s left: 0 schedules");
        assert_eq!(line(&search, 2.0, Duration::from_secs(1 << 30)), "random, 250 a second: 0 schedules");
    }
}
