//! The detector of the runtime, driven by hand: many logical threads on one thread of the system,
//! each a [`Thread`] that is handed over explicitly, or put into thread-local storage for the
//! probes, which know no other place.

use raddle_race::{AtomicOp, LockMode, MemoryOrder};
use raddle_rt::detect::atomics::{self, OrderNumber};
use raddle_rt::detect::held_locks;
use raddle_rt::detect::sync::{self, Taking};
use raddle_rt::detect::thread::{Card, Thread, new_card};
use raddle_rt::detect::{objects, range, testing};
use raddle_wire::record::LockKind;

/// Any watchable address will do: shadow needs no memory behind it. A low one, because reports look
/// below it for a heap block.
pub const BASE: u64 = 0x1_0000;
const LOCK: usize = 0x5000_1000_0000;
const OBJECT: usize = 0x5000_2000_0000;
const BARRIER: usize = 0x5000_3000_0000;
const NOBODY: usize = 0x5000_4000_0000;
const PC: usize = 0x5000_5000_0000;
/// The barrier is for this many.
pub const PARTY: u32 = 2;

unsafe extern "C" {
    fn __tsan_read1(address: usize);
    fn __tsan_read2(address: usize);
    fn __tsan_read4(address: usize);
    fn __tsan_read8(address: usize);
    fn __tsan_write1(address: usize);
    fn __tsan_write2(address: usize);
    fn __tsan_write4(address: usize);
    fn __tsan_write8(address: usize);
}

pub struct Logical {
    t: Box<Thread>,
    card: *mut Card,
}

/// Before each run: nothing is remembered of the one before. All its threads have ended. Locks keep
/// their numbers, since lock sets are never given back.
pub fn begin(locks: u64, objects: u64) {
    (0..locks).for_each(|lock| objects::with(lock_key(lock), |o| (o.orders, o.writer) = (false, false)));
    (0..objects).for_each(|object| sync::destroyed(OBJECT + 64 * object as usize));
    sync::destroyed(NOBODY);
    sync::destroyed(BARRIER);
    objects::with(BARRIER, |o| o.make_more().barrier.count = PARTY);
    raddle_rt::detect::flush::flush();
    testing::take_races();
}

/// The atomic objects in this memory are gone.
pub fn forget_objects(at: u64, size: u64) {
    (at..at + size).for_each(|key| sync::destroyed((BASE + key) as usize));
}

fn lock_key(lock: u64) -> usize {
    LOCK + 64 * lock as usize
}

fn number(order: MemoryOrder) -> OrderNumber {
    OrderNumber(match order {
        MemoryOrder::Relaxed => 0,
        MemoryOrder::Consume => 1,
        MemoryOrder::Acquire => 2,
        MemoryOrder::Release => 3,
        MemoryOrder::AcqRel => 4,
        MemoryOrder::SeqCst => 5,
    })
}

pub fn order_by(lock: u64) {
    sync::order_by(lock_key(lock));
}

impl Logical {
    /// A thread that has seen nothing.
    pub fn new() -> Self {
        Self::start(new_card(0, 0))
    }

    fn start(card: *mut Card) -> Self {
        let mut t = testing::blank();
        t.start(card, (0, 0));
        Self { t, card }
    }

    /// As `interpose::thread` does it.
    pub fn create(&mut self) -> Self {
        let card = new_card(self.t.id(), 0);
        // SAFETY: nobody else knows the card yet.
        unsafe {
            (*card).last.set(*self.t.publish());
            (*card).last_generation.set(self.t.generation);
        }
        self.t.advance();
        Self::start(card)
    }

    pub fn end(&mut self) {
        self.t.end();
    }

    pub fn join(&mut self, ended: &Self) {
        // SAFETY: the thread has ended and its card stays.
        unsafe { self.t.acquire_last(&*ended.card) };
    }

    /// The segment that accesses are recorded under.
    pub fn state(&self) -> u32 {
        self.t.state
    }

    pub fn sid(&self) -> usize {
        self.t.sid()
    }

    /// By a probe where there is one.
    pub fn access(&mut self, at: u64, size: u64, write: bool) {
        let address = (BASE + at) as usize;
        let probe = match (size, write) {
            _ if !(BASE + at).is_multiple_of(size) => None,
            (1, false) => Some(__tsan_read1 as unsafe extern "C" fn(usize)),
            (2, false) => Some(__tsan_read2 as _),
            (4, false) => Some(__tsan_read4 as _),
            (8, false) => Some(__tsan_read8 as _),
            (1, true) => Some(__tsan_write1 as _),
            (2, true) => Some(__tsan_write2 as _),
            (4, true) => Some(__tsan_write4 as _),
            (8, true) => Some(__tsan_write8 as _),
            _ => None,
        };
        match (probe, write) {
            // SAFETY: shadow is mapped, and the memory itself is not touched.
            (Some(probe), _) => testing::run_as(&mut self.t, || unsafe { probe(address) }),
            (None, false) => range::access::<false>(testing::handle(&mut self.t), address, size as usize, PC),
            (None, true) => range::access::<true>(testing::handle(&mut self.t), address, size as usize, PC),
        }
    }

    pub fn ignore(&mut self, reads: u32, writes: u32) {
        (self.t.ignore_reads, self.t.ignore_writes) = (reads, writes);
        self.t.set_ignores();
    }

    pub fn atomic(&mut self, at: u64, size: u64, op: AtomicOp) {
        let (t, address, size) = (&mut *self.t, (BASE + at) as usize, size as usize);
        match op {
            AtomicOp::Load(order) => atomics::load(t, address, size, number(order), PC, || ()),
            AtomicOp::Store(order) => atomics::store(t, address, size, number(order), PC, || ()),
            AtomicOp::Rmw(order) => {
                atomics::update(t, address, size, (number(order), number(order)), PC, || ((), true));
            }
            AtomicOp::CompareExchange { success, failure, succeeded } => {
                atomics::update(t, address, size, (number(success), number(failure)), PC, || ((), succeeded));
            }
        }
    }

    pub fn fence(&mut self, order: MemoryOrder) {
        atomics::fence(&mut self.t, number(order));
    }

    pub fn lock(&mut self, lock: u64, mode: LockMode) {
        let mode =
            if mode == LockMode::Write { held_locks::HoldMode::Write } else { held_locks::HoldMode::Read };
        let taking = Taking { mode, what: LockKind::Rwlock, pc: PC };
        sync::locked(testing::handle(&mut self.t), lock_key(lock), taking);
    }

    pub fn unlock(&mut self, lock: u64) {
        sync::unlocking(testing::handle(&mut self.t), lock_key(lock));
    }

    pub fn condvar_wait(&mut self, lock: u64) {
        let times = sync::unlocking_for_wait(testing::handle(&mut self.t), lock_key(lock));
        sync::locked_after_wait(testing::handle(&mut self.t), lock_key(lock), times, PC);
    }

    pub fn signal(&mut self, object: u64) {
        sync::release(testing::handle(&mut self.t), OBJECT + 64 * object as usize);
    }

    pub fn has_clock(&mut self, object: u64) -> bool {
        sync::has_clock(testing::handle(&mut self.t), OBJECT + 64 * object as usize)
    }

    pub fn wait(&mut self, object: u64) {
        sync::acquire(testing::handle(&mut self.t), OBJECT + 64 * object as usize);
    }

    pub fn arrive(&mut self) -> u32 {
        sync::barrier_arrived(testing::handle(&mut self.t), BARRIER)
    }

    pub fn pass(&mut self, phase: u32) {
        sync::barrier_passed(testing::handle(&mut self.t), BARRIER, phase);
    }

    pub fn fresh(&mut self, at: u64, size: u64) {
        range::fresh(&mut self.t, (BASE + at) as usize, size as usize, PC);
    }

    pub fn free(&mut self, at: u64, size: u64) {
        range::freed(&mut self.t, (BASE + at) as usize, size as usize, PC);
    }

    pub fn wear_out(&mut self) {
        let sid = self.sid();
        while self.sid() == sid {
            sync::release(testing::handle(&mut self.t), NOBODY);
        }
    }
}

impl Drop for Logical {
    fn drop(&mut self) {
        if self.t.known {
            self.t.end();
        }
    }
}
