//! Per-thread state: hot state in thread-local storage, and a permanent card for reports.
//!
//! # References
//!
//! Every call that leaves the runtime can run the program's code: a callback, a signal handler, or
//! a C library function that calls an interposed one. That code finds the same [`Thread`]. So no
//! reference to it may be live across such a call, and there are two kinds of functions:
//!
//! 1. Probes and interposed functions hold a [`Current`], which they get from [`current`] and pass
//!    on by value. It is a pointer; each access through it makes a reference that ends with the
//!    expression. A function that calls the real one, runs a callback or makes a scheduling point
//!    takes a `Current`.
//! 2. The detector's functions take `&mut Thread`, lent for one call (`&mut t`). They call none of
//!    the program's code and never ask for [`current`]. Their values stay in registers, which the
//!    probes' speed depends on.
//!
//! A signal can interrupt the second kind too. Its handler then sees `inside`, leaves the signal in
//! `signals` and returns; [`Inside`] delivers it when the last such call is over.
//!
//! All threads share a [`Card`]. It is a pointer or `&Card`, never `&mut Card`.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::*};

use super::clock::SidClock;
use super::held_locks::ThreadLocks;
use super::object_clock::{Kept, ReleaseStamp, Snapshot, Taught};
use super::pairs::Pairs;
use super::trace::{self, AccessTrace};
use super::{Settings, chain, settings, sids};
use crate::handle::Handle;
use crate::layout::*;
use crate::sys;

/// Whether the slow path of a probe may proceed (only if exactly [`OPEN`](gate::OPEN)), must look
/// closer, or must return.
pub mod gate {
    /// Started, not ended, and not inside the runtime. Thread-local storage starts as zero, so
    /// "open" is 1.
    pub const OPEN: u8 = 1;
    pub const IGNORE_READS: u8 = 2;
    pub const IGNORE_WRITES: u8 = 4;
    /// Some functions are ignored: compare the program counter.
    pub const IGNORE_SOME: u8 = 8;
}

/// The number of callee-saved registers.
pub const KEPT: usize = 7;
/// The number of registers that pass arguments.
pub const ARGUMENTS: usize = 6;

/// Lives in the thread-local storage of every thread, zero until the thread is known.
///
/// The probes compare the shadow with `hot`, `hot_write8` and `hot_read8`. These hold the current
/// segment in each lane (in fast mode lane 3 holds the owner), or ones that match nothing if every
/// access must take the slow path (history 2).
#[repr(C, align(64))]
pub struct Thread {
    pub hot: [u32; 4],
    pub hot_write8: [u32; 4],
    pub hot_read8: [u32; 4],
    /// The shadow call stack's next free entry. See [`AccessTrace`].
    pub sp: *mut usize,
    /// The current writes are those of `free`.
    pub freeing: bool,
    /// The return address of the interposed function that is running.
    pub caller: usize,
    /// Its caller's callee-saved registers: rsp, rbx, rbp, r12 to r15.
    pub kept: [usize; KEPT],
    /// In an explored program: the registers with its arguments, and how many of them still matter.
    pub arguments: [usize; ARGUMENTS],
    pub arity: usize,
    /// The last call that the C++ library made for the program: where it returns to, and where in
    /// the program that is said to be.
    pub made_for: [usize; 2],
    /// sid and epoch of the current segment.
    pub state: u32,
    pub gate: u8,
    pub known: bool,
    /// Nonzero between `enter` and `leave`: signals wait.
    pub inside: u32,
    pub ignore_reads: u32,
    pub ignore_writes: u32,
    /// While nonzero, this thread's synchronisation orders nothing.
    pub ignore_sync: u32,
    /// The mutex of Rust's std that the thread has released to wait for a condition variable. 0:
    /// none, or the wait has timed out.
    pub waits_with: usize,
    pub generation: u32,
    /// Creates and joins so far: the thread's segment for lock order.
    pub fork_join: u32,
    /// Where the running context is in the order that OpenMP makes.
    pub position: super::task_order::Position,
    pub trace: AccessTrace,
    pub held: ThreadLocks,
    pub card: *mut Card,
    /// What relaxed loads have seen; an acquire fence joins it. Null until there is something.
    pub seen_relaxed: *mut SidClock,
    /// The clock at the last release fence, which relaxed stores publish. Null before the first
    /// one.
    pub fenced: *mut SidClock,
    pub signals: crate::interpose::Pending,
    pub handlers: super::handlers::Handlers,
    pub jumps: crate::interpose::Jumps,
    pub once: crate::interpose::Once,
    pub openmp: crate::interpose::OpenMp,
    pub task_switch: crate::interpose::openmp::Switch,
    /// The epoch at which the thread started to use its sid.
    pub first_epoch: u32,
    pub explored_openmp: crate::explore::openmp::Own,
    /// The fiber of TSan's interface that the thread runs; null for its own stack.
    pub fiber: *mut core::ffi::c_void,
    /// The current clock as pairs, except the own lane, which comes first.
    pairs: Pairs,
    /// The current clock as a snapshot to share with objects, if there are too many pairs. Null
    /// until needed.
    snapshot: *mut Snapshot,
    pub clock: SidClock,
    pub tsvd: crate::tsvd::Own,
    /// The variable that relocated code is about to load, to acquire afterwards
    /// (`crate::relocated`).
    pub acquires: usize,
    /// The channel whose descriptor had no room when the thread last wrote to it; 0: none.
    pub refused: u32,
}

/// The part of a thread that outlives it: everything that a report may say about it.
///
/// All threads share it. Each [`Cell`] documents who may write to it; others read it after that.
#[repr(C)]
pub struct Card {
    pub id: u32,
    pub parent: u32,
    pub created_at: u32,
    pub handle: AtomicU64,
    /// Changed under the lock of the handles.
    pub next_by_handle: Cell<*mut Card>,
    pub registered: AtomicBool,
    pub detached: AtomicBool,
    pub joined: AtomicBool,
    pub ended: AtomicU32,
    /// Set once, by the thread itself when it starts.
    pub stack: Cell<(usize, usize)>,
    /// The thread itself while it runs; null before and after.
    pub live: AtomicPtr<Thread>,
    /// The thread sets it when it ends; [`trace::retire`] takes it back under the pool's lock.
    pub trace: Cell<AccessTrace>,
    /// All that the contexts of the thread have done and seen; null until it runs a second one.
    pub carrier: AtomicPtr<super::contexts::Carrier>,
    /// The last clock, for the thread that joins this one, and the generation in which it was
    /// correct. Set by the creator before the thread starts, and by the thread itself before it
    /// sets `ended`.
    pub last: Cell<SidClock>,
    pub last_generation: Cell<u32>,
    /// Set by its creator before it starts.
    pub start: Cell<ThreadStart>,
    /// The signals that the thread is to block; all of them until it is known.
    pub mask: Cell<u64>,
}

/// What a new thread is to do.
#[derive(Clone, Copy, Default)]
pub struct ThreadStart {
    pub function: usize,
    pub argument: usize,
}

core::arch::global_asm!(
    ".section .tbss.raddle,\"awT\",@nobits",
    ".hidden raddle_thread",
    ".globl raddle_thread",
    ".type raddle_thread, @object",
    ".size raddle_thread, {n}",
    ".p2align 6",
    "raddle_thread: .zero {n}",
    ".text",
    n = const size_of::<Thread>(),
);

/// The running thread's own [`Thread`]; see the module's rules on references.
pub type Current = Handle<Thread>;

/// The running thread. Initial-exec TLS needs no call, unlike `thread_local!` in a library.
#[inline(always)]
pub fn current() -> Current {
    let p: *mut Thread;
    // SAFETY: the block belongs to this thread and lives as long as it. The addition changes flags.
    unsafe {
        core::arch::asm!(
            "mov {0}, qword ptr [rip + raddle_thread@GOTTPOFF]",
            "add {0}, qword ptr fs:[0]",
            out(reg) p, options(pure, nomem, nostack));
        Handle::new(p)
    }
}

/// All cards by id.
const CARDS: usize = 1 << 20;
static TABLE: AtomicPtr<*mut Card> = AtomicPtr::new(core::ptr::null_mut());
static COUNT: AtomicU32 = AtomicU32::new(0);

pub fn prepare_table() {
    TABLE.store(sys::pages(CARDS * 8).cast(), Release);
}

pub fn new_card(parent: u32, created_at: u32) -> *mut Card {
    let id = COUNT.fetch_add(1, Relaxed);
    let card = sys::ARENA.take(size_of::<Card>()).cast::<Card>();
    // SAFETY: fresh zeroed memory of the right size; zero is valid for every field. The table has
    // room for a million.
    unsafe {
        (*card).id = id;
        (*card).parent = parent;
        (*card).created_at = created_at;
        if (id as usize) < CARDS {
            *TABLE.load(Acquire).add(id as usize) = card;
        }
    }
    card
}

pub fn card(id: u32) -> Option<&'static Card> {
    if id >= COUNT.load(Acquire) || id as usize >= CARDS {
        return None;
    }
    // SAFETY: entries below COUNT are null or a card, which is never freed.
    unsafe { (*TABLE.load(Acquire).add(id as usize)).as_ref() }
}

pub fn cards() -> impl Iterator<Item = &'static Card> {
    (0..COUNT.load(Acquire)).filter_map(card)
}

/// While it lives, signals to the thread wait: the thread may hold a lock of the runtime, or be
/// half way through a change.
pub struct Inside(*mut Thread);

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the thread outlives its own calls.
        unsafe {
            (*self.0).inside -= 1;
            if (*self.0).inside == 0 && (*self.0).signals.any() {
                crate::interpose::Pending::deliver();
            }
        }
    }
}

impl Thread {
    #[inline(always)]
    pub fn enter(&mut self) -> Inside {
        self.inside += 1;
        Inside(self)
    }

    pub fn id(&self) -> u32 {
        // SAFETY: a known thread has a card.
        if self.card.is_null() { 0 } else { unsafe { (*self.card).id } }
    }

    pub fn sid(&self) -> usize {
        sid(self.state)
    }

    /// The thread begins to take part. It starts with the card's last clock.
    pub fn start(&mut self, card: *mut Card, stack: (usize, usize)) {
        self.card = card;
        // SAFETY: the card is this thread's.
        unsafe { (*card).stack.set(stack) };
        self.trace.open(stack.1 - stack.0);
        self.sp = self.trace.stack;
        // The order matters: the clock is corrected for a flush that comes in between.
        self.generation = sids::GENERATION.load(Acquire);
        // SAFETY: as above.
        unsafe {
            self.clock = (*card).last.get();
            sids::correct(&mut self.clock, (*card).last_generation.get());
        }
        self.held = ThreadLocks::EMPTY;
        self.known = true;
        self.new_sid();
        // SAFETY: the card is this thread's; `end` takes the pointer back before the thread is
        // gone.
        unsafe { (*card).live.store(self, Release) };
    }

    /// The thread ends; its history stays.
    pub fn end(&mut self) {
        crate::trace::plain::ends(self);
        self.gate &= !gate::OPEN;
        self.release_into_card();
        self.drop_snapshot();
        if self.sid() != 0 {
            sids::leave(self.sid(), self.max_epoch());
        }
        self.known = false;
        // Wait for a report that replays this thread.
        let _reports = super::report::pause();
        // SAFETY: the card is this thread's.
        unsafe {
            (*self.card).trace.set(self.trace);
            (*self.card).live.store(core::ptr::null_mut(), Release);
            (*self.card).ended.store(1, Release);
        }
        trace::retire(self.card);
    }

    fn release_into_card(&mut self) {
        let generation = self.generation;
        let clock = *self.publish();
        // SAFETY: nobody reads `last` before `ended` or a join says so.
        unsafe {
            (*self.card).last.set(clock);
            (*self.card).last_generation.set(generation);
        }
    }

    /// The epoch that covers everything this thread has done with its sid.
    pub fn max_epoch(&self) -> u32 {
        if settings().hybrid { self.held.max_epoch } else { epoch(self.state) }
    }

    /// The clock to hand over. Call [`advance`](Self::advance) afterwards.
    pub fn publish(&mut self) -> &SidClock {
        self.catch_up();
        let (sid, e) = (self.sid(), self.max_epoch());
        if sid != 0 {
            self.clock.set(sid, e);
            sids::publishes(sid, e);
        }
        &self.clock
    }

    /// Begins a new segment: what was handed over does not cover what follows.
    pub fn advance(&mut self) {
        let next = self.max_epoch() + 1;
        if self.sid() == 0 || next > EPOCH_MAX {
            return self.new_sid();
        }
        self.clock.set(self.sid(), next);
        self.set_state(state(self.sid(), next));
        self.held.new_period(self.sid(), next);
    }

    /// What a release hands over; see [`publish`](Self::publish).
    #[inline]
    pub fn stamp(&mut self) -> ReleaseStamp<'_> {
        self.publish();
        let (sid, epoch) = (self.sid(), self.max_epoch() as u16);
        if self.pairs.are_unknown() || self.pairs.is_empty() {
            self.pairs = Pairs::of(&self.clock, sid, self.generation);
        } else if sid != 0 {
            self.pairs.epochs[0] = epoch;
        }
        if !sids::is_current(self.generation) {
            // Pairs may omit a sid that another one implied; that other one may mean something else
            // now.
            self.pairs.give_up();
        }
        if self.pairs.are_too_many() && self.snapshot.is_null() {
            self.snapshot = Snapshot::of(&self.clock);
        }
        let Thread { clock, pairs, snapshot, generation, .. } = self;
        ReleaseStamp { clock, pairs, snapshot: *snapshot, sid: sid as u8, epoch, generation: *generation }
    }

    /// The thread has learned something, so its current snapshot is out of date.
    fn drop_snapshot(&mut self) {
        // SAFETY: the thread's own reference, or null.
        unsafe { Snapshot::let_go(self.snapshot) };
        self.snapshot = core::ptr::null_mut();
    }

    /// Another clock replaces this one.
    pub fn drop_knowledge(&mut self) {
        self.drop_snapshot();
        self.pairs.forget();
    }

    /// A context begins with the current clock; it has no sid yet.
    pub fn begin_sid(&mut self) {
        self.catch_up();
        self.new_sid();
    }

    /// Corrects the clocks if sids have started over since this thread last looked.
    #[inline]
    pub fn catch_up(&mut self) {
        if self.generation != sids::GENERATION.load(Acquire) {
            self.correct_clocks();
        }
    }

    #[cold]
    fn correct_clocks(&mut self) {
        let now = sids::GENERATION.load(Acquire);
        self.drop_snapshot();
        self.pairs.forget();
        sids::correct(&mut self.clock, self.generation);
        // SAFETY: null or this thread's own clocks.
        unsafe {
            for clock in [self.seen_relaxed, self.fenced].iter().filter_map(|c| c.as_mut()) {
                sids::correct(clock, self.generation);
            }
        }
        self.generation = now;
    }

    /// Takes a new sid, since the old one is worn out or there was none yet.
    #[cold]
    fn new_sid(&mut self) {
        self.drop_snapshot();
        self.pairs.forget();
        self.held.new_sid();
        let worn = self.sid();
        if worn != 0 {
            let last = self.max_epoch();
            self.clock.set(self.sid(), last);
            sids::leave(self.sid(), last);
        }
        let id = self.id();
        let mut got = sids::take(&self.clock, self.generation, id, worn);
        if got.is_none() {
            super::flush::flush();
            self.catch_up();
            got = sids::take(&self.clock, self.generation, id, worn);
        }
        match got {
            Some((sid, first)) => {
                // If another thread used the sid before, that thread's accesses count as known.
                chain::expand(&mut self.clock, sid);
                self.clock.set(sid, first);
                self.gate |= gate::OPEN;
                self.first_epoch = first;
                self.set_state(state(sid, first));
                self.held.new_period(sid, first);
            }
            None => self.go_untracked(),
        }
    }

    /// Makes every access take the slow path: none matches a recorded one.
    pub fn always_look(&mut self) {
        self.hot = [!0; 4];
        self.hot_write8 = [!0; 4];
        self.hot_read8 = [!0; 4];
    }

    /// More threads run than there are sids. This one is not tracked until it finds a free sid.
    fn go_untracked(&mut self) {
        if self.gate & gate::OPEN != 0 || self.state != 0 {
            crate::hub::log::count_untracked();
        }
        self.gate &= !gate::OPEN;
        self.state = 0;
        self.always_look();
    }

    /// Makes `state` the segment that accesses are recorded under.
    pub fn set_state(&mut self, state: u32) {
        let Settings { owners, history, .. } = *settings();
        sids::entered(sid(state), epoch(state));
        self.state = state;
        self.trace.segment(state);
        if history == 2 {
            return self.always_look();
        }
        self.hot = [state; 4];
        self.hot_write8 = [state | 0xff; 4];
        self.hot_read8 = [state | 0xff | READ; 4];
        if owners {
            let owned = owned(sid(state));
            self.hot[3] = owned & !0xff;
            self.hot_write8[3] = owned;
            self.hot_read8[3] = owned | READ;
        }
    }

    pub fn set_ignores(&mut self) {
        let open = self.gate & !(gate::IGNORE_READS | gate::IGNORE_WRITES);
        let reads = if self.ignore_reads > 0 { gate::IGNORE_READS } else { 0 };
        let writes = if self.ignore_writes > 0 { gate::IGNORE_WRITES } else { 0 };
        self.gate = open | reads | writes;
    }

    /// Joins `other`, which must be correct in the thread's own generation: the thread must catch
    /// up *before* `other` is made or corrected. Otherwise epochs of sids that start over in
    /// between would stay.
    #[inline]
    pub fn acquire(&mut self, other: &SidClock) {
        self.drop_snapshot();
        self.pairs.forget();
        self.clock.join(&other.0);
    }

    /// Joins the last clock of a thread that has ended.
    pub fn acquire_last(&mut self, card: &Card) {
        self.catch_up();
        let mut last = card.last.get();
        sids::correct(&mut last, card.last_generation.get());
        self.acquire(&last);
    }

    /// Learns the clock kept with an object. The caller holds the object, so whoever put a new
    /// epoch into its clock has seen every earlier flush.
    #[inline]
    pub fn learn(&mut self, kept: &mut Kept) {
        self.catch_up();
        let Thread { clock, pairs, generation, .. } = self;
        match kept.teach(clock, *generation, |sid, epoch| pairs.note(sid, epoch)) {
            Taught::Nothing => return,
            Taught::Few => {}
            Taught::Many => pairs.give_up(),
        }
        self.drop_snapshot();
    }

    /// The current stack, innermost frame first, with `pc` on top.
    pub fn frames(&self, pc: usize, to: &mut [u64]) -> usize {
        let n = trace::frames(self.trace.stack, self.sp, pc, to);
        crate::relocated::places(to, n)
    }
}
