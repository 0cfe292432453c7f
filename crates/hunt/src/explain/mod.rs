//! Explains a confirmed finding in one paragraph: what goes wrong, in which order, because of which
//! missing synchronisation, and what would fix it. It is written for a reviewer who does not know
//! raddle.
//!
//! Everything in it comes from the finding: the accesses, the locks held there, and the
//! interleaving that was executed. If the finding does not say which synchronisation is missing,
//! neither does the paragraph.

mod deadlock;
mod order;

use raddle_finding::place::{file_name, place, stable_name};
use raddle_finding::{Access, AccessOp, Finding, Frame, Kind, Location, Row};

use crate::target::Goal;

/// The paragraph for a finding.
pub fn explain(finding: &Finding) -> String {
    if let Some(text) = older_value(finding) {
        return text;
    }
    match (Goal::of(finding.kind), finding.kind) {
        (Goal::Race, _) => race(finding),
        (Goal::Deadlock, _) => deadlock::explain(finding),
        (Goal::Lifetime, kind) => lifetime(finding, kind),
        (Goal::Misuse, _) => misuse(finding),
        (Goal::Progress, _) => progress(finding),
        (Goal::Rule, _) => finding.kind.explanation().to_owned(),
        (Goal::Failure | Goal::Value, _) => order::explain(finding),
    }
}

/// A load that read an older value than the newest, in a search of what C11 allows.
fn older_value(finding: &Finding) -> Option<String> {
    let load = finding
        .notes
        .iter()
        .find_map(|n| n.strip_suffix(": nothing orders the newer store before this load"))?;
    Some(format!(
        "{load}, although another thread has stored a newer value by then. Nothing orders that store before this load, so C11 \
         allows it, and compilers and processors that reorder do it. To fix it, store what tells the other thread to go on with \
         release, and load that with acquire. Where each of two threads stores one variable and loads the other, use sequential \
         consistency for all four."
    ))
}

/// `work` (bank.c:60)
fn at(access: &Access) -> String {
    match place(&access.stack) {
        Some(frame) => {
            let function = frame.function.as_deref().map(|f| format!("in `{}`", stable_name(f)));
            let line = frame.file.as_deref().zip(frame.line);
            let line = line.map(|(file, line)| format!("({}:{line})", file_name(file)));
            let said: Vec<String> = function.into_iter().chain(line).collect();
            if said.is_empty() { "at a place without debug information".into() } else { said.join(" ") }
        }
        None => "at a place that is no longer known".into(),
    }
}

fn variable(finding: &Finding) -> String {
    match &finding.location {
        Some(Location::Global { name, .. }) => format!("`{name}`"),
        Some(Location::Heap { size, stack, .. }) => match place(stack).and_then(|f| f.function.as_deref()) {
            Some(function) => format!("the heap block of {size} bytes from `{}`", stable_name(function)),
            None => format!("a heap block of {size} bytes"),
        },
        Some(Location::Stack { thread }) => format!("a variable on the stack of {thread}"),
        _ => "memory".into(),
    }
}

/// `` `alice` ``, or its label.
fn lock(finding: &Finding, label: &str) -> String {
    let label = label.trim_end_matches(" (read)");
    match finding.locks.iter().find(|l| l.label == label).and_then(|l| l.name.as_deref()) {
        Some(name) => format!("`{name}`"),
        None => label.to_owned(),
    }
}

/// The lock that a thread holds. If it has no name, adds the place where it was taken.
fn lock_held(finding: &Finding, label: &str, thread: &str) -> String {
    let known = finding.locks.iter().find(|l| l.label == label.trim_end_matches(" (read)"));
    let unnamed = known.filter(|l| l.name.is_none());
    let taken = unnamed.and_then(|l| l.taken.iter().find(|t| t.thread == thread));
    match taken.and_then(|t| line(place(&t.stack)?)) {
        Some((file, line)) => format!("{} (taken at {file}:{line})", lock(finding, label)),
        None => lock(finding, label),
    }
}

fn locks(finding: &Finding, access: &Access) -> String {
    let names: Vec<String> = access.locks.iter().map(|l| lock_held(finding, l, &access.thread)).collect();
    and(&names)
}

fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn verb(op: AccessOp) -> &'static str {
    match op {
        AccessOp::Read => "reads",
        AccessOp::Write => "writes",
        AccessOp::AtomicRead => "atomically reads",
        AccessOp::AtomicWrite => "atomically writes",
        AccessOp::Free => "frees",
        AccessOp::Allocate => "allocates",
        AccessOp::Lock => "locks",
        AccessOp::Unlock => "unlocks",
        AccessOp::Call => "is",
    }
}

fn race(finding: &Finding) -> String {
    let [now, before] = &finding.accesses[..] else { return finding.message.clone() };
    let what = variable(finding);
    let mut text = format!(
        "{} {} {what} {}, and {} {} it {}. Nothing makes one of them wait for the other, so they can happen at the \
         same moment. ",
        before.thread,
        verb(before.op),
        at(before),
        now.thread,
        verb(now.op),
        at(now)
    );
    if now.op == AccessOp::Free || before.op == AccessOp::Free {
        return text
            + &format!(
                "Then memory is used after it was freed. To fix it, {OUTLIVE}. If a container frees it when it grows, hold one \
                 lock around each use of the container."
            );
    }
    let writes = |a: &Access| matches!(a.op, AccessOp::Write | AccessOp::AtomicWrite);
    text += match (writes(now), writes(before)) {
        (true, true) => "One of the two updates can be lost. ",
        // `x++` is a read and a write: which of them meets the other thread is chance.
        _ if at(now) == at(before) => "Both execute the same line, and one of the two updates can be lost. ",
        _ => "The value that is read can be old, or half written. ",
    };
    let atomic = match &finding.location {
        Some(Location::Global { .. }) => what.as_str(),
        _ => "it",
    };
    text += &match (before.locks.is_empty(), now.locks.is_empty()) {
        (true, true) => format!(
            "Neither thread holds a lock. To fix it, hold one lock at both places, or make {atomic} atomic if each access \
             stands by itself."
        ),
        (false, true) => one_lock(finding, before, now),
        (true, false) => one_lock(finding, now, before),
        (false, false) => different_locks(finding, before, now),
    };
    text
}

/// How to keep memory alive while it is in use.
const OUTLIVE: &str = "free it only when nobody can use it any more: after the other thread was joined, or by a count of its users";

fn different_locks(finding: &Finding, before: &Access, now: &Access) -> String {
    let reads = |a: &Access| a.locks.iter().any(|l| l.ends_with(" (read)"));
    let why = match reads(before) || reads(now) {
        true => "a lock that is held for reading does not keep other readers out",
        false => "these are different locks, so neither keeps the other thread out",
    };
    format!(
        "{} holds {} and {} holds {}: {why}. To fix it, hold one and the same lock at both places{}.",
        before.thread,
        locks(finding, before),
        now.thread,
        locks(finding, now),
        if reads(before) || reads(now) { ", for writing where it is written" } else { "" }
    )
}

fn one_lock(finding: &Finding, has: &Access, lacks: &Access) -> String {
    let lock = locks(finding, has);
    format!(
        "{} holds {lock}, and {} holds no lock. To fix it, take {lock} {} too.",
        has.thread,
        lacks.thread,
        at(lacks)
    )
}

/// The text without the full stop at its end.
fn sentence(text: &str) -> &str {
    text.trim_end_matches('.')
}

fn lifetime(finding: &Finding, kind: Kind) -> String {
    let freed = finding.accesses.iter().find(|a| a.op == AccessOp::Free);
    let used = finding.accesses.iter().find(|a| a.op != AccessOp::Free);
    let (Some(freed), Some(used)) = (freed, used) else { return order::explain(finding) };
    let what = if kind == Kind::DoubleFree { "frees it again" } else { "still uses it" };
    let mend = if kind == Kind::DoubleFree {
        "let one thread own the block, or take and clear the pointer to it in one step that a lock protects"
    } else {
        OUTLIVE
    };
    let why = if kind == Kind::DoubleFree {
        "Nothing makes sure that only one of them does it"
    } else {
        "Nothing makes the free wait for the use"
    };
    format!(
        "{} frees a block {}, and {} {what} {}. {why}. To fix it, {mend}.",
        freed.thread,
        at(freed),
        used.thread,
        at(used)
    )
}

fn misuse(finding: &Finding) -> String {
    let [now, before] = &finding.accesses[..] else { return finding.message.clone() };
    let (why, mend) = match finding.message.starts_with("two threads use the ") {
        // There is one of it in a process, such as the environment.
        true => (". These calls allow one caller at a time", ""),
        false => (
            ", on one object, and this library allows one caller at a time",
            ", or give each thread an object of its own",
        ),
    };
    format!(
        "{} is {} while {} is {}{why}. To fix it, hold one lock around both calls{mend}.",
        before.thread,
        at(before),
        now.thread,
        at(now)
    )
}

fn progress(finding: &Finding) -> String {
    let threads: Vec<String> = finding.accesses.iter().map(|a| format!("{} {}", a.thread, at(a))).collect();
    if threads.is_empty() {
        return format!("{}. The program does not end in this schedule.", sentence(&finding.message));
    }
    format!(
        "{}. It goes on without end: {}. To fix it, let a thread that waits block (a condition variable, a join) instead of \
         asking again and again, and let what it waits for not depend on who runs first.",
        sentence(&finding.message),
        and(&threads)
    )
}

fn row(finding: &Finding, row: &Row) -> String {
    let thread = finding.interleaving.as_ref().and_then(|i| i.threads.get(row.thread)).cloned();
    format!("{} {}{}", thread.unwrap_or_default(), row.text, row_place(row))
}

/// ` (bank.c:60)`
fn row_place(row: &Row) -> String {
    let place = row.frame.as_ref().and_then(line);
    place.map_or(String::new(), |(file, line)| format!(" ({file}:{line})"))
}

/// Finds out whether a race causes a failure: a thread is interrupted just before or after one of
/// the racing accesses, and another thread makes the other access before the first continues.
/// Returns the row of that other access. Both ends must be there; being near is not enough.
fn meeting<'a>(failure: &'a Finding, race: &Finding) -> Option<&'a Row> {
    let ends: Vec<(String, u32)> = race.accesses.iter().filter_map(|a| line(place(&a.stack)?)).collect();
    if Goal::of(race.kind) != Goal::Race || Goal::of(failure.kind) == Goal::Race || ends.len() < 2 {
        return None;
    }
    let rows = failure.interleaving.as_ref().map_or(&[][..], |i| &i.rows);
    let touches = |row: &Row, end: usize| row.frame.as_ref().and_then(line).as_ref() == Some(&ends[end]);
    let mut switches = rows.iter().enumerate().skip(1).filter(|(_, r)| r.preempts);
    switches.find_map(|(at, _)| {
        let interrupted = &rows[at - 1];
        let after = rows[at..].iter().position(|r| r.thread == interrupted.thread).map(|n| at + n);
        let between = &rows[at..after.unwrap_or(rows.len())];
        let around = [Some(interrupted), after.map(|n| &rows[n])];
        let meets = |end: usize| around.iter().flatten().any(|r| touches(r, end));
        let other = |end: usize| between.iter().rfind(|r| touches(r, end));
        let first = if meets(0) { other(1) } else { None };
        first.or_else(|| if meets(1) { other(0) } else { None })
    })
}

/// The paragraph for a failure that the race causes; `None` if it does not.
pub fn explain_consequence(failure: &Finding, of: &Finding) -> Option<String> {
    let meanwhile = meeting(failure, of)?;
    Some(format!(
        "It is caused by the race {} ({}): a thread is interrupted between two steps that belong together, and meanwhile {}. \
         To fix both, make these steps one that no other thread can come between: under one lock, or as one atomic operation.",
        race_in_words(of),
        of.id,
        row(failure, meanwhile)
    ))
}

/// ``on `x` ``, or by its two places.
fn race_in_words(race: &Finding) -> String {
    match (&race.location, &race.accesses[..]) {
        (None, [now, before]) => format!("between the accesses {} and {}", at(before), at(now)),
        _ => format!("on {}", variable(race)),
    }
}

fn line(frame: &Frame) -> Option<(String, u32)> {
    Some((file_name(frame.file.as_deref()?).to_owned(), frame.line?))
}

/// Keeps only the rows of a race's table that are about its two accesses. How the threads got there
/// is another and longer story.
pub fn only_the_race(finding: &mut Finding) {
    let ends: Vec<(String, u32)> = finding.accesses.iter().filter_map(|a| line(place(&a.stack)?)).collect();
    if Goal::of(finding.kind) != Goal::Race {
        return;
    }
    let Some(table) = &mut finding.interleaving else { return };
    let is_end = |r: &Row| r.frame.as_ref().and_then(line).is_some_and(|at| ends.contains(&at));
    if table.rows.iter().filter(|r| is_end(r)).count() > 1 {
        table.rows.retain(is_end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tests::{access, cycle, failure, race};
    use raddle_finding::Interleaving;

    #[test]
    fn a_race_without_locks() {
        let text = explain(&race(Some("served"), [("work", 60), ("work", 61)]));
        assert!(text.contains("T1 reads `served` in `work` (a.c:61)"), "{text}");
        assert!(
            text.contains("Neither thread holds a lock") && text.contains("make `served` atomic"),
            "{text}"
        );
    }

    #[test]
    fn a_race_with_a_lock_on_one_side_names_the_lock_and_the_place() {
        let mut finding = cycle(Kind::LockOrder, [Some("guard"), None], [1, 2]);
        finding.kind = Kind::DataRace;
        finding.accesses = vec![access(AccessOp::Write, "f", 1), access(AccessOp::Read, "g", 2)];
        finding.accesses[0].locks = vec!["L0".into()];
        let text = explain(&finding);
        assert!(text.ends_with("take `guard` in `g` (a.c:2) too."), "{text}");
    }

    #[test]
    fn a_deadlock_names_who_holds_what() {
        let mut finding = cycle(Kind::Deadlock, [Some("alice"), Some("bob")], [41, 42]);
        finding.accesses[0].locks = vec!["L1".into()];
        finding.accesses[1].locks = vec!["L0".into()];
        let text = explain(&finding);
        assert!(text.contains("T1 holds `bob` and asks for `alice` in `f` (a.c:41)"), "{text}");
        assert!(text.contains("take `alice` and `bob` in one order everywhere"), "{text}");
    }

    #[test]
    fn a_failure_is_told_by_its_interruption() {
        let mut finding = failure(Kind::Assertion, 9);
        let frame = |line| Some(Frame { file: Some("a.c".into()), line: Some(line), ..Frame::default() });
        let step = |thread, text: &str, line, preempts| Row {
            thread,
            text: text.into(),
            frame: frame(line),
            preempts,
            times: 1,
        };
        finding.interleaving = Some(Interleaving {
            deeds: vec![],
            threads: vec!["T1".into(), "T2".into()],
            rows: vec![
                step(0, "reads x", 3, false),
                step(1, "writes x", 7, true),
                step(0, "writes x", 3, false),
            ],
        });
        let text = explain(&finding);
        assert!(text.contains("T1 reads x (a.c:3), and before it goes on, T2 writes x (a.c:7)"), "{text}");
        assert!(text.contains("do them under one lock"), "{text}");
        let by = |cause: &Finding| explain_consequence(&finding, cause);
        let text = by(&race(Some("x"), [("f", 3), ("f", 7)])).unwrap();
        assert!(text.contains("caused by the race on `x`"), "{text}");
        assert!(text.contains("meanwhile T2 writes x (a.c:7)"), "{text}");
        assert!(!text.contains(&finding.message), "the title says it already: {text}");
        assert!(by(&race(Some("x"), [("f", 7), ("f", 3)])).is_some());
        assert_eq!(by(&race(Some("y"), [("f", 3), ("f", 8)])), None, "one end is not enough");
        assert_eq!(by(&cycle(Kind::Deadlock, [None, None], [3, 7])), None);
    }

    #[test]
    fn the_table_of_a_race_is_about_the_race() {
        let mut finding = race(Some("x"), [("f", 3), ("f", 7)]);
        let row = |line| Row {
            frame: Some(Frame { file: Some("a.c".into()), line: Some(line), ..Frame::default() }),
            ..Row::default()
        };
        let table = |rows| Some(Interleaving { rows, ..Interleaving::default() });
        finding.interleaving = table(vec![row(1), row(3), row(5), row(7)]);
        only_the_race(&mut finding);
        let lines = |f: &Finding| {
            f.interleaving.as_ref().unwrap().rows.iter().map(|r| r.frame.as_ref()?.line).collect::<Vec<_>>()
        };
        assert_eq!(lines(&finding), [Some(3), Some(7)]);
        finding.interleaving = table(vec![row(1), row(3)]);
        only_the_race(&mut finding);
        assert_eq!(lines(&finding), [Some(1), Some(3)], "half of a race says less than the way to it");
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let mut finding =
            Finding::new(Kind::ExitStatus, raddle_finding::Confidence::Confirmed, "it ends with 1");
        let text = explain(&finding);
        assert!(!text.contains("it ends with 1") && !text.contains("To fix it"), "{text}");
        finding.kind = Kind::DataRace;
        assert_eq!(explain(&finding), "it ends with 1");
    }
}
