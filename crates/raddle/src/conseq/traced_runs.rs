//! The traced runs: a few executions without preemptions, with the values that their accesses read
//! and wrote.
//!
//! The paper traces one run and trains its invariants with others. Here the same executions serve
//! for both: the threads in the order of their creation, in the opposite order, round-robin, and in
//! random orders. None of them preempts a thread, so they resemble runs on a lightly loaded machine
//! and are usually correct. One that fails is a finding in itself.
//!
//! **Each order is executed once if possible, and the second time no further than needed.** A trace
//! leaves out memory that only one thread touches, and that is known only after everything has been
//! executed once. If the accesses are not too many, the runtime records all of them and reports
//! what turns out to be shared. After all orders have been executed, the rest is removed here
//! ([`SharedMemory`]). Otherwise there is a second execution. But most programs begin to share
//! their memory early. So the runtime records accesses to memory that is known to be shared, and
//! starts over when it finds more. The end of a first execution is then a trace from some step on
//! ([`ExecutionTail`]), and it is complete if nothing more is found until all orders have been
//! executed. The second execution is recorded up to that step and ends there. The two together are
//! what a whole second execution would have recorded. If the second execution reaches that step in
//! another way, because the program depends on more than its order of threads, it runs to its end
//! and is the trace.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_conseq::event::{TraceEvent, What};
use raddle_conseq::shared::SharedMemory;
use raddle_explore::{Next, Order, Outcome, Tail, Trace};
use raddle_finding::Kind;
use raddle_wire::explore::{ExecutionEnd, flag, gap};
use raddle_wire::trace::Recording;
use thiserror::Error;

use super::tester::{KILLED, was_killed};
use raddle_harness::check::events::{self, Told};
use raddle_harness::check::printed::Printed;
use raddle_harness::crew::{Crew, Notes};
use raddle_harness::places::Mapped;
use raddle_harness::verdict::{Failure, Usual, judge};
use raddle_harness::watch::{ExecutionTail, Traced, Watch};
use raddle_harness::worker::{Ending, Execution, Recipe};

/// One traced execution.
pub struct Run {
    pub events: Vec<TraceEvent>,
    pub printed: Printed,
    pub trace: Trace,
    /// It failed, and needs no further explanation.
    pub failure: Option<Failure>,
    /// The bytes of its trace, and the number of accesses.
    pub bytes: u64,
    pub accesses: u64,
    /// The trace does not reach the end: there was no room, or the process died.
    pub cut_short: bool,
    /// Some of its events did not fit.
    pub lost: bool,
    /// It was killed after too many steps or too long a silence.
    pub endless: bool,
    /// There was no time to read its events to the end.
    pub unread: bool,
    /// The program had started other processes, which nobody schedules.
    pub has_forked: bool,
}

pub struct Runs {
    pub runs: Vec<Run>,
    pub usual: Usual,
    pub modules: Vec<Mapped>,
    /// The recipe after all adaptations.
    pub recipe: Recipe,
    /// The seconds spent reading the traces, which do not count as part of the runs.
    pub reading: f64,
    /// The scheduler of `explore` decided which thread ran.
    pub scheduled: bool,
    /// In which orders, if it did.
    pub orders: TracedOrders,
}

/// The room for one trace. The file is sparse.
const ROOM: u64 = 1 << 30;

/// How many of the first runs have an order of threads that is not random.
pub const PLAIN: usize = 3;

/// This many orders that do not end are enough.
const ENDLESS: usize = 2;

/// The least time to read a trace, whatever has been used up before.
pub const LEAST_READING: Duration = Duration::from_millis(200);

/// The orders of the traced runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracedOrders {
    /// No thread is preempted.
    NonPreemptive,
    /// Any thread may go on at any step. A thread that works for ever until another one has done
    /// something comes to an end, which it never does if nobody preempts it.
    Fair,
}

impl TracedOrders {
    /// The first one.
    pub fn default_tail(self) -> Tail {
        self.tails(1)[0]
    }

    fn tails(self, n: u32) -> Vec<Tail> {
        let n = n as usize;
        if self == TracedOrders::Fair {
            return (1..).map(|seed| Tail::Random { seed }).take(n).collect();
        }
        let plain = [Next::Lowest, Next::Highest, Next::Round].map(|next| Tail::NonPreemptive { next });
        // Random priorities without change points.
        let random = (1..).map(|seed| Tail::Pct { seed, depth: 1, length: 1 });
        plain.into_iter().chain(random).take(n).collect()
    }
}

/// Makes `n` traced runs, or as many as can begin before the deadline, but at least one. `check`:
/// see [`Maker::check`].
pub fn make(
    recipe: &Recipe,
    (orders, n, check): (TracedOrders, u32, bool),
    rust: bool,
    deadline: Instant,
    notes: &Notes,
) -> Result<Runs> {
    let share = deadline.saturating_duration_since(Instant::now());
    let half = Instant::now() + share / 2;
    // A thread that computes for ever, such as one that waits for a plain variable, is cut off.
    // A process that starts gets its time.
    let latest = deadline + share;
    let cut_off = Mutex::new(half.max(latest.min(Instant::now() + recipe.patience)));
    let is_over = || Instant::now() >= *cut_off.lock().unwrap_or_else(PoisonError::into_inner);
    let mut maker = Maker {
        crew: Crew::new(watched(recipe, Recording::Learn), notes, &is_over),
        notes,
        is_over: &is_over,
        cut_off: &cut_off,
        usual: Usual { rust, ..Usual::default() },
        reading: 0.0,
        without_end: Vec::new(),
        latest,
        read_until: deadline + share / 4,
    };
    let mut tails = orders.tails(n);
    let Some(mut learned) = maker.learn(&tails, half)? else {
        // This is a server, or it waits for something that the scheduler does not see. More runs
        // would only take time.
        return Ok(as_they_are(maker.crew, orders, maker.without_end));
    };
    // An order that was not executed may share other memory.
    if !learned.is_empty() {
        tails.truncate(learned.len());
    }
    let mut runs: Vec<Run> = Vec::new();
    for (i, tail) in tails.iter().enumerate() {
        if !runs.is_empty() && (Instant::now() >= deadline || raddle_harness::interrupt::came()) {
            break;
        }
        if !learned.is_empty() && maker.crew.watched().is_none() {
            // The process is gone, and with it what it had learned.
            learned = Vec::new();
            maker.record_all();
        }
        let first = learned.get_mut(i).and_then(|l| l.part.zip(l.run.take()));
        let is_first = learned.is_empty() && runs.is_empty();
        let run = maker.record(*tail, first, is_first)?;
        if check && !learned.is_empty() {
            maker.check(*tail, &run)?;
        }
        runs.push(run);
    }
    let Maker { crew, usual, reading, .. } = maker;
    Ok(Runs { usual, reading, ..as_they_are(crew, orders, runs) })
}

/// These runs, with what the crew knows about the program.
fn as_they_are(crew: Crew<'_>, orders: TracedOrders, runs: Vec<Run>) -> Runs {
    let modules = crew.modules().to_vec();
    let recipe = Recipe { watch: Watch::default(), ..crew.recipe().clone() };
    crew.stop();
    Runs { runs, usual: Usual::default(), modules, recipe, reading: 0.0, scheduled: true, orders }
}

fn watched(recipe: &Recipe, mode: Recording) -> Recipe {
    let trace = Some(Traced { mode, sites: Vec::new(), room: ROOM });
    Recipe {
        slots: 1,
        flags: recipe.flags | flag::FLUSH,
        watch: Watch { trace, output: true },
        ..recipe.clone()
    }
}

struct Maker<'a> {
    crew: Crew<'a>,
    notes: &'a Notes,
    is_over: &'a (dyn Fn() -> bool + Sync),
    /// When to kill an execution in which a thread computes without a step.
    cut_off: &'a Mutex<Instant>,
    usual: Usual,
    reading: f64,
    /// First executions that did not end.
    without_end: Vec<Run>,
    /// When no execution may go on: others need the rest of the time.
    latest: Instant,
    /// After this, no trace is read further.
    read_until: Instant,
}

/// A first execution, of which `part` is recorded.
struct Learned {
    run: Option<Run>,
    part: Option<ExecutionTail>,
    /// What was found to be shared, if all accesses are recorded.
    shared: Option<Vec<u64>>,
    /// How much was found so far.
    discoveries: u64,
}

impl Maker<'_> {
    /// Executes each order to learn what is shared. Returns an empty list if later executions will
    /// not know it; then they are recorded whole. `None`: the first orders did not end.
    fn learn(&mut self, tails: &[Tail], until: Instant) -> Result<Option<Vec<Learned>>> {
        let mut learned: Vec<Learned> = Vec::new();
        let mut lives = true;
        for (i, tail) in tails.iter().enumerate() {
            let is_late = !learned.is_empty() && Instant::now() >= until;
            let only_endless = self.without_end.len() == i;
            if (is_late || !lives) && !only_endless {
                break;
            }
            let (usual, reading, read_until) = (&mut self.usual, &mut self.reading, self.read_until);
            let without_end = &mut self.without_end;
            let killed = each(&mut self.crew, self.notes, *tail, &mut |e| {
                if is_endless(&e) {
                    without_end.push(run(&e, &Usual::default(), read_until));
                }
                lives &= e.ending == Ending::Finished;
                learn_usual(usual, learned.is_empty(), &e);
                let part = e.watched.and_then(|w| w.part());
                let (run, shared) = part.map(|_| timed(reading, || told(&e, usual, read_until))).unzip();
                // What was read of a trace that is too long to read has all accesses.
                let is_read = run.as_ref().is_some_and(|r: &Run| !r.unread);
                let shared = shared.filter(|_| is_read && e.watched.is_some_and(|w| w.has_all()));
                let discoveries = e.watched.map_or(0, |w| w.discoveries());
                learned.push(Learned { run, part, shared, discoveries });
            })?;
            // A new process does not know what the one before has learned.
            lives &= !killed;
            let enough = if Instant::now() >= until { 1 } else { ENDLESS.min(tails.len()) };
            if i + 1 >= enough && self.without_end.len() > i {
                return Ok(None);
            }
        }
        // If each execution is a process of its own, what it learns is lost with it.
        if self.crew.recipe().flags & flag::FORK != 0 || !lives {
            self.record_all();
            return Ok(Some(Vec::new()));
        }
        timed(&mut self.reading, || choose(&mut learned));
        if let Some(watched) = self.crew.watched() {
            watched.set_mode(Recording::Shared);
        }
        Ok(Some(learned))
    }

    /// Makes later executions record all accesses.
    fn record_all(&mut self) {
        let recipe = watched(self.crew.recipe(), Recording::All);
        let crew = Crew::new(recipe, self.notes, self.is_over);
        std::mem::replace(&mut self.crew, crew).stop();
        self.usual = Usual { rust: self.usual.rust, ..Usual::default() };
    }

    /// The trace of an order. Its first execution may already have the `end` of the trace.
    /// `is_first`: no order has been executed.
    fn record(&mut self, tail: Tail, first: Option<(ExecutionTail, Run)>, is_first: bool) -> Result<Run> {
        let (part, mut end) = first.unzip();
        if part.is_some_and(|p| p.begins == 0)
            && let Some(whole) = end
        {
            return Ok(whole);
        }
        if let Some(watched) = self.crew.watched() {
            watched.end_at(part);
        }
        // Gives a process that starts now its time.
        let mut cut_off = self.cut_off.lock().unwrap_or_else(PoisonError::into_inner);
        let its_time = Instant::now() + 2 * self.crew.recipe().patience;
        *cut_off = (*cut_off).max(its_time.min(self.latest));
        drop(cut_off);
        let mut made = None;
        let (usual, reading, read_until) = (&mut self.usual, &mut self.reading, self.read_until);
        each(&mut self.crew, self.notes, tail, &mut |e| {
            learn_usual(usual, is_first, &e);
            let whole = timed(reading, || run(&e, usual, read_until));
            made = Some(match end.take() {
                Some(end) if e.watched.is_some_and(|w| w.was_cut()) => timed(reading, || end.behind(whole)),
                _ => whole,
            });
        })?;
        made.context("an execution was lost")
    }
}

/// Keeps from the first executions what second ones would record. Traces with all accesses are
/// usable if all of them say what they found to be shared; the others, if nothing was found after
/// them.
fn choose(learned: &mut [Learned]) {
    let all = learned.last().map_or(0, |l| l.discoveries);
    let told: u64 = learned.iter().flat_map(|l| &l.shared).map(|s| s.len() as u64).sum();
    if told == all && learned.iter().all(|l| l.shared.is_some()) {
        let shared = SharedMemory::new(learned.iter().flat_map(|l| &l.shared).flatten().copied());
        learned.iter_mut().filter_map(|l| l.run.as_mut()).for_each(|run| shared.choose(&mut run.events));
    } else {
        let is_of_use = |l: &Learned| l.shared.is_none() && l.discoveries == all;
        learned.iter_mut().filter(|l| !is_of_use(l)).for_each(|l| (l.run, l.part) = (None, None));
    }
}

/// The trace of an order is not what it should be.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the trace of order {order} differs from {from} at event {at}: {:?}, and not {:?}", .events.0, .events.1)]
struct Differs {
    order: String,
    from: &'static str,
    at: usize,
    /// The actual event and the expected one.
    events: Box<(Option<TraceEvent>, Option<TraceEvent>)>,
}

impl Maker<'_> {
    /// Compares a trace with two simple ways to make it: one whole execution; and one that records
    /// all accesses except those to a thread's own memory, without the fast path of the probes,
    /// from which the shared memory is selected afterwards. The values of Rust programs are not
    /// compared ([`forget_values`]).
    fn check(&mut self, tail: Tail, run: &Run) -> Result<()> {
        let granule = |e: &TraceEvent| match e.what {
            What::Read(cell) | What::Write { cell, .. } => Some(cell.address & !7),
            _ => None,
        };
        let whole = self.record(tail, None, false)?.events;
        let shared: HashSet<u64> = whole.iter().filter_map(granule).collect();
        if let Some(watched) = self.crew.watched() {
            watched.set_mode(Recording::All);
        }
        let mut all = self.record(tail, None, false)?.events;
        all.retain(|e| granule(e).is_none_or(|g| shared.contains(&g)));
        if let Some(watched) = self.crew.watched() {
            watched.set_mode(Recording::Shared);
        }
        let (mut made, mut whole) = (run.events.clone(), whole);
        if self.usual.rust {
            [&mut made, &mut whole].into_iter().flatten().for_each(forget_values);
        }
        same(tail, &made, "one whole execution", &whole)?;
        [&mut made, &mut all].into_iter().flatten().for_each(forget_values);
        same(tail, &made, "what all accesses say", &all)?;
        Ok(())
    }
}

/// A program may copy what it has never set. Rust's threads seem to do that with the unused half of
/// their `Result`. The value is whatever a probe left in a register, and another path through the
/// probe leaves something else.
fn forget_values(event: &mut TraceEvent) {
    match &mut event.what {
        What::Read(cell) => cell.value = 0,
        What::Write { cell, before, .. } => {
            cell.value = 0;
            *before = before.map(|_| 0);
        }
        _ => {}
    }
}

fn same(tail: Tail, made: &[TraceEvent], from: &'static str, other: &[TraceEvent]) -> Result<(), Differs> {
    if made == other {
        return Ok(());
    }
    let at = made.iter().zip(other).take_while(|(a, b)| a == b).count();
    let events = Box::new((made.get(at).copied(), other.get(at).copied()));
    Err(Differs { order: format!("{tail:?}"), from, at, events })
}

/// Learns from the first execution what is usual.
fn learn_usual(usual: &mut Usual, is_first: bool, e: &Execution<'_>) {
    if is_first && e.ending == Ending::Finished && e.slot.outcome() == Some(ExecutionEnd::Exit) {
        usual.status = e.slot.detail as i32 & 0xff;
        usual.panics = Some(e.slot.panics);
    }
}

fn timed<T>(seconds: &mut f64, f: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = f();
    *seconds += begun.elapsed().as_secs_f64();
    done
}

/// No execution ended by itself.
#[derive(Debug, Error)]
#[error("`{0}` was killed {1} times by somebody else: is there enough memory?")]
struct Killed(String, u32);

/// Executes this order, again if the process is killed from outside. Returns whether it was killed.
fn each(crew: &mut Crew<'_>, notes: &Notes, tail: Tail, then: &mut dyn FnMut(Execution<'_>)) -> Result<bool> {
    const MOST: u32 = 4;
    for n in 0..MOST {
        let mut killed = false;
        crew.post(Order::free(0, tail));
        while crew.in_flight() > 0 {
            crew.turn(&mut |_, e| if was_killed(&e) { killed = true } else { then(e) })?;
        }
        if !killed {
            return Ok(n > 0);
        }
        notes.say(KILLED);
    }
    Err(Killed(crew.recipe().program.path.display().to_string(), MOST).into())
}

/// Whether it was killed by raddle.
fn is_endless(e: &Execution<'_>) -> bool {
    match e.ending {
        Ending::Finished => e.slot.outcome() == Some(ExecutionEnd::StepLimit),
        Ending::Hung | Ending::Slow => true,
        Ending::Died(_) => false,
    }
}

fn run(e: &Execution<'_>, usual: &Usual, read_until: Instant) -> Run {
    told(e, usual, read_until).0
}

/// An execution, and what it showed to be shared.
fn told(e: &Execution<'_>, usual: &Usual, read_until: Instant) -> (Run, Vec<u64>) {
    let read_until = read_until.max(Instant::now() + LEAST_READING);
    let mut verdict = judge(e, usual);
    if verdict.kind == Some(Kind::Starvation) && e.slot.outcome() == Some(ExecutionEnd::Exit) {
        // Spinning is bad, but not what is looked for.
        verdict.kind = None;
        verdict.outcome = Outcome::Passed;
    }
    let (mut events, mut cut_short, mut printed) = (Vec::new(), false, Printed::default());
    let mut shared = Vec::new();
    let (mut bytes, mut accesses, mut lost, mut unread) = (0, 0, false, false);
    if let Some(watched) = e.watched {
        let (stream, whole);
        (stream, lost) = watched.events();
        Told { events, shared, whole } = events::until(stream, &|| Instant::now() >= read_until);
        unread = !whole && Instant::now() >= read_until;
        cut_short = lost || !whole || e.ending != Ending::Finished;
        printed = Printed::of(watched);
        (bytes, accesses) = watched.size();
    }
    let failure = Failure::of(e, verdict);
    let endless = is_endless(e);
    let trace = e.trace(verdict.outcome);
    let has_forked = e.slot.gaps & gap::PROCESS != 0;
    let run = Run {
        events,
        printed,
        trace,
        failure,
        bytes,
        accesses,
        cut_short,
        lost,
        endless,
        unread,
        has_forked,
    };
    (run, shared)
}

/// Whether more than one of the runs came to this failure.
pub fn came_again(runs: &[Run], failure: &Failure) -> bool {
    let same = |r: &&Run| r.failure.as_ref().is_some_and(|f| f.what == failure.what);
    runs.iter().filter(same).nth(1).is_some()
}

impl Run {
    /// An empty run that ended well.
    #[cfg(test)]
    pub fn empty() -> Run {
        Run {
            events: Vec::new(),
            printed: Printed::default(),
            trace: Trace { steps: Vec::new(), wide: Vec::new(), outcome: Outcome::Passed, divergence: None },
            failure: None,
            bytes: 0,
            accesses: 0,
            cut_short: false,
            lost: false,
            endless: false,
            unread: false,
            has_forked: false,
        }
    }

    /// Whether it was cut off at the step limit, but not in a livelock.
    pub fn is_too_long(&self, most: u32) -> bool {
        self.trace.steps.len() >= most as usize && self.trace.outcome == Outcome::StepLimit
    }

    pub fn is_correct(&self) -> bool {
        self.trace.outcome == Outcome::Passed
    }

    /// The whole execution, given its `beginning`. `self` is the end, which counts only if the
    /// beginning is whole.
    fn behind(mut self, beginning: Run) -> Run {
        let mut events = beginning.events;
        if beginning.unread {
            return Run { events, cut_short: true, unread: true, ..self };
        }
        forget_known(&events, &mut self.events);
        events.append(&mut self.events);
        Run {
            events,
            bytes: beginning.bytes + self.bytes,
            accesses: beginning.accesses + self.accesses,
            cut_short: self.cut_short || beginning.lost,
            ..self
        }
    }
}

/// The first write to a byte says what it found there. Only the beginning shows which writes are
/// first.
fn forget_known(beginning: &[TraceEvent], end: &mut [TraceEvent]) {
    let bytes = |address: u64, size: u8| (0xff >> (8 - size)) << (address & 7);
    let mut written: HashMap<u64, u8> = HashMap::new();
    for event in beginning {
        if let What::Write { cell, before: Some(_), reads: false } = event.what {
            *written.entry(cell.address & !7).or_default() |= bytes(cell.address, cell.size);
        }
    }
    for event in end {
        if let What::Write { cell, before, reads: false } = &mut event.what
            && before.is_some()
        {
            let known = written.entry(cell.address & !7).or_default();
            let these = bytes(cell.address, cell.size);
            if *known & these == these {
                *before = None;
            }
            *known |= these;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_conseq::event::Cell;

    fn write(address: u64, size: u8, before: Option<u64>, reads: bool) -> TraceEvent {
        let cell = Cell { address, size, value: 1, atomic: reads };
        TraceEvent { thread: 1, site: 9, what: What::Write { cell, before, reads } }
    }

    #[test]
    fn a_failure_came_again_if_two_runs_came_to_it() {
        let failed = |what: &str| {
            let failure = super::super::delays::failure(Kind::Deadlock, what.into(), 1);
            Run { failure: Some(failure), ..Run::empty() }
        };
        let runs = [failed("one"), Run::empty(), failed("two"), failed("two")];
        let came_again = |i: usize| came_again(&runs, runs[i].failure.as_ref().unwrap());
        assert!(!came_again(0) && came_again(2) && came_again(3));
    }

    #[test]
    fn a_write_in_the_end_is_no_first_one_where_the_beginning_has_it() {
        let beginning = [write(64, 4, Some(5), false), write(80, 8, Some(5), true)];
        let mut end = [
            write(64, 4, Some(1), false),
            write(68, 4, Some(5), false),
            write(64, 8, Some(5), false),
            write(80, 8, Some(5), false),
            write(64, 4, Some(7), true),
        ];
        forget_known(&beginning, &mut end);
        let before: Vec<Option<u64>> = end
            .iter()
            .map(|e| match e.what {
                What::Write { before, .. } => before,
                _ => None,
            })
            .collect();
        // An update has read what it found. That says nothing about who was first, and is always
        // recorded.
        assert_eq!(before, [None, Some(5), None, Some(5), Some(7)]);
    }

    fn learned(shared: Option<Vec<u64>>, discoveries: u64) -> Learned {
        let events = vec![write(64, 4, None, false), write(72, 4, None, false), write(80, 4, None, false)];
        let run = Run { events, accesses: 3, ..Run::empty() };
        Learned { run: Some(run), part: Some(ExecutionTail { begins: 0, way: 0 }), shared, discoveries }
    }

    fn left(mut learned: Vec<Learned>) -> Vec<Option<usize>> {
        choose(&mut learned);
        learned.iter().map(|l| l.run.as_ref().map(|r| r.events.len())).collect()
    }

    #[test]
    fn of_all_accesses_those_stay_that_some_order_shares() {
        assert_eq!(
            left(vec![learned(Some(vec![64]), 1), learned(Some(vec![80]), 2)]),
            [Some(2), Some(2)],
            "what the second shares is in the trace of the first too"
        );
        assert_eq!(left(vec![learned(Some(Vec::new()), 0)]), [Some(0)]);
    }

    #[test]
    fn what_was_not_told_to_be_shared_is_learned_by_another_execution() {
        // The second execution found two granules, and was too long to say which.
        assert_eq!(left(vec![learned(Some(vec![64]), 1), learned(None, 3)]), [None, Some(3)]);
        assert_eq!(left(vec![learned(Some(vec![64]), 2)]), [None], "what it found before is lost");
        assert_eq!(left(vec![learned(None, 1), learned(None, 2)]), [None, Some(3)]);
    }

    #[test]
    fn traces_that_differ_are_told_with_where() {
        let tail = Tail::NonPreemptive { next: Next::Lowest };
        let (a, b) = (write(64, 4, None, false), write(72, 4, None, false));
        assert_eq!(same(tail, &[a, b], "x", &[a, b]), Ok(()));
        assert_eq!(same(tail, &[a, b], "x", &[a]).unwrap_err().at, 1);
        assert_eq!(same(tail, &[a, b], "x", &[b, b]).unwrap_err().at, 0);
    }

    #[test]
    fn the_first_runs_are_the_plain_ones() {
        let made = TracedOrders::NonPreemptive.tails(5);
        assert_eq!(made[0], Tail::NonPreemptive { next: Next::Lowest });
        assert_eq!(made[4], Tail::Pct { seed: 2, depth: 1, length: 1 });
        assert_eq!(TracedOrders::NonPreemptive.tails(2).len(), 2);
    }
}
