//! The processor time of a process and its children. It distinguishes a thread that computes from
//! one that is stuck in a call.

use std::time::{Duration, Instant};

/// Tells a process that computes from one that is stuck, by looks at it now and then.
///
/// On a busy machine a process that computes may get no processor for seconds. But then it waits
/// for one: it is runnable, which a process that is stuck is not.
pub struct Activity {
    /// The processor time at the last sign of activity, and when that was.
    used: u64,
    at: Instant,
    /// How often it was looked at since, and how often it was runnable.
    looks: u32,
    runnable: u32,
}

impl Activity {
    /// More ticks than this are a sign: even a process that waits is woken now and then.
    const NOTHING: u64 = 2;
    /// Fewer looks than this say nothing, however long they took: the caller may have had no
    /// processor either.
    const LEAST_LOOKS: u32 = 10;

    pub fn new(at: Instant) -> Activity {
        Activity { used: 0, at, looks: 0, runnable: 0 }
    }

    /// The caller has seen that it does something.
    pub fn moves(&mut self, at: Instant) {
        *self = Activity { used: self.used, ..Activity::new(at) };
    }

    /// Looks at it. Whether it has used the processor within the last `patience`, or wanted to.
    pub fn look(&mut self, pid: u32, patience: Duration) -> bool {
        self.note(ticks(pid), is_runnable(pid), Instant::now(), patience)
    }

    fn note(&mut self, used: u64, is_runnable: bool, now: Instant, patience: Duration) -> bool {
        if used > self.used + Activity::NOTHING {
            *self = Activity { used, ..Activity::new(now) };
            return true;
        }
        self.looks += 1;
        self.runnable += u32::from(is_runnable);
        if now.saturating_duration_since(self.at) <= patience || self.looks < Activity::LEAST_LOOKS {
            return true;
        }
        // One that polls is runnable now and then.
        let computes = self.runnable > self.looks / 2;
        if computes {
            self.moves(now);
        }
        computes
    }
}

/// In ticks of the kernel's clock: 100 per second on every Linux for x86-64. A process that cannot
/// be read counts as 0.
pub fn ticks(pid: u32) -> u64 {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below: u64 = children.split_whitespace().filter_map(|c| c.parse().ok()).map(ticks).sum();
    below + own(pid).unwrap_or(0)
}

fn own(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = fields(&stat)?.collect();
    fields.get(11..15)?.iter().map(|f| f.parse::<u64>().ok()).sum()
}

/// Whether a thread of the process, or of a child, runs or waits for a processor.
fn is_runnable(pid: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok()).any(|s| is_running(&s))
        || children.split_whitespace().filter_map(|c| c.parse().ok()).any(is_runnable)
}

fn is_running(stat: &str) -> bool {
    fields(stat).and_then(|mut fields| fields.next()) == Some("R")
}

/// The fields of a `stat` that follow the name, which may contain anything.
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.rsplit_once(')')?.1.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_processor_time() {
        let before = ticks(std::process::id());
        let mut n = 1u64;
        while ticks(std::process::id()) < before + 2 {
            for _ in 0..1_000_000 {
                n = std::hint::black_box(n).wrapping_mul(3);
            }
        }
        assert_eq!(ticks(u32::MAX), 0);
    }

    #[test]
    fn a_process_is_runnable_while_it_computes_and_not_while_it_sleeps() {
        use std::process::{Command, Stdio};
        assert!(is_runnable(std::process::id()), "it reads this");
        assert!(!is_runnable(u32::MAX));
        // It waits for its input.
        let mut waits = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        while is_runnable(waits.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        waits.kill().unwrap();
        waits.wait().unwrap();
        assert!(is_running("7 (a) b) R 1") && !is_running("7 (a R) S 1") && !is_running("R"));
    }

    #[test]
    fn one_that_wants_a_processor_is_not_stuck_and_neither_is_one_that_was_not_looked_at() {
        let (begun, patience) = (Instant::now(), Duration::from_secs(1));
        let after = |seconds: f64| begun + Duration::from_secs_f64(seconds);
        let looks = |every: usize, is_late: bool| {
            let mut activity = Activity::new(begun);
            let at = |i: usize| if is_late { after(9.0) } else { after(i as f64 * 0.1) };
            (1..30).map(|i| activity.note(2, i % every == 0, at(i), patience)).position(|computes| !computes)
        };
        assert_eq!(looks(1, false), None, "it gets no processor");
        assert_eq!(looks(100, false), Some(10), "it is stuck");
        assert_eq!(looks(5, false), Some(10), "it polls");
        assert_eq!(looks(100, true), Some(9), "who looks for the first time in long cannot know");
        let mut activity = Activity::new(begun);
        assert!((0..30).all(|i| activity.note(3 * i, false, after(i as f64), patience)), "it computes");
    }
}
