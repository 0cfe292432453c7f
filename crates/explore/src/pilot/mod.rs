//! The pilot: it runs in the target and decides, at each scheduling point, which thread is next.
//!
//! An order is a *prefix* of choices to follow and a [`Tail`] that decides afterwards (the replay
//! and record phases of section 4.1). The pilot follows the prefix, keeps the schedule fair
//! throughout (`fair`), and tells the runtime what to write into the trace. It allocates nothing
//! and knows only what the [`View`] shows of the program. So the same order on the same program
//! gives the same run, in either back end.
//!
//! A prefix that cannot be followed (the thread is not enabled, or a choice of a value comes where
//! one of a thread was recorded) is abandoned at that step. The tail takes over, so that the run
//! comes to its end (section 4.2); [`Pilot::divergence`] says where.
//!
//! *Reluctant* threads are those whose next step is a time-out or a spurious wake-up. They may run
//! at any time, but in a real program rarely do. A deterministic tail lets them run only when no
//! other thread can; a random one considers them once in [`RELUCTANCE`] steps.

mod constrained;
mod pct;
mod pos;
mod surw;

use crate::choice::{Choice, Constraint, Next, Tail, Weight};
use crate::fair::Fair;
use crate::op::{Op, OpKind};
use crate::step::{StepFlags, TraceBuf, TraceFull};
use crate::thread::{LogicalThread, MAX_THREADS, ThreadSet};
use raddle_base::rng::Rng;

/// A random tail considers reluctant threads once in this many steps.
pub const RELUCTANCE: u32 = 8;
/// A tail that decides by chance lets a thread yield this often before it has to let those run that
/// it keeps waiting.
const PATIENCE: u8 = 8;

/// What the pilot sees at a scheduling point.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The threads whose pending operation would not block. At least one.
    pub enabled: &'a ThreadSet,
    /// The threads whose pending operation is a `TimeOut` or `Spurious`.
    pub reluctant: &'a ThreadSet,
    /// The pending operation of each thread; required for enabled threads.
    pub pending: &'a [Op],
}

impl View<'_> {
    #[inline]
    fn pending(&self, t: LogicalThread) -> Op {
        self.pending.get(t.index()).copied().unwrap_or_default()
    }
}

/// The order to follow without its prefix, which the pilot gets at each choice.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// What decides after the prefix.
    pub tail: Tail,
    /// For [`Tail::Surw`].
    pub weights: &'a [Weight],
    /// For [`Tail::Constrained`]; those past [`MAX_CONSTRAINTS`](crate::choice::MAX_CONSTRAINTS)
    /// are ignored.
    pub constraints: &'a [Constraint],
}

impl Course<'_> {
    /// For a tail that needs neither weights nor constraints.
    pub const fn tail(tail: Tail) -> Course<'static> {
        Course { tail, weights: &[], constraints: &[] }
    }
}

/// See the module's description. About 700 KB, of which few pages are ever touched; initially all
/// zero, so that a static one costs nothing in the file.
#[derive(Debug)]
pub struct Pilot {
    step: u32,
    following: bool,
    diverged: Option<u32>,
    last: Option<LogicalThread>,
    last_op: Op,
    flags: StepFlags,
    mode: Mode,
    rng: Rng,
    eligible: ThreadSet,
    candidates: ThreadSet,
    enabled_before: ThreadSet,
    fair: Fair,
    /// How often each thread has yielded, if chance decides.
    yields: [u8; MAX_THREADS],
    pct: pct::Pct,
    pos: pos::Pos,
    surw: surw::Surw,
    constrained: constrained::Constrained,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Lowest,
    Highest,
    Round,
    Random,
    Pct,
    Pos,
    Surw,
    Constrained,
}

impl Default for Pilot {
    fn default() -> Pilot {
        Pilot::new()
    }
}

impl Pilot {
    /// The state before the first execution; [`Pilot::begin`] starts one.
    pub const fn new() -> Pilot {
        Pilot {
            step: 0,
            following: false,
            diverged: None,
            last: None,
            last_op: Op::new(OpKind::Start, 0, 0),
            flags: StepFlags(0),
            mode: Mode::Lowest,
            rng: Rng::new(0),
            eligible: ThreadSet::new(),
            candidates: ThreadSet::new(),
            enabled_before: ThreadSet::new(),
            fair: Fair::new(),
            yields: [0; MAX_THREADS],
            pct: pct::Pct::new(),
            pos: pos::Pos::new(),
            surw: surw::Surw::new(),
            constrained: constrained::Constrained::new(),
        }
    }

    /// A new execution begins.
    pub fn begin(&mut self, course: &Course<'_>) {
        self.step = 0;
        self.following = true;
        self.diverged = None;
        self.last = None;
        self.flags = StepFlags(0);
        self.fair.reset();
        self.yields.fill(0);
        self.rng = Rng::new(0);
        self.mode = match course.tail {
            Tail::NonPreemptive { next: Next::Lowest } | Tail::Keyed => Mode::Lowest,
            Tail::NonPreemptive { next: Next::Highest } => Mode::Highest,
            Tail::NonPreemptive { next: Next::Round } => Mode::Round,
            Tail::Random { seed } => self.seed(Mode::Random, seed),
            Tail::Pct { seed, depth, length } => {
                self.pct.begin(seed, depth, length);
                self.seed(Mode::Pct, seed)
            }
            Tail::Pos { seed } => {
                self.pos.begin(seed);
                self.seed(Mode::Pos, seed)
            }
            Tail::Surw { seed, object } => {
                self.surw.begin(object, course.weights);
                self.seed(Mode::Surw, seed)
            }
            Tail::Constrained { seed } => {
                self.pos.begin(seed);
                self.constrained.begin(course.constraints);
                self.seed(Mode::Constrained, seed)
            }
        };
    }

    fn seed(&mut self, mode: Mode, seed: u64) -> Mode {
        self.rng = Rng::new(seed);
        mode
    }

    /// The thread that makes the next step. `prefix` is the order's, the same at each call.
    #[inline]
    pub fn choose(&mut self, prefix: &[Choice], view: &View<'_>) -> LogicalThread {
        if let Some(last) = self.last {
            let yielded = self.yielded_for_long(last);
            self.fair.stepped(last, yielded, &self.enabled_before, view.enabled);
        }
        self.enabled_before.assign(view.enabled);
        self.eligible.assign(view.enabled);
        let held_back = self.fair.filter(&mut self.eligible);
        let continuing = self
            .last
            .filter(|t| !self.last_op.yields() && self.eligible.contains(*t) && !view.reluctant.contains(*t));
        self.before_choice(view);
        let (thread, from_prefix) =
            match self.prefix_says(prefix, Choice::as_thread, |p, t| p.enabled_before.contains(t)) {
                Some(thread) => (thread, true),
                None => (self.tail_says(view, continuing), false),
            };
        self.eligible.insert(thread);
        let op = view.pending(thread);
        self.after_choice(thread, &op);
        self.flags = StepFlags(0)
            .with(StepFlags::FROM_PREFIX, from_prefix)
            .with(StepFlags::CAN_CONTINUE, continuing.is_some())
            .with(StepFlags::HELD_BACK, held_back)
            .with(StepFlags::PREEMPTION, continuing.is_some_and(|t| t != thread));
        self.last = Some(thread);
        self.last_op = op;
        self.step += 1;
        thread
    }

    /// The value to take, below `n`, at a choice of values by the running thread. 0 is what would
    /// ordinarily happen, and what deterministic tails take. A choice among fewer than two is no
    /// choice: it must not be asked for, nor recorded.
    pub fn choose_value(&mut self, prefix: &[Choice], n: u16) -> u16 {
        let (value, from_prefix) = match self.prefix_says(prefix, Choice::as_value, |_, v| v < n) {
            Some(value) => (value, true),
            None => {
                let random = !matches!(self.mode, Mode::Lowest | Mode::Highest | Mode::Round);
                (if random { self.rng.below(n.into()) as u16 } else { 0 }, false)
            }
        };
        self.flags = StepFlags(0).with(StepFlags::FROM_PREFIX, from_prefix);
        self.step += 1;
        value
    }

    /// Records the choice that [`Pilot::choose`] has just made.
    #[inline]
    pub fn record(&self, view: &View<'_>, trace: &mut TraceBuf<'_>) -> Result<(), TraceFull> {
        let thread = self.last.unwrap_or_default();
        trace.push_thread(thread, self.last_op, self.flags, &self.eligible, view.reluctant)
    }

    /// Records the choice that [`Pilot::choose_value`] has just made.
    pub fn record_value(
        &self,
        op: Op,
        n: u16,
        value: u16,
        trace: &mut TraceBuf<'_>,
    ) -> Result<(), TraceFull> {
        trace.push_value(self.last.unwrap_or_default(), op, self.flags, n, value)
    }

    /// The step at which the prefix could not be followed.
    pub fn divergence(&self) -> Option<u32> {
        self.diverged
    }

    /// How many choices have been made.
    pub fn steps(&self) -> u32 {
        self.step
    }

    /// The threads among which the last choice was made.
    pub fn eligible(&self) -> &ThreadSet {
        &self.eligible
    }

    /// The flags of the last choice.
    pub fn flags(&self) -> StepFlags {
        self.flags
    }

    #[inline]
    fn prefix_says<T: Copy>(
        &mut self,
        prefix: &[Choice],
        want: impl Fn(Choice) -> Option<T>,
        can: impl Fn(&Pilot, T) -> bool,
    ) -> Option<T> {
        if !self.following {
            return None;
        }
        let Some(choice) = prefix.get(self.step as usize) else {
            self.following = false;
            return None;
        };
        let choice = want(*choice).filter(|c| can(self, *c));
        if choice.is_none() {
            self.following = false;
            self.diverged = Some(self.step);
        }
        choice
    }

    /// Tails with memory update it during the prefix too.
    #[inline]
    fn before_choice(&mut self, view: &View<'_>) {
        match self.mode {
            Mode::Pos | Mode::Constrained => {
                let done = self.last.map(|t| (t, self.last_op));
                self.pos.update(&mut self.rng, done, &self.eligible, view);
            }
            Mode::Surw => self.surw.update(&mut self.rng, &self.eligible),
            _ => {}
        }
    }

    #[inline]
    fn after_choice(&mut self, thread: LogicalThread, op: &Op) {
        match self.mode {
            Mode::Surw => self.surw.stepped(&mut self.rng, thread, op, &self.eligible),
            Mode::Constrained => self.constrained.stepped(op),
            Mode::Pct => self.pct.stepped(self.step, thread),
            _ => {}
        }
    }

    #[inline]
    fn tail_says(&mut self, view: &View<'_>, continuing: Option<LogicalThread>) -> LogicalThread {
        let deterministic = matches!(self.mode, Mode::Lowest | Mode::Highest | Mode::Round);
        if let (true, Some(t)) = (deterministic, continuing) {
            return t;
        }
        self.candidates.assign(&self.eligible);
        if self.candidates.intersects(view.reluctant) && (deterministic || !self.rng.one_in(RELUCTANCE)) {
            self.candidates.subtract(view.reluctant);
            if self.candidates.is_empty() {
                self.candidates.assign(&self.eligible);
            }
        }
        let chosen = match self.mode {
            Mode::Lowest => self.after_yield(ThreadSet::first),
            Mode::Highest => self.after_yield(ThreadSet::last),
            Mode::Round => self.last.map_or(self.candidates.first(), |t| self.candidates.next_after(t)),
            Mode::Random => self.candidates.nth(self.rng.below(self.candidates.len())),
            Mode::Pct => self.pct.choose(&self.candidates),
            Mode::Pos => self.pos.choose(&self.candidates),
            Mode::Surw => self.surw.choose(&mut self.rng, &self.candidates, view),
            Mode::Constrained => {
                self.constrained.filter(&mut self.candidates, view);
                self.pos.choose(&self.candidates)
            }
        };
        chosen.unwrap_or_default()
    }

    /// Whether the last step of the thread counts as a yield for fairness.
    ///
    /// A lock or a wait that spins yields a few times and then blocks (4 times in
    /// `std::atomic::wait`, 7 in parking_lot). If each yield counted, it would never block before
    /// the threads that it waits for have run. So a tail that decides by chance lets a thread yield
    /// [`PATIENCE`] times. Sleeps always count: a schedule in which others make no step during many
    /// sleeps shows nothing that happens to a user.
    #[inline]
    fn yielded_for_long(&mut self, thread: LogicalThread) -> bool {
        if self.last_op.kind() != OpKind::Yield
            || matches!(self.mode, Mode::Lowest | Mode::Highest | Mode::Round)
        {
            return self.last_op.yields();
        }
        let Some(yields) = self.yields.get_mut(thread.index()) else { return true };
        *yields = yields.saturating_add(1);
        *yields > PATIENCE
    }

    /// A thread that has just yielded lets others go first, even if fairness would let it run.
    fn after_yield(&self, pick: impl Fn(&ThreadSet) -> Option<LogicalThread>) -> Option<LogicalThread> {
        let mut others = self.candidates;
        if let Some(last) = self.last.filter(|_| self.last_op.yields()) {
            others.remove(last);
        }
        pick(&others).or_else(|| pick(&self.candidates))
    }
}
