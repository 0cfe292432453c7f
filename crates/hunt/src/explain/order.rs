//! Explains failures that only some orders have: where a thread is interrupted, what comes between,
//! and what then goes wrong.

use raddle_finding::{Finding, Row};

use super::{and, row};

pub fn explain(finding: &Finding) -> String {
    let rows = finding.interleaving.as_ref().map_or(&[][..], |i| &i.rows);
    let why = woken(finding, rows)
        .or_else(|| interrupted(finding, rows))
        .or_else(|| out_of_order(finding))
        .or_else(|| by_turns(finding).map(str::to_owned))
        .unwrap_or_else(|| finding.kind.explanation().to_owned());
    why + &timed(finding, rows).unwrap_or_default()
}

/// A wait that times out, or a sleep, in an order that fails: the program may count on time, and
/// then no lock mends it.
fn timed(finding: &Finding, rows: &[Row]) -> Option<String> {
    let times_out = |r: &&Row| r.text.starts_with("gives up waiting ") && r.text.ends_with(": time-out");
    let timed = rows.iter().rfind(times_out).or_else(|| rows.iter().rfind(|r| r.text == "sleeps"))?;
    Some(format!(
        " In this order {}. If the program relies on other threads being done by then, it relies on timing, and a busy machine \
         may not run them in time. To fix that, wait until they are done, however long it takes.",
        row(finding, timed)
    ))
}

/// Whether a row says something about the program's data. That threads begin and end does not.
fn matters(row: &Row) -> bool {
    let text = row.text.as_str();
    !matches!(text, "begins" | "ends" | "yields" | "sleeps" | "fails" | "crashes" | "ends the program")
        && !text.starts_with("creates ")
        && !text.starts_with("joins ")
}

/// A thread that fails right after waiting on a condition variable and does not test the condition
/// again.
fn woken(finding: &Finding, rows: &[Row]) -> Option<String> {
    let failing = rows.last()?.thread;
    let own: Vec<&Row> = rows.iter().filter(|r| r.thread == failing && matters(r)).collect();
    let wakes =
        |r: &&&Row| r.text.starts_with("wakes for no reason from ") || r.text.starts_with("comes back from ");
    let is_lock = |r: &&&Row| r.text.starts_with("locks ");
    let wake = own.iter().rev().find(|r| !is_lock(r)).filter(wakes)?;
    let object = wake.text.rsplit_once(" from ").map_or("it", |(_, object)| object);
    if !object.starts_with('`') {
        // A futex inside a library, which has its own loop.
        return None;
    }
    let thread = finding.interleaving.as_ref()?.threads.get(failing)?;
    let how = match wake.text.starts_with("wakes for no reason") {
        true => "comes back without a signal, which condition variables may do",
        false => "comes back, but other threads may run between the signal and that moment",
    };
    Some(format!(
        "{thread} waits on {object}{} and {how}. It goes on as if what it waited for were still true. To fix it, test the \
         condition again after each wait: wait in a `while` loop, not behind an `if`.",
        super::row_place(wake)
    ))
}

/// A thread is interrupted between two of its steps, and what other threads do meanwhile makes it
/// fail.
fn interrupted(finding: &Finding, rows: &[Row]) -> Option<String> {
    let switches = rows.iter().enumerate().skip(1).filter(|(_, r)| r.preempts).map(|(i, _)| i);
    let mut told = switches.filter_map(|at| {
        let thread = rows[at - 1].thread;
        let before = rows[..at].iter().rfind(|r| r.thread == thread && matters(r))?;
        let back = rows[at..].iter().position(|r| r.thread == thread).map_or(rows.len(), |n| at + n);
        let after = rows[back..].iter().find(|r| r.thread == thread && matters(r));
        let between: Vec<&Row> = rows[at..back].iter().filter(|r| matters(r)).collect();
        (!between.is_empty()).then_some((before, between, after))
    });
    let (before, between, after) = told.next()?;
    let name = |r: &Row| finding.interleaving.as_ref().and_then(|i| i.threads.get(r.thread)).cloned();
    let (own, other) = (name(before)?, name(between[0])?);
    let gap = before.text.strip_prefix("unlocks ").zip(after.and_then(|a| a.text.strip_prefix("locks ")));
    if let (Some((given, taken)), Some(after)) = (gap, after)
        && given == taken
    {
        return Some(format!(
            "{own} gives {given} back{} and takes it again{}. In between {}, so what {own} has seen under the lock is no \
             longer true when it goes on. To fix it, hold {given} over all of it, without giving it back in between.",
            super::row_place(before),
            super::row_place(after),
            and(&shown(finding, &between))
        ));
    }
    Some(match after {
        Some(after) => format!(
            "It happens in this order: {}, and before it goes on, {}; then {}. These steps of {own} belong together, and \
             nothing keeps {other} out in between. To fix it, do them under one lock that {other} takes too, or in one \
             atomic operation.",
            row(finding, before),
            and(&shown(finding, &between)),
            row(finding, after)
        ),
        None => format!(
            "It happens in this order: {}, and before {own} does anything else, {}. Nothing makes {other} wait until {own} \
             is done. To fix it, let {other} wait (a lock, a join, a condition variable), or let {own} do this step last.",
            row(finding, before),
            and(&shown(finding, &between))
        ),
    })
}

/// A few steps in words: those on data if there are any, each once.
fn shown(finding: &Finding, rows: &[&Row]) -> Vec<String> {
    const MOST: usize = 3;
    let is_lock = |r: &&Row| r.text.starts_with("locks ") || r.text.starts_with("unlocks ");
    let data: Vec<&Row> = rows.iter().copied().filter(|r| !is_lock(r)).collect();
    let taken = rows.iter().copied().filter(|r| r.text.starts_with("locks "));
    let chosen = if data.is_empty() { taken.collect() } else { data };
    let chosen = if chosen.is_empty() { rows.to_vec() } else { chosen };
    let mut told: Vec<(usize, String)> = Vec::new();
    for (thread, text) in chosen.iter().map(|r| (r.thread, row(finding, r))) {
        if !told.iter().any(|(_, t)| *t == text) && told.len() < MOST {
            told.push((thread, text));
        }
    }
    // The thread is named once for steps that follow one another.
    let threads = finding.interleaving.as_ref().map_or(&[][..], |i| &i.threads);
    let short = |i: usize| {
        let (thread, text) = &told[i];
        let is_same = i > 0 && told[i - 1].0 == *thread;
        let name = threads.get(*thread).filter(|_| is_same);
        name.and_then(|n| text.strip_prefix(n.as_str())).unwrap_or(text).trim_start().to_owned()
    };
    (0..told.len()).map(short).collect()
}

/// A schedule without a preemption fails: all that it chooses is whose turn it is.
fn by_turns(finding: &Finding) -> Option<&'static str> {
    finding.notes.iter().any(|n| n.ends_with("; 0 preemptions")).then_some(
        "No thread has to be interrupted for it: each runs until it waits or ends, and the order in which they get their turn \
         decides. Look for something that one thread relies on another to have done, or not to have done yet, and let it wait \
         for that (a join, a condition variable).",
    )
}

/// Something happens too early, and nothing in the program prevents it.
fn out_of_order(finding: &Finding) -> Option<String> {
    let order = finding.notes.iter().find_map(|n| n.strip_prefix("this order matters: "))?;
    let (first, then) = order.split_once(", before ")?;
    Some(format!(
        "It happens in this order: {first}, before {then}. Nothing makes the first of these steps wait for the second. To fix \
         it, let it wait (a join, a condition variable), or do the second one before the thread of the first is created."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tests::failure;
    use raddle_finding::{Interleaving, Kind};

    fn told(rows: &[(usize, &str, bool)]) -> String {
        let mut finding = failure(Kind::Assertion, 9);
        let row = |(thread, text, preempts): &(usize, &str, bool)| Row {
            thread: *thread,
            text: (*text).into(),
            preempts: *preempts,
            ..Row::default()
        };
        let threads = vec!["T0".into(), "T1".into(), "T2".into()];
        finding.interleaving =
            Some(Interleaving { deeds: vec![], threads, rows: rows.iter().map(row).collect() });
        finding.notes = vec!["this order matters: T1 loads `x`, before T0 stores `x`".into()];
        explain(&finding)
    }

    #[test]
    fn a_lock_that_is_given_back_too_early() {
        let text = told(&[
            (1, "locks L1 `m`", false),
            (1, "unlocks L1 `m`", false),
            (2, "begins", true),
            (2, "locks L1 `m`", false),
            (2, "unlocks L1 `m`", false),
            (1, "locks L1 `m`", false),
            (0, "fails", false),
        ]);
        assert!(
            text.contains("T1 gives L1 `m` back and takes it again. In between T2 locks L1 `m`"),
            "{text}"
        );
        assert!(text.contains("hold L1 `m` over all of it"), "{text}");
    }

    #[test]
    fn a_use_that_comes_too_early_is_told_by_its_order() {
        let text = told(&[
            (0, "creates T1", false),
            (1, "begins", true),
            (1, "loads `x`", false),
            (1, "fails", false),
        ]);
        assert!(text.contains("T1 loads `x`, before T0 stores `x`"), "{text}");
        assert!(!text.contains("begins"), "{text}");
    }

    #[test]
    fn an_order_in_which_time_passes_is_told_with_it() {
        let rows = [
            (0, "sleeps", false),
            (1, "loads `x`", true),
            (0, "gives up waiting for word 1 after 1 s: time-out", false),
            (0, "fails", false),
        ];
        let text = told(&rows);
        assert!(
            text.contains("In this order T0 gives up waiting for word 1 after 1 s: time-out. If"),
            "{text}"
        );
        assert!(told(&rows[..2]).contains("In this order T0 sleeps. If the program relies on"));
        assert!(!told(&rows[1..2]).contains("relies on timing"));
    }

    #[test]
    fn a_wait_without_a_loop() {
        let rows = [
            (1, "waits on `c`", false),
            (1, "wakes for no reason from `c`", false),
            (1, "locks L1 `m`", false),
            (1, "fails", false),
        ];
        let text = told(&rows);
        assert!(text.contains("T1 waits on `c` and comes back without a signal"), "{text}");
        let mut later = rows.to_vec();
        later.insert(3, (1, "stores `x`", false));
        assert!(!told(&later).contains("while"), "it did something else before it failed");
    }
}
