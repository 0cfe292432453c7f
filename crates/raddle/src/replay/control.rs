//! Makes the executions of a control experiment: see [`raddle_hunt::control`].

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use clap::Parser;
use raddle_explore::{Choice, Next, Order, Outcome, Tail, Trace};
use raddle_hunt::control::{Followed, PATTERN, decides};

use super::{Made, once, recipe, usual};
use crate::cli::{Cli, Command};
use raddle_harness::crew::{Crew, Notes};
use raddle_harness::interrupt;
use raddle_harness::schedule::Schedule;
use raddle_harness::verdict::judge;
use raddle_harness::worker::Recipe;

/// What a control experiment has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The schedule decides how the program ends.
    Decides,
    /// No other schedule passed.
    NonePassed,
    /// Another schedule passed once, but executions of the two did not end as before.
    Unsteady,
}

/// A schedule that fails, and how its executions are made.
pub struct Experiment {
    schedule: Schedule,
    recipe: Recipe,
    notes: Notes,
    /// How many other schedules were tried so far.
    pub others: u64,
}

impl Experiment {
    /// Reads the schedule in the file. Sets the surroundings of the program to those in the file.
    /// No execution goes on after `end`.
    pub fn open(file: &Path, end: Instant) -> Result<Experiment> {
        let line = ["raddle".as_ref(), "replay".as_ref(), "--trust".as_ref(), file.as_os_str()];
        let Command::Replay(args) = Cli::try_parse_from(line)?.command else {
            anyhow::bail!("{} cannot be replayed", file.display())
        };
        let schedule = Schedule::read(file)?;
        let recipe = Recipe { end_at: Some(end), ..recipe(&args, &schedule)? };
        Ok(Experiment { schedule, recipe, notes: Notes::quiet(), others: 0 })
    }

    /// Whether the schedule fails as the file says, in a process of its own.
    pub fn fails(&self) -> bool {
        self.made(self.failing()).is_some_and(|made| made.again)
    }

    /// Whether the schedule decides how the program ends: it fails whenever it is followed, and
    /// another schedule passes whenever that is followed. `known` are executions that have passed.
    /// They are tried first, then random schedules until one passes or `until` comes, the first of
    /// them number `from`.
    pub fn schedule_decides(&mut self, known: &[Trace], from: u64, until: Instant) -> Shown {
        for trace in known {
            if is_over(until) {
                return Shown::NonePassed;
            }
            self.others += 1;
            let choices: Vec<Choice> = trace.view().choices().collect();
            if self.made(Order::replay(choices.iter().copied())).is_some_and(|made| passes(&made.trace)) {
                return self.alternates(&choices);
            }
        }
        match self.sample(from, until) {
            Some(choices) => self.alternates(&choices),
            None => Shown::NonePassed,
        }
    }

    /// The choices of a random schedule that passes. Its executions need not have a process each,
    /// which makes many of them possible: those of the experiment have.
    fn sample(&mut self, from: u64, until: Instant) -> Option<Vec<Choice>> {
        let (never, usual) = (|| false, usual(&self.recipe, &self.schedule));
        let mut crew = Crew::new(self.recipe.clone(), &self.notes, &never).until(until);
        let mut passing = None;
        let mut number = from;
        while passing.is_none() && !is_over(until) {
            crew.post(Order::free(0, tail(number)));
            number += 1;
            let turn = crew.turn(&mut |_, e| {
                self.others += 1;
                if judge(&e, &usual).outcome == Outcome::Passed {
                    passing = Some(e.trace(Outcome::Passed).view().choices().collect());
                }
            });
            if turn.is_err() {
                break;
            }
        }
        crew.stop();
        passing
    }

    /// Executes both schedules in the order of [`PATTERN`].
    fn alternates(&self, passing: &[Choice]) -> Shown {
        let mut failed = Vec::new();
        for followed in PATTERN {
            let order = match followed {
                Followed::Failing => self.failing(),
                Followed::Passing => Order::replay(passing.iter().copied()),
            };
            let ended = self.made(order).and_then(|made| match made.again {
                true => Some(true),
                false => passes(&made.trace).then_some(false),
            });
            failed.push(ended);
            if ended != Some(followed == Followed::Failing) {
                break;
            }
        }
        if decides(&failed) { Shown::Decides } else { Shown::Unsteady }
    }

    fn failing(&self) -> Order {
        Order::replay(self.schedule.choices())
    }

    fn made(&self, order: Order) -> Option<Made> {
        once(&self.recipe, &self.schedule, order, &self.notes).ok().map(|(made, _)| made)
    }
}

fn passes(trace: &Trace) -> bool {
    trace.outcome == Outcome::Passed
}

fn is_over(until: Instant) -> bool {
    Instant::now() >= until || interrupt::came()
}

/// The schedules without a preemption first, then random ones of two kinds: partial-order sampling
/// has few switches in a row, and a random walk has many.
fn tail(number: u64) -> Tail {
    const PLAIN: [Next; 3] = [Next::Lowest, Next::Highest, Next::Round];
    match PLAIN.get(number as usize) {
        Some(next) => Tail::NonPreemptive { next: *next },
        None if number.is_multiple_of(2) => Tail::Random { seed: number },
        None => Tail::Pos { seed: number / 2 },
    }
}
