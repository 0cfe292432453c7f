//! Shrinks a failure: the same failure, with as few preemptions and switches as can be found.

use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_explore::shrink::{self, Shrunk};
use raddle_explore::{Order, Outcome, Step, Trace};
use raddle_finding::Kind;
use raddle_wire::explore::flag;

use raddle_harness::crew::{Crew, Notes};
use raddle_harness::describe::message;
use raddle_harness::verdict::{Failure, Usual, judge};
use raddle_harness::watch::Watch;
use raddle_harness::worker::Recipe;

/// A shrunk failure.
pub struct Small {
    pub failure: Failure,
    /// No execution with fewer preemptions fails in this way.
    pub fewest: bool,
    /// It failed again when the same choices were repeated.
    pub again: bool,
}

/// The most executions for shrinking.
const BUDGET: u64 = 3000;
/// How many passing executions are kept to compare the failure with.
const PASSING: usize = 40;

/// Shrinks `failure` in at most `limit`. Adds passing executions to `passing`.
pub fn shrink(
    failure: Failure,
    usual: &Usual,
    crew: &mut Crew<'_>,
    passing: &mut Vec<Trace>,
    limit: Duration,
) -> Result<Small> {
    let deadline = Instant::now() + limit;
    let (what, after, flags) = (failure.what, failure.after, failure.flags);
    let points = failure.points.clone();
    let shrunk = if worth_it(&failure) {
        let mut execute = |order: &Order| -> Option<Trace> {
            if Instant::now() >= deadline || raddle_harness::interrupt::came() {
                return None;
            }
            Some(execute(crew, order, (usual, what), passing).unwrap_or_else(|_| lost()))
        };
        shrink::shrink(failure.trace.clone(), BUDGET, &mut execute)
    } else {
        Shrunk { trace: failure.trace.clone(), executions: 0, fewest_preemptions: false }
    };
    let in_time = Instant::now() < deadline && shrunk.executions < BUDGET;
    // Once more, to get the facts of the shrunk failure and to know that it comes back.
    let mut last = None;
    crew.post(Order::replay(shrunk.trace.view().choices()));
    while crew.in_flight() > 0 {
        crew.turn(&mut |_, e| last = Failure::wanted(&e, usual, what))?;
    }
    let again = last.filter(|f| f.what == what);
    Ok(Small {
        again: again.is_some(),
        failure: again.map_or(failure, |f| Failure { after, flags, points, ..f }),
        fewest: shrunk.fewest_preemptions && in_time,
    })
}

/// Repeats the failure in a new process. This gives the stack of each step and the program's
/// messages. It also shows whether the failure depends on what earlier executions left behind,
/// since a new process is free of that.
pub fn once_more(
    mut small: Small,
    usual: &Usual,
    recipe: &Recipe,
    notes: &Notes,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Small {
    if !small.again || !worth_it(&small.failure) {
        return small;
    }
    let flags = recipe.flags | small.failure.flags | flag::STACKS | flag::FLUSH;
    // If a monitor watches the output, only the monitor reads it.
    let watch = Watch { trace: None, output: recipe.flags & flag::OUTPUT == 0 };
    let points = small.failure.points.as_deref().unwrap_or(&recipe.points).to_vec();
    let mut crew = Crew::new(Recipe { slots: 1, flags, points, watch, ..recipe.clone() }, notes, is_over);
    crew.post(Order::replay(small.failure.trace.view().choices()));
    let (mut stacks, mut said, mut again) = (Vec::new(), None, false);
    let what = small.failure.what;
    while crew.in_flight() > 0 {
        let turn = crew.turn(&mut |_, e| {
            again = Failure::wanted(&e, usual, what).is_some_and(|f| f.what == what);
            let steps = e.steps.iter().zip(&small.failure.trace.steps);
            let alike = |(a, b): &(&Step, &Step)| {
                (a.thread, a.op.kind(), a.op.site) == (b.thread, b.op.kind(), b.op.site)
            };
            // Nothing is known about steps that come out differently.
            stacks = e.stacks[..steps.take_while(alike).count().min(e.stacks.len())].to_vec();
            said = e.watched.and_then(|w| message::of(w, usual.panics.unwrap_or(0)));
        });
        if turn.is_err() {
            break;
        }
    }
    crew.stop();
    small.again = again;
    small.failure.facts.stacks = stacks;
    // A C assertion already has its message.
    let told = small.failure.facts.sentence.starts_with("assertion ");
    if matches!(small.failure.kind, Kind::Assertion | Kind::ExitStatus | Kind::Crash) && !told {
        small.failure.facts.said = said;
    }
    small
}

/// Whether a failure of the search does not come back in a new process, because it depends on what
/// earlier executions left behind.
pub fn is_left_behind(failure: &Failure, usual: &Usual, recipe: &Recipe, notes: &Notes) -> bool {
    if !worth_it(failure) {
        return false;
    }
    let never = || false;
    let flags = recipe.flags | failure.flags;
    let points = failure.points.as_deref().unwrap_or(&recipe.points).to_vec();
    let mut crew = Crew::new(Recipe { slots: 1, flags, points, ..recipe.clone() }, notes, &never);
    crew.post(Order::replay(failure.trace.view().choices()));
    let mut again = false;
    while crew.in_flight() > 0 {
        let turn = crew.turn(&mut |_, e| {
            again = Failure::wanted(&e, usual, failure.what).is_some_and(|f| f.what == failure.what)
        });
        if turn.is_err() {
            break;
        }
    }
    crew.stop();
    !again
}

/// False for failures whose executions take long.
fn worth_it(failure: &Failure) -> bool {
    !matches!(failure.kind, Kind::Hang | Kind::Livelock | Kind::Starvation)
}

fn lost() -> Trace {
    Trace { steps: Vec::new(), wide: Vec::new(), outcome: Outcome::Lost, divergence: None }
}

/// Makes one execution and compares it with the wanted failure.
fn execute(
    crew: &mut Crew<'_>,
    order: &Order,
    (usual, what): (&Usual, u32),
    passing: &mut Vec<Trace>,
) -> Result<Trace> {
    let mut made = None;
    crew.post(order.clone());
    while made.is_none() && crew.in_flight() > 0 {
        crew.turn(&mut |_, e| {
            let failure = Failure::wanted(&e, usual, what);
            made = Some(failure.map_or_else(|| e.trace(judge(&e, usual).outcome), |f| f.trace));
        })?;
    }
    let made = made.unwrap_or_else(lost);
    if made.outcome == Outcome::Passed && passing.len() < PASSING {
        passing.push(made.clone());
    }
    Ok(made)
}
