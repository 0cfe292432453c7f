//! The search: one strategy, shared by any number of workers.
//!
//! Each worker has a thread of the driver. The thread takes orders from the strategy, keeps the
//! worker's slots full, and shows the results to the strategy. At first only a few orders are in
//! flight: the strategies learn most from the first executions, and an order made before those
//! results cannot use them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_explore::relaxed::overtakings;
use raddle_explore::strategy::GaveUp;
use raddle_explore::{
    AnyStrategy, Limits, Op, Order, Outcome, Portfolio, Progress, Strategy, Trace, TraceView,
};
use raddle_finding::Kind;
use raddle_wire::explore::{ExecutionEnd, awaits, flag};
use serde::{Deserialize, Serialize};

use super::coverage::Fresh;
use super::scope::Scoped;
use super::shrink;
use super::visits::Visited;
use raddle_harness::crew::{Crew, CrewError, Notes};
use raddle_harness::gaps::{self, Affair, gap};
use raddle_harness::monitors;
use raddle_harness::places::{Mapped, Places};
use raddle_harness::point_code;
use raddle_harness::verdict::{ExecutionVerdict, Failure, Usual, ends_as_usual, judge, waits_for_outside};
use raddle_harness::worker::{Ending, Execution, Recipe};

/// The default portfolio, or the requested strategy.
#[derive(Clone, Serialize, Deserialize)]
pub enum Searcher {
    Portfolio(Box<Portfolio>),
    One(Box<AnyStrategy>),
}

impl Searcher {
    /// The names for the command line.
    pub fn names() -> Vec<&'static str> {
        std::iter::once("portfolio").chain(AnyStrategy::NAMES).collect()
    }

    pub fn by_name(name: &str, seed: u64, limits: Limits) -> Option<Searcher> {
        if name == "portfolio" {
            return Some(Searcher::Portfolio(Box::new(Portfolio::new(seed, limits))));
        }
        AnyStrategy::by_name(name, seed, limits).map(|s| Searcher::One(Box::new(s)))
    }

    pub fn get(&mut self) -> &mut dyn Strategy {
        match self {
            Searcher::Portfolio(s) => s.as_mut(),
            Searcher::One(s) => s.as_mut(),
        }
    }

    /// The execution without a preemption is known and need not be made again.
    pub fn begin_from(&mut self, plain: TraceView<'_>) {
        if let Searcher::Portfolio(s) = self {
            s.begin_from(plain);
        }
    }

    pub fn progress(&self) -> Progress {
        match self {
            Searcher::Portfolio(s) => s.progress(),
            Searcher::One(s) => s.progress(),
        }
    }

    /// Why a search of states has given up, if one was asked for by name.
    pub fn gave_up(&self) -> Option<GaveUp> {
        match self {
            Searcher::One(s) => match s.as_ref() {
                AnyStrategy::States(s) => s.gave_up(),
                _ => None,
            },
            Searcher::Portfolio(_) => None,
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Searcher::Portfolio(s) => s.name(),
            Searcher::One(s) => s.name(),
        }
    }
}

/// The maxima over all executions.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Most {
    pub threads: u64,
    pub steps: u64,
    pub preemptions: u64,
}

/// How many passing executions are kept to compare failures with.
const PASSING: usize = 12;

pub struct Search {
    pub strategy: Searcher,
    pub usual: Usual,
    pub most: Most,
    pub schedules: u64,
    /// Executions cut off at the step limit.
    pub cut_off: u64,
    /// Executions that ended by themselves, passing or failing.
    pub ended: u64,
    /// Executions in which the only thing left was to wait for a signal or a client.
    pub awaiting: u64,
    /// In some execution that did not end, a thread was waiting for one of these.
    pub sees_waiting: bool,
    /// Executions that were still computing when their time was up.
    pub slow: u64,
    /// The program replaced itself by `exec`; the new program was not explored.
    pub became_another: bool,
    /// An execution recorded as many races as it can, so it may have had more.
    pub is_full_of_races: bool,
    /// The step limit can be raised if it does not suffice.
    pub may_allow_more: bool,
    pub failures: Vec<Failure>,
    /// The schedule that failed first. Orders that were in flight are still executed after it.
    pub first_failure: Option<u64>,
    /// It made no more schedules after that.
    pub stopped_at_failure: bool,
    pub passing: Vec<Trace>,
    /// Where the worker's code is mapped.
    pub modules: Vec<Mapped>,
    /// The program executes a copy of its machine code.
    pub is_machine_code: bool,
    /// The program has no threads.
    pub alone: bool,
    /// Hides choices that are out of scope, if there is a scope.
    pub scoped: Option<Scoped>,
    /// A load, and an earlier store of its thread. If the load overtook the store, that would have
    /// an effect that no interleaving has (4.5).
    pub overtaking: Option<(Op, Option<Op>)>,
    /// What the first execution that ended well printed, if output is watched.
    pub printed: String,
    /// The accesses that are scheduling points.
    pub points: Arc<[u64]>,
    /// What its executions have come to.
    pub visited: Visited,
    /// How often the search has restarted with more points.
    pub round: u64,
    /// How to restart. `None`: the search does not restart.
    pub fresh: Option<Fresh>,
    /// Why the search since the last restart may not cover everything: [`gap`].
    pub gaps: u32,
    /// Hashes of the names of imported functions that were called while there were several threads.
    pub called: HashSet<u64>,
    /// Hidden races that have been classified.
    affairs: HashMap<[u64; 2], Affair>,
    places: Places,
    /// Why a worker, and every worker after it, could not continue.
    pub broke_off: Option<String>,
    /// All failures were seen again in new processes.
    pub came_back: bool,
    /// Failures that did not come back, as sentences.
    pub unrepeated: Vec<String>,
    handed_out: u64,
    most_schedules: u64,
    keep_going: bool,
    /// The numbers of failures that were taken for a report: each is reported once.
    told: HashSet<u32>,
    /// An execution that ended well except for panics. It is a failure if other executions have
    /// none.
    panicked: Option<(u32, Failure)>,
    /// The first execution that ended with the status of the first run, if that is not 0. It is a
    /// failure if another execution ends with 0: then the first run has failed itself.
    ended_as_first_run: Option<Failure>,
    /// The first execution in which a thread spun without letting others run.
    spinning: Option<Failure>,
}

impl Search {
    pub fn new(strategy: Searcher, usual: Usual, most_schedules: Option<u64>, keep_going: bool) -> Search {
        Search {
            strategy,
            usual,
            most: Most::default(),
            schedules: 0,
            cut_off: 0,
            ended: 0,
            awaiting: 0,
            sees_waiting: false,
            slow: 0,
            became_another: false,
            is_full_of_races: false,
            may_allow_more: false,
            failures: Vec::new(),
            first_failure: None,
            stopped_at_failure: false,
            passing: Vec::new(),
            modules: Vec::new(),
            is_machine_code: false,
            alone: false,
            scoped: None,
            overtaking: None,
            printed: String::new(),
            points: Arc::new([]),
            visited: Visited::default(),
            round: 0,
            fresh: None,
            gaps: 0,
            called: HashSet::new(),
            affairs: HashMap::new(),
            places: Places::new(),
            broke_off: None,
            came_back: false,
            unrepeated: Vec::new(),
            handed_out: 0,
            most_schedules: most_schedules.unwrap_or(u64::MAX),
            keep_going,
            told: HashSet::new(),
            panicked: None,
            ended_as_first_run: None,
            spinning: None,
        }
    }

    /// Whether nothing more will ever be handed out.
    pub fn is_finished(&self) -> bool {
        self.handed_out >= self.most_schedules
            || self.has_found()
            || self.needs_more_steps()
            || self.strategy.progress().exhausted
            || self.strategy.progress().gave_up
    }

    /// Whether no execution has ended and the step limit can be raised.
    pub fn needs_more_steps(&self) -> bool {
        const TRIED: u64 = 2;
        self.may_allow_more && self.ended == 0 && self.cut_off >= TRIED
    }

    /// Whether no execution has ended and nothing says that none will.
    pub fn has_only_begun(&self) -> bool {
        let waits = self.awaiting > 0 || self.sees_waiting;
        let is_too_long = self.cut_off > 0 && !self.may_allow_more;
        let is_over = self.alone || self.has_failures() || self.broke_off.is_some();
        self.ended == 0 && !waits && !is_too_long && !is_over
    }

    /// Whether the failures are enough to stop. A data race is not: its consequences are worth
    /// finding.
    fn has_found(&self) -> bool {
        !self.keep_going && self.failures.iter().any(|f| f.kind != Kind::DataRace)
    }

    fn next(&mut self) -> Option<Order> {
        let has_found = self.has_found();
        self.stopped_at_failure |= has_found;
        if self.handed_out >= self.most_schedules || has_found || self.needs_more_steps() {
            return None;
        }
        let order = self.strategy.get().next()?;
        self.handed_out += 1;
        Some(order)
    }

    /// Takes in an execution, made before the search, in which every access is a scheduling point.
    /// It cannot show a livelock, because every loop has many steps then.
    pub fn look_at(&mut self, e: &Execution<'_>) {
        self.count(e);
        let verdict = judge(e, &self.usual);
        let view = e.view(verdict.outcome);
        self.measure(&view);
        self.visited.note(&view);
        let argued = matches!(verdict.kind, Some(Kind::Hang | Kind::Livelock | Kind::Starvation));
        let failed = Failure::of(e, verdict).filter(|_| !argued);
        for failure in failed.into_iter().chain(monitors::seen(e, &self.usual)) {
            self.add(Failure { flags: flag::ALL_DATA, ..failure });
        }
        self.note_status(e, flag::ALL_DATA);
        self.note_output(e);
    }

    fn count(&mut self, e: &Execution<'_>) {
        if e.ending == Ending::Slow {
            self.slow += 1;
            return;
        }
        self.schedules += 1;
        self.became_another |= e.slot.awaits & awaits::OTHER_PROGRAM != 0;
        self.is_full_of_races |= e.slot.races as usize >= e.slot.race.len();
        self.sees_waiting |= e.slot.awaits & (awaits::SIGNAL | awaits::CONNECTION) != 0;
        if waits_for_outside(e) {
            self.awaiting += 1;
        } else if e.slot.outcome() != Some(ExecutionEnd::StepLimit) {
            self.ended += 1;
        }
        if e.ending == Ending::Finished && e.slot.outcome() == Some(ExecutionEnd::Exit) && e.slot.detail == 0
        {
            // The first run, which showed what is usual, may have failed itself.
            self.usual.status = 0;
        }
    }

    /// What the first execution that ends well prints is usual.
    fn note_output(&mut self, e: &Execution<'_>) {
        if let (None, Some(output), true) =
            (self.usual.output, monitors::output(e), ends_as_usual(e, &self.usual))
        {
            self.usual.output = Some(output.hash);
            self.printed = output.text();
        }
    }

    /// Takes in the execution of an order from round `round`.
    fn observe(&mut self, order: &Order, round: u64, e: &Execution<'_>) {
        self.count(e);
        let mut verdict = judge(e, &self.usual);
        if verdict.kind == Some(Kind::Starvation) && e.slot.outcome() == Some(ExecutionEnd::Exit) {
            // Spinning is bad, but no reason to stop looking for worse.
            let after = self.schedules;
            if self.spinning.is_none() {
                self.spinning = Failure::of(e, verdict).map(|f| Failure { after, ..self.with_points(f) });
            }
            verdict = ExecutionVerdict { outcome: Outcome::Passed, kind: None };
        }
        let view = e.view(verdict.outcome);
        self.measure(&view);
        self.visited.note(&view);
        self.look_for_overtaking(&view);
        let long = e.ending == Ending::Finished && e.slot.outcome() == Some(ExecutionEnd::StepLimit);
        self.cut_off += u64::from(long && verdict.outcome == Outcome::StepLimit && !waits_for_outside(e));
        match &mut self.scoped {
            // The strategy that made this order is gone; its findings count.
            _ if round != self.round => {}
            Some(scoped) => self.strategy.get().observe(order, scoped.view(view, &self.modules)),
            None => self.strategy.get().observe(order, view),
        }
        if let Some(failure) = Failure::of(e, verdict) {
            self.add(failure);
        } else if verdict.outcome == Outcome::Passed && self.passing.len() < PASSING {
            self.passing.push(view.to_trace());
        }
        for failure in monitors::seen(e, &self.usual) {
            self.add(failure);
        }
        self.note_status(e, 0);
        self.note_output(e);
        if ends_as_usual(e, &self.usual) {
            self.note_panics(e);
        }
        let called = (e.slot.called as usize).min(e.slot.called_names.len());
        self.called.extend(&e.slot.called_names[..called]);
        let of_round = if round == self.round { u32::MAX } else { gap::LASTING };
        self.gaps |= gaps::gaps(e, view) & of_round;
        self.look_for_hidden_races(round, e);
    }

    /// Turns racing accesses that are not scheduling points into points and restarts the search
    /// (section 3.5): so far, it did not switch between them.
    fn look_for_hidden_races(&mut self, round: u64, e: &Execution<'_>) {
        let mut new = Vec::new();
        for hidden in &e.slot.hidden[..(e.slot.hiddens as usize).min(e.slot.hidden.len())] {
            let pcs = hidden.access.map(|a| a.pc);
            let (places, modules) = (&mut self.places, &self.modules);
            let is_machine_code = self.is_machine_code;
            let affair = || match is_machine_code {
                // What orders Rust's std is a step like any other.
                true => Affair::TheProgram,
                false => gaps::affair(hidden, places, modules),
            };
            match *self.affairs.entry(pcs).or_insert_with(affair) {
                Affair::TheProgram => {}
                Affair::Std => continue,
                Affair::Printing => {
                    self.gaps |= gap::PRINTS;
                    continue;
                }
            }
            let before = new.len();
            let scope = self.scoped.as_ref().map(Scoped::scope);
            let found = gaps::new_points(hidden, &self.points);
            new.extend(match scope {
                Some(scope) => scope.filter(modules, found),
                None => found,
            });
            if new.len() == before && round == self.round {
                self.gaps |= gap::UNORDERED;
            }
        }
        if !new.is_empty() {
            self.begin_anew(new);
        }
    }

    pub fn begin_anew(&mut self, new: Vec<u64>) {
        let Some(strategy) = self.fresh.as_ref().and_then(Fresh::strategy) else {
            self.gaps |= gap::UNORDERED;
            return;
        };
        let mut points = self.points.to_vec();
        points.extend(new);
        points.sort_unstable();
        points.dedup();
        let lasting = self.lasting_gaps();
        (self.points, self.strategy, self.gaps) = (points.into(), strategy, lasting);
        self.round += 1;
    }

    /// The gaps that restarting the search, or another search of the same program, cannot close.
    pub fn lasting_gaps(&self) -> u32 {
        let diverged = if self.strategy.progress().lost > 0 { gap::DIVERGED } else { 0 };
        self.gaps & gap::LASTING | diverged
    }

    /// The scheduling points as the runtime gets them.
    pub fn marked_points(&self) -> Vec<u64> {
        match self.is_machine_code {
            // The copy's probes say themselves which instructions read first.
            true => self.points.to_vec(),
            false => point_code::marked(&self.points, &self.modules),
        }
    }

    /// Whether some failure is caused by what earlier executions left behind, not by its schedule.
    pub fn has_leftovers(&mut self, recipe: &Recipe, notes: &Notes) -> bool {
        if recipe.flags & flag::FORK_AT_START != 0 {
            return false;
        }
        let is_left_behind = |f: &Failure| shrink::is_left_behind(f, &self.usual, recipe, notes);
        let leftovers = self.failures.iter().any(is_left_behind);
        self.came_back = !leftovers;
        if leftovers {
            self.gaps |= gap::UNREPEATED;
        }
        leftovers
    }

    /// Whether there is anything to report.
    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty() || self.spinning.is_some()
    }

    /// Takes everything to report. A spinning thread is reported only if nothing worse was found.
    pub fn take_failures(&mut self) -> Vec<Failure> {
        if self.failures.is_empty() || self.keep_going {
            self.failures.extend(self.spinning.take().filter(|f| !self.told.contains(&f.what)));
        }
        self.told.extend(self.failures.iter().map(|f| f.what));
        std::mem::take(&mut self.failures)
    }

    fn measure(&mut self, view: &TraceView<'_>) {
        self.most.threads = self.most.threads.max(view.threads() as u64);
        self.most.steps = self.most.steps.max(view.steps.len() as u64);
        self.most.preemptions = self.most.preemptions.max(view.preemptions() as u64);
    }

    /// Looks at the first executions and then only at a few: this costs more than everything else
    /// that is read from an execution.
    fn look_for_overtaking(&mut self, view: &TraceView<'_>) {
        const ALL: u64 = 64;
        const LONG: usize = 5000;
        let looks = self.schedules <= ALL || self.schedules.is_multiple_of(ALL);
        if self.overtaking.is_none() && looks && view.steps.len() <= LONG {
            let op = |i: usize| view.steps[i].op;
            self.overtaking = overtakings(*view).first().map(|o| (op(o.load), o.store.map(op)));
        }
    }

    fn add(&mut self, failure: Failure) {
        self.first_failure.get_or_insert(self.schedules);
        let known = self.told.contains(&failure.what) || self.failures.iter().any(|f| f.what == failure.what);
        if !known && (failure.kind == Kind::DataRace || !self.has_found()) {
            let failure = if failure.points.is_some() { failure } else { self.with_points(failure) };
            self.failures.push(Failure { after: self.schedules, ..failure });
        }
    }

    /// Adds the scheduling points of the execution that was just made. The search has others once
    /// it has begun anew.
    fn with_points(&self, failure: Failure) -> Failure {
        Failure { points: Some(self.marked_points().into()), ..failure }
    }

    /// The first run shows which status is usual, but it may have failed itself. Then executions
    /// that end like it have failed too, also those that were made before one that ends with 0.
    fn note_status(&mut self, e: &Execution<'_>, flags: u32) {
        if self.usual.status != 0 && self.ended_as_first_run.is_none() && judge(e, &self.usual).kind.is_none()
        {
            let strict = Usual { status: 0, ..self.usual };
            let failed = Failure::of(e, judge(e, &strict));
            self.ended_as_first_run =
                failed.map(|f| self.with_points(Failure { flags: f.flags | flags, ..f }));
        }
        if self.usual.status == 0
            && let Some(failure) = self.ended_as_first_run.take()
        {
            self.add(failure);
        }
    }

    /// Some programs panic in every execution, on purpose.
    fn note_panics(&mut self, e: &Execution<'_>) {
        let now = e.slot.panics;
        let least = self.usual.panics.map_or(now, |p| p.min(now));
        self.usual.panics = Some(least);
        if now > least {
            return;
        }
        if now > 0 && self.panicked.is_none() {
            let severe = Usual { panics: Some(0), ..self.usual };
            self.panicked = Failure::of(e, judge(e, &severe)).map(|f| (now, self.with_points(f)));
        }
        if self.panicked.as_ref().is_some_and(|(n, _)| *n > least)
            && let Some((_, failure)) = self.panicked.take()
        {
            self.add(failure);
        }
    }
}

/// What an execution may take beyond the deadline, however short the search.
const LEAST_GRACE: Duration = Duration::from_millis(500);

/// When a search must end, whatever it has found.
pub struct SearchClock {
    pub begun: Instant,
    pub deadline: Instant,
    /// When executions that are running at the deadline are given up.
    end: Option<Instant>,
    stop: AtomicBool,
}

impl SearchClock {
    pub fn new(limit: Duration) -> SearchClock {
        let begun = Instant::now();
        // Decades are enough, and do not overflow.
        let limit = limit.min(Duration::from_secs(1 << 30));
        SearchClock { begun, deadline: begun + limit, end: None, stop: AtomicBool::new(false) }
    }

    /// The clock for one turn of a search that ends at `end`. An execution may outlast the turn,
    /// but not the search.
    pub fn of_turn(limit: Duration, end: Instant) -> SearchClock {
        SearchClock { end: Some(end), ..SearchClock::new(limit) }
    }

    /// Ensures that at least `least` remains from now on.
    pub fn leave(&mut self, least: Duration) {
        self.deadline = self.deadline.max(Instant::now() + least);
    }

    /// Gives up executions that still run when a tenth of `limit` has passed since the deadline. A
    /// thread that computes for long would otherwise be waited for.
    pub fn give_up_late_executions(&mut self, limit: Duration) {
        self.end = Some(self.deadline + (limit / 10).max(LEAST_GRACE));
    }

    /// When half of the time is over, but with at least an eighth of it from now.
    pub fn halfway(&self) -> Instant {
        let limit = self.deadline.saturating_duration_since(self.begun);
        (self.begun + limit / 2).max(Instant::now() + limit / 8)
    }

    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || raddle_harness::interrupt::came()
            || Instant::now() >= self.deadline
    }
}

pub fn lock(search: &Mutex<Search>) -> MutexGuard<'_, Search> {
    search.lock().unwrap_or_else(|e| e.into_inner())
}

/// Searches with `jobs` workers until nothing is left or the time is up. Returns the recipe after
/// all adaptations.
pub fn run(
    search: &Mutex<Search>,
    recipe: &Recipe,
    jobs: usize,
    notes: &Notes,
    clock: &SearchClock,
) -> Result<Recipe> {
    let results = raddle_harness::threads::in_parallel(jobs, || work(search, recipe.clone(), notes, clock));
    let mut last = recipe.clone();
    for result in results {
        match result {
            Ok(recipe) => last = recipe,
            // A program without threads has one schedule. If some execution had threads, the
            // program has them.
            Err(error) if is_alone(&error) && lock(search).schedules == 0 => {
                notes.say(&format!("{error:#}"));
                lock(search).alone = true;
            }
            // The results so far are kept.
            Err(error) if lock(search).schedules == 0 => return Err(error),
            // The time was up before a new worker was ready. Later turns can still continue.
            Err(error) if is_stopped(&error) => {}
            Err(error) => {
                notes.say(&format!("the search broke off, and there may be more to find: {error:#}"));
                lock(search).broke_off.get_or_insert(format!("{error:#}"));
            }
        }
    }
    Ok(last)
}

fn is_alone(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CrewError::NoThreads(..)))
}

/// Whether the time was up before a worker was ready.
pub fn is_stopped(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CrewError::Stopped(..)))
}

/// How many orders a worker may have after this many schedules.
fn ahead(schedules: u64, slots: u32) -> usize {
    (schedules / 4 + 1).min(u64::from(slots)) as usize
}

fn work(search: &Mutex<Search>, recipe: Recipe, notes: &Notes, clock: &SearchClock) -> Result<Recipe> {
    let is_over = || clock.is_over();
    let mut recipe = recipe;
    loop {
        let round = {
            let search = lock(search);
            recipe.points = search.marked_points();
            search.round
        };
        let mut crew = Crew::new(recipe, notes, &is_over);
        if let Some(end) = clock.end {
            crew = crew.until(end);
        }
        let result = turns(search, round, &mut crew, clock);
        if result.is_err() {
            clock.stop.store(true, Ordering::Relaxed);
        }
        recipe = crew.recipe().clone();
        crew.stop();
        if result? == Turns::Over {
            return Ok(recipe);
        }
    }
}

#[derive(PartialEq, Eq)]
enum Turns {
    Over,
    /// The search has restarted with other scheduling points.
    Anew,
}

fn turns(search: &Mutex<Search>, round: u64, crew: &mut Crew<'_>, clock: &SearchClock) -> Result<Turns> {
    while !clock.is_over() {
        let finished = {
            let mut search = lock(search);
            if search.round != round {
                search.handed_out -= crew.in_flight() as u64;
                return Ok(Turns::Anew);
            }
            let room = ahead(search.schedules, crew.recipe().slots);
            while crew.has_room()
                && crew.in_flight() < room
                && let Some(order) = search.next()
            {
                crew.post(order);
            }
            search.is_finished()
        };
        if crew.in_flight() == 0 {
            if finished {
                break;
            }
            // Other workers will bring results soon, and these make more orders possible.
            std::thread::sleep(Duration::from_micros(200));
            continue;
        }
        crew.get_ready()?;
        if crew.modules().len() != lock(search).modules.len() {
            lock(search).modules = crew.modules().to_vec();
        }
        // Held from the first result of a turn to the last. The waiting comes before.
        let mut held = None;
        crew.turn(&mut |order, e| held.get_or_insert_with(|| lock(search)).observe(order, round, &e))?;
        drop(held);
        if finished && lock(search).has_found() {
            break;
        }
    }
    Ok(Turns::Over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_orders_go_one_by_one() {
        assert_eq!([0, 3, 4, 40, 4000].map(|n| ahead(n, 32)), [1, 1, 2, 11, 32]);
    }

    #[test]
    fn a_panic_seen_first_is_reported_once_an_execution_does_without() {
        use raddle_harness::made_up::{exits, with_slot};
        let strategy = Searcher::by_name("random", 1, Limits::default()).unwrap();
        let mut search = Search::new(strategy, Usual::default(), None, true);
        let order = search.next().unwrap();
        for (panics, failures) in [(1, 0), (1, 0), (0, 1), (1, 1)] {
            with_slot(exits(0, panics), |e| search.observe(&order, 0, &e));
            assert_eq!(search.failures.len(), failures);
        }
        assert_eq!((search.schedules, search.failures[0].after), (4, 3));
    }

    /// The first run ended with 3. Whether it failed is known once an execution ends with 0.
    #[test]
    fn a_status_of_the_first_run_is_a_failure_once_an_execution_ends_with_0() {
        use raddle_harness::made_up::{exits, with_slot};
        let strategy = || Searcher::by_name("random", 1, Limits::default()).unwrap();
        let usual = Usual { status: 3, ..Usual::default() };
        let mut search = Search::new(strategy(), usual, None, true);
        let order = search.next().unwrap();
        search.points = Arc::new([8]);
        for (status, failures) in [(3, 0), (3, 0), (0, 1), (3, 1)] {
            with_slot(exits(status, 0), |e| search.observe(&order, 0, &e));
            assert_eq!(search.failures.len(), failures);
            // The search begins anew with more points, and the failing execution was made with one.
            search.points = Arc::new([8, 16]);
        }
        let failure = &search.failures[0];
        assert_eq!((failure.kind, failure.after), (Kind::ExitStatus, 3));
        assert_eq!(failure.points.as_ref().map(|p| p.len()), Some(1));
        let mut search = Search::new(strategy(), usual, None, true);
        (0..3).for_each(|_| with_slot(exits(3, 0), |e| search.observe(&order, 0, &e)));
        assert!(search.failures.is_empty(), "it ends so in every execution");
    }

    #[test]
    fn every_strategy_has_its_name() {
        for name in Searcher::names() {
            let searcher = Searcher::by_name(name, 1, Limits::default()).unwrap();
            assert_eq!(searcher.name(), name);
        }
        assert!(Searcher::by_name("best", 1, Limits::default()).is_none());
    }
}
