//! Doubts that keep a finding open although an execution showed it twice.

use raddle_finding::{Access, Finding, Kind, Row};
use raddle_harness::describe::waits::STANDS_STILL;

/// Why an execution that shows a finding twice does not prove it. `None`: it does.
pub fn doubt(finding: &Finding) -> Option<&'static str> {
    if needs_long_wait(finding) {
        return Some(TOO_LONG);
    }
    // It needed no particular interleaving, and yet the ordinary run did not fail.
    if finding.notes.iter().any(|n| n.starts_with("a traced run, in which nobody was preempted")) {
        return Some(ONLY_TRACED);
    }
    is_inside_std_sync(finding).then_some(INSIDE_STD)
}

/// The note for a failure of a plain traced run.
const ONLY_TRACED: &str = "a traced run without a preemption that failed, where the ordinary run did not";

/// The note for a race that [`is_inside_std_sync`].
const INSIDE_STD: &str = "a schedule in which types of std::sync seem to race with themselves: they order their accesses by means that were not seen";

/// Whether both ends of a race are inside a type of Rust's `std::sync`. These types order their own
/// accesses, whoever calls them.
fn is_inside_std_sync(finding: &Finding) -> bool {
    let inside = |access: &Access| {
        let own = access.stack.iter().take_while(|f| !raddle_finding::place::is_user_code(f));
        own.filter_map(|f| f.file.as_deref()).any(|file| file.contains("/library/std/src/sync/"))
    };
    finding.kind == Kind::DataRace && !finding.accesses.is_empty() && finding.accesses.iter().all(inside)
}

/// The note for a failure that [`needs_long_wait`].
const TOO_LONG: &str = "a schedule that leads to it, but lets threads that could go on stand still until a wait of seconds times out or a sleep ends";

/// Whether it needs waits of five seconds or more in all that time out. A thread may stand still
/// for a while, but nothing shows that it does for so long, once or repeatedly. All time-outs
/// count: a thread that waits for another process seems unable to run, but may be able to. Or, by a
/// note, whether a thread stands still until a sleep ends.
fn needs_long_wait(finding: &Finding) -> bool {
    const LONG: f64 = 5.0;
    let rows = finding.interleaving.as_ref().map_or(&[][..], |i| &i.rows);
    let waited: f64 = rows.iter().map(timed_out).sum();
    finding.notes.iter().any(|n| n.starts_with(STANDS_STILL)) || waited >= LONG
}

/// The seconds of the time-outs in a row of the interleaving, such as
/// `gives up waiting for word 1 after 10 s: time-out`.
fn timed_out(row: &Row) -> f64 {
    let after = row.text.strip_suffix(": time-out").and_then(|t| t.rsplit_once(" after "));
    let Some((number, unit)) = after.and_then(|(_, time)| time.split_once(' ')) else { return 0.0 };
    let seconds = match unit {
        "ns" => 1e-9,
        "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        // Minutes, hours and days: at least 60 s each.
        _ => 60.0,
    };
    row.times.max(1) as f64 * seconds * number.parse::<f64>().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::{AccessOp, Confidence, Frame, Interleaving};

    fn race(files: [&[&str]; 2]) -> Finding {
        let mut finding = Finding::new(Kind::DataRace, Confidence::Confirmed, "a race");
        for files in files {
            let frame = |file: &&str| Frame { file: Some((*file).into()), line: Some(1), ..Frame::default() };
            let stack = files.iter().map(frame).collect();
            let end = Access {
                op: AccessOp::Write,
                size: 4,
                thread: "T1".into(),
                locks: vec![],
                lock: None,
                stack,
            };
            finding.accesses.push(end);
        }
        finding
    }

    #[test]
    fn a_race_inside_a_channel_is_doubted_and_one_in_a_shared_vector_is_not() {
        let channel = [
            "/rustc/1/library/core/src/ptr/mod.rs",
            "/rustc/1/library/std/src/sync/mpmc/list.rs",
            "src/a.rs",
        ];
        let vector =
            ["/rustc/1/library/core/src/ptr/mod.rs", "/rustc/1/library/alloc/src/vec/mod.rs", "src/a.rs"];
        assert_eq!(doubt(&race([&channel, &channel])), Some(INSIDE_STD));
        assert_eq!(doubt(&race([&vector, &vector])), None);
        assert_eq!(doubt(&race([&channel, &vector])), None);
        // What user code does when std::sync calls it is the user's responsibility.
        assert_eq!(doubt(&race([&["src/a.rs", channel[1]], &["src/a.rs", channel[1]]])), None);
    }

    #[test]
    fn a_wait_that_times_out_after_long_is_doubted() {
        let repeated = |text: &str, times: u64| {
            let mut finding = Finding::new(Kind::Crash, Confidence::Confirmed, "it aborts");
            let rows = vec![Row { text: text.into(), times, ..Row::default() }];
            finding.interleaving = Some(Interleaving { rows, ..Interleaving::default() });
            doubt(&finding)
        };
        let with = |text: &str| repeated(text, 1);
        assert_eq!(with("gives up waiting for word 1 after 10 s: time-out"), Some(TOO_LONG));
        assert_eq!(with("gives up waiting after 2 days: time-out"), Some(TOO_LONG));
        assert_eq!(with("gives up waiting after 5 s: time-out"), Some(TOO_LONG));
        assert_eq!(with("gives up waiting for word 1 after 1 s: time-out"), None);
        assert_eq!(with("gives up waiting for word 1 after 50 ms: time-out"), None);
        assert_eq!(repeated("gives up waiting after 1 s: time-out", 10), Some(TOO_LONG));
        assert_eq!(repeated("gives up waiting after 1.5 s: time-out", 3), None);
        assert_eq!(repeated("gives up waiting after 50 ms: time-out", 10), None);
        assert_eq!(with("locks L1"), None);
    }
}
