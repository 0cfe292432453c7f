//! The traced runs: a few executions in which nobody is preempted, with what their accesses read and wrote.
//!
//! The paper traces one run, and trains its invariants with others. Here the same executions serve for both: the threads in the
//! order of their creation, in the opposite order, going round, and in random orders. None of them preempts a thread, so they
//! are what a lightly loaded machine would do, and correct as a rule; one that is not is a finding in itself.

use std::time::Instant;

use anyhow::Result;
use raddle_conseq::event::Event;
use raddle_explore::{Next, Order, Outcome, Tail, Trace};
use raddle_finding::Kind;
use raddle_wire::explore::{flag, outcome};
use raddle_wire::trace::mode;

use super::events;
use super::printed::Printed;
use crate::explore::crew::{Crew, Notes};
use crate::explore::verdict::{Failure, Usual, judge};
use crate::explore::watch::{Traced, Watch};
use crate::explore::worker::{Ending, Execution, Recipe};
use crate::places::Mapped;

/// One traced execution.
pub struct Run {
    pub events: Vec<Event>,
    pub printed: Printed,
    pub trace: Trace,
    /// It failed, and need not be explained any further.
    pub failure: Option<Failure>,
    /// Bytes of its trace, and accesses that were made.
    pub bytes: u64,
    pub accesses: u64,
    /// The trace does not go to the end: there was no room, or the process died.
    pub cut_short: bool,
    /// It was ended from outside, after too many steps or too long a silence.
    pub endless: bool,
}

pub struct Runs {
    pub runs: Vec<Run>,
    pub usual: Usual,
    pub modules: Vec<Mapped>,
    /// As it has become.
    pub recipe: Recipe,
    /// The seconds that went into reading the traces, which is no part of the runs.
    pub reading: f64,
    /// The scheduler of `explore` decided which thread ran.
    pub scheduled: bool,
}

/// The room for one trace. The file is sparse.
const ROOM: u64 = 1 << 30;

/// The first runs, whose order of threads is not random.
pub const PLAIN: usize = 3;

/// So many orders that come to no end are enough.
const ENDLESS: usize = 2;

fn tails(n: u32) -> impl Iterator<Item = Tail> {
    let plain = [Next::Lowest, Next::Highest, Next::Round].map(|next| Tail::NonPreemptive { next });
    // Random priorities, and no point at which they change.
    let random = (1..).map(|seed| Tail::Pct { seed, depth: 1, length: 1 });
    plain.into_iter().chain(random).take(n as usize)
}

/// Makes `n` traced runs, or as many as can be begun before the deadline; one in any case.
pub fn make(recipe: &Recipe, n: u32, rust: bool, deadline: Instant, notes: &Notes) -> Result<Runs> {
    let traced = |mode| Traced { mode, sites: Vec::new(), room: ROOM };
    let watched = |recipe: &Recipe, mode| Recipe {
        slots: 1,
        flags: recipe.flags | flag::FLUSH,
        watch: Watch { trace: Some(traced(mode)), output: true },
        ..recipe.clone()
    };
    let never = || false;
    // What only one thread touches is learned first, and left out of the traces.
    let mut crew = Crew::new(watched(recipe, mode::LEARN), notes, &never);
    let tails: Vec<Tail> = tails(n).collect();
    let half = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
    let (mut learned, mut without_end) = (true, Vec::new());
    for (i, tail) in tails.iter().enumerate() {
        let last = i + 1 == tails.len();
        each(&mut crew, *tail, &mut |e| {
            if is_endless(&e) {
                without_end.push(run(&e, &Usual::default()));
            }
            if let (true, Some(watched)) = (last, e.watched) {
                watched.set_mode(mode::SHARED);
            }
        })?;
        if i + 1 == ENDLESS.min(tails.len()) && without_end.len() > i {
            // A server, or one that waits for what the scheduler does not see: more of the same would only take its time.
            return Ok(as_they_are(crew, without_end));
        }
        if !last && Instant::now() >= half {
            learned = false;
            break;
        }
    }
    if crew.recipe().flags & flag::FORK != 0 || !learned {
        // An order that was not learned from may share what the others do not.
        // Each execution is a process of its own, and what one has learned is lost with it.
        let recipe = watched(crew.recipe(), mode::ALL);
        crew.stop();
        crew = Crew::new(recipe, notes, &never);
    }
    let mut usual = Usual { rust, ..Usual::default() };
    let mut runs = Vec::new();
    let mut reading = 0.0;
    for tail in &tails {
        if !runs.is_empty() && Instant::now() >= deadline {
            break;
        }
        each(&mut crew, *tail, &mut |e| {
            if runs.is_empty() && e.ending == Ending::Finished && e.slot.outcome == outcome::EXIT {
                usual.status = e.slot.detail as i32 & 0xff;
                usual.panics = Some(e.slot.panics);
            }
            let begun = Instant::now();
            runs.push(run(&e, &usual));
            reading += begun.elapsed().as_secs_f64();
        })?;
    }
    Ok(Runs { usual, reading, ..as_they_are(crew, runs) })
}

/// These runs, with what the crew knows of the program.
fn as_they_are(crew: Crew<'_>, runs: Vec<Run>) -> Runs {
    let modules = crew.modules().to_vec();
    let recipe = Recipe { watch: Watch::default(), ..crew.recipe().clone() };
    crew.stop();
    Runs { runs, usual: Usual::default(), modules, recipe, reading: 0.0, scheduled: true }
}

fn each(crew: &mut Crew<'_>, tail: Tail, then: &mut dyn FnMut(Execution<'_>)) -> Result<()> {
    crew.post(Order::free(0, tail));
    while crew.in_flight() > 0 {
        crew.turn(&mut |_, e| then(e))?;
    }
    Ok(())
}

/// It was ended from outside.
fn is_endless(e: &Execution<'_>) -> bool {
    match e.ending {
        Ending::Finished => e.slot.outcome == outcome::STEP_LIMIT,
        Ending::Hung => true,
        Ending::Died(_) => false,
    }
}

fn run(e: &Execution<'_>, usual: &Usual) -> Run {
    let mut verdict = judge(e, usual);
    if verdict.kind == Some(Kind::Starvation) && e.slot.outcome == outcome::EXIT {
        // Bad manners, and not what is looked for.
        verdict.kind = None;
        verdict.outcome = Outcome::Passed;
    }
    let (mut events, mut cut_short, mut printed) = (Vec::new(), false, Printed::default());
    let (mut bytes, mut accesses) = (0, 0);
    if let Some(watched) = e.watched {
        let (stream, lost) = watched.events();
        let whole;
        (events, whole) = events::of(stream);
        cut_short = lost || !whole || e.ending != Ending::Finished;
        printed = Printed::of(watched);
        (bytes, accesses) = watched.size();
    }
    let failure = Failure::of(e, verdict);
    let endless = is_endless(e);
    Run { events, printed, trace: e.trace(verdict.outcome), failure, bytes, accesses, cut_short, endless }
}

impl Run {
    pub fn is_correct(&self) -> bool {
        self.trace.outcome == Outcome::Passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_runs_are_the_plain_ones() {
        let made: Vec<Tail> = tails(5).collect();
        assert_eq!(made[0], Tail::NonPreemptive { next: Next::Lowest });
        assert_eq!(made[4], Tail::Pct { seed: 2, depth: 1, length: 1 });
        assert_eq!(tails(2).count(), 2);
    }
}
