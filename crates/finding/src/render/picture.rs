//! The interleaving of a finding as a picture: lanes, steps from top to bottom, bars for locks.
//! Formats only draw it.
//!
//! It comes from the best of what the finding has:
//!
//! 1. the recorded steps of an execution ([`Finding::timeline`]);
//! 2. the rows of a table ([`Finding::interleaving`]);
//! 3. the ends of the finding. Then only these and the creation of threads are known. The ends of a
//!    lock-order cycle are put in the order in which they deadlock.
//!
//! [`Origin`] says which, and so does the picture: nobody should take an inference for a record.

use crate::model::{Access, AccessOp, Confidence, Finding, Frame, Kind, Location};
use crate::place::place;

use super::{relevance, story};

/// Where a picture comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// An execution that raddle made, step by step.
    Recorded,
    /// The ends as they were seen.
    Seen,
    /// The ends, in an order in which they can happen.
    Argued,
    /// The order in which a cycle of locks deadlocks.
    Predicted,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picture {
    pub origin: Origin,
    pub lanes: Vec<String>,
    pub steps: Vec<Moment>,
    pub bars: Vec<Bar>,
    /// How many steps before the first one are left out.
    pub left_out: u64,
}

/// A step of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moment {
    pub lane: usize,
    pub text: String,
    pub frame: Option<Frame>,
    pub value: Option<String>,
    /// One of the few steps that explain the finding.
    pub matters: bool,
    /// The step at which it goes wrong.
    pub is_key: bool,
    pub preempts: bool,
    pub act: Act,
}

/// A lock while it is held.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bar {
    pub lane: usize,
    pub lock: String,
    pub name: Option<String>,
    pub from: usize,
    pub until: Option<usize>,
    pub read: bool,
}

/// The kind of a step, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Lock,
    Unlock,
    Read,
    Write,
    Free,
    Wait,
    Fail,
    Thread,
    Other,
}

impl Act {
    pub fn name(self) -> &'static str {
        match self {
            Act::Lock => "lock",
            Act::Unlock => "unlock",
            Act::Read => "read",
            Act::Write => "write",
            Act::Free => "free",
            Act::Wait => "wait",
            Act::Fail => "fail",
            Act::Thread => "thread",
            Act::Other => "other",
        }
    }

    /// Recognised by the words that `raddle_harness::describe` uses.
    fn of(text: &str) -> Act {
        let first = text.split([' ', ',']).next().unwrap_or_default();
        match first {
            "locks" | "read-locks" | "write-locks" | "tries" | "took" => Act::Lock,
            "unlocks" | "released" => Act::Unlock,
            "reads" | "loads" | "looks" | "read" => Act::Read,
            "writes" | "stores" | "updates" | "wrote" => Act::Write,
            "frees" if text.ends_with("again") => Act::Fail,
            "frees" | "freed" => Act::Free,
            "waits" | "gives" => Act::Wait,
            "fails" | "crashes" | "spins" | "accesses" | "goes" => Act::Fail,
            "ends" if text != "ends" => Act::Fail,
            "begins" | "ends" | "creates" | "joins" => Act::Thread,
            _ => Act::Other,
        }
    }
}

/// The picture of a finding; `None` if it shows nothing that words do not say.
pub(super) fn picture(finding: &Finding) -> Option<Picture> {
    let mut picture = recorded(finding).or_else(|| tabled(finding)).or_else(|| of_ends(finding))?;
    let cycle = matches!(finding.kind, Kind::Deadlock | Kind::LockOrder);
    let race = finding.kind == Kind::DataRace;
    for step in &mut picture.steps {
        // In a race, only its two accesses count.
        let candidate = step.matters && (!race || is_end(finding, &picture.lanes[step.lane], step));
        step.is_key = candidate
            && match step.act {
                Act::Read | Act::Write | Act::Free | Act::Fail => true,
                // A thread that waits for another to end is not the cause.
                Act::Wait => !step.text.ends_with(" to end"),
                Act::Lock => cycle,
                Act::Other => finding.kind == Kind::ThreadSafetyViolation,
                Act::Unlock | Act::Thread => false,
            };
    }
    if picture.origin == Origin::Recorded {
        relevance::narrow(finding, &mut picture.steps);
    }
    (picture.steps.len() > 1).then_some(picture)
}

fn moment(lane: usize, text: String, frame: Option<Frame>) -> Moment {
    let act = Act::of(&text);
    Moment { lane, text, frame, value: None, matters: true, is_key: false, preempts: false, act }
}

fn recorded(finding: &Finding) -> Option<Picture> {
    let timeline = finding.timeline.as_ref().filter(|timeline| !timeline.threads.is_empty())?;
    let lanes = timeline.threads.len();
    // A document may be written by hand: what points nowhere is left out.
    let steps = timeline.steps.iter().map(|step| Moment {
        value: step.value.clone(),
        matters: step.matters,
        preempts: step.preempts,
        ..moment(
            step.thread.min(lanes - 1),
            step.text.clone(),
            step.frame.and_then(|at| timeline.frames.get(at)).cloned(),
        )
    });
    let steps = steps.map(|step| Moment {
        matters: step.matters || is_end(finding, &timeline.threads[step.lane], &step),
        ..step
    });
    let bars = timeline.held.iter().filter(|bar| bar.thread < lanes).map(|bar| Bar {
        lane: bar.thread,
        lock: bar.lock.clone(),
        name: bar.name.clone(),
        from: bar.from,
        until: bar.until,
        read: bar.read,
    });
    let mut picture = Picture {
        origin: Origin::Recorded,
        lanes: timeline.threads.clone(),
        steps: steps.collect(),
        bars: bars.collect(),
        left_out: timeline.left_out,
    };
    // From the last to the first, so that indexes stay valid.
    for i in (1..picture.steps.len()).rev() {
        let is_twice = timeline.steps[i].step.is_none()
            && timeline.steps[i - 1].step.is_some()
            && same(&picture.steps[i - 1], &picture.steps[i]);
        if is_twice {
            picture.remove(i);
        }
    }
    Some(picture)
}

/// A racing access is listed separately. If it is also a step, the two are one.
fn same(step: &Moment, access: &Moment) -> bool {
    let line = |moment: &Moment| moment.frame.as_ref().map(|f| (f.file.clone(), f.line));
    step.lane == access.lane && step.text == access.text && line(step) == line(access)
}

/// Whether a step is an access by the same thread at the place of one of the finding's ends.
fn is_end(finding: &Finding, thread: &str, step: &Moment) -> bool {
    let line = |frame: &Frame| Some((frame.file.clone()?, story::line(frame)?));
    let here = step.frame.as_ref().and_then(line);
    here.is_some()
        && matches!(step.act, Act::Read | Act::Write | Act::Free)
        && finding.accesses.iter().any(|end| {
            story::bare(&end.thread) == story::bare(thread) && place(&end.stack).and_then(line) == here
        })
}

fn tabled(finding: &Finding) -> Option<Picture> {
    let table = finding.interleaving.as_ref().filter(|table| !table.rows.is_empty())?;
    let mut lanes = table.threads.clone();
    if lanes.is_empty() {
        lanes.push("the program".into());
    }
    let steps = table.rows.iter().map(|row| Moment {
        preempts: row.preempts,
        ..moment(row.thread.min(lanes.len() - 1), story::row(row), row.frame.clone())
    });
    let steps = steps.collect();
    Some(Picture { origin: Origin::Recorded, lanes, steps, bars: Vec::new(), left_out: 0 })
}

/// A picture of the ends alone.
fn of_ends(finding: &Finding) -> Option<Picture> {
    if finding.accesses.len() < 2 {
        return None;
    }
    let confirmed = finding.confidence == Confidence::Confirmed;
    let mut picture = Picture {
        origin: match (confirmed, story::is_cycle(finding)) {
            (true, _) => Origin::Seen,
            (false, true) => Origin::Predicted,
            (false, false) => Origin::Argued,
        },
        lanes: Vec::new(),
        steps: Vec::new(),
        bars: Vec::new(),
        left_out: 0,
    };
    picture.creations(finding);
    let ends = story::ends(finding);
    if story::is_cycle(finding) {
        ends.iter().for_each(|end| picture.locks_of(finding, end.access));
        for end in &ends {
            let lock = story::taken_lock(finding, end.index);
            let text = lock.map_or("waits for a lock".into(), |lock| {
                format!("waits for {}", story::named(finding, lock))
            });
            picture.push(&end.access.thread, text, place(&end.access.stack));
        }
        return Some(picture);
    }
    for end in &ends {
        picture.locks_of(finding, end.access);
        picture.push(&end.access.thread, deed(finding, end), place(&end.access.stack));
        if let Some(step) = picture.steps.last_mut().filter(|step| step.act == Act::Other) {
            step.act = act_of(end.access.op);
        }
    }
    Some(picture)
}

/// ``writes `total` ``
fn deed(finding: &Finding, end: &story::StoryEnd<'_>) -> String {
    let told = finding.interleaving.as_ref().and_then(|table| table.deeds.get(end.index));
    if let Some(deed) = told.filter(|deed| !deed.is_empty()) {
        return deed.clone();
    }
    let object = match &finding.location {
        Some(Location::Global { name, .. }) => format!("`{name}`"),
        Some(Location::Heap { size, .. }) => format!("the block of {}", story::count(*size, "byte")),
        Some(Location::Descriptor { number }) => format!("descriptor {number}"),
        Some(Location::Mapped { name }) => format!("`{name}`"),
        Some(Location::Stack { .. } | Location::Tls { .. }) | None => {
            story::count(end.access.size.max(1), "byte")
        }
    };
    match end.access.op {
        AccessOp::Read => format!("reads {object}"),
        AccessOp::Write => format!("writes {object}"),
        AccessOp::AtomicRead => format!("loads {object}"),
        AccessOp::AtomicWrite => format!("stores {object}"),
        AccessOp::Free => format!("frees {object}"),
        AccessOp::Allocate => format!("allocates {object}"),
        AccessOp::Lock | AccessOp::Unlock | AccessOp::Call => story::act(end.access),
    }
}

fn act_of(op: AccessOp) -> Act {
    match op {
        AccessOp::Read | AccessOp::AtomicRead => Act::Read,
        AccessOp::Write | AccessOp::AtomicWrite => Act::Write,
        AccessOp::Free => Act::Free,
        AccessOp::Lock => Act::Lock,
        AccessOp::Unlock => Act::Unlock,
        AccessOp::Allocate | AccessOp::Call => Act::Other,
    }
}

impl Picture {
    /// Removes a step that the one before it already shows.
    fn remove(&mut self, at: usize) {
        let gone = self.steps.remove(at);
        let before = &mut self.steps[at - 1];
        before.matters |= gone.matters;
        before.value = before.value.take().or(gone.value);
        for bar in &mut self.bars {
            bar.from -= usize::from(bar.from >= at);
            bar.until = bar.until.map(|until| until - usize::from(until >= at));
        }
    }

    fn lane(&mut self, thread: &str) -> usize {
        self.lanes.iter().position(|lane| lane == thread).unwrap_or_else(|| {
            self.lanes.push(thread.to_owned());
            self.lanes.len() - 1
        })
    }

    fn push(&mut self, thread: &str, text: String, frame: Option<&Frame>) {
        let lane = self.lane(thread);
        self.steps.push(moment(lane, text, frame.cloned()));
    }

    /// Adds the creation of threads, as far as it concerns the ends. Lanes are in the order of
    /// thread numbers, as far as they have any.
    fn creations(&mut self, finding: &Finding) {
        let concerned = |label: &str| finding.accesses.iter().any(|access| access.thread == label);
        let created = finding.threads.iter().filter(|thread| concerned(&thread.label));
        let creators = created.filter(|thread| place(&thread.stack).is_some());
        let mut labels: Vec<&String> = creators.filter_map(|thread| thread.created_by.as_ref()).collect();
        labels.extend(finding.accesses.iter().rev().map(|access| &access.thread));
        let number = |label: &str| -> Option<u32> {
            let digits = label.strip_prefix('T')?;
            digits.split(' ').next()?.parse().ok()
        };
        labels.sort_by_key(|label| number(label).unwrap_or(u32::MAX));
        for label in labels {
            self.lane(label);
        }
        for thread in &finding.threads {
            let (true, Some(creator), Some(place)) =
                (concerned(&thread.label), &thread.created_by, place(&thread.stack))
            else {
                continue;
            };
            self.push(creator, format!("creates {}", thread.label), Some(place));
        }
    }

    /// The locks that an end holds, each taken before it and held from then on.
    fn locks_of(&mut self, finding: &Finding, access: &Access) {
        let lane = self.lane(&access.thread);
        for label in &access.locks {
            let lock = finding.locks.iter().find(|lock| lock.label == story::bare(label));
            let taken = lock.and_then(|lock| lock.taken.iter().find(|t| t.thread == access.thread));
            let has_bar =
                |bar: &Bar| bar.lane == lane && bar.lock == story::bare(label) && bar.until.is_none();
            if self.bars.iter().any(has_bar) {
                continue;
            }
            self.bars.push(Bar {
                lane,
                lock: story::bare(label).to_owned(),
                name: lock.and_then(|lock| lock.name.clone()),
                from: self.steps.len(),
                until: None,
                read: label.ends_with("(read)"),
            });
            let text = format!("locks {}", story::named(finding, label));
            self.push(&access.thread, text, taken.and_then(|taken| place(&taken.stack)));
        }
    }

    /// The locks, in the order in which they are first held.
    pub fn locks(&self) -> Vec<&Bar> {
        let mut locks: Vec<&Bar> = Vec::new();
        for bar in &self.bars {
            if !locks.iter().any(|known| known.lock == bar.lock) {
                locks.push(bar);
            }
        }
        locks
    }

    /// One sentence for the reader of the picture.
    pub fn caption(&self) -> &'static str {
        match self.origin {
            Origin::Recorded => "The execution that raddle made, from top to bottom.",
            Origin::Seen => "What was seen, from top to bottom. Other steps were not recorded.",
            Origin::Argued => {
                "The ends, in an order in which they can happen. Other steps were not recorded."
            }
            Origin::Predicted => "The order that deadlocks. Raddle has not executed it.",
        }
    }
}

impl Bar {
    /// Whether the lock is held at a step.
    pub fn covers(&self, step: usize) -> bool {
        self.from <= step && self.until.is_none_or(|until| step <= until)
    }

    /// ``L1 `mu` ``
    pub fn label(&self) -> String {
        let name = self.name.as_ref().map_or(String::new(), |name| format!(" `{name}`"));
        format!("{}{name}{}", self.lock, if self.read { " (read)" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Lock, LockSpan, Taken, ThreadInfo, Timeline, TimelineStep};
    use crate::sample::{access, finding, frame};

    fn told(picture: &Picture) -> Vec<String> {
        let line =
            |step: &Moment| format!("{}: {} [{}]", picture.lanes[step.lane], step.text, step.act.name());
        picture.steps.iter().map(line).collect()
    }

    fn lock(label: &str, thread: &str, line: u32) -> Lock {
        let taken = vec![Taken { thread: thread.into(), stack: vec![frame("f", "a.c", line, 1)] }];
        Lock { label: label.into(), what: "mutex".into(), name: None, taken }
    }

    #[test]
    fn a_cycle_is_drawn_as_the_deadlock_that_it_predicts() {
        let edge = |thread: &str, holds: &str, takes: &str| {
            let mut access = access(AccessOp::Lock, thread, vec![frame("f", "a.c", 9, 1)]);
            access.locks = vec![holds.into()];
            access.lock = Some(takes.into());
            access
        };
        let mut cycle = finding(Kind::LockOrder, vec![edge("T1", "L1", "L2"), edge("T2", "L2", "L1")]);
        cycle.confidence = Confidence::Suspected;
        cycle.locks = vec![lock("L1", "T1", 3), lock("L2", "T2", 4)];
        let picture = picture(&cycle).unwrap();
        assert_eq!(picture.origin, Origin::Predicted);
        assert_eq!(
            told(&picture),
            [
                "T1: locks L1 [lock]",
                "T2: locks L2 [lock]",
                "T1: waits for L2 [wait]",
                "T2: waits for L1 [wait]"
            ]
        );
        assert!(picture.steps.iter().all(|step| step.is_key));
        let bars: Vec<_> = picture.bars.iter().map(|b| (b.lane, b.lock.as_str(), b.from, b.until)).collect();
        assert_eq!(bars, [(picture.steps[0].lane, "L1", 0, None), (picture.steps[1].lane, "L2", 1, None)]);
    }

    #[test]
    fn a_race_is_drawn_from_its_ends() {
        let mut now = access(AccessOp::Write, "T2", vec![frame("f", "a.c", 9, 1)]);
        now.locks = vec!["L1".into()];
        let earlier = access(AccessOp::Read, "T1", vec![frame("g", "a.c", 19, 1)]);
        let mut race = finding(Kind::DataRace, vec![now, earlier]);
        race.locks = vec![lock("L1", "T2", 8)];
        race.threads = vec![ThreadInfo {
            label: "T2".into(),
            name: None,
            created_by: Some("T0 (main)".into()),
            stack: vec![frame("main", "a.c", 30, 1)],
            running: true,
        }];
        let picture = picture(&race).unwrap();
        assert_eq!(
            told(&picture),
            [
                "T0 (main): creates T2 [thread]",
                "T1: reads 4 bytes [read]",
                "T2: locks L1 [lock]",
                "T2: writes 4 bytes [write]"
            ]
        );
        let key: Vec<bool> = picture.steps.iter().map(|step| step.is_key).collect();
        assert_eq!(key, [false, true, false, true]);
        assert!(picture.bars[0].covers(3) && !picture.bars[0].covers(1));
    }

    #[test]
    fn an_access_that_is_a_step_too_is_drawn_once() {
        let mut race = finding(Kind::DataRace, vec![]);
        let step = |step, text: &str| TimelineStep { step, text: text.into(), ..Default::default() };
        let mut access = step(None, "writes `x`");
        access.matters = true;
        race.timeline = Some(Timeline {
            threads: vec!["T0".into()],
            steps: vec![
                step(Some(4), "writes `x`"),
                access,
                step(Some(5), "locks L1"),
                step(Some(6), "ends"),
            ],
            held: vec![LockSpan { lock: "L1".into(), from: 2, until: Some(3), ..Default::default() }],
            ..Timeline::default()
        });
        let picture = picture(&race).unwrap();
        let told: Vec<_> = picture.steps.iter().map(|s| (s.text.as_str(), s.matters)).collect();
        assert_eq!(told, [("writes `x`", true), ("locks L1", false), ("ends", false)]);
        assert_eq!((picture.bars[0].from, picture.bars[0].until), (1, Some(2)));
    }

    #[test]
    fn a_timeline_that_points_nowhere_is_drawn_as_far_as_it_goes() {
        let mut crash = finding(Kind::Crash, vec![]);
        let step = |thread, frame| TimelineStep { thread, frame, text: "x".into(), ..Default::default() };
        crash.timeline = Some(Timeline {
            threads: vec!["T0".into()],
            steps: vec![step(0, Some(7)), step(9, None)],
            held: vec![LockSpan { thread: 4, ..Default::default() }],
            ..Timeline::default()
        });
        let picture = picture(&crash).unwrap();
        assert_eq!((picture.steps.len(), picture.bars.len(), picture.steps[1].lane), (2, 0, 0));
        assert_eq!(super::picture(&finding(Kind::Crash, vec![])), None);
    }
}
