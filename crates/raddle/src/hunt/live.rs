//! The live line: what a hunt is doing, on one line of a terminal that is overwritten. Without a
//! terminal there are only the plain lines of [`super::journal`].

use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use raddle_hunt::Counts;

use crate::report::{TextTo, terminal};
use raddle_harness::say::count;

const EVERY: Duration = Duration::from_millis(250);

/// The content of the line.
#[derive(Clone, Debug, Default)]
pub struct LiveLine {
    /// The number of the test, and how many there are.
    pub test: (usize, usize),
    pub name: String,
    /// What is being tried.
    pub what: String,
    pub confirmed: usize,
    /// The counts of the tests that are done, and of the current test.
    pub settled: Counts,
    pub present: Counts,
    pub until: Option<Instant>,
}

impl LiveLine {
    /// `test 3 of 40, queue::push: looking for consequences; 2 confirmed, 3 of 7 suspicions
    /// settled, 42 s left`. If that is wider than the terminal, the time stays visible.
    fn line(&self, now: Instant, width: usize) -> String {
        let mut text = String::new();
        if self.test.1 > 1 {
            text += &format!("test {} of {}, {}: ", self.test.0, self.test.1, self.name);
        }
        let (open, all) = (self.settled.open + self.present.open, self.settled.all() + self.present.all());
        text += &format!(
            "{}; {} confirmed, {} of {} settled",
            self.what,
            self.confirmed,
            all - open,
            count(all as u64, "suspicion", "suspicions")
        );
        let seconds = self.until.map(|until| until.saturating_duration_since(now).as_secs());
        let left = seconds.map_or(String::new(), |seconds| format!(", {seconds} s left"));
        // A name may contain codes that move the cursor.
        let text = raddle_finding::visible(&text);
        let text = shortened(&text, width.saturating_sub(left.len()));
        (text + &left).chars().take(width).collect()
    }
}

/// The first words of a text, as many as have room.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let Some(kept) = room.checked_sub("...".len()) else { return String::new() };
    let kept: String = text.chars().take(kept).collect();
    let words = kept.rsplit_once(' ').map_or(&*kept, |(words, _)| words);
    format!("{}...", words.trim_end_matches([',', ';', ':']))
}

/// The line while it is shown.
pub struct LiveView {
    view: Arc<Mutex<LiveLine>>,
    writer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl LiveView {
    /// `is_wanted`: somebody reads it. Shows nothing without a terminal.
    pub fn new(is_wanted: bool) -> LiveView {
        let view = Arc::new(Mutex::new(LiveLine { what: "begins".into(), ..LiveLine::default() }));
        let mut live = LiveView { view, writer: None };
        if is_wanted && terminal::has_live_line() {
            // The search's own live line would overwrite this one.
            crate::explore::hide_progress();
            let (view, (end, ended)) = (Arc::clone(&live.view), channel());
            let thread = std::thread::Builder::new().spawn(move || write(&view, &ended));
            // A hunt without the line is better than none.
            live.writer = thread.ok().map(|thread| (end, thread));
        }
        live
    }

    pub fn view(&self) -> MutexGuard<'_, LiveLine> {
        self.view.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn is_shown(&self) -> bool {
        self.writer.is_some()
    }

    /// Clears the line, so that a permanent line can be printed. The view stays locked until then.
    pub fn make_room(&self) -> MutexGuard<'_, LiveLine> {
        let view = self.view();
        if self.is_shown() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        view
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.writer.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

fn write(view: &Mutex<LiveLine>, ended: &Receiver<()>) {
    while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        // Written under the lock, so that it does not come between the parts of another line.
        let view = view.lock().unwrap_or_else(|e| e.into_inner());
        let width = terminal::width(TextTo::Stderr).saturating_sub(1);
        let _ = write!(std::io::stderr(), "\r\x1b[K{}", view.line(Instant::now(), width));
    }
    let _ = write!(std::io::stderr(), "\r\x1b[K");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_done_and_what_is_left() {
        let now = Instant::now();
        let mut view = LiveLine { what: "5 schedules searched".into(), confirmed: 2, ..LiveLine::default() };
        view.present = Counts { confirmed: 2, refuted: 1, explained: 0, open: 4 };
        assert_eq!(view.line(now, 100), "5 schedules searched; 2 confirmed, 3 of 7 suspicions settled");
        (view.test, view.name) = ((3, 40), "queue::push".into());
        (view.settled, view.until) =
            (Counts { refuted: 1, ..Counts::default() }, Some(now + Duration::from_secs(9)));
        assert_eq!(
            view.line(now, 100),
            "test 3 of 40, queue::push: 5 schedules searched; 2 confirmed, 4 of 8 suspicions settled, 9 s left"
        );
        assert_eq!(view.line(now, 40), "test 3 of 40, queue::push..., 9 s left");
        assert_eq!(view.line(now, 5), ", 9 s");
    }

    #[test]
    fn nothing_is_shown_to_nobody() {
        assert!(!LiveView::new(false).is_shown());
    }
}
