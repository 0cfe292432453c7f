//! The traced run of `raddle conseq`: what each access read or wrote.
//!
//! After ConSeq (Zhang et al., *ConSeq: detecting concurrency bugs through sequential errors*, ASPLOS 2011), section 7.2: for
//! each access the program counter, the address and the value before a read or after a write; for each
//! operation that synchronises, what it was.
//!
//! **It rides on the scheduler.** The paper traces threads that run freely, and writes a file a thread so that they do not wait for
//! each other. Here the process is under [`crate::explore`]: one logical thread runs at a time. That buys three things.
//! Values are exact: a write's probe comes before the store, and the value is taken at the same thread's next probe, before which
//! nobody else has run. The order of events is the order in which they happened, in one stream, with no clock read and no
//! lock taken. And the run can be had again: the same order of the driver's gives the same addresses and the same
//! events, so memory that only one thread touches is found out in one execution ([`mode::LEARN`]) and left out of the next
//! ([`mode::SHARED`]).
//!
//! A program that can not be scheduled is traced as it runs, with less certainty: [`plain`].
//!
//! Deviations from the paper: (1) one stream, not a file a thread, as said. (2) Not only globals and the heap: a stack that
//! another thread touches is shared memory too. (3) What came before the program's first thread is not traced; the value that
//! a first write finds is recorded instead, and stands for it. (4) Nor is what a thread leaves to the one that joins it, which no
//! order can change ([`shared`]). (5) All reads of shared memory are recorded, not only critical ones: invariants and atomicity
//! violations are made from them.
//!
//! A block of more than [`LARGEST`] bytes that is copied or filled at once counts with its first bytes only.

pub mod delays;
pub mod plain;
mod shared;

use core::sync::atomic::{AtomicPtr, Ordering::*};

use raddle_explore::{Op, OpKind};
use raddle_wire::trace::{Access, Encoder, Event, Header, LONGEST, Step, mode};

use crate::detect::thread::current;
use crate::explore;
use crate::hub::session;
use crate::layout::is_watchable;
use crate::sys;

const LARGEST: usize = 4096;
/// No program has anything below this address.
const LOWEST: usize = 1 << 16;

/// In memory of its own, which no snapshot has.
struct Trace {
    header: *mut Header,
    stream: *mut u8,
    used: usize,
    events: u64,
    lost: u64,
    accesses: u64,
    encoder: Encoder,
    thread: usize,
    mode: u32,
    /// Counts executions, from 1.
    execution: u32,
    pending: Pending,
}

/// A write whose store comes after its probe.
enum Pending {
    Nothing,
    One(Access),
    /// Address, length, program counter.
    Block(usize, usize, usize),
}

static TRACE: AtomicPtr<Trace> = AtomicPtr::new(core::ptr::null_mut());

/// The trace, if there is one and an execution is under way.
#[inline(always)]
fn trace() -> Option<&'static mut Trace> {
    let at = TRACE.load(Relaxed);
    if at.is_null() || !explore::is_running() {
        return None;
    }
    // SAFETY: set once, to memory of its own; one thread runs at a time, and no reference is kept across a switch.
    Some(unsafe { &mut *at })
}

/// Are accesses of an ordinary run delayed or traced? Then no detector looks at them.
pub fn is_ordinary() -> bool {
    delays::is_on() || plain::is_on()
}

/// Are executions traced?
pub fn is_there() -> bool {
    !TRACE.load(Relaxed).is_null()
}

/// At the start of a process that is explored. Without the file nothing is traced.
pub fn prepare() {
    let Some(header) = session::trace_file() else { return };
    let at = sys::pages(size_of::<Trace>()).cast::<Trace>();
    // SAFETY: fresh memory of the right size; the stream lies where the header of the mapped file says.
    unsafe {
        at.write(Trace {
            header,
            stream: header.cast::<u8>().add((*header).stream_at()),
            used: 0,
            events: 0,
            lost: 0,
            accesses: 0,
            encoder: Encoder::default(),
            thread: usize::MAX,
            mode: mode::ALL,
            execution: 0,
            pending: Pending::Nothing,
        });
    }
    TRACE.store(at, Relaxed);
}

/// An execution begins.
pub fn begin() {
    let at = TRACE.load(Relaxed);
    if at.is_null() {
        return;
    }
    // SAFETY: as in `trace`.
    let t = unsafe { &mut *at };
    (t.used, t.events, t.lost, t.accesses) = (0, 0, 0, 0);
    t.encoder = Encoder::default();
    t.thread = usize::MAX;
    t.execution += 1;
    t.pending = Pending::Nothing;
    t.mode = t.header().mode.load(Acquire);
    t.publish();
}

impl Trace {
    fn header(&self) -> &'static Header {
        // SAFETY: the mapped header lives as long as the process.
        unsafe { &*self.header }
    }

    /// What was written is there for the driver, even if the process dies now.
    fn publish(&self) {
        let header = self.header();
        header.used.store(self.used as u64, Release);
        header.events.store(self.events, Relaxed);
        header.lost.store(self.lost, Relaxed);
        header.accesses.store(self.accesses, Relaxed);
    }

    fn write(&mut self, event: &Event) {
        let current = explore::state().current;
        if self.thread != current {
            self.thread = current;
            self.put(&Event::Thread(current as u16));
        }
        self.put(event);
        self.events += 1;
        self.publish();
    }

    fn put(&mut self, event: &Event) {
        // A stream without its end is of use, one with a hole is not: what is lost once is lost for good.
        if self.lost > 0 || self.used + LONGEST > self.header().room as usize {
            self.lost += 1;
            return;
        }
        // SAFETY: there is room for the longest event.
        let to = unsafe { &mut *self.stream.add(self.used).cast::<[u8; LONGEST]>() };
        self.used += self.encoder.write(event, to);
    }

    /// The store that was to come has come.
    #[inline]
    fn settle(&mut self) {
        match core::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => {}
            Pending::One(mut access) => {
                access.value = value(access.address as usize, access.size as usize);
                self.write(&Event::Access(access));
            }
            Pending::Block(address, len, pc) => self.block(true, address, len, pc),
        }
    }

    /// Is an access at `pc` to be recorded?
    #[inline]
    fn wants(&mut self, address: usize, write: bool, pc: usize) -> bool {
        self.accesses += 1;
        match self.mode {
            mode::LEARN => {
                shared::learn(address);
                shared::pass_by_own(current());
                false
            }
            mode::SHARED if !shared::is_shared(address) => {
                shared::take(address);
                shared::pass_by_own(current());
                false
            }
            mode::SHARED => write || self.has(pc),
            mode::TABLE => self.has(pc),
            _ => write || self.has(pc),
        }
    }

    /// Is the program counter in the table? An empty one has all.
    fn has(&self, pc: usize) -> bool {
        let header = self.header();
        if header.reads == 0 {
            return true;
        }
        // SAFETY: the table lies behind the header.
        let table = unsafe {
            let at = self.header.byte_add(header.table_at()).cast::<u64>();
            core::slice::from_raw_parts(at, header.reads as usize)
        };
        table.binary_search(&(pc as u64)).is_ok()
    }

    fn one(&mut self, write: bool, address: usize, size: usize, pc: usize) {
        if !self.wants(address, write, pc) {
            return;
        }
        let access = unsynchronised(write, address, size, pc);
        if write {
            let before = shared::is_first(address, size, self.execution).then_some(access.value);
            self.pending = Pending::One(Access { before, ..access });
        } else {
            self.write(&Event::Access(access));
        }
    }
}

impl Trace {
    /// Many bytes as several accesses, each with the value that is there now.
    fn block(&mut self, write: bool, address: usize, len: usize, pc: usize) {
        for (at, size) in pieces(address, len) {
            if self.wants(at, write, pc) {
                self.write(&Event::Access(unsynchronised(write, at, size, pc)));
            }
        }
    }
}

/// The aligned pieces of a block, each as large as can be.
fn pieces(address: usize, len: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = address + len;
    let mut at = address;
    core::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let mut size = 8;
        while !at.is_multiple_of(size) || at + size > end {
            size /= 2;
        }
        at += size;
        Some((at - size, size))
    })
}

fn unsynchronised(write: bool, address: usize, size: usize, pc: usize) -> Access {
    Access {
        site: pc as u32,
        address: address as u64,
        size: size as u8,
        write,
        atomic: false,
        updates: false,
        value: value(address, size),
        before: None,
    }
}

/// What memory has, as a number. No other thread runs.
#[inline]
fn value(address: usize, size: usize) -> u64 {
    // SAFETY: the program is about to access it, or just has.
    unsafe {
        match size {
            1 => u64::from((address as *const u8).read_volatile()),
            2 => u64::from((address as *const u16).read_unaligned()),
            4 => u64::from((address as *const u32).read_unaligned()),
            _ => (address as *const u64).read_unaligned(),
        }
    }
}

/// The running thread is about to access `size` (1, 2, 4 or 8) bytes.
#[inline]
pub fn access(write: bool, address: usize, size: usize, pc: usize) {
    let Some(t) = trace() else { return unscheduled(write, address, size, pc) };
    t.settle();
    if address >= LOWEST && is_watchable(address) {
        t.one(write, address, size, pc);
    }
}

/// Nobody decides which thread runs: the access is delayed, or traced, or neither.
fn unscheduled(write: bool, address: usize, len: usize, pc: usize) {
    delays::access(address, pc);
    plain::access(write, address, len, pc);
}

/// The running thread is about to access many bytes.
pub fn range(write: bool, address: usize, len: usize, pc: usize) {
    let Some(t) = trace() else { return unscheduled(write, address, len, pc) };
    t.settle();
    if address < LOWEST || !is_watchable(address) {
        return;
    }
    let len = len.min(LARGEST);
    if write {
        t.pending = Pending::Block(address, len, pc);
    } else {
        t.block(false, address, len, pc);
    }
}

/// The running thread has made an atomic operation. `old`: what it read, if it is a read-modify-write.
pub fn atomic(write: bool, address: usize, size: usize, old: Option<u64>, pc: usize) {
    let Some(t) = trace() else { return };
    t.settle();
    if size > 8 || !t.wants(address, write, pc) {
        return;
    }
    let access = Access {
        atomic: true,
        updates: old.is_some(),
        before: old,
        ..unsynchronised(write, address, size, pc)
    };
    t.write(&Event::Access(access));
}

/// The running thread has stored, over `before`, which it did not read.
pub fn atomic_store(address: usize, size: usize, before: u64, pc: usize) {
    if let Some(t) = trace() {
        t.settle();
        if size <= 8 && t.wants(address, true, pc) {
            let before = shared::is_first(address, size, t.execution).then_some(before);
            t.write(&Event::Access(Access {
                atomic: true,
                before,
                ..unsynchronised(true, address, size, pc)
            }));
        }
    }
}

/// The running thread is about to leave the processor to another, or to end.
#[inline]
pub fn settle() {
    if let Some(t) = trace() {
        t.settle();
    }
}

/// The running thread makes this step; `waited`: it had to be told that it may go on.
#[inline]
pub fn step(op: &Op, waited: bool) {
    let Some(t) = trace() else { return };
    if matches!(t.mode, mode::LEARN | mode::SHARED) && op.kind() == OpKind::Free {
        shared::give_back(op.object as usize, op.other as usize, t.mode == mode::LEARN);
    }
    if t.mode == mode::LEARN {
        return;
    }
    if !op.is_memory_read() && !op.is_memory_write() {
        t.settle();
        let other = match op.kind() {
            OpKind::Barrier => barrier(op.object as usize, waited),
            _ => op.other,
        };
        let step = Step { kind: op.kind() as u8, site: op.site, object: op.object, other };
        t.write(&Event::Step(step));
    }
}

/// How many threads a barrier is for, when one arrives; 0 when it goes on after it has waited.
fn barrier(at: usize, waited: bool) -> u64 {
    // SAFETY: the program's barrier, whose memory begins with its count while it is explored.
    if waited { 0 } else { u64::from(unsafe { *(at as *const u32) }) }
}

/// A wait for a condition has been given up: the thread has its mutex again.
pub fn gave_up(op: &Op) {
    if op.kind() == OpKind::CondWake {
        step(&Op::new(OpKind::TimeOut, op.object, op.site).with_other(op.other), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_cut_at_whole_words() {
        assert_eq!(pieces(5, 14).collect::<Vec<_>>(), [(5, 1), (6, 2), (8, 8), (16, 2), (18, 1)]);
        assert_eq!(pieces(16, 8).collect::<Vec<_>>(), [(16, 8)]);
        assert_eq!(pieces(16, 0).count(), 0);
    }

    #[test]
    fn values_are_read_in_each_size() {
        let word = 0x8877_6655_4433_2211u64;
        let at = &raw const word as usize;
        assert_eq!([1, 2, 4, 8].map(|size| value(at, size)), [0x11, 0x2211, 0x4433_2211, word]);
        assert_eq!(value(at + 1, 2), 0x3322);
    }

    #[test]
    fn a_barrier_tells_arrival_from_departure() {
        let count = 3u32;
        let at = &raw const count as usize;
        assert_eq!((barrier(at, false), barrier(at, true)), (3, 0));
    }
}
