//! Describes a data race of an explored execution: its two accesses, and how the threads got there.

use raddle_explore::races::GranuleAccess as Raw;
use raddle_explore::{LogicalThread, OpKind, Step, StepFlags};
use raddle_finding::{
    Access, AccessOp, Confidence, Finding, Interleaving, Kind, Location, Lock, Taken, Timeline,
};
use raddle_wire::explore::RacingPair;

use crate::describe::locks::held;
use crate::describe::steps::StepWords;
use crate::describe::timeline::{Between, timeline};
use crate::describe::{Rows, introduce_threads};
use crate::detection::explain::race_message;

/// How many steps before the earlier access are shown.
const BEFORE: usize = 6;
const ROWS: usize = 40;

pub fn finding(race: &RacingPair, steps: &[Step], words: &mut StepWords<'_>) -> Finding {
    let [now, before] = race.access.map(|a| access(&a, steps, words));
    let location = location(race, words);
    let message = race_message(&now, &before, location.as_ref());
    let mut finding = Finding::new(Kind::DataRace, Confidence::Confirmed, message);
    finding.accesses = vec![now, before];
    finding.locks = locks(race, steps, words);
    let name = match &location {
        Some(Location::Global { name, .. }) => Some(name.as_str()),
        _ => None,
    };
    let (table, timeline) = table(race, name, steps, words);
    finding.interleaving = Some(table);
    finding.timeline = Some(timeline);
    finding.location = location;
    finding.occurrences = 1;
    introduce_threads(steps, words, &mut finding, &|t| {
        !steps.iter().any(|s| s.thread == t && s.op.kind() == OpKind::Exit)
    });
    finding
}

/// The locks held at the two accesses.
fn locks(race: &RacingPair, steps: &[Step], words: &mut StepWords<'_>) -> Vec<Lock> {
    let mut locks: Vec<Lock> = Vec::new();
    for raw in &race.access {
        let taken = held(&steps[..(raw.step as usize).min(steps.len())]);
        for h in taken.iter().filter(|h| h.thread == LogicalThread(raw.thread)) {
            let label = words.lock(h.lock);
            let taken = Taken {
                thread: words.thread(h.thread),
                stack: h.step.map_or(Vec::new(), |i| words.frames_of(i)),
            };
            match locks.iter_mut().find(|l| l.label == label) {
                Some(lock) => lock.taken.push(taken),
                None => {
                    let name = words.name(h.lock);
                    locks.push(Lock { label, what: "lock".into(), name, taken: vec![taken] });
                }
            }
        }
    }
    locks
}

fn access(raw: &Raw, steps: &[Step], words: &mut StepWords<'_>) -> Access {
    let thread = LogicalThread(raw.thread);
    let taken = held(&steps[..(raw.step as usize).min(steps.len())]);
    let own = taken.iter().filter(|h| h.thread == thread);
    Access {
        op: op(raw),
        size: u64::from(raw.bytes.count_ones()),
        thread: words.thread(thread),
        locks: own.map(|h| words.lock(h.lock) + if h.read { " (read)" } else { "" }).collect(),
        lock: None,
        stack: words.stack(frames(raw)),
    }
}

fn frames(raw: &Raw) -> &[u64] {
    let n = raw.frames.iter().position(|f| *f == 0).unwrap_or(raw.frames.len());
    &raw.frames[..n]
}

fn op(raw: &Raw) -> AccessOp {
    match (raw.frees(), raw.writes(), raw.is_atomic()) {
        (true, ..) => AccessOp::Free,
        (_, true, false) => AccessOp::Write,
        (_, false, false) => AccessOp::Read,
        (_, true, true) => AccessOp::AtomicWrite,
        (_, false, true) => AccessOp::AtomicRead,
    }
}

fn location(race: &RacingPair, words: &mut StepWords<'_>) -> Option<Location> {
    let both = race.access[0].bytes & race.access[1].bytes;
    let address = race.granule + u64::from(both.trailing_zeros() % 8);
    words.places.global(words.modules, address).map(|g| Location::Global {
        name: g.name,
        offset: g.offset,
        size: g.size,
        module: g.module,
        file: g.file,
        line: g.line,
    })
}

/// The table shows what the two threads did from shortly before the earlier access on, with both
/// accesses in their places. The timeline has all steps up to the later access.
fn table(
    race: &RacingPair,
    name: Option<&str>,
    steps: &[Step],
    words: &mut StepWords<'_>,
) -> (Interleaving, Timeline) {
    let [now, before] = &race.access;
    let ours = |s: &Step| [now.thread, before.thread].contains(&s.thread.0);
    let (mid, end) = ((before.step as usize).min(steps.len()), (now.step as usize).min(steps.len()));
    let mut early: Vec<usize> = (0..mid).filter(|i| ours(&steps[*i])).collect();
    early.drain(..early.len().saturating_sub(BEFORE));
    let late: Vec<usize> = (mid..end.max(mid)).filter(|i| ours(&steps[*i])).take(ROWS).collect();
    let preempts = |i: &usize| steps[*i].flags.has(StepFlags::PREEMPTION);
    let mut rows = Rows::default();
    let ends = [(before, mid), (now, end.max(mid))].map(|(raw, at)| between(raw, at, name, words));
    let push =
        |rows: &mut Rows, end: &Between| rows.push(end.thread, end.text.clone(), end.frame.clone(), false);
    early.iter().for_each(|i| rows.add(words, steps, *i, preempts(i)));
    push(&mut rows, &ends[0]);
    late.iter().for_each(|i| rows.add(words, steps, *i, preempts(i)));
    push(&mut rows, &ends[1]);
    let threads = rows.threads.iter().map(|t| words.thread(*t)).collect();
    // Steps after the second access play no part in the race.
    let in_table = |i: usize| early.contains(&i) || late.contains(&i);
    let timeline = timeline(words, &steps[..end.max(mid)], &in_table, ends.into());
    (Interleaving { threads, rows: rows.rows, ..Interleaving::default() }, timeline)
}

/// An access, before step `at`.
fn between(raw: &Raw, at: usize, name: Option<&str>, words: &mut StepWords<'_>) -> Between {
    let stack = words.stack(frames(raw));
    let frame = raddle_finding::place::place(&stack).cloned();
    let verb = match op(raw) {
        AccessOp::Free => "frees",
        AccessOp::Read => "reads",
        AccessOp::AtomicRead => "loads",
        AccessOp::AtomicWrite => "stores",
        _ => "writes",
    };
    let object = name.map_or("the racy word".into(), |name| format!("`{name}`"));
    Between { at, thread: LogicalThread(raw.thread), text: format!("{verb} {object}"), frame }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Places;
    use raddle_explore::Op;
    use raddle_explore::races::Deed;

    #[test]
    fn both_accesses_stand_where_they_happened() {
        let step = |thread, kind, object| Step::bare(LogicalThread(thread), Op::new(kind, object, 0));
        let steps = [
            step(0, OpKind::Create, 1),
            step(1, OpKind::Lock, 0x70),
            step(1, OpKind::Unlock, 0x70),
            step(3, OpKind::Lock, 0x90),
            step(2, OpKind::Lock, 0x70),
        ];
        let now = Raw::new(2, 9, 5, Deed::Read).of(0xf);
        let before = Raw::new(1, 2, 2, Deed::Write).of(0xff);
        let race = RacingPair { number: 1, reserved: 0, granule: 0x100, access: [now, before] };
        let mut places = Places::new();
        let finding = finding(&race, &steps, &mut StepWords::new(&mut places, &[], &steps));
        assert_eq!(finding.message, "data race: write and then read are not ordered");
        let told: Vec<_> =
            finding.accesses.iter().map(|a| (a.op, a.size, a.thread.as_str(), a.locks.clone())).collect();
        let lock = || vec!["L1".to_owned()];
        assert_eq!(told, [(AccessOp::Read, 4, "T2", lock()), (AccessOp::Write, 8, "T1", lock())]);
        let table = finding.interleaving.unwrap();
        let rows: Vec<String> =
            table.rows.iter().map(|r| format!("{}: {}", table.threads[r.thread], r.text)).collect();
        assert_eq!(
            rows,
            [
                "T1: locks L1",
                "T1: writes the racy word",
                "T1: unlocks L1",
                "T2: locks L1",
                "T2: reads the racy word"
            ]
        );
    }
}
