//! A search of all interleavings for what only such a search refutes: uses of freed memory.
//!
//! The search around suspects has their accesses as scheduling points. A program that synchronises
//! them has far fewer interleavings without: only the operations that synchronise are points, and
//! accesses that race are added as they are found. That is how `explore` comes to *complete*, and
//! the claim is the same ([`Completeness`]). Under the scheduler a freed block is not handed out
//! again, so in every execution an access to one is a failure, whether the access is a point or
//! not. If every interleaving was executed and none failed, no free comes before its access.
//!
//! An execution that fails ends early, and what would have come after it was not executed. So one
//! failure, here or before, and nothing is claimed.

use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_conseq::suspects::Instead;
use raddle_explore::{Portfolio, Strategy};

use super::super::completeness::Completeness;
use super::{Crew, LIMITS, Recipe, Tester};
use raddle_harness::program::is_rust;
use raddle_harness::rust_sites;

/// The time limit of the search.
const LONGEST: Duration = Duration::from_secs(20);

impl Tester<'_> {
    /// Makes the search if it can settle something. No search of machine code is complete.
    pub(super) fn complete(&mut self) -> Result<()> {
        let frees = |i: &usize| matches!(self.suspects[*i].instead, Instead::Freed(_));
        let is_open = (0..self.suspects.len()).filter(frees).any(|i| !self.is_shown(i));
        if !is_open || self.is_over() || self.has_failed() || self.crew.recipe().copy.is_some() {
            return Ok(());
        }
        let points = self.as_steps(self.base_points.clone());
        let mut recipe = Recipe { points, ..self.crew.recipe().clone() };
        // Operations inside Rust's library are no points, and its mutexes are locks.
        if is_rust(&recipe.program.path) {
            recipe.quiet = rust_sites::of(&recipe.program.path);
        }
        self.change_crew(recipe);
        self.completeness = Completeness::new();
        self.racing.clear();
        let end = Instant::now() + LONGEST;
        loop {
            let mut strategy = Portfolio::new(1, LIMITS);
            while Instant::now() < end && !self.is_over() {
                let Some(order) = strategy.next() else { break };
                let Some(seen) = self.execute(order.clone())? else { return Ok(()) };
                strategy.observe(&order, seen.trace.view());
                if seen.failure.is_some() && seen.check.is_none() {
                    self.take(seen);
                    return self.shrink();
                }
            }
            let progress = strategy.progress();
            if !progress.exhausted {
                return Ok(());
            }
            if self.racing.is_empty() {
                self.is_sound = self.completeness.holds(&progress, self.crew.recipe(), &self.modules);
                return Ok(());
            }
            self.add_points()?;
            self.completeness.begin_anew();
        }
    }

    /// Whether an execution failed, which is more than an unusual line or a broken invariant.
    fn has_failed(&self) -> bool {
        self.consequences.iter().any(|c| c.check.is_none())
    }

    fn change_crew(&mut self, recipe: Recipe) {
        let crew = Crew::new(recipe, self.notes, self.is_over);
        std::mem::replace(&mut self.crew, crew).stop();
    }
}
