//! Traces, analyses and tests one program, and makes its report.

use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_conseq::{Options, SiteKind, late_stores};
use raddle_finding::{Kind, Report};
use thiserror::Error;

use super::args::{Args, Means};
use super::delays::Delayed;
use super::rust_locks::RustLocks;
use super::sites::Sites;
use super::stacks::Stacks;
use super::static_server::StaticServer;
use super::tester::{Deadlines, Expect, Tester};
use super::traced_runs::{self, Run, Runs, TracedOrders};
use super::{analysis, certainty, findings, machine_code, rust_channels, rust_scopes, unscheduled};
use raddle_harness::check::printed::{self, Stream};
use raddle_harness::crew::{CrewError, Notes};
use raddle_harness::places::Places;
use raddle_harness::point_code;
use raddle_harness::program::is_rust;
use raddle_harness::schedule_files::program_name;
use raddle_harness::target::TargetError;
use raddle_harness::verdict::Failure;
use raddle_harness::worker::Recipe;

/// Why nothing can be said about a program. Each is one sentence with its remedy.
#[derive(Debug, Error)]
pub enum CampaignError {
    #[error(
        "`{0}` came to its end in none of its traced runs ({1}), each cut off after {2} steps or a long silence: there is no correct run to \
         start from. A server that only a signal ends needs a test that ends it; a long program needs more than --max-steps {2}, more --patience or more --seconds"
    )]
    Endless(String, usize, u32),
    #[error(
        "`{0}` comes to no end within {1} steps, and the rest of the time went to others: give it more with --seconds"
    )]
    TooLong(String, u32),
}

/// What raddle does with a program that cannot be scheduled.
const BY_ITSELF: &str = "it is traced as it runs by itself, and what is suspected is tried with delays, without a schedule to replay";

/// The share of the time after which nothing is executed to find out more.
const TOLD: f64 = 0.97;

/// When each part must be done. Reporting is within the time as well: shrinking findings, and
/// looking up their lines.
#[derive(Clone, Copy)]
pub struct CampaignDeadlines {
    begun: Instant,
    seconds: f64,
    /// The longest time that the program may take by itself, if known.
    longest: Option<Duration>,
    /// The time for reporting beyond its usual share.
    telling: Duration,
    /// When the caller wants no more executions.
    latest: Option<Instant>,
    /// A program whose traced runs come to no end is given up at once: others may need the time.
    is_brief: bool,
}

impl CampaignDeadlines {
    pub fn new(seconds: f64) -> CampaignDeadlines {
        CampaignDeadlines {
            begun: Instant::now(),
            seconds,
            longest: None,
            telling: Duration::ZERO,
            latest: None,
            is_brief: false,
        }
    }

    /// The same for one of several parts that have not been looked at.
    pub fn brief(self) -> CampaignDeadlines {
        CampaignDeadlines { is_brief: true, ..self }
    }

    /// The same with no execution after `end`, if there is one.
    fn ending_at(self, end: Option<Instant>) -> CampaignDeadlines {
        CampaignDeadlines { latest: end, ..self }
    }

    /// The same for a program that a command with this duration has started. A program that takes
    /// much longer does not end by itself.
    pub fn within(self, command: Option<Duration>) -> CampaignDeadlines {
        const SHORTEST: Duration = Duration::from_secs(2);
        CampaignDeadlines { longest: command.map(|c| SHORTEST + c * 5), ..self }
    }

    /// The same with more time for the report if that takes long: for several findings it reads the
    /// lines and names that the static analysis has read. If there is little time, the tests need
    /// all of it.
    fn with_room_to_tell(self, static_half: f64) -> CampaignDeadlines {
        const TIMES: f64 = 3.0;
        const MOST: f64 = 0.1;
        const LITTLE: f64 = 20.0;
        if self.seconds < LITTLE {
            return self;
        }
        let usual = self.seconds * (1.0 - TOLD);
        let beyond = (TIMES * static_half - usual).clamp(0.0, MOST * self.seconds);
        CampaignDeadlines { telling: Duration::from_secs_f64(beyond), ..self }
    }

    /// The same recipe with no execution after `end`, or after the caller's own end.
    fn bounded(&self, recipe: &Recipe, end: Instant) -> Recipe {
        let end = self.latest.map_or(end, |latest| latest.min(end));
        Recipe { end_at: Some(end), ..recipe.clone() }
    }

    fn at(&self, part: f64) -> Instant {
        self.begun + Duration::from_secs_f64(self.seconds * part)
    }

    /// After this, no further traced run begins, if there is one.
    fn traced(&self) -> Instant {
        self.at(0.4)
    }

    /// The same without the scheduler, which has been tried before.
    fn traced_by_itself(&self) -> Instant {
        let most = self.longest.map(|l| Instant::now() + l);
        most.map_or(self.at(0.5), |m| m.min(self.at(0.5)))
    }

    /// After this, no further function is searched for error sites. Some time is left for that in
    /// any case.
    fn sited(&self) -> Instant {
        const AT_LEAST: f64 = 0.15;
        self.at(0.5).max(Instant::now() + Duration::from_secs_f64(AT_LEAST * self.seconds))
    }

    /// After this, no further trace is analysed.
    fn analysed(&self) -> Instant {
        self.at(0.6)
    }

    /// After this, no further suspect is tested.
    fn tested(&self) -> Instant {
        self.at(0.8) - self.telling
    }

    /// After this, no consequence is shrunk or repeated.
    fn shrunk(&self) -> Instant {
        self.at(0.93) - self.telling
    }

    /// After this, nothing is executed to find out more.
    fn told(&self) -> Instant {
        self.at(TOLD) - self.telling
    }

    /// After this, nothing is executed for the report.
    fn over(&self) -> Instant {
        self.at(1.0)
    }
}

/// How the time is spent, in seconds.
pub struct Phases {
    pub begun: Instant,
    /// When the time is up.
    pub over: Instant,
    last: Instant,
    pub traced: f64,
    pub static_half: f64,
    pub analysed: f64,
    pub tested: f64,
}

impl Phases {
    fn new(budget: CampaignDeadlines) -> Phases {
        let begun = budget.begun;
        Phases {
            begun,
            over: budget.over(),
            last: begun,
            traced: 0.0,
            static_half: 0.0,
            analysed: 0.0,
            tested: 0.0,
        }
    }

    /// The seconds since the last call.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.last, now)).as_secs_f64()
    }
}

/// The report on what `recipe` starts. A program without threads is an error.
pub fn run(
    args: &Args,
    halves: &StaticServer,
    recipe: &Recipe,
    budget: CampaignDeadlines,
    notes: &Notes,
) -> Result<Report> {
    let rust = is_rust(&recipe.program.path);
    let clock = Phases::new(budget);
    let budget = budget.ending_at(recipe.end_at);
    let recipe = &budget.bounded(recipe, budget.tested());
    let mut runs = match traced_runs::make(
        recipe,
        (TracedOrders::NonPreemptive, args.runs, args.check_traces),
        rust,
        budget.traced(),
        notes,
    ) {
        Err(error) if unscheduled::is_refused(&error) && recipe.copy.is_some() => {
            return Err(machine_code::cannot_be_scheduled(recipe, error));
        }
        Err(error) if unscheduled::is_refused(&error) => {
            let made = unscheduled::make(recipe, args.runs, budget.traced_by_itself(), notes);
            // If the runtime cannot start, that is the only reason.
            if !made.as_ref().is_err_and(|e| e.is::<TargetError>()) {
                notes.say(&format!("{error:#}: {BY_ITSELF}"));
            }
            made?
        }
        Ok(runs)
            if runs.runs.iter().all(|r| r.endless)
                && (budget.is_brief || Instant::now() >= budget.tested()) =>
        {
            return Err(endless(recipe, &runs).into());
        }
        Ok(runs) if runs.runs.iter().all(|r| r.endless) => {
            let longer = || with_more_steps(args, &runs, budget, rust, notes);
            let again = longer()
                .or_else(|| with_loops(args, halves, &runs, budget, rust, notes))
                .or_else(|| in_fair_orders(args, &runs, budget, rust, notes));
            match again {
                Some(again) => again,
                None if recipe.copy.is_some() => {
                    return Err(machine_code::cannot_be_scheduled(recipe, endless(recipe, &runs).into()));
                }
                None => {
                    let error = endless(recipe, &runs);
                    let again = unscheduled::make(recipe, args.runs, budget.traced_by_itself(), notes);
                    let again = again
                        .map_err(|e| if raddle_harness::interrupt::came() { e } else { error.into() })?;
                    let error = endless(recipe, &runs);
                    notes.say(&format!("{error}. Without the scheduler it ends: {BY_ITSELF}"));
                    again
                }
            }
        }
        made => made?,
    };
    if runs.scheduled {
        runs.runs.iter_mut().for_each(|r| late_stores::correct(&mut r.events));
    }
    if rust && runs.scheduled {
        let locks = RustLocks::of(&runs.recipe.program.path, &runs.modules);
        runs.runs.iter_mut().for_each(|r| locks.recognise(&mut r.events));
        let (modules, mut places) = (&runs.modules, Places::new());
        for run in &mut runs.runs {
            rust_scopes::recognise(&mut run.events, modules, &mut places);
            rust_channels::recognise(&mut run.events, modules, &mut places);
        }
    }
    finish(args, halves, runs, budget, clock, notes)
}

/// Traced runs with a higher step limit, for a program that was still making progress when it was
/// cut off. `None` if no run ends even so.
fn with_more_steps(
    args: &Args,
    cut: &Runs,
    budget: CampaignDeadlines,
    rust: bool,
    notes: &Notes,
) -> Option<Runs> {
    const TIMES: u32 = 20;
    let most = cut.recipe.max_steps;
    if !cut.runs.iter().any(|r| r.is_too_long(most)) || raddle_harness::interrupt::came() {
        return None;
    }
    let recipe = Recipe { max_steps: most.saturating_mul(TIMES), ..cut.recipe.clone() };
    let made = traced_runs::make(
        &recipe,
        (TracedOrders::NonPreemptive, args.runs, args.check_traces),
        rust,
        budget.traced(),
        notes,
    )
    .ok()?;
    made.runs.iter().any(|r| !r.endless).then_some(made)
}

/// Traced runs in which a loop that waits for a plain variable lets other threads run. `None` if no
/// run ends even so. The scheduler sees only scheduling points, and a plain read is not one at
/// first.
fn with_loops(
    args: &Args,
    halves: &StaticServer,
    endless: &Runs,
    budget: CampaignDeadlines,
    rust: bool,
    notes: &Notes,
) -> Option<Runs> {
    let kinds = vec![SiteKind::Loop];
    let options = Options { kinds, ..halves.options().clone() };
    let traces = endless.runs.iter().map(|r| r.events.as_slice());
    let copied = machine_code::copied(&endless.recipe);
    let points = Sites::of((&endless.modules, copied.as_deref()), (halves, &options), traces, budget.sited())
        .waiting_reads();
    if points.is_empty() || raddle_harness::interrupt::came() {
        return None;
    }
    let recipe = Recipe { points, ..endless.recipe.clone() };
    let made = traced_runs::make(
        &recipe,
        (TracedOrders::NonPreemptive, args.runs, args.check_traces),
        rust,
        budget.traced(),
        notes,
    )
    .ok()?;
    made.runs.iter().any(|r| !r.endless).then_some(made)
}

/// Traced runs in which any thread may run at any step. `None` if no run ends even so. A thread
/// that works for ever until another one has done something, such as one of a pool that looks for
/// tasks and announces itself each time, changes memory in each round. So it does not only wait,
/// and nothing but a preemption lets the other one go on.
fn in_fair_orders(
    args: &Args,
    endless: &Runs,
    budget: CampaignDeadlines,
    rust: bool,
    notes: &Notes,
) -> Option<Runs> {
    if raddle_harness::interrupt::came() {
        return None;
    }
    let orders = (TracedOrders::Fair, args.runs, args.check_traces);
    let made = traced_runs::make(&endless.recipe, orders, rust, budget.traced(), notes).ok()?;
    made.runs.iter().any(|r| !r.endless).then_some(made)
}

/// The same for a whole command, none of whose programs could be examined by itself: a server and
/// the script that ends it.
pub fn run_whole(
    args: &Args,
    halves: &StaticServer,
    recipe: &Recipe,
    budget: CampaignDeadlines,
    notes: &Notes,
) -> Result<Report> {
    let clock = Phases::new(budget);
    let budget = budget.ending_at(recipe.end_at);
    let runs = unscheduled::make(recipe, args.runs, budget.traced_by_itself(), notes)?;
    finish(args, halves, runs, budget, clock, notes)
}

/// The error for a program that came to no end in its first traced runs, and for which there is no
/// time left.
pub fn no_time_for(recipe: &Recipe) -> anyhow::Error {
    CampaignError::TooLong(recipe.program.path.display().to_string(), recipe.max_steps).into()
}

fn endless(recipe: &Recipe, runs: &Runs) -> CampaignError {
    CampaignError::Endless(recipe.program.path.display().to_string(), runs.runs.len(), recipe.max_steps)
}

/// From traced runs to the report.
fn finish(
    args: &Args,
    halves: &StaticServer,
    mut runs: Runs,
    budget: CampaignDeadlines,
    mut clock: Phases,
    notes: &Notes,
) -> Result<Report> {
    clock.traced = clock.lap() - runs.reading;
    let mut places = Places::new();
    let traces = runs.runs.iter().map(|r| r.events.as_slice());
    let copied = machine_code::copied(&runs.recipe);
    let sites =
        Sites::of((&runs.modules, copied.as_deref()), (halves, halves.options()), traces, budget.sited());
    sites.unfinished().iter().for_each(|sentence| notes.say(sentence));
    clock.static_half = clock.lap();
    let budget = budget.with_room_to_tell(clock.static_half);
    let analysed = analysis::analyse(&runs, sites, args, &mut places, (budget.analysed(), notes));
    clock.analysed = clock.lap() + runs.reading;
    say_limits(&runs, &analysed.sites, notes);
    let mut printed = printed::Usual::default();
    // The random orders may well print something wrong.
    let plain = runs.runs.iter().take(traced_runs::PLAIN);
    plain.filter(|r| r.is_correct()).for_each(|r| printed.learn(&r.printed));
    forget_results(&mut runs, &printed, notes);
    let mut points = [analysed.points.clone(), runs.recipe.points.clone()].concat();
    points.sort_unstable();
    points.dedup();
    let recipe = budget.bounded(&Recipe { points, ..runs.recipe.clone() }, budget.told());
    let suspects = if args.no_test { &[][..] } else { &analysed.suspects };
    let streams = [(SiteKind::Error, Stream::Err), (SiteKind::Output, Stream::Out)];
    let expect = Expect {
        usual: runs.usual,
        printed: &printed,
        streams: streams.into_iter().filter(|(kind, _)| args.sites.contains(kind)).map(|(_, s)| s).collect(),
        guards: &analysed.guards,
        default: runs.orders.default_tail(),
        additions: certainty::additions(&runs.runs, || analysed.sites.exchanges(), budget.analysed()),
    };
    let kinds = suspects.iter().map(|s| analysed.kind(s)).collect();
    let deadlines = Deadlines { tested: budget.tested(), shrunk: budget.shrunk(), told: budget.told() };
    let is_over = || Instant::now() >= deadlines.told;
    let means = if runs.scheduled { args.tester } else { Means::Delays };
    let mut tested = match means {
        Means::Schedule => {
            let recipe = match recipe.copy.is_some() {
                true => recipe.clone(),
                false => {
                    Recipe { points: point_code::marked(&recipe.points, &runs.modules), ..recipe.clone() }
                }
            };
            let points = (&recipe, runs.recipe.points.as_slice());
            Tester::new(points, suspects, kinds, expect, notes, deadlines, &is_over).run()?
        }
        Means::Delays => {
            Delayed::new(&recipe, &runs.modules, suspects, kinds, expect, notes, deadlines.tested).run()?
        }
    };
    let anything = !analysed.suspects.is_empty() || !analysed.violations.is_empty();
    let stacks = match runs.scheduled {
        true if anything => Stacks::of(&recipe, budget.told(), notes),
        _ => std::mem::take(&mut tested.stacks),
    };
    clock.tested = clock.lap();
    findings::report(args, &runs, &analysed, &tested, (places, stacks), &clock)
}

/// The campaign for a program that is the whole command. A program that fails before its first
/// thread has not done its work, and the error says so.
pub fn run_alone(
    args: &Args,
    halves: &StaticServer,
    recipe: &Recipe,
    budget: CampaignDeadlines,
    notes: &Notes,
) -> Result<Report> {
    match run(args, halves, recipe, budget, notes) {
        Err(error) if is_alone(&error) && !ended_well(&error) => {
            Err(error.context("there is no correct run to start from: give the program what it needs"))
        }
        made => made,
    }
}

/// Whether no traced run of the program came to its end.
pub fn is_endless(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CampaignError::Endless(..)))
}

/// Whether the program creates no thread.
pub fn is_alone(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CrewError::NoThreads(..)))
}

/// Whether a program that creates no thread ended with status 0.
pub fn ended_well(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CrewError::NoThreads(_, 0)))
}

/// An exit status alone is not a failure of a traced run: a correct program may return which thread
/// was first ([`super::certainty`]).
fn forget_results(runs: &mut Runs, printed: &printed::Usual, notes: &Notes) {
    let usual = runs.usual.status;
    for run in &mut runs.runs {
        let is_result =
            |f: &Failure| f.kind == Kind::ExitStatus && (usual != 0 || !printed.complains(&run.printed));
        if let Some(failure) = run.failure.take_if(|f| is_result(f)) {
            notes.say(&format!(
                "{} in a traced run, and {usual} in another: that is no finding unless the program also prints that it failed",
                failure.facts.sentence
            ));
        }
    }
}

/// Reports what limits everything that follows.
fn say_limits(runs: &Runs, sites: &Sites, notes: &Notes) {
    let name = program_name(&runs.recipe);
    if runs.runs.iter().any(|r| r.cut_short) {
        notes.say(&format!(
            "a trace of `{name}` was cut short, because the program died or there was no room: what it has is analysed"
        ));
    }
    if !runs.runs.iter().any(Run::is_correct) {
        notes.say(&format!("no traced run ended well (`{name}`): there is nothing to work back from"));
    } else if !runs.runs.iter().any(|r| sites.is_reached(&r.events)) {
        notes.say(&format!(
            "the traced runs of `{name}` come by none of the reads that matter to an error site: try another input, or --max-distance"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_its_share_and_some_is_left_for_telling() {
        let budget = CampaignDeadlines::new(60.0);
        let end = budget.begun + Duration::from_secs(60);
        assert!(budget.traced() < budget.traced_by_itself() && budget.traced_by_itself() < budget.tested());
        assert!(budget.tested() < budget.shrunk());
        assert!(budget.shrunk() < budget.told() && budget.told() < end && budget.over() == end);
        let slow = budget.with_room_to_tell(4.0);
        assert!(slow.tested() < budget.tested() && slow.told() < budget.told() && slow.over() == end);
        assert_eq!(budget.with_room_to_tell(0.1).told(), budget.told());
        assert!(budget.with_room_to_tell(1e9).tested() > budget.analysed());
        assert_eq!(
            CampaignDeadlines { seconds: 10.0, ..budget }.with_room_to_tell(4.0).telling,
            Duration::ZERO
        );
        let short = budget.within(Some(Duration::from_secs(1)));
        assert!(short.traced_by_itself() < budget.traced_by_itself());
    }
}
