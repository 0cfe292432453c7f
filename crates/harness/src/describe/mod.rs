//! Describes a failure: what happened, where each thread was, and the few orderings that caused it.
//!
//! [`raddle_explore::explain`] finds the orderings by comparing the failing execution with passing
//! ones. The table shows the steps on the objects of those orderings, and every preemption. The
//! other steps made no difference and are left out.

pub mod locks;
pub mod message;
mod pace;
pub mod race;
mod rust_waits;
mod std_calls;
pub mod steps;
pub mod timeline;
pub mod values;
pub mod waits;

use std::collections::HashSet;

use raddle_explore::explain::{self, Explanation};
use raddle_explore::{LogicalThread, Op, OpKind, Step, StepFlags, Trace, dependent};
use raddle_finding::{
    Access, AccessOp, Confidence, Finding, Frame, Interleaving, Kind, Lock, Row, Taken, ThreadInfo, Timeline,
};
use raddle_wire::explore::{End, FRAMES};

use self::locks::{TakenLock, cycle, held};
use self::rust_waits::RustWait;
use self::steps::{StepWords, lock_of};
use self::timeline::{Between, timeline};
use crate::monitors::Observation;
use crate::places::{Mapped, Places};
use crate::verdict::{Failure, awaited, circling};

/// The most rows of a readable table.
const ROWS: usize = 60;
/// The most orderings described in sentences.
const ORDERINGS: usize = 4;

/// The failure as a finding, without its schedule.
pub fn finding(failure: &Failure, passing: &[Trace], places: &mut Places, modules: &[Mapped]) -> Finding {
    let mut finding = without_waits(failure, passing, places, modules);
    waits::note(failure, &mut finding);
    finding
}

fn without_waits(failure: &Failure, passing: &[Trace], places: &mut Places, modules: &[Mapped]) -> Finding {
    let steps = &failure.trace.steps;
    let mut words = StepWords::new(places, modules, steps);
    words.stacks = &failure.facts.stacks;
    if let Some(Observation::Race(found)) = &failure.facts.seen {
        return race::finding(found, steps, &mut words);
    }
    let compared = passing.iter().filter(|t| t.divergence.is_none()).map(Trace::view);
    let candidates: Vec<_> = compared.collect();
    let explanation = explain::nearest(failure.trace.view(), candidates.iter().copied())
        .map(|i| explain::explain(failure.trace.view(), candidates[i]))
        .unwrap_or_default();
    let rust = rust_waits_of(failure, &mut words);
    words.mutexes = rust_waits::mutexes(&rust);
    let mut held = held(steps);
    held.extend(taken_before(&failure.facts.ends, &held));
    let mutexes = words.mutexes.clone();
    let mut takes = |i: usize| rust_waits::takes(&words.frames_of(i));
    held.extend(rust_waits::held(&mutexes, steps, &failure.facts.ends, &mut takes));
    let teller = Teller { failure, steps, held, rust, explanation };
    // It is an inference, not an observation, that an execution that was cut off would never have
    // ended, and that a call that raddle does not interpose would never have returned.
    let argued = match failure.kind {
        Kind::Starvation | Kind::Livelock => !failure.facts.ends.is_empty(),
        Kind::Hang => true,
        _ => false,
    };
    let confidence = if argued { Confidence::Suspected } else { Confidence::Confirmed };
    let mut finding = Finding::new(failure.kind, confidence, failure.facts.sentence.clone());
    teller.accesses(&mut words, &mut finding);
    teller.in_its_words(&mut words, &mut finding);
    teller.table(&mut words, &mut finding);
    teller.orderings(&mut words, &mut finding);
    teller.stale_reads(&mut words, &mut finding);
    teller.introduce(&mut words, &mut finding);
    finding
}

/// The mutexes that threads wait for and that were taken before the first step: before the program
/// created a thread.
fn taken_before(ends: &[End], held: &[TakenLock]) -> Vec<TakenLock> {
    let mut taken: Vec<TakenLock> = Vec::new();
    for end in ends.iter().filter(|end| end.ended == 0 && end.holder != 0) {
        let (thread, lock) = (LogicalThread(end.holder - 1), end.pending.object);
        let is_known = held.iter().chain(&taken).any(|h| h.lock == lock);
        if lock_of(&end.pending).is_some() && !is_known {
            taken.push(TakenLock { thread, lock, step: None, read: false });
        }
    }
    taken
}

/// Where threads wait at futexes, and which Rust primitive they wait for.
fn rust_waits_of(failure: &Failure, words: &mut StepWords<'_>) -> Vec<(End, Option<RustWait>)> {
    let waiting = failure.facts.ends.iter().filter(|end| end.ended == 0 && rust_waits::is_futex(end));
    let wait = |end: &End| {
        let depth = (end.depth as usize).min(FRAMES);
        (*end, rust_waits::of(&words.stack(&end.frames[..depth])))
    };
    if failure.kind == Kind::Deadlock { waiting.map(wait).collect() } else { Vec::new() }
}

struct Teller<'a> {
    failure: &'a Failure,
    steps: &'a [Step],
    held: Vec<TakenLock>,
    rust: Vec<(End, Option<RustWait>)>,
    explanation: Explanation,
}

/// Whether it is the choice of an older value than the newest.
fn reads_old_value(step: &Step) -> bool {
    step.is_value() && step.op.other != 0 && step.value != 0
}

impl Teller<'_> {
    fn frames_of(&self, end: &End) -> Vec<u64> {
        end.frames[..(end.depth as usize).min(FRAMES)].to_vec()
    }

    /// The ends of threads that had not ended.
    fn ends(&self) -> impl Iterator<Item = &End> {
        self.failure.facts.ends.iter().filter(|end| end.ended == 0)
    }

    fn locks_held(&self, thread: LogicalThread, words: &mut StepWords<'_>) -> Vec<String> {
        let own = self.held.iter().filter(|h| h.thread == thread);
        own.map(|h| words.lock(h.lock) + if h.read { " (read)" } else { "" }).collect()
    }

    fn access(
        &self,
        words: &mut StepWords<'_>,
        thread: LogicalThread,
        op: AccessOp,
        stack: Vec<Frame>,
    ) -> Access {
        let locks = self.locks_held(thread, words);
        Access { op, size: 0, thread: words.thread(thread), locks, lock: None, stack }
    }

    fn accesses(&self, words: &mut StepWords<'_>, finding: &mut Finding) {
        let mut deeds = Vec::new();
        if let Some(Observation::Leak(leak)) = &self.failure.facts.seen {
            let n = leak.frames.iter().position(|f| *f == 0).unwrap_or(leak.frames.len());
            let stack = words.stack(&leak.frames[..n]);
            let thread = LogicalThread(leak.thread as u16);
            finding.accesses.push(self.access(words, thread, AccessOp::Allocate, stack));
            deeds.push("allocated what is lost".into());
        } else if matches!(
            self.failure.kind,
            Kind::NonDeterminism | Kind::Output | Kind::ErrorMessage | Kind::Invariant
        ) {
            // No thread did this: the execution ran to its end.
        } else if matches!(self.failure.kind, Kind::Deadlock | Kind::Livelock) {
            self.everybody(words, finding, &mut deeds);
        } else {
            self.who_failed(words, finding, &mut deeds);
        }
        finding.interleaving = Some(Interleaving { deeds, ..Interleaving::default() });
    }

    /// The failure in the program's own words, if they name a place or nothing better is known.
    fn in_its_words(&self, words: &mut StepWords<'_>, finding: &mut Finding) {
        let Some(said) = &self.failure.facts.said else { return };
        finding.message = match self.failure.kind {
            Kind::ExitStatus => format!("{}: {}", self.failure.facts.sentence, said.text),
            _ => said.text.clone(),
        };
        let known = finding.accesses.iter().any(|a| !a.stack.is_empty());
        if let (Some((file, line)), false) = (&said.place, known) {
            let frame = Frame { file: Some(file.clone()), line: Some(*line), ..Frame::default() };
            let thread = LogicalThread(self.failure.facts.thread);
            finding.accesses = vec![self.access(words, thread, AccessOp::Call, vec![frame])];
            finding.interleaving.get_or_insert_default().deeds = vec![deed(self.failure.kind).into()];
        }
    }

    /// Where each thread is, and what it waits for.
    fn everybody(&self, words: &mut StepWords<'_>, finding: &mut Finding, deeds: &mut Vec<String>) {
        let deadlock = self.failure.kind == Kind::Deadlock;
        let going = circling(self.steps).unwrap_or_default();
        let mut ends: Vec<&End> = self.ends().collect();
        // The first end is where a reader is sent: not to a thread that waits for those of the circle.
        if let Some(circle) = self.circle_of_waits().filter(|_| deadlock) {
            ends.sort_by_key(|end| !circle.contains(&end.thread));
        }
        for end in ends {
            if !deadlock && !going.iter().any(|s| s.thread == end.thread) {
                continue;
            }
            let stack = words.stack(&self.frames_of(end));
            let lock = self.lock_awaited(end).filter(|_| deadlock);
            // Waits inside Rust's locks are calls: the class is part of ids.
            let is_lock = deadlock && lock_of(&end.pending).is_some();
            let op = if is_lock { AccessOp::Lock } else { AccessOp::Call };
            let mut access = self.access(words, end.thread, op, stack);
            access.lock = lock.map(|l| words.lock(l));
            finding.accesses.push(access);
            deeds.push(if deadlock {
                self.wait_and_holder(words, end)
            } else {
                format!("goes round: {}", words.op_by(end.thread, &end.pending))
            });
        }
        if deadlock {
            finding.message = self.circle(words);
        }
    }

    /// The Rust primitive that a thread waits for.
    fn rust_wait(&self, end: &End) -> Option<RustWait> {
        self.rust.iter().find(|(e, _)| e.thread == end.thread).and_then(|(_, wait)| *wait)
    }

    fn lock_awaited(&self, end: &End) -> Option<u64> {
        let rust = (self.rust_wait(end) == Some(RustWait::Mutex)).then_some(end.pending.object);
        lock_of(&end.pending).or(rust)
    }

    fn wait(&self, words: &mut StepWords<'_>, end: &End) -> String {
        match self.rust_wait(end) {
            Some(RustWait::Mutex) => format!("waits for {}", words.object(&end.pending)),
            Some(RustWait::RwLock) => format!("waits for the RwLock at {}", words.object(&end.pending)),
            Some(RustWait::Condvar) => {
                format!("waits for a signal on the condition variable at {}", words.object(&end.pending))
            }
            Some(RustWait::Channel) => "waits for a message of a channel".into(),
            Some(RustWait::Park) => "waits to be unparked".into(),
            None => words.wait(&end.pending),
        }
    }

    fn wait_and_holder(&self, words: &mut StepWords<'_>, end: &End) -> String {
        let wait = self.wait(words, end);
        let holder = self.lock_awaited(end).and_then(|l| self.held.iter().find(|h| h.lock == l));
        match holder {
            Some(h) => format!("{wait}, which {} holds", words.thread(h.thread)),
            None => wait,
        }
    }

    /// The threads that wait for each other.
    fn circle_of_waits(&self) -> Option<Vec<LogicalThread>> {
        let holders = |end: &End| match self.rust_wait(end) {
            Some(RustWait::Mutex) => {
                self.held.iter().filter(|h| h.lock == end.pending.object).map(|h| h.thread).collect()
            }
            _ => awaited(&self.held, end),
        };
        let waits: Vec<_> = self.ends().map(|end| (end.thread, holders(end))).collect();
        cycle(&waits)
    }

    fn circle(&self, words: &mut StepWords<'_>) -> String {
        let circle = self.circle_of_waits();
        let members: Vec<&End> = self
            .ends()
            .filter(|end| circle.as_ref().is_none_or(|c| c.contains(&end.thread)))
            .take(6)
            .collect();
        let told: Vec<String> = members
            .iter()
            .map(|end| format!("{} {}", words.thread(end.thread), self.wait_and_holder(words, end)))
            .collect();
        let head = if circle.is_some() { "a circle of threads that wait" } else { "no thread can go on" };
        format!("{head}: {}", told.join("; "))
    }

    /// The thread that failed, and who freed what it used.
    fn who_failed(&self, words: &mut StepWords<'_>, finding: &mut Finding, deeds: &mut Vec<String>) {
        let thread = LogicalThread(self.failure.facts.thread);
        let end = self.ends().find(|end| end.thread == thread);
        let last = self.steps.iter().rfind(|s| s.thread == thread);
        let stack = match (end, last) {
            (Some(end), _) => self.trimmed_to_user_code(words.stack(&self.frames_of(end))),
            (None, Some(step)) => words.frames(step.op.site),
            (None, None) => Vec::new(),
        };
        // An execution that ran to its end has no place.
        if end.is_some() || !matches!(self.failure.kind, Kind::ExitStatus | Kind::Assertion) {
            finding.accesses.push(self.access(words, thread, AccessOp::Call, stack));
            let on_stack = self.failure.kind == Kind::UseAfterFree && self.free().is_none();
            deeds.push(if on_stack { "accesses it" } else { deed(self.failure.kind) }.into());
        }
        if matches!(self.failure.kind, Kind::UseAfterFree | Kind::DoubleFree)
            && let Some(free) = self.free()
        {
            let stack = words.frames_of(free);
            finding.accesses.push(self.access(words, self.steps[free].thread, AccessOp::Free, stack));
            deeds.push("freed the block".into());
        }
    }

    /// A failed assertion has happened where the program says so: how its library panics or throws
    /// is left out.
    fn trimmed_to_user_code(&self, mut stack: Vec<Frame>) -> Vec<Frame> {
        let user = stack.iter().position(raddle_finding::place::is_user_code);
        if let (Kind::Assertion, Some(user)) = (self.failure.kind, user) {
            stack.drain(..user);
        }
        stack
    }

    /// The step that freed the block. The last step of a double free is the second free.
    fn free(&self) -> Option<usize> {
        let address = self.failure.facts.address;
        let covers = |s: &Step| {
            s.op.kind() == OpKind::Free && s.op.object <= address && address < s.op.other.max(s.op.object + 1)
        };
        self.steps.iter().position(covers)
    }

    /// The objects that the failure is about.
    fn involved(&self) -> HashSet<u64> {
        let keys = |op: &Op| op.keys().into_iter().filter(|k| *k != 0).collect::<Vec<_>>();
        let mut involved = HashSet::new();
        for ordering in &self.explanation.orderings {
            let then = keys(&ordering.then.op);
            involved.extend(keys(&ordering.first.op).into_iter().filter(|k| then.contains(k)));
        }
        for read in &self.explanation.reads {
            involved.extend(keys(&read.read.op));
        }
        if self.failure.kind == Kind::Deadlock {
            self.ends().for_each(|end| involved.extend(keys(&end.pending)));
        }
        if involved.is_empty() {
            let switches = (1..self.steps.len()).filter(|i| self.preempts(*i));
            involved.extend(switches.flat_map(|i| self.interrupted_at(i)));
        }
        involved
    }

    /// Whether the thread of step `i` runs because another one was preempted.
    fn preempts(&self, i: usize) -> bool {
        self.steps.get(i).is_some_and(|s| s.flags.has(StepFlags::PREEMPTION))
    }

    /// What the thread that step `i` preempts touched just before and touches next, if the others
    /// conflict with it in between. This is all there is to go by where no passing execution was
    /// comparable.
    fn interrupted_at(&self, i: usize) -> Vec<u64> {
        let before = &self.steps[i - 1];
        let next = self.steps[i..].iter().position(|s| s.thread == before.thread);
        let between = &self.steps[i..next.map_or(self.steps.len(), |n| i + n)];
        let own = [Some(before), next.map(|n| &self.steps[i + n])].into_iter().flatten();
        let conflicts = |op: &Op, key: &u64| {
            *key != 0 && between.iter().any(|s| s.op.keys().contains(key) && dependent(op, &s.op))
        };
        own.flat_map(|s| s.op.keys().into_iter().filter(move |key| conflicts(&s.op, key))).collect()
    }

    fn table(&self, words: &mut StepWords<'_>, finding: &mut Finding) {
        let involved = self.involved();
        let preempts = |i: usize| self.preempts(i);
        let is_order = self.failure.kind != Kind::Deadlock;
        let sleep = waits::last_sleep_of_others(&self.failure.trace).filter(|_| is_order);
        let matters = |i: &usize| {
            let op = &self.steps[*i].op;
            let touches = op.keys().iter().any(|k| involved.contains(k)) && op.kind() != OpKind::Create;
            let freed =
                op.kind() == OpKind::Free && involved.iter().any(|k| op.object <= *k && *k < op.other);
            // None of these had to happen.
            let of_itself =
                matches!(op.kind(), OpKind::TimeOut | OpKind::Spurious) || reads_old_value(&self.steps[*i]);
            touches || freed || of_itself || sleep == Some(*i) || preempts(*i) || preempts(i + 1)
        };
        let mut shown: Vec<usize> = (0..self.steps.len()).filter(matters).collect();
        shown.drain(..shown.len().saturating_sub(ROWS));
        let mut rows = Rows::default();
        let mut before = None;
        for i in shown {
            let preempted = before.is_some_and(|b: usize| (b + 1..=i).any(preempts));
            rows.add(words, self.steps, i, preempted);
            before = Some(i);
        }
        let told = rows.rows.len();
        self.last_rows(words, &mut rows);
        finding.timeline = Some(self.timeline(words, &matters, &rows, told));
        let table = finding.interleaving.get_or_insert_default();
        table.threads = rows.threads.iter().map(|t| words.thread(*t)).collect();
        table.rows = rows.rows;
    }

    /// All steps, followed by the rows from `told` on, which are no steps.
    fn timeline(
        &self,
        words: &mut StepWords<'_>,
        matters: &dyn Fn(&usize) -> bool,
        rows: &Rows,
        told: usize,
    ) -> Timeline {
        let last = rows.rows[told..].iter().map(|row| Between {
            at: self.steps.len(),
            thread: rows.threads[row.thread],
            text: row.text.clone(),
            frame: row.frame.clone(),
        });
        timeline(words, self.steps, &|i| matters(&i), last.collect())
    }

    /// The last rows: the failure, or where each thread waits.
    fn last_rows(&self, words: &mut StepWords<'_>, rows: &mut Rows) {
        if self.failure.kind == Kind::Deadlock {
            for end in self.ends() {
                let text = self.wait(words, end);
                let stack = words.stack(&self.frames_of(end));
                let own = stack.iter().find(|f| raddle_finding::place::is_user_code(f)).cloned();
                rows.push(end.thread, text, own.or_else(|| words.frame(&end.pending)), false);
            }
            return;
        }
        if self.failure.facts.seen.is_some() {
            return;
        }
        let thread = LogicalThread(self.failure.facts.thread);
        let end = self.ends().find(|end| end.thread == thread);
        let stack = end.map(|end| words.stack(&self.frames_of(end))).unwrap_or_default();
        let frame = raddle_finding::place::place(&stack).cloned();
        rows.push(thread, deed(self.failure.kind).into(), frame, false);
    }

    /// Sentences that say which orderings matter.
    fn orderings(&self, words: &mut StepWords<'_>, finding: &mut Finding) {
        for ordering in self.explanation.orderings.iter().take(ORDERINGS) {
            let mut side = |at: &explain::At| {
                let place = words.place_of(at.thread, &at.op).map_or(String::new(), |p| format!(" ({p})"));
                format!("{} {}{place}", words.thread(at.thread), words.op_by(at.thread, &at.op))
            };
            let (first, then) = (side(&ordering.first), side(&ordering.then));
            finding.notes.push(format!("this order matters: {first}, before {then}"));
        }
    }

    /// With `--memory c11`: the loads that did not read the newest value.
    fn stale_reads(&self, words: &mut StepWords<'_>, finding: &mut Finding) {
        let stale = self.steps.iter().filter(|s| reads_old_value(s));
        for step in stale.take(ORDERINGS) {
            let place = words.place_of(step.thread, &step.op).map_or(String::new(), |p| format!(" ({p})"));
            let (who, what) = (words.thread(step.thread), words.step(step));
            finding
                .notes
                .push(format!("{who} {what}{place}: nothing orders the newer store before this load"));
        }
    }

    /// Describes the threads and locks.
    fn introduce(&self, words: &mut StepWords<'_>, finding: &mut Finding) {
        let ends = &self.failure.facts.ends;
        introduce_threads(self.steps, words, finding, &|t| {
            !ends.iter().any(|e| e.thread == t && e.ended != 0)
        });
        for h in &self.held {
            let label = words.lock(h.lock);
            let stack = h.step.map_or(Vec::new(), |i| words.frames_of(i));
            let taken = Taken { thread: words.thread(h.thread), stack };
            match finding.locks.iter_mut().find(|l| l.label == label) {
                Some(lock) => lock.taken.push(taken),
                None => {
                    let name = words.name(h.lock);
                    finding.locks.push(Lock { label, what: "lock".into(), name, taken: vec![taken] });
                }
            }
        }
    }
}

/// Describes the threads of a finding by the steps that created them.
pub fn introduce_threads(
    steps: &[Step],
    words: &mut StepWords<'_>,
    finding: &mut Finding,
    runs: &dyn Fn(LogicalThread) -> bool,
) {
    for (i, step) in steps.iter().enumerate().filter(|(_, s)| s.op.kind() == OpKind::Create) {
        let thread = LogicalThread(step.op.object as u16);
        let label = words.thread(thread);
        let in_table = finding.interleaving.as_ref().is_some_and(|i| i.threads.contains(&label));
        if !in_table && !finding.accesses.iter().any(|a| a.thread == label) {
            continue;
        }
        finding.threads.push(ThreadInfo {
            label,
            name: None,
            created_by: Some(words.thread(step.thread)),
            stack: words.frames_of(i),
            running: runs(thread),
        });
    }
}

fn deed(kind: Kind) -> &'static str {
    match kind {
        Kind::Assertion => "fails",
        Kind::Crash => "crashes",
        Kind::Hang => "goes on without end",
        Kind::Starvation => "spins",
        Kind::UseAfterFree => "accesses the freed block",
        Kind::DoubleFree => "frees the block again",
        Kind::ExitStatus => "ends the program",
        _ => "fails",
    }
}

/// Rows, with a column for each thread that has one, in the order of thread numbers.
#[derive(Default)]
pub struct Rows {
    pub threads: Vec<LogicalThread>,
    pub rows: Vec<Row>,
    last: Option<(LogicalThread, u32, OpKind)>,
}

impl Rows {
    /// Adds step `i`.
    pub fn add(&mut self, words: &mut StepWords<'_>, steps: &[Step], i: usize, preempts: bool) {
        let step = &steps[i];
        let key = (step.thread, step.op.site, step.op.kind());
        if self.last == Some(key)
            && !preempts
            && let Some(row) = self.rows.last_mut()
        {
            row.times += 1;
            return;
        }
        let (text, frame) = (words.step_or_call(i), words.frame_of(i));
        let goes_on = |row: &Row| self.threads.get(row.thread) == Some(&step.thread) && row.frame == frame;
        let in_call = |row: &Row| text.is_call && row.text == text.text && goes_on(row);
        if preempts || !self.rows.last().is_some_and(in_call) {
            self.push(step.thread, text.text, frame, preempts);
        }
        self.last = (!text.is_call).then_some(key);
    }

    pub fn push(&mut self, thread: LogicalThread, text: String, frame: Option<Frame>, preempts: bool) {
        let column = match self.threads.binary_search(&thread) {
            Ok(column) => column,
            Err(column) => {
                self.threads.insert(column, thread);
                self.rows.iter_mut().filter(|r| r.thread >= column).for_each(|r| r.thread += 1);
                column
            }
        };
        self.rows.push(Row { thread: column, text, frame, preempts, times: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::ExecutionFacts;
    use raddle_explore::Outcome;

    fn step(thread: u16, kind: OpKind, object: u64) -> Step {
        Step::bare(LogicalThread(thread), Op::new(kind, object, 0))
    }

    fn end(thread: u16, kind: OpKind, object: u64) -> End {
        let pending = Op::new(kind, object, 0);
        End { thread: LogicalThread(thread), ended: 0, depth: 0, holder: 0, pending, frames: [0; FRAMES] }
    }

    fn trace(steps: Vec<Step>) -> Trace {
        Trace { steps, wide: Vec::new(), outcome: Outcome::Passed, divergence: None }
    }

    fn failure(kind: Kind, steps: Vec<Step>, ends: Vec<End>) -> Failure {
        let facts = ExecutionFacts {
            sentence: "it fails".into(),
            thread: 1,
            address: 0,
            ends,
            stacks: Vec::new(),
            seen: None,
            said: None,
        };
        Failure { kind, what: 1, facts, trace: trace(steps), after: 1, flags: 0, points: None }
    }

    fn told(failure: &Failure, passing: &[Trace]) -> Finding {
        finding(failure, passing, &mut Places::new(), &[])
    }

    fn table(finding: &Finding) -> Vec<String> {
        let table = finding.interleaving.as_ref().unwrap();
        table.rows.iter().map(|r| format!("{}: {}", table.threads[r.thread], r.text)).collect()
    }

    #[test]
    fn a_lock_that_was_taken_before_the_first_thread_is_part_of_the_circle() {
        use OpKind::*;
        let waits = End { holder: 1, ..end(1, Lock, 0x10) };
        let finding = told(&failure(Kind::Deadlock, Vec::new(), vec![end(0, Join, 1), waits]), &[]);
        assert_eq!(
            finding.message,
            "a circle of threads that wait: T0 (main) waits for T1 to end; T1 waits for L1, which T0 (main) holds"
        );
        assert_eq!(finding.accesses[0].locks, ["L1"]);
    }

    #[test]
    fn a_deadlock_is_told_with_its_circle() {
        use OpKind::*;
        let steps = vec![step(1, Lock, 0x10), step(2, Lock, 0x20)];
        let ends = vec![end(0, Join, 1), end(1, Lock, 0x20), end(2, Lock, 0x10)];
        let finding = told(&failure(Kind::Deadlock, steps, ends), &[]);
        assert_eq!(
            finding.message,
            "a circle of threads that wait: T1 waits for L2, which T2 holds; T2 waits for L1, which T1 holds"
        );
        let threads: Vec<_> = finding.accesses.iter().map(|a| a.thread.as_str()).collect();
        assert_eq!(threads, ["T1", "T2", "T0 (main)"]);
        assert_eq!(finding.accesses[0].locks, ["L1"]);
        assert_eq!(finding.accesses[0].lock.as_deref(), Some("L2"));
        let rows = [
            "T1: locks L1",
            "T2: locks L2",
            "T0 (main): waits for T1 to end",
            "T1: waits for L2",
            "T2: waits for L1",
        ];
        assert_eq!(table(&finding), rows);
    }

    #[test]
    fn a_deadlock_without_a_circle_says_what_each_waits_for() {
        let ends = vec![end(0, OpKind::Join, 1), end(1, OpKind::CondWake, 0x10)];
        let finding = told(&failure(Kind::Deadlock, vec![], ends), &[]);
        assert!(
            finding
                .message
                .starts_with("no thread can go on: T0 (main) waits for T1 to end; T1 waits for a signal")
        );
    }

    #[test]
    fn the_table_has_the_steps_whose_order_matters() {
        use OpKind::*;
        let (read, write) = (step(1, AtomicLoad, 8), step(2, AtomicStore, 8));
        let noise = step(1, AtomicStore, 64);
        let passing = trace(vec![noise, write, read]);
        let finding =
            told(&failure(Kind::Assertion, vec![noise, read, write], vec![end(1, Exit, 1)]), &[passing]);
        assert_eq!(table(&finding), ["T1: loads word 1", "T2: stores word 1", "T1: fails"]);
        assert_eq!(finding.notes, ["this order matters: T1 loads word 1, before T2 stores word 1"]);
    }

    #[test]
    fn without_a_passing_execution_the_table_shows_what_the_preempted_thread_was_at() {
        use OpKind::*;
        let mut interrupts = step(2, DataRead, 8);
        interrupts.flags = StepFlags::PREEMPTION;
        let steps = vec![
            step(2, AtomicStore, 64),
            step(1, DataRead, 8),
            interrupts,
            step(2, DataWrite, 8),
            step(1, DataWrite, 8),
        ];
        let finding = told(&failure(Kind::ExitStatus, steps, vec![]), &[]);
        let rows = ["T1: reads word 1", "T2: reads word 1", "T2: writes word 1", "T1: writes word 1"];
        assert_eq!(table(&finding)[..4], rows);
    }

    #[test]
    fn the_same_step_again_is_counted() {
        let mut rows = Rows::default();
        let (mut places, again) = (Places::new(), step(2, OpKind::Yield, 0));
        let steps = [again, again, step(1, OpKind::Yield, 0)];
        let mut words = StepWords::new(&mut places, &[], &steps);
        rows.add(&mut words, &steps, 0, false);
        rows.add(&mut words, &steps, 1, false);
        rows.add(&mut words, &steps, 2, true);
        assert_eq!(rows.threads, [LogicalThread(1), LogicalThread(2)]);
        let got: Vec<_> = rows.rows.iter().map(|r| (r.thread, r.times, r.preempts)).collect();
        assert_eq!(got, [(1, 2, false), (0, 1, true)]);
    }

    #[test]
    fn a_use_after_free_names_who_freed() {
        let mut free = step(2, OpKind::Free, 0x100);
        free.op = free.op.with_other(0x140);
        let mut failure = failure(Kind::UseAfterFree, vec![free], vec![end(1, OpKind::DataRead, 0x108)]);
        failure.facts.address = 0x108;
        let finding = told(&failure, &[]);
        assert_eq!(finding.accesses[1].thread, "T2");
        assert_eq!(finding.interleaving.unwrap().deeds, ["accesses the freed block", "freed the block"]);
    }
}
