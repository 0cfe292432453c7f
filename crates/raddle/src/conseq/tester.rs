//! The tester (section 8 of the paper): each suspect is forced, not hoped for.
//!
//! The paper suspends threads before the write and the read, for a while, and hopes that they meet.
//! Here the scheduler of `explore` decides who runs, in three rounds:
//!
//! 1. **Aimed.** For each suspect, executions with the constraint that the read gets the suspect's
//!    write: the read waits until that write is the last, then other writes wait until the read is
//!    done ([`Tail::Constrained`]). That holds for a write and a read of one thread as well. Where
//!    both need one lock, to hold the reader back inside would keep the writer out; then nobody is
//!    held back, and chance decides who takes the lock first, each time anew.
//! 2. **Searched.** All interleavings of the accesses that the suspects are about, as far as time
//!    allows: a consequence may take two dependences at once. Where that search comes to its end
//!    and other accesses race too, these become points and the search begins anew: only then has
//!    every interleaving been made ([`Completeness`]).
//! 3. **Settled.** A suspect of which an execution has shown a consequence that is certainly wrong,
//!    and has shown it again, is confirmed ([`super::certainty`]). One whose read got the value,
//!    with no consequence, is refuted, and so is one that no interleaving brings about when every
//!    interleaving has been made. Of freed memory the access itself is the consequence: where
//!    nothing was seen, the block had been handed out again, and nothing is refuted.
//!
//! A process that somebody else kills (an administrator, the kernel for want of memory) shows
//! nothing: its execution is made again.
//!
//! Something printed counts only if it is the schedule's doing: the default schedule, made before
//! and after, does not show it, and the same choices show it again. A file that one execution
//! leaves behind makes the next one print something, whatever its order.
//!
//! A consequence is what an execution came to: a failure, as `explore` judges it, or something
//! printed that is not usual.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_conseq::SiteKind;
use raddle_conseq::suspects::{Instead, Suspect};
use raddle_explore::shrink;
use raddle_explore::{
    Constraint, Limits, Next, OpKind, Order, Outcome, Portfolio, Step, Strategy, Tail, Trace,
};
use raddle_finding::Kind;
use raddle_wire::explore::{flag, outcome};

use super::certainty::{Additions, is_certain};
use super::completeness::Completeness;
use super::ordinary_runs::OUTSIDE;
use super::stacks::Stacks;
use raddle_harness::check::printed::{self, Line, Printed, Stream};
use raddle_harness::check::{self, Check, Guard};
use raddle_harness::crew::{Crew, CrewError, Notes};
use raddle_harness::places::Mapped;
use raddle_harness::verdict::{Failure, PANICS, Usual, judge};
use raddle_harness::watch::{Watch, Watched};
use raddle_harness::worker::{Ending, Execution, Recipe};

/// How often an execution is made again whose process was killed, and one whose failure did not
/// come again.
const AGAIN: u32 = 3;
/// Executions with which a suspect is aimed at.
const AIMED: u64 = 24;
/// A search of so many executions is long enough to say that what was not seen in it, and could not
/// be forced, is not feasible.
const ENOUGH: u64 = 500;
/// Lines that are not usual of which one is kept, at most: a program whose output varies has one in
/// each execution.
const PRINTED: usize = 8;
/// Of a program with so many different lines that are not usual, other numbers apart, the output
/// depends on the order of threads by itself.
const MANY_LINES: usize = 4;
/// So many in which the read got the value and nothing happened are enough.
const HARMLESS: u32 = 6;
/// Interleavings that the search may make.
const SEARCHED: u64 = 10_000;
/// And so many when all that is left did no harm so far.
const HARMLESS_SEARCH: u64 = 1_000;
/// And so many when a line has been printed that usually is not, and all suspects are answered by
/// that: control went where no traced run has been, and what lies behind was no suspect.
const AFTERMATH: u64 = 500;
/// And the time that it may take.
const SEARCHING: Duration = Duration::from_secs(8);
/// Executions that shrinking one consequence may take.
const SHRINKING: u64 = 400;
/// And the time that it may take, and making it again.
const SETTLING: Duration = Duration::from_secs(4);
const LIMITS: Limits = Limits { bound: u32::MAX, states: 1 << 20, items: 1 << 18, prune: true };

/// What an execution came to.
#[derive(Clone)]
pub struct Consequence {
    pub failure: Failure,
    /// What shows it, in an execution that ended well.
    pub check: Option<Check>,
    /// The suspects whose reads got their values in it.
    pub suspects: Vec<usize>,
    pub again: Again,
    /// A line that is not usual says that something failed.
    pub complains: bool,
    /// It is wrong in any correct program ([`super::certainty`]).
    pub is_certain: bool,
}

impl Consequence {
    /// An ordinary run came to it, of which there are no steps.
    pub fn is_by_delays(&self) -> bool {
        self.failure.trace.steps.is_empty()
    }
}

/// Whether the same choices gave it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    Yes,
    No,
    NotTried,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspectVerdict {
    /// By this consequence, which is certainly wrong.
    Confirmed(usize),
    /// By this consequence, which need not be wrong.
    Shown(usize),
    Refuted(Reason),
    Open,
}

/// Why a suspect is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The read got the value, and nothing went wrong.
    Harmless,
    /// Every interleaving of the program has been made ([`Completeness`]), and none brings the
    /// write to the read.
    Impossible,
    /// The read was held back for the write, or the write for the read, in [`AIMED`] executions
    /// until nobody else could go on, and never got the value; nor did it in a long search, or in
    /// one that had nothing left to try. Locks, or what the program does, keep the two apart.
    Infeasible,
}

/// What has been found out.
pub struct Tested {
    pub consequences: Vec<Consequence>,
    pub verdicts: Vec<SuspectVerdict>,
    /// For each suspect, the executions that were aimed at it.
    pub tried: Vec<u32>,
    pub executions: u64,
    pub exhausted: bool,
    pub passing: Vec<Trace>,
    pub recipe: Recipe,
    /// What an ordinary run has said about where accesses are called from.
    pub stacks: Stacks,
}

/// When the parts of the test have to be done.
#[derive(Clone, Copy)]
pub struct Deadlines {
    /// No further suspect is tested.
    pub tested: Instant,
    /// No consequence is made smaller.
    pub shrunk: Instant,
    /// Nothing is executed any more.
    pub told: Instant,
}

pub struct Tester<'a> {
    suspects: &'a [Suspect],
    /// The kind of each suspect's site, where it has one.
    kinds: Vec<Option<SiteKind>>,
    expect: Expect<'a>,
    crew: Crew<'a>,
    notes: &'a Notes,
    deadlines: Deadlines,
    /// A thread that computes is not waited for any more.
    is_over: &'a (dyn Fn() -> bool + Sync),
    /// How often each suspect came about in an execution that ended well.
    realized: Vec<u32>,
    /// How often it came about in one that did not.
    harmful: Vec<u32>,
    tried: Vec<u32>,
    consequences: Vec<Consequence>,
    executions: u64,
    passing: Vec<Trace>,
    modules: Vec<Mapped>,
    completeness: Completeness,
    /// Accesses that race and are no scheduling points yet.
    racing: Vec<u64>,
    /// Lines that were not usual, without their numbers.
    unusual: BTreeSet<String>,
    /// Processes are killed again and again: there is no use in going on.
    gave_up: bool,
}

/// How far a search came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Searched {
    InPart,
    /// There is nothing left to try, and there may be interleavings that no schedule leads to.
    AllItCan,
    /// Every interleaving of the program was made.
    Everything,
}

/// An execution, judged.
struct Seen {
    trace: Trace,
    failure: Option<Failure>,
    check: Option<Check>,
    /// See [`Consequence::complains`].
    complains: bool,
}

impl<'a> Tester<'a> {
    /// `recipe` has the accesses that the suspects are about as its points.
    pub fn new(
        recipe: &Recipe,
        suspects: &'a [Suspect],
        kinds: Vec<Option<SiteKind>>,
        expect: Expect<'a>,
        notes: &'a Notes,
        deadlines: Deadlines,
        is_over: &'a (dyn Fn() -> bool + Sync),
    ) -> Tester<'a> {
        let recipe = Recipe {
            slots: 1,
            flags: recipe.flags | flag::FLUSH | flag::HIDDEN,
            watch: check::watch(expect.guards),
            ..recipe.clone()
        };
        let crew = Crew::new(recipe, notes, is_over);
        let (realized, tried) = (vec![0; suspects.len()], vec![0; suspects.len()]);
        let (consequences, passing) = (Vec::new(), Vec::new());
        let executions = 0;
        Tester {
            suspects,
            kinds,
            expect,
            crew,
            notes,
            deadlines,
            is_over,
            realized,
            harmful: vec![0; suspects.len()],
            tried,
            consequences,
            executions,
            passing,
            modules: Vec::new(),
            completeness: Completeness::new(),
            racing: Vec::new(),
            unusual: BTreeSet::new(),
            gave_up: false,
        }
    }

    pub fn run(mut self) -> Result<Tested> {
        for i in 0..self.suspects.len() {
            self.aim(i)?;
        }
        let searched = self.search()?;
        self.shrink()?;
        self.weigh();
        let verdicts = (0..self.suspects.len()).map(|i| self.verdict(i, searched)).collect();
        let recipe = Recipe { watch: Watch::default(), ..self.crew.recipe().clone() };
        self.crew.stop();
        Ok(Tested {
            consequences: self.consequences,
            verdicts,
            tried: self.tried,
            executions: self.executions,
            exhausted: searched == Searched::Everything,
            passing: self.passing,
            recipe,
            stacks: Stacks::default(),
        })
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadlines.tested || self.gave_up || raddle_harness::interrupt::came()
    }

    /// What an order comes to. None: it was lost, because its process was killed each time or the
    /// time is over.
    fn execute(&mut self, order: Order) -> Result<Option<Seen>> {
        for _ in 0..AGAIN {
            let (mut seen, mut killed) = (None, false);
            if !in_time(self.crew.get_ready())? {
                break;
            }
            if self.crew.modules().len() != self.modules.len() {
                self.modules = self.crew.modules().to_vec();
            }
            let (expect, completeness) = (&self.expect, &mut self.completeness);
            let (racing, modules) = (&mut self.racing, &self.modules);
            let points = self.crew.recipe().points.clone();
            self.crew.post(order.clone());
            let mut each = |_: &Order, e: Execution<'_>| match was_killed(&e) {
                true => killed = true,
                false => {
                    racing.extend(completeness.observe(&e, &points, modules));
                    seen = Some(look(&e, expect));
                }
            };
            while self.crew.in_flight() > 0 {
                if !in_time(self.crew.turn(&mut each))? {
                    self.gave_up = true;
                    return Ok(None);
                }
            }
            self.executions += 1;
            if !killed {
                return Ok(seen);
            }
            self.notes.say(KILLED);
        }
        self.gave_up = true;
        Ok(None)
    }

    /// Executions that bring one suspect's write to its read.
    fn aim(&mut self, i: usize) -> Result<()> {
        let constraint = constraint(&self.suspects[i]);
        // To hold the access back keeps the release away where one lock is around both: then chance
        // may do.
        let frees = matches!(self.suspects[i].instead, Instead::Freed(_));
        let tail =
            |seed| if frees && seed % 2 == 0 { Tail::Pos { seed } } else { Tail::Constrained { seed } };
        for seed in 1..=AIMED {
            if self.is_over() || self.is_shown(i) || self.realized[i] >= HARMLESS {
                break;
            }
            self.tried[i] += 1;
            let mut order = Order::free(0, tail(seed));
            order.constraints = vec![constraint];
            if let Some(seen) = self.execute(order)? {
                self.take(seen);
            }
        }
        Ok(())
    }

    /// Interleavings of the accesses in question, then of all that race.
    fn search(&mut self) -> Result<Searched> {
        if self.suspects.is_empty() {
            return Ok(Searched::InPart);
        }
        let (mut made, end) = (0, Instant::now() + SEARCHING);
        loop {
            self.completeness.begin_anew();
            let mut strategy = Portfolio::new(1, LIMITS);
            // Where an execution takes long, the search takes longer to be of any worth.
            let has_time = |t: &Self| Instant::now() < end || t.executions < ENOUGH;
            while has_time(self) && made < SEARCHED && !self.is_over() && self.is_worth_it(made) {
                let Some(order) = strategy.next() else { break };
                let Some(seen) = self.execute(order.clone())? else { break };
                strategy.observe(&order, seen.trace.view());
                self.take(seen);
                made += 1;
            }
            let progress = strategy.progress();
            if !progress.exhausted {
                return Ok(Searched::InPart);
            }
            if self.racing.is_empty() {
                let holds = self.completeness.holds(&progress, self.crew.recipe(), &self.modules);
                return Ok(if holds { Searched::Everything } else { Searched::AllItCan });
            }
            if !self.is_worth_it(made) {
                return Ok(Searched::AllItCan);
            }
            self.add_points()?;
        }
    }

    /// What races becomes a scheduling point. What was found before is settled with the points that
    /// it was found with.
    fn add_points(&mut self) -> Result<()> {
        self.shrink()?;
        let mut recipe = self.crew.recipe().clone();
        recipe.points.append(&mut self.racing);
        recipe.points.sort_unstable();
        recipe.points.dedup();
        let crew = Crew::new(recipe, self.notes, self.is_over);
        std::mem::replace(&mut self.crew, crew).stop();
        Ok(())
    }

    /// Whether something is left to find out: a suspect that has not come about, or, for a while,
    /// one that did no harm so far.
    fn is_worth_it(&self, made: u64) -> bool {
        let open = |i: &usize| !self.is_shown(*i) && (made < HARMLESS_SEARCH || self.realized[*i] == 0);
        let only_printed = self.consequences.iter().all(|c| matches!(c.check, Some(Check::Printed(_))));
        (0..self.suspects.len()).any(|i| open(&i)) || made < AFTERMATH && only_printed
    }

    /// An execution has shown the consequence that the suspect is about.
    fn is_shown(&self, i: usize) -> bool {
        self.shown_by(i).is_some()
    }

    fn shown_by(&self, i: usize) -> Option<usize> {
        let site = self.kinds[i];
        let shows = |c: &Consequence| c.suspects.contains(&i) && is_about(c.failure.kind, site);
        // A failure says more than something unusual that was printed.
        let of =
            |failed: bool| self.consequences.iter().position(|c| c.check.is_none() == failed && shows(c));
        of(true).or_else(|| of(false))
    }

    fn take(&mut self, seen: Seen) {
        const PASSING: usize = 12;
        let suspects: Vec<usize> =
            (0..self.suspects.len()).filter(|i| is_realized(&seen.trace.steps, &self.suspects[*i])).collect();
        let Some(failure) = seen.failure else {
            // A block that was freed and could be accessed had been handed out again.
            let is_freed = |i: &&usize| matches!(self.suspects[**i].instead, Instead::Freed(_));
            suspects.iter().filter(|i| !is_freed(i)).for_each(|i| self.realized[*i] += 1);
            if seen.trace.outcome == Outcome::Passed && self.passing.len() < PASSING {
                self.passing.push(seen.trace);
            }
            return;
        };
        suspects.iter().for_each(|i| self.harmful[*i] += 1);
        if let Some(Check::Printed(line)) = &seen.check
            && self.unusual.len() < MANY_LINES
        {
            self.unusual.insert(printed::masked(&line.text));
        }
        let enough = seen.check.is_some() && self.has_enough_printed(&suspects);
        match self.consequences.iter_mut().find(|c| c.failure.what == failure.what) {
            Some(known) => {
                let more: Vec<usize> = suspects.into_iter().filter(|i| !known.suspects.contains(i)).collect();
                known.suspects.extend(more);
            }
            None if enough => {}
            None => {
                let failure = Failure { after: self.executions, ..failure };
                self.consequences.push(Consequence {
                    failure,
                    check: seen.check,
                    suspects,
                    again: Again::NotTried,
                    complains: seen.complains,
                    is_certain: false,
                });
            }
        }
    }

    /// Whether what was printed is of no further interest: no suspect could explain it, or there is
    /// much of it.
    fn has_enough_printed(&self, suspects: &[usize]) -> bool {
        let printed = self.consequences.iter().filter(|c| matches!(c.check, Some(Check::Printed(_)))).count();
        printed >= PRINTED && suspects.iter().all(|i| self.is_shown(*i)) || printed >= 4 * PRINTED
    }

    /// Each consequence with as few preemptions as can be found in a little time, and once more,
    /// choice for choice.
    fn shrink(&mut self) -> Result<()> {
        let found = std::mem::take(&mut self.consequences);
        let mut left = found.len() as u32;
        let mut kept = Vec::new();
        for c in found {
            let share = self.deadlines.shrunk.saturating_duration_since(Instant::now()) / left;
            left -= 1;
            if c.failure.points.is_some() {
                kept.push(c);
                continue;
            }
            let settled = self.settled(c, share.min(SETTLING))?;
            let points: Arc<[u64]> = self.crew.recipe().points.as_slice().into();
            kept.extend(settled.map(|c| {
                let failure = Failure { points: Some(points), ..c.failure };
                Consequence { failure, ..c }
            }));
        }
        self.consequences = kept;
        Ok(())
    }

    /// The consequence made smaller and made again; none, if the schedule has no part in it.
    fn settled(&mut self, mut c: Consequence, limit: Duration) -> Result<Option<Consequence>> {
        // Of a failure it is worth some more time to see it again.
        let late = Instant::now() >= self.deadlines.told;
        if raddle_harness::interrupt::came() || self.gave_up || late || limit.is_zero() && c.check.is_some() {
            return Ok(Some(c));
        }
        let trace = self.smaller(&c, limit * 3 / 4)?;
        let line = match &c.check {
            Some(Check::Printed(line)) => Some(line.clone()),
            _ => None,
        };
        // It puts right what the execution before may have left behind.
        let before = line.as_ref().map(|l| self.default_shows(l)).transpose()?.unwrap_or(false);
        c.again = Again::No;
        for choices in [&trace, &c.failure.trace.clone()].into_iter().cycle().take(AGAIN as usize) {
            if Instant::now() >= self.deadlines.told {
                c.again = Again::NotTried;
                break;
            }
            // In a new process, which finds nothing that an execution before has left behind.
            self.crew.start_anew();
            let seen = self.execute(Order::replay(choices.view().choices()))?;
            if let Some(Seen { failure: Some(failure), check, complains, .. }) = seen
                && failure.what == c.failure.what
            {
                let after = c.failure.after;
                (c.failure, c.check, c.again) = (Failure { after, ..failure }, check, Again::Yes);
                c.complains = complains;
                break;
            }
        }
        let Some(line) = line else { return Ok(Some(c)) };
        if before || c.again == Again::No || self.default_shows(&line)? {
            self.notes.say(&format!(
                "{}, but not by the order of threads: the default order comes to it too, or the same order does not come to it again. An \
                 execution may find what one before it has left, such as a file",
                Check::Printed(line).sentence()
            ));
            return Ok(None);
        }
        Ok(Some(c))
    }

    /// The same consequence with fewer preemptions, as far as that can be found in so much time.
    /// Not of those whose executions take long each.
    fn smaller(&mut self, c: &Consequence, limit: Duration) -> Result<Trace> {
        let trace = c.failure.trace.clone();
        if limit.is_zero() || matches!(c.failure.kind, Kind::Hang | Kind::Livelock | Kind::Starvation) {
            return Ok(trace);
        }
        let begun = Instant::now();
        let Some(again) = self.execute(Order::replay(trace.view().choices()))? else { return Ok(trace) };
        // To make orders of many steps takes time as well.
        let each = begun.elapsed().max(Duration::from_micros(1 + again.trace.steps.len() as u64 / 4));
        let most = (limit.as_secs_f64() / each.as_secs_f64()) as u64;
        let deadline = begun + limit;
        let mut execute = |order: &Order| -> Trace {
            let lost =
                || Trace { steps: Vec::new(), wide: Vec::new(), outcome: Outcome::Lost, divergence: None };
            if Instant::now() >= deadline {
                return lost();
            }
            self.execute(order.clone()).ok().flatten().map_or_else(lost, |s| s.trace)
        };
        Ok(shrink::shrink(trace, most.min(SHRINKING), &mut execute).trace)
    }

    /// Whether the line makes its difference when nobody is preempted, which in the training runs
    /// it did not.
    fn default_shows(&mut self, line: &Line) -> Result<bool> {
        let mut shown = false;
        self.crew.post(Order::free(0, Tail::NonPreemptive { next: Next::Lowest }));
        while self.crew.in_flight() > 0 {
            // One that was killed printed nothing that can be relied on.
            let turn = self.crew.turn(&mut |_, e| {
                shown = was_killed(&e) || e.watched.is_some_and(|w| Printed::of(w).shows(line));
            });
            if !in_time(turn)? {
                self.gave_up = true;
                return Ok(true);
            }
        }
        self.executions += 1;
        Ok(shown)
    }

    fn verdict(&self, i: usize, searched: Searched) -> SuspectVerdict {
        if let Some(at) = self.shown_by(i) {
            return match self.consequences[at].is_certain {
                true => SuspectVerdict::Confirmed(at),
                false => SuspectVerdict::Shown(at),
            };
        }
        let frees = matches!(self.suspects[i].instead, Instead::Freed(_));
        let is_long = self.executions >= ENOUGH || searched == Searched::AllItCan;
        let forced = u64::from(self.tried[i]) >= AIMED && is_long;
        match self.realized[i] {
            0 if searched == Searched::Everything => SuspectVerdict::Refuted(Reason::Impossible),
            0 if forced && !frees => SuspectVerdict::Refuted(Reason::Infeasible),
            0 => SuspectVerdict::Open,
            _ => SuspectVerdict::Refuted(Reason::Harmless),
        }
    }

    /// Says of each consequence whether it is certainly wrong, now that all has been executed.
    fn weigh(&mut self) {
        // Then each suspect goes together with some line, and need not have caused it.
        let varies = self.unusual.len() >= MANY_LINES;
        // A pair of places may be passed by several threads, one of which does no harm: a third of
        // the executions is enough.
        let is_cause = |i: usize| 2 * self.harmful[i] >= self.realized[i];
        for c in &mut self.consequences {
            let is_told = !(varies && matches!(c.check, Some(Check::Printed(_))));
            let is_cause = |i: usize| is_told && is_cause(i);
            c.is_certain =
                is_certain(c, self.suspects, &is_cause, &self.expect.additions, &self.expect.usual);
        }
    }
}

/// False: the time was over before a worker was ready.
fn in_time(turn: Result<()>) -> Result<bool> {
    match turn {
        Err(error) if matches!(error.downcast_ref(), Some(CrewError::Stopped(_))) => Ok(false),
        turn => turn.map(|()| true),
    }
}

/// What is said of a process that somebody has killed.
pub const KILLED: &str =
    "a process of the program was killed by somebody else, which shows nothing: its execution is made again";

/// Whether the process was ended by a signal that no fault of its own raises: an administrator's,
/// or the kernel's for want of memory.
pub fn was_killed(e: &Execution<'_>) -> bool {
    match e.ending {
        Ending::Died(status) => status.and_then(|s| s.signal()).is_some_and(|s| OUTSIDE.contains(&s)),
        Ending::Finished => e.slot.outcome == outcome::SIGNAL && e.slot.detail == libc::SIGKILL as u64,
        Ending::Hung | Ending::Slow => false,
    }
}

/// Whether a failure of this kind is what can be seen at such a site. What ends a program ends it
/// before other sites are reached.
pub fn is_about(kind: Kind, site: Option<SiteKind>) -> bool {
    match kind {
        Kind::ErrorMessage => matches!(site, Some(SiteKind::Error) | None),
        Kind::Output => matches!(site, Some(SiteKind::Output | SiteKind::Error) | None),
        Kind::Invariant => matches!(site, Some(SiteKind::Invariant) | None),
        _ => true,
    }
}

/// What an execution came to.
fn look(e: &Execution<'_>, expect: &Expect<'_>) -> Seen {
    let mut verdict = judge(e, &expect.usual);
    if verdict.kind == Some(Kind::Starvation) && e.slot.outcome == outcome::EXIT {
        (verdict.kind, verdict.outcome) = (None, Outcome::Passed);
    }
    let mut failure = Failure::of(e, verdict);
    // That a thread panics says little; what it says is in what was printed.
    if let (Some(failure), Some(watched)) = (&mut failure, e.watched)
        && failure.facts.sentence == PANICS
        && let Some(said) = Printed::of(watched).panic()
    {
        failure.facts.sentence = format!("{PANICS} ({said})");
    }
    let mut check = None;
    if verdict.outcome == Outcome::Passed
        && let Some(watched) = e.watched
    {
        check = expect.check(watched);
    }
    if let Some(check) = &check {
        let shown = check.failure(e);
        verdict.outcome = shown.trace.outcome;
        failure = Some(shown);
    }
    let complains = e.watched.is_some_and(|w| expect.printed.complains(&Printed::of(w)));
    Seen { trace: e.trace(verdict.outcome), failure, check, complains }
}

/// What executions are held against.
pub struct Expect<'a> {
    pub usual: Usual,
    pub printed: &'a printed::Usual,
    /// The streams whose lines count.
    pub streams: Vec<Stream>,
    pub guards: &'a [Guard],
    /// What the program adds to.
    pub additions: Additions,
}

impl Expect<'_> {
    /// What is wrong with an execution that ended well.
    fn check(&self, watched: &Watched) -> Option<Check> {
        if let Some(line) = self.printed.unusual(&Printed::of(watched), &self.streams) {
            return Some(Check::Printed(line));
        }
        if self.guards.is_empty() {
            return None;
        }
        let events = check::events(watched);
        let broken = self.guards.iter().find(|g| g.invariant.broken(&events).is_some())?;
        Some(Check::Invariant(broken.clone()))
    }
}

/// What the scheduler is to bring about. To free memory is as good as to write to it.
fn constraint(s: &Suspect) -> Constraint {
    let write = match s.instead {
        Instead::Write(w) | Instead::Freed(w) => w.site,
        Instead::Initial => 0,
    };
    let object = s.read.cell.address & !7;
    Constraint { object, write, read: s.read.site, wanted: 1, bytes: bytes(s).into() }
}

/// The bytes of its granule that the suspect's read is about: a neighbour's writes are of no
/// concern.
fn bytes(s: &Suspect) -> u8 {
    let cell = &s.read.cell;
    let low = if cell.size >= 8 { 0xff } else { (1u8 << cell.size) - 1 };
    low << (cell.address & 7)
}

/// Whether in these steps the suspect's read got what the suspect says.
fn is_realized(steps: &[Step], s: &Suspect) -> bool {
    let object = s.read.cell.address & !7;
    let mut last = None;
    let mut freed = false;
    for step in steps {
        let op = &step.op;
        if !op.covers(object, bytes(s)) {
            continue;
        }
        if op.kind() == OpKind::Free {
            freed = true;
        }
        let here = (op.is_memory_read() || freed) && op.site == s.read.site;
        let as_said = match s.instead {
            Instead::Write(w) => last == Some(w.site),
            Instead::Initial => last.is_none(),
            Instead::Freed(_) => freed,
        };
        if here && as_said {
            return true;
        }
        if op.is_memory_write() {
            last = Some(op.site);
        }
    }
    false
}
