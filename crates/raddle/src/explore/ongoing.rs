//! A search that hands out each failure and can be continued, for a caller with other work in
//! between.
//!
//! `raddle explore` ends with its first failure, or reports all of them at its end. `raddle hunt`
//! wants each failure as soon as it is shrunk and seen again, so that none is lost if the hunt is
//! ended. The strategy keeps everything that it has learned. Orders that were in flight when a turn
//! ended are executed again.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_explore::Trace;
use raddle_finding::Report;

use super::args::{Args, MemoryModel};
use super::outcome::Results;
use super::search::{Search, SearchClock, is_stopped};
use super::visits::Visited;
use super::{FirstRun, MORE_STEPS, MOST_STEPS, cases, new_search, nothing_ended, prepare, watched};
use raddle_harness::crew::Notes;
use raddle_harness::program::{build_id, is_rust};
use raddle_harness::worker::Recipe;
use raddle_harness::{interrupt, rust_sites};

/// The least and the most time to shrink one failure in a turn.
const SHRINK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));
/// One part in so many of the time up to the end, if a quarter of the turn is less.
const SHARE_TO_SHRINK: u32 = 16;

pub struct Ongoing<'a> {
    args: Args,
    recipe: Recipe,
    search: Search,
    seen: super::first_runs::FirstRuns,
    build_id: String,
    notes: &'a Notes,
    begun: Instant,
}

impl<'a> Ongoing<'a> {
    /// Makes the first runs, in at most `limit`; `first` is one that was made already. The search
    /// begins with the first [turn](Self::turn).
    pub fn begin(
        mut args: Args,
        mut recipe: Recipe,
        first: Option<&FirstRun>,
        limit: Duration,
        notes: &'a Notes,
    ) -> Result<Ongoing<'a>> {
        super::scope::check(&args.search)?;
        args.search.seconds = Some(limit.as_secs_f64());
        let begun = Instant::now();
        recipe.flags |= cases::flags(&args, &recipe);
        let build_id = build_id(&recipe.program.path);
        if is_rust(&recipe.program.path) && args.search.memory == MemoryModel::Sc && recipe.copy.is_none() {
            recipe.quiet = rust_sites::of(&recipe.program.path);
        }
        let (seen, mut search) = prepare(&args, &mut recipe, None, first, &SearchClock::new(limit))?;
        search.visited = Visited::noted();
        Ok(Ongoing { args, recipe, search, seen, build_id, notes, begun })
    }

    /// Whether nothing is left to search.
    pub fn is_finished(&self) -> bool {
        self.search.alone || self.search.broke_off.is_some() || self.search.strategy.progress().exhausted
    }

    /// Some executions that passed.
    pub fn passing(&self) -> &[Trace] {
        &self.search.passing
    }

    /// What its executions have come to.
    pub fn visited(&self) -> &Visited {
        &self.search.visited
    }

    /// Searches for at most `limit`, or until a failure that was not reported before. The report
    /// has what is new; its stats cover all turns. Shrinking and repeating a failure may outlast
    /// `limit`, but not `end`. If no schedule has ended yet, the search continues until one has, or
    /// for half of the time up to `end`: a turn may be shorter than an execution.
    pub fn turn(self, limit: Duration, end: Instant) -> Result<(Ongoing<'a>, Report)> {
        let Ongoing { args, mut recipe, mut search, seen, build_id, notes, begun } = self;
        search.strategy.get().resume();
        let mut clock = SearchClock::of_turn(limit, end);
        let mut allowed = limit;
        let first_end = Instant::now() + end.saturating_duration_since(Instant::now()) / 2;
        loop {
            search.may_allow_more = args.search.max_steps.is_none() && recipe.max_steps < MOST_STEPS;
            let shared = Mutex::new(search);
            let ended = watched(&shared, &recipe, args.search.jobs as usize, notes, &clock);
            search = shared.into_inner().unwrap_or_else(|e| e.into_inner());
            let is_late = Instant::now() >= first_end || interrupt::came();
            match ended {
                Ok(changed) => recipe = changed,
                Err(error) if is_stopped(&error) && !is_late => {}
                Err(error) => return Err(error),
            }
            if clock.is_over() {
                if !search.has_only_begun() || is_late {
                    break;
                }
                allowed = (allowed * 2).min(first_end.saturating_duration_since(Instant::now()));
                clock = SearchClock::of_turn(allowed, end);
                search.strategy.get().resume();
                if !search.needs_more_steps() {
                    continue;
                }
            } else if !search.needs_more_steps() {
                break;
            }
            recipe.max_steps *= MORE_STEPS;
            recipe.slots = (recipe.slots / MORE_STEPS).max(2);
            let lasting = search.lasting_gaps();
            search = new_search(&args, &recipe, &seen)?;
            search.visited = Visited::noted();
            search.gaps = lasting;
        }
        let name = recipe.program.path.display().to_string();
        if let Some(why) = nothing_ended(name, &search, &recipe, allowed.as_secs_f64()) {
            anyhow::ensure!(!interrupt::came(), "interrupted before a schedule came to its end");
            return Err(why.into());
        }
        let seconds = begun.elapsed().as_secs_f64();
        // The first turns are short, and a reader pays for each switch that is left.
        let share = end.saturating_duration_since(Instant::now()) / SHARE_TO_SHRINK;
        let shrink = (limit / 4).max(share).clamp(SHRINK.0, SHRINK.1);
        let mut results = Results { recipe, search, build_id, notes, seconds, shrink, end: Some(end) };
        let report = results.report(&args, Vec::new())?;
        let Results { recipe, search, build_id, .. } = results;
        Ok((Ongoing { args, recipe, search, seen, build_id, notes, begun }, report))
    }
}
