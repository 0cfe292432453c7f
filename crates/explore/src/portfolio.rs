//! The default search: several strategies that take turns, so that nobody needs to choose.
//!
//! # The first schedules
//! Most bugs that can be found at all are found early, by one strategy or another. The turns are
//! arranged so that each strategy has shown its best after a few. Partial-order sampling is first:
//! it finds in one execution what many orders show. The second, unless it is [known
//! already](Portfolio::begin_from), is the plain execution without a preemption, from which [`Aim`]
//! predicts the effect of single switches. As long as that promises something new, it has every
//! second turn. RFF has most of the others; SURW, PCT and the bounded searches come in between.
//!
//! # Later
//! Preemption bounding and the search of states each always get a quarter of the turns: they are
//! the only ones that end. If one of them has, everything has been explored and the portfolio ends
//! too. The search of states gives up after one execution where it cannot know the states. The
//! other turns go by yield: the share of a strategy's recent executions that no strategy had made
//! before, up to the order of independent steps. A strategy that only repeats gets one turn in
//! `LEAST`.
//!
//! All strategies see every new execution.
//!
//! # For the driver
//! What the guided members ask for depends on what they have seen. Orders handed out before the
//! first results are samples. So to find the first failure in the fewest executions, keep one or
//! two in flight for the first few dozen, and batches after that.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprinter;
use crate::order::Order;
use crate::strategy::{
    Aim, AnyStrategy, DelayBounding, Limits, PctSampling, PosSampling, PreemptionBounding, Progress,
    RandomWalk, Rff, States, Strategy, SurwSampling,
};
use crate::trace::{Outcome, TraceView};

/// A strategy that yields nothing gets one turn in this many.
const LEAST: f32 = 40.0;
/// The number of executions that are remembered, to recognise new ones.
const REMEMBERED: usize = 1 << 21;
// The members in their order, as [`OPENING`] and the rest refer to them; plain random is 7.
const PREEMPTION: usize = 0;
const AIM: usize = 1;
const POS: usize = 2;
const SURW: usize = 3;
const RFF: usize = 4;
const PCT: usize = 5;
const DELAY: usize = 6;
const STATES: usize = 8;

/// The members that get the first turns. A member with nothing to do now is skipped.
const OPENING: [usize; 25] = [
    POS, AIM, AIM, RFF, AIM, AIM, RFF, AIM, POS, AIM, RFF, AIM, SURW, AIM, RFF, AIM, PCT, AIM, POS, AIM, RFF,
    SURW, PREEMPTION, DELAY, STATES,
];

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Member {
    strategy: AnyStrategy,
    /// The share of recent executions that were new.
    yields: f32,
    /// The member with the most credit gets the turn.
    credit: f32,
    schedules: u64,
    new: u64,
}

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Portfolio {
    members: Vec<Member>,
    turns: u64,
    seen: FxHashSet<u64>,
    schedules: u64,
    /// There is only one schedule, and it has been made.
    only_one: bool,
    #[serde(skip)]
    prints: Prints,
}

#[derive(Debug, Default)]
struct Prints(Fingerprinter);

impl Clone for Prints {
    fn clone(&self) -> Prints {
        Prints::default()
    }
}

/// What one member has done.
#[derive(Clone, PartialEq, Debug)]
pub struct MemberShare {
    /// As in [`Strategy::name`].
    pub name: &'static str,
    /// Executions of its orders.
    pub schedules: u64,
    /// The number of executions that no member had made before.
    pub new: u64,
    /// The member's own progress.
    pub progress: Progress,
}

/// The lowest bits of an order's id say whose it is.
const MEMBER_BITS: u32 = 4;

impl Portfolio {
    /// `seed` is the source of all randomness; `limits` apply to the searches that can end.
    pub fn new(seed: u64, limits: Limits) -> Portfolio {
        // Delay bounding is only a helper here: preemption bounding covers bounds past 3 and large
        // tables.
        let helper = Limits {
            bound: limits.bound.min(3),
            states: limits.states / 4,
            items: limits.items / 4,
            ..limits
        };
        let strategies = [
            AnyStrategy::Preemption(PreemptionBounding::new(limits)),
            AnyStrategy::Aim(Aim::new()),
            AnyStrategy::Pos(PosSampling::new(seed)),
            AnyStrategy::Surw(SurwSampling::new(seed ^ 1)),
            AnyStrategy::Rff(Rff::new(seed ^ 2)),
            AnyStrategy::Pct(PctSampling::new(seed ^ 3)),
            AnyStrategy::Delay(DelayBounding::new(helper)),
            AnyStrategy::Random(RandomWalk::new(seed ^ 4)),
            AnyStrategy::States(States::new()),
        ];
        let member = |strategy| Member { strategy, yields: 1.0, credit: 0.0, schedules: 0, new: 0 };
        Portfolio {
            members: strategies.into_iter().map(member).collect(),
            turns: 0,
            seen: FxHashSet::default(),
            schedules: 0,
            only_one: false,
            prints: Prints::default(),
        }
    }

    /// The plain execution, without a preemption, is already known.
    pub fn begin_from(&mut self, plain: TraceView<'_>) {
        if let AnyStrategy::Aim(aim) = &mut self.members[AIM].strategy {
            aim.begin_from(plain);
        }
    }

    /// What each member has done.
    pub fn shares(&self) -> Vec<MemberShare> {
        let share = |m: &Member| MemberShare {
            name: m.strategy.name(),
            schedules: m.schedules,
            new: m.new,
            progress: m.strategy.progress(),
        };
        self.members.iter().map(share).collect()
    }

    /// The member that made this order.
    pub fn maker(&self, order: &Order) -> &'static str {
        self.members.get(order.id as usize & ((1 << MEMBER_BITS) - 1)).map_or("", |m| m.strategy.name())
    }

    fn ask(&mut self, who: usize) -> Option<Order> {
        let mut order = self.members[who].strategy.next()?;
        order.id = order.id << MEMBER_BITS | who as u64;
        Some(order)
    }

    fn opening(&mut self) -> Option<Order> {
        while let Some(&who) = OPENING.get(self.turns as usize) {
            self.turns += 1;
            if let Some(order) = self.ask(who) {
                return Some(order);
            }
        }
        None
    }

    /// By credit: every member earns by its yield, and pays for its turn what all have earned.
    fn by_yield(&mut self) -> Option<Order> {
        let mut all = 0.0;
        for m in &mut self.members {
            let earns = m.yields.max(1.0 / LEAST);
            m.credit += earns;
            all += earns;
        }
        let mut turn: Vec<usize> = (0..self.members.len()).collect();
        turn.sort_by(|a, b| self.members[*b].credit.total_cmp(&self.members[*a].credit));
        for who in turn {
            if let Some(order) = self.ask(who) {
                self.members[who].credit -= all;
                return Some(order);
            }
            // It does not save what it cannot spend.
            self.members[who].credit = self.members[who].credit.min(0.0);
        }
        None
    }

    fn is_exhausted(&self) -> bool {
        self.only_one || [PREEMPTION, STATES].iter().any(|m| self.members[*m].strategy.progress().exhausted)
    }

    fn is_new(&mut self, trace: &TraceView<'_>) -> bool {
        let prints = &mut self.prints.0;
        prints.begin();
        for step in trace.steps {
            prints.step(step);
        }
        if self.seen.len() >= REMEMBERED {
            return !self.seen.contains(&prints.state());
        }
        self.seen.insert(prints.state())
    }
}

impl Strategy for Portfolio {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn next(&mut self) -> Option<Order> {
        if self.is_exhausted() {
            return None;
        }
        if let Some(order) = self.opening() {
            return Some(order);
        }
        self.turns += 1;
        let promising = matches!(&self.members[AIM].strategy, AnyStrategy::Aim(a) if a.promise() > 0);
        let first = match self.turns % 4 {
            0 => Some(PREEMPTION),
            2 => Some(STATES),
            1 | 3 if promising => Some(AIM),
            _ => None,
        };
        first.and_then(|who| self.ask(who)).or_else(|| self.by_yield())
    }

    fn observe(&mut self, order: &Order, trace: TraceView<'_>) {
        let who = order.id as usize & ((1 << MEMBER_BITS) - 1);
        if who >= self.members.len() {
            return;
        }
        let new = self.is_new(&trace);
        self.schedules += 1;
        let whole =
            trace.divergence.is_none() && !matches!(trace.outcome, Outcome::Lost | Outcome::StepLimit);
        self.only_one |= self.schedules == 1 && whole && !has_choice(&trace);
        let own = Order { id: order.id >> MEMBER_BITS, ..order.clone() };
        let member = &mut self.members[who];
        member.schedules += 1;
        member.new += u64::from(new);
        member.yields += (f32::from(u8::from(new)) - member.yields) / 32.0;
        member.strategy.observe(&own, trace);
        if new {
            let others = self.members.iter_mut().enumerate().filter(|(i, _)| *i != who);
            others.for_each(|(_, m)| m.strategy.witness(trace));
        }
    }

    fn progress(&self) -> Progress {
        let systematic = self.members[PREEMPTION].strategy.progress();
        let in_flight = self.members.iter().map(|m| m.strategy.progress().in_flight).sum();
        let states = self.members[STATES].strategy.progress();
        if states.exhausted && !systematic.exhausted {
            let lost = systematic.lost + states.lost;
            return Progress { schedules: self.schedules, in_flight, lost, ..states };
        }
        Progress { schedules: self.schedules, in_flight, exhausted: self.is_exhausted(), ..systematic }
    }

    fn resume(&mut self) {
        self.members.iter_mut().for_each(|m| m.strategy.resume());
    }
}

/// Whether another schedule was possible.
fn has_choice(trace: &TraceView<'_>) -> bool {
    trace.steps.iter().any(|s| s.is_value() || s.eligible(trace.wide).nth(1).is_some())
}
