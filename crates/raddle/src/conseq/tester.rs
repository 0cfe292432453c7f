//! The tester (section 8 of the paper): forces each suspect instead of hoping for it.
//!
//! The paper suspends threads for a while before the write and the read, and hopes that they meet.
//! Here the scheduler of `explore` decides who runs, in three rounds:
//!
//! 1. **Aimed** (`aimed`). For each suspect, executions with the constraint that the read gets the
//!    suspect's write: the read waits until that write is the last, then other writes wait until
//!    the read is done ([`Tail::Constrained`]). The write and the read may also belong to one
//!    thread. If both need the same lock, holding the reader back inside its critical section would
//!    keep the writer out. Then no thread is held back, and chance decides each time who takes the
//!    lock first.
//! 2. **Searched.** All interleavings of the suspects' accesses, as far as time allows: a
//!    consequence may need two dependences at once. If that search finishes and other accesses race
//!    too, these become scheduling points and the search restarts. Only then has every interleaving
//!    been executed ([`Completeness`]).
//! 3. **Completed.** Most accesses of suspects are synchronised, and as scheduling points they only
//!    multiply interleavings. If a use of freed memory is still open, a second search has the
//!    operations that synchronise as its points, and the accesses that turn out to race, as
//!    `explore` does (`complete_search`).
//! 4. **Settled.** A suspect is confirmed if an execution has shown a consequence that is certainly
//!    wrong, and has shown it again ([`super::certainty`]). A suspect is refuted if its read got
//!    the value without a consequence, or if no interleaving brings it about and every interleaving
//!    has been executed. For freed memory, the access itself is the consequence: if nothing was
//!    seen, the block had been handed out again, and nothing is refuted.
//!
//! If something else kills the process (an administrator, the kernel when memory is short), that
//! shows nothing, and the execution is repeated.
//!
//! Output counts only if the schedule causes it: the default schedule, executed before and after,
//! does not show it, and the same choices show it again. A file that one execution leaves behind
//! can make the next one print something, whatever its order.
//!
//! A consequence is what an execution ended with: a failure, as `explore` judges it, or unusual
//! output.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_conseq::SiteKind;
use raddle_conseq::suspects::{Instead, Suspect};
use raddle_explore::shrink;
use raddle_explore::{Limits, Order, Outcome, Portfolio, Strategy, Tail, Trace};
use raddle_finding::Kind;
use raddle_wire::explore::{ExecutionEnd, flag};

use super::certainty::{Additions, is_certain};
use super::completeness::Completeness;
use super::ordinary_runs::OUTSIDE;
use super::stacks::Stacks;
use raddle_harness::check::printed::{self, Printed, PrintedLine, Stream};
use raddle_harness::check::{self, Check, Guard};
use raddle_harness::crew::{Crew, CrewError, Notes};
use raddle_harness::describe::{message, waits};
use raddle_harness::places::Mapped;
use raddle_harness::point_code;
use raddle_harness::verdict::{Failure, PANICS, Usual, judge};
use raddle_harness::watch::{Watch, Watched};
use raddle_harness::worker::{Ending, Execution, Recipe};

mod aimed;
mod complete_search;
mod evidence;
mod realized;

use evidence::{Evidence, is_beside};
use realized::Watchlist;

/// How often to repeat an execution whose process was killed, or whose failure did not come again.
const AGAIN: u32 = 3;
/// The number of executions aimed at a suspect.
const AIMED: u64 = 24;
/// After a search of this many executions, what was not seen and could not be forced counts as
/// infeasible.
const ENOUGH: u64 = 500;
/// How many consequences with an unusual line are kept: a program whose output varies has one in
/// each execution.
const PRINTED: usize = 8;
/// If a program has this many different unusual lines, not counting numbers, its output depends on
/// the order of threads anyway.
const MANY_LINES: usize = 4;
/// This many harmless executions in which the read got the value are enough.
const HARMLESS: u32 = 6;
/// The most interleavings of the search.
const SEARCHED: u64 = 10_000;
/// The same if all remaining suspects have done no harm so far.
const HARMLESS_SEARCH: u64 = 1_000;
/// The same if an unusual line has been printed and it answers all suspects: control went where no
/// traced run has been, and what happens there was not a suspect.
const AFTERMATH: u64 = 500;
/// The time limit of the search.
const SEARCHING: Duration = Duration::from_secs(8);
/// The most executions to shrink one consequence.
const SHRINKING: u64 = 400;
/// The time limit to shrink one consequence and to repeat it.
const SETTLING: Duration = Duration::from_secs(4);
const LIMITS: Limits = Limits { bound: u32::MAX, states: 1 << 20, items: 1 << 18, prune: true };

/// What an execution ended with.
#[derive(Clone)]
pub struct Consequence {
    pub failure: Failure,
    /// What shows it in an execution that ended well.
    pub check: Option<Check>,
    /// The suspects whose reads got their values in it.
    pub suspects: Vec<usize>,
    pub again: Again,
    /// An unusual line reports a failure.
    pub complains: bool,
    /// Threads must stand still for very long, so nothing shows that it happens to a user.
    pub is_remote: bool,
    /// It is wrong in any correct program ([`super::certainty`]).
    pub is_certain: bool,
    /// The entries of [`Recipe::quiet`] with which it was executed.
    pub quiet: Arc<[u64]>,
}

impl Consequence {
    /// An ordinary run ended with it, so there are no steps.
    pub fn is_by_delays(&self) -> bool {
        self.failure.trace.steps.is_empty()
    }
}

/// Whether the same choices showed it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    Yes,
    No,
    NotTried,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspectVerdict {
    /// Shown by this consequence, which is certainly wrong.
    Confirmed(usize),
    /// Shown by this consequence, which need not be wrong.
    Shown(usize),
    Refuted(Reason),
    Open,
}

/// Why a suspect is refuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The read got the value, and nothing went wrong.
    Harmless,
    /// Every interleaving of the program has been executed ([`Completeness`]), and none brings the
    /// write to the read.
    Impossible,
    /// In [`AIMED`] executions, the read was held back for the write, or the write for the read,
    /// until no other thread could run, and the read never got the value. Neither did it in a long
    /// search, or in one that had nothing left to try. Locks, or the program's logic, keep the two
    /// apart.
    Infeasible,
}

/// The results of the test.
pub struct Tested {
    pub consequences: Vec<Consequence>,
    pub verdicts: Vec<SuspectVerdict>,
    /// For each suspect, the number of executions aimed at it.
    pub tried: Vec<u32>,
    pub executions: u64,
    pub exhausted: bool,
    pub passing: Vec<Trace>,
    pub recipe: Recipe,
    /// What an ordinary run showed about the call stacks of accesses.
    pub stacks: Stacks,
}

/// When each part of the test must be done.
#[derive(Clone, Copy)]
pub struct Deadlines {
    /// After this, no further suspect is tested.
    pub tested: Instant,
    /// After this, no consequence is shrunk.
    pub shrunk: Instant,
    /// After this, nothing is executed.
    pub told: Instant,
}

pub struct Tester<'a> {
    suspects: &'a [Suspect],
    watchlist: Watchlist,
    /// The kind of each suspect's site, if it has one.
    kinds: Vec<Option<SiteKind>>,
    expect: Expect<'a>,
    crew: Crew<'a>,
    notes: &'a Notes,
    deadlines: Deadlines,
    /// When to stop waiting for a thread that computes.
    is_over: &'a (dyn Fn() -> bool + Sync),
    /// How often each suspect came about in an execution that ended well.
    realized: Vec<u32>,
    /// The same, of executions that showed something unusual that is not about the suspect's site.
    beside: Vec<u32>,
    /// Suspects that came about in an execution that was cut off before its end.
    cut_off: BTreeSet<usize>,
    /// How often each suspect came about in an execution that did not end well.
    harmful: Vec<u32>,
    tried: Vec<u32>,
    /// The same, without executions that did not come to the program's end.
    tried_to_end: Vec<u32>,
    consequences: Vec<Consequence>,
    executions: u64,
    /// Executions that came to the program's end. A failure ends one early, and says nothing about
    /// suspects that would have come about afterwards.
    ended: u64,
    passing: Vec<Trace>,
    modules: Vec<Mapped>,
    completeness: Completeness,
    /// Racing accesses that are not scheduling points yet.
    racing: Vec<u64>,
    /// Unusual lines, without their numbers.
    unusual: BTreeSet<String>,
    /// The scheduling points of the traced runs, without the accesses of suspects.
    base_points: Vec<u64>,
    /// A search of all synchronisation has executed every interleaving, and none failed.
    is_sound: bool,
    /// Processes are killed again and again: continuing is useless.
    gave_up: bool,
}

/// How far a search got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Searched {
    InPart,
    /// Nothing is left to try, but there may be interleavings that no schedule leads to.
    AllItCan,
    /// Every interleaving of the program was executed.
    Everything,
}

/// An execution with its verdict.
struct Seen {
    trace: Trace,
    failure: Option<Failure>,
    check: Option<Check>,
    /// See [`Consequence::complains`].
    complains: bool,
}

impl Seen {
    /// Whether the program came to its end. One that shows something unusual has.
    fn has_ended(&self) -> bool {
        self.check.is_some() || self.failure.is_none() && self.trace.outcome == Outcome::Passed
    }
}

impl<'a> Tester<'a> {
    /// The points of `recipe` are the accesses of the suspects, and `base_points`.
    pub fn new(
        (recipe, base_points): (&Recipe, &[u64]),
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
            watchlist: Watchlist::of(suspects),
            kinds,
            expect,
            crew,
            notes,
            deadlines,
            is_over,
            realized,
            beside: vec![0; suspects.len()],
            harmful: vec![0; suspects.len()],
            tried,
            tried_to_end: vec![0; suspects.len()],
            consequences,
            cut_off: BTreeSet::new(),
            executions,
            ended: 0,
            passing,
            modules: Vec::new(),
            completeness: Completeness::new(),
            racing: Vec::new(),
            unusual: BTreeSet::new(),
            base_points: base_points.to_vec(),
            is_sound: false,
            gave_up: false,
        }
    }

    pub fn run(mut self) -> Result<Tested> {
        self.aim()?;
        let searched = self.search()?;
        self.shrink()?;
        let recipe = Recipe { watch: Watch::default(), ..self.crew.recipe().clone() };
        if searched != Searched::Everything {
            self.complete()?;
        }
        self.weigh();
        let verdicts = (0..self.suspects.len()).map(|i| self.verdict(i, searched)).collect();
        self.crew.stop();
        Ok(Tested {
            consequences: self.consequences,
            verdicts,
            tried: self.tried,
            executions: self.executions,
            exhausted: searched == Searched::Everything || self.is_sound,
            passing: self.passing,
            recipe,
            stacks: Stacks::default(),
        })
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadlines.tested || self.gave_up || raddle_harness::interrupt::came()
    }

    /// Executes an order. `None`: it was lost, because its process was killed each time or the time
    /// is up.
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
            let mut points = point_code::unmarked(&self.crew.recipe().points);
            points.sort_unstable();
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

    /// Searches the interleavings of the accesses in question, then of all racing accesses.
    fn search(&mut self) -> Result<Searched> {
        if self.suspects.is_empty() {
            return Ok(Searched::InPart);
        }
        let (mut made, end) = (0, Instant::now() + SEARCHING);
        loop {
            self.completeness.begin_anew();
            let mut strategy = Portfolio::new(1, LIMITS);
            // If executions take long, the search needs more time to be of any use.
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

    /// The points with writes to bit-fields marked: the runtime makes two steps of each, a read of the
    /// word and a write. The probes of a copy say themselves which instructions read first.
    fn as_steps(&self, points: Vec<u64>) -> Vec<u64> {
        match self.crew.recipe().copy.is_some() {
            true => points,
            false => point_code::marked(&points, &self.modules),
        }
    }

    /// Makes the racing accesses scheduling points. Earlier consequences are settled with the
    /// points they were found with.
    fn add_points(&mut self) -> Result<()> {
        self.shrink()?;
        let mut recipe = self.crew.recipe().clone();
        let mut points = point_code::unmarked(&recipe.points);
        points.append(&mut self.racing);
        points.sort_unstable();
        points.dedup();
        recipe.points = self.as_steps(points);
        let crew = Crew::new(recipe, self.notes, self.is_over);
        std::mem::replace(&mut self.crew, crew).stop();
        Ok(())
    }

    /// Whether there is something left to find out: a suspect that has not come about, or, for a
    /// while, one that has done no harm so far.
    fn is_worth_it(&self, made: u64) -> bool {
        let open = |i: &usize| !self.is_shown(*i) && (made < HARMLESS_SEARCH || self.harmless(*i) == 0);
        let only_printed = self.consequences.iter().all(|c| matches!(c.check, Some(Check::Printed(_))));
        (0..self.suspects.len()).any(|i| open(&i)) || made < AFTERMATH && only_printed
    }

    /// Whether an execution has shown the suspect's consequence, and one that a user may see.
    fn is_shown(&self, i: usize) -> bool {
        self.shown_by(i).is_some_and(|at| !self.consequences[at].is_remote)
    }

    fn shown_by(&self, i: usize) -> Option<usize> {
        let site = self.kinds[i];
        let shows = |c: &Consequence| c.suspects.contains(&i) && is_about(c.failure.kind, site);
        // What is certain prevails. A failure says more than unusual output.
        let rank = |c: &Consequence| (!c.is_certain, c.is_remote, c.check.is_some());
        let all = self.consequences.iter().enumerate().filter(|(_, c)| shows(c));
        all.min_by_key(|(_, c)| rank(c)).map(|(at, _)| at)
    }

    fn take(&mut self, seen: Seen) {
        const PASSING: usize = 12;
        let suspects = self.watchlist.realized(&seen.trace.steps);
        self.ended += u64::from(seen.has_ended());
        let Some(failure) = seen.failure else {
            // An execution that was cut off may have come to harm after it.
            if seen.trace.outcome != Outcome::Passed {
                self.cut_off.extend(suspects);
                return;
            }
            // If a freed block could be accessed, it had been handed out again.
            for i in suspects {
                self.realized[i] += u32::from(!self.frees(i));
            }
            if self.passing.len() < PASSING {
                self.passing.push(seen.trace);
            }
            return;
        };
        suspects.iter().for_each(|i| self.harmful[*i] += 1);
        if let Some(check) = &seen.check {
            for &i in &suspects {
                self.beside[i] += u32::from(!self.frees(i) && is_beside(check, self.kinds[i]));
            }
        }
        if let Some(Check::Printed(line)) = &seen.check
            && self.unusual.len() < MANY_LINES
        {
            self.unusual.insert(printed::masked(&line.text));
        }
        let enough = seen.check.is_some() && self.has_enough_printed(&suspects);
        let known = self.consequences.iter().position(|c| c.failure.what == failure.what);
        if known.is_none() && enough {
            return;
        }
        let mut made = Consequence {
            is_remote: false,
            failure: Failure { after: self.executions, ..failure },
            check: seen.check,
            suspects,
            again: Again::NotTried,
            complains: seen.complains,
            is_certain: false,
            quiet: self.crew.recipe().quiet.as_slice().into(),
        };
        let Some(known) = known.map(|at| &mut self.consequences[at]) else {
            made.is_remote = waits::are_very_long(&made.failure);
            return self.consequences.push(made);
        };
        let more: Vec<usize> =
            made.suspects.iter().copied().filter(|i| !known.suspects.contains(i)).collect();
        known.suspects.extend(more);
        // Another execution may come to the same without threads that stand still.
        if known.is_remote && !waits::are_very_long(&made.failure) {
            made.suspects = std::mem::take(&mut known.suspects);
            *known = made;
        }
    }

    /// Whether further output is of no interest: no suspect is left that it could explain, or there
    /// is much of it.
    fn has_enough_printed(&self, suspects: &[usize]) -> bool {
        let printed = self.consequences.iter().filter(|c| matches!(c.check, Some(Check::Printed(_)))).count();
        printed >= PRINTED && suspects.iter().all(|i| self.is_shown(*i)) || printed >= 4 * PRINTED
    }

    /// Shrinks each consequence for a little time, and repeats it with the same choices.
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

    /// Shrinks and repeats the consequence. `None`: the schedule has no part in it.
    fn settled(&mut self, mut c: Consequence, limit: Duration) -> Result<Option<Consequence>> {
        // Seeing a failure again is worth some more time.
        let late = Instant::now() >= self.deadlines.told;
        if raddle_harness::interrupt::came() || self.gave_up || late || limit.is_zero() && c.check.is_some() {
            return Ok(Some(c));
        }
        let trace = self.smaller(&c, limit * 3 / 4)?;
        let line = match &c.check {
            Some(Check::Printed(line)) => Some(line.clone()),
            _ => None,
        };
        // This undoes what the execution before may have left behind.
        let before = line.as_ref().map(|l| self.default_shows(l)).transpose()?.unwrap_or(false);
        c.again = Again::No;
        for choices in [&trace, &c.failure.trace.clone()].into_iter().cycle().take(AGAIN as usize) {
            if Instant::now() >= self.deadlines.told {
                c.again = Again::NotTried;
                break;
            }
            // In a new process, which earlier executions cannot have influenced.
            self.crew.start_anew();
            let seen = self.execute(Order::replay(choices.view().choices()))?;
            if let Some(Seen { failure: Some(failure), check, complains, .. }) = seen
                && failure.what == c.failure.what
            {
                let after = c.failure.after;
                (c.failure, c.check, c.again) = (Failure { after, ..failure }, check, Again::Yes);
                c.is_remote = waits::are_very_long(&c.failure);
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

    /// The same consequence with fewer preemptions, as far as can be found within `limit`. Skips
    /// consequences whose executions take long.
    fn smaller(&mut self, c: &Consequence, limit: Duration) -> Result<Trace> {
        let trace = c.failure.trace.clone();
        if limit.is_zero() || matches!(c.failure.kind, Kind::Hang | Kind::Livelock | Kind::Starvation) {
            return Ok(trace);
        }
        let begun = Instant::now();
        let Some(again) = self.execute(Order::replay(trace.view().choices()))? else { return Ok(trace) };
        // Making orders of many steps takes time as well.
        let each = begun.elapsed().max(Duration::from_micros(1 + again.trace.steps.len() as u64 / 4));
        let most = (limit.as_secs_f64() / each.as_secs_f64()) as u64;
        let deadline = begun + limit;
        let mut execute = |order: &Order| -> Option<Trace> {
            let lost =
                || Trace { steps: Vec::new(), wide: Vec::new(), outcome: Outcome::Lost, divergence: None };
            if Instant::now() >= deadline {
                return None;
            }
            Some(self.execute(order.clone()).ok().flatten().map_or_else(lost, |s| s.trace))
        };
        Ok(shrink::shrink(trace, most.min(SHRINKING), &mut execute).trace)
    }

    /// Whether the line makes its difference in the default order. In the training runs it did not.
    fn default_shows(&mut self, line: &PrintedLine) -> Result<bool> {
        let mut shown = false;
        self.crew.post(Order::free(0, self.expect.default));
        while self.crew.in_flight() > 0 {
            // The output of a killed process cannot be relied on.
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
        let evidence = Evidence {
            harmless: self.harmless(i),
            is_unclear: self.cut_off.contains(&i) || self.harmful[i] > 0,
            may_hang: self.kinds[i] == Some(SiteKind::Loop) && self.cut_off.contains(&i),
            frees: self.frees(i),
            tried_to_end: self.tried_to_end[i].into(),
            ended: self.ended,
            searched,
            is_sound: self.is_sound,
        };
        match evidence.reason() {
            Some(reason) => SuspectVerdict::Refuted(reason),
            None => SuspectVerdict::Open,
        }
    }

    /// In how many executions the suspect came about without harm at its site.
    fn harmless(&self, i: usize) -> u32 {
        self.realized[i] + self.beside[i]
    }

    fn frees(&self, i: usize) -> bool {
        matches!(self.suspects[i].instead, Instead::Freed(_))
    }

    /// Decides for each consequence whether it is certainly wrong, after everything has been
    /// executed.
    fn weigh(&mut self) {
        // In that case each suspect coincides with some line and need not have caused it.
        let varies = self.unusual.len() >= MANY_LINES;
        // Several threads may pass a pair of places, and one of them may do no harm: a third of the
        // executions is enough.
        let is_cause = |i: usize| 2 * self.harmful[i] >= self.realized[i];
        let tells_atomics = self.crew.recipe().copy.is_none();
        for c in &mut self.consequences {
            let is_told = !(varies && matches!(c.check, Some(Check::Printed(_))));
            let is_cause = |i: usize| is_told && is_cause(i);
            c.is_certain = is_certain(
                c,
                self.suspects,
                &is_cause,
                &self.expect.additions,
                (&self.expect.usual, tells_atomics),
            );
        }
    }
}

/// False: the time was up before a worker was ready.
fn in_time(turn: Result<()>) -> Result<bool> {
    match turn {
        Err(error) if matches!(error.downcast_ref(), Some(CrewError::Stopped(_))) => Ok(false),
        turn => turn.map(|()| true),
    }
}

/// The note about a process that was killed from outside.
pub const KILLED: &str =
    "a process of the program was killed by somebody else, which shows nothing: its execution is made again";

/// Whether a signal ended the process that it cannot raise itself: an administrator's, or the
/// kernel's when memory is short.
pub fn was_killed(e: &Execution<'_>) -> bool {
    match e.ending {
        Ending::Died(status) => status.and_then(|s| s.signal()).is_some_and(|s| OUTSIDE.contains(&s)),
        Ending::Finished => {
            e.slot.outcome() == Some(ExecutionEnd::Signal) && e.slot.detail == libc::SIGKILL as u64
        }
        Ending::Hung | Ending::Slow => false,
    }
}

/// Whether a failure of this kind can be seen at such a site. What ends a program ends it before it
/// reaches other sites.
pub fn is_about(kind: Kind, site: Option<SiteKind>) -> bool {
    match kind {
        Kind::ErrorMessage => matches!(site, Some(SiteKind::Error) | None),
        Kind::Output => matches!(site, Some(SiteKind::Output | SiteKind::Error) | None),
        Kind::Invariant => matches!(site, Some(SiteKind::Invariant) | None),
        _ => true,
    }
}

/// Judges an execution.
fn look(e: &Execution<'_>, expect: &Expect<'_>) -> Seen {
    let mut verdict = judge(e, &expect.usual);
    if verdict.kind == Some(Kind::Starvation) && e.slot.outcome() == Some(ExecutionEnd::Exit) {
        (verdict.kind, verdict.outcome) = (None, Outcome::Passed);
    }
    let mut failure = Failure::of(e, verdict);
    // That a thread panicked says little; the output has its message.
    if let (Some(failure), Some(watched)) = (&mut failure, e.watched)
        && failure.facts.sentence == PANICS
        && let Some(said) = message::of(watched, expect.usual.panics.unwrap_or(0))
    {
        failure.facts.sentence = match said.place {
            Some((file, line)) => format!("{} ({file}:{line})", said.text),
            None => said.text,
        };
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

/// What executions are compared with.
pub struct Expect<'a> {
    pub usual: Usual,
    pub printed: &'a printed::Usual,
    /// The streams whose lines count.
    pub streams: Vec<Stream>,
    pub guards: &'a [Guard],
    /// An order of the training runs.
    pub default: Tail,
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
