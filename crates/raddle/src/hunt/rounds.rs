//! The tests of a suite, in two rounds.
//!
//! In the first round each test is run once under the race detector. That shows which tests have no
//! threads, and what the others suspect. In the second round the tests with most to settle are
//! hunted, in the order of [`plan::order`]. So a suite that is too large for its time is at least
//! looked at, and the time for searches goes to the tests that need it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_hunt::plan::{self, TestLook};

use super::args::Args;
use super::journal::Journal;
use super::name;
use super::prey::{Hunter, Prey};
use super::since::Changes;
use super::summary::Summary;
use raddle_harness::interrupt;

/// The least time to hunt one of several tests. Less settles nothing: better to hunt the first
/// tests well than all of them badly.
const LEAST: Duration = Duration::from_secs(3);

pub struct Rounds<'a> {
    pub args: &'a Args,
    pub preys: &'a [Prey],
    /// How many of the first tests have to do with a change.
    pub concerned: usize,
    pub changes: Option<&'a Changes>,
    pub journal: &'a RefCell<Journal>,
}

/// A test after the first round.
struct Begun<'a> {
    number: usize,
    hunter: Hunter<'a>,
}

impl<'a> Rounds<'a> {
    pub fn hunt(&self, deadline: Instant, summary: &mut Summary) -> Result<()> {
        let (fallbacks, own): (Vec<usize>, Vec<usize>) =
            (0..self.preys.len()).partition(|i| self.preys[*i].is_fallback);
        if let ([number], []) = (&own[..], &fallbacks[..]) {
            let outcome = self.hunter(*number, left(deadline), deadline).and_then(Hunter::hunt)?;
            self.add(*number, outcome, summary);
            return Ok(());
        }
        let mut unseen: VecDeque<usize> = own.into();
        let begun = self.look_at_each(&mut unseen, deadline, summary);
        self.settle_each(begun, unseen.len() + fallbacks.len(), deadline, summary);
        self.hunt_unseen(unseen, deadline, summary);
        for number in fallbacks {
            match summary.has_hunted_each() {
                true => summary.not_needed += 1,
                false => self.hunt_unseen(VecDeque::from([number]), deadline, summary),
            }
        }
        summary.require_one()
    }

    /// The first round. What it does not get to stays in `unseen`.
    fn look_at_each(
        &self,
        unseen: &mut VecDeque<usize>,
        deadline: Instant,
        summary: &mut Summary,
    ) -> Vec<Begun<'a>> {
        let until = Instant::now() + left(deadline).mul_f64(plan::LOOKS);
        let mut all = Vec::new();
        while let Some(number) = unseen.front().copied() {
            if interrupt::came() || Instant::now() >= until {
                break;
            }
            let limit = share(deadline, unseen.len());
            unseen.pop_front();
            let looked = self.hunter(number, limit, deadline).and_then(|mut hunter| {
                hunter.begin()?;
                Ok(hunter)
            });
            match looked {
                Ok(hunter) if hunter.is_alone() => self.end(number, hunter.settle(), summary),
                Ok(hunter) => all.push(Begun { number, hunter }),
                Err(error) => summary.failed.push(format!("{}: {error:#}", name(&self.preys[number]))),
            }
        }
        all
    }

    /// The second round, with `others` tests to hunt after it.
    fn settle_each(&self, begun: Vec<Begun<'a>>, others: usize, deadline: Instant, summary: &mut Summary) {
        let looks: Vec<TestLook> = begun
            .iter()
            .map(|b| TestLook {
                is_concerned: b.number < self.concerned,
                open: b.hunter.open(),
                took: b.hunter.looked_for(),
            })
            .collect();
        let order = plan::order(&looks);
        let mut begun: Vec<Option<Begun>> = begun.into_iter().map(Some).collect();
        for (done, i) in order.iter().enumerate() {
            let Begun { number, mut hunter } = begun[*i].take().expect("each is named once");
            if interrupt::came() || Instant::now() >= deadline {
                self.end(number, Ok(hunter.stop()), summary);
                continue;
            }
            self.show(number, deadline);
            hunter.allow(share(deadline, order.len() - done + others));
            self.end(number, hunter.settle(), summary);
        }
    }

    /// Hunts tests that were not looked at in the first round.
    fn hunt_unseen(&self, unseen: VecDeque<usize>, deadline: Instant, summary: &mut Summary) {
        for (done, number) in unseen.iter().enumerate() {
            if interrupt::came() || Instant::now() >= deadline {
                summary.not_reached += 1;
                continue;
            }
            let limit = share(deadline, unseen.len() - done);
            self.end(*number, self.hunter(*number, limit, deadline).and_then(Hunter::hunt), summary);
        }
    }

    fn hunter(&self, number: usize, limit: Duration, deadline: Instant) -> Result<Hunter<'a>> {
        self.show(number, deadline);
        Hunter::new(self.args, &self.preys[number], limit, self.journal, self.changes)
    }

    fn show(&self, number: usize, deadline: Instant) {
        self.journal.borrow().begin(&self.preys[number], number + 1, self.preys.len(), deadline);
    }

    /// One test that cannot be hunted must not keep the others from being hunted.
    fn end(&self, number: usize, outcome: Result<super::prey::CommandOutcome>, summary: &mut Summary) {
        match outcome {
            Ok(outcome) => self.add(number, outcome, summary),
            Err(error) => summary.failed.push(format!("{}: {error:#}", name(&self.preys[number]))),
        }
    }

    fn add(&self, number: usize, outcome: super::prey::CommandOutcome, summary: &mut Summary) {
        let prey = &self.preys[number];
        let command = self.journal.borrow().command(prey);
        summary.add(prey, outcome, &command);
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// The time for one of `n` tests that are left.
fn share(deadline: Instant, n: usize) -> Duration {
    let left = left(deadline);
    plan::turn(left, n).max(LEAST).min(left)
}
