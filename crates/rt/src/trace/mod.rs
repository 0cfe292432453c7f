//! The traced run of `raddle conseq`: what each access read or wrote.
//!
//! After ConSeq (Zhang et al., *ConSeq: detecting concurrency bugs through sequential errors*,
//! ASPLOS 2011), section 7.2: for each access the program counter, the address and the value before
//! a read or after a write; for each operation that synchronises, what it was.
//!
//! **It uses the scheduler.** The paper traces threads that run freely, and writes one file per
//! thread so that they do not wait for each other. Here the process is under [`crate::explore`]:
//! one logical thread runs at a time. This has three benefits. Values are exact, except where
//! uninstrumented code has changed the memory meanwhile: a write's probe comes before the store,
//! and the value is taken at the same thread's next probe, before which nobody else has run. Only
//! the probe of the read in a copy by gcc comes before the store too ([`Trace::is_copying`]). The
//! order of events is the order in which they happened, in one stream, without reading a clock or
//! taking a lock. And the run can be repeated: the same order from the driver gives the same
//! addresses and the same events. So one execution finds out which memory only one thread touches
//! ([`Recording::Learn`]), and the next leaves it out ([`Recording::Shared`]).
//!
//! A program that cannot be scheduled is traced in an ordinary run, with less certainty: [`plain`].
//!
//! **Cost.** Recording takes 7 ns per event, and the driver prepares the pages for events on
//! another core; scheduling a step takes ten times as long. So a program that synchronises often is
//! recorded completely the first time: a thread's own memory and what turns out to be shared
//! ([`RecordedEvent::Shared`]). The driver keeps what is shared, and there is no second execution
//! ([`progress`]).
//!
//! If a thread accesses much memory between two steps, most of it is its own, and such accesses are
//! skipped in eight instructions ([`probes`]). While the trace learns what is shared, it records
//! accesses to memory that is already known to be shared. When it finds more, the stream begins
//! anew, once nothing has been found for a while ([`TraceProgress::is_quiet`]). So if such a
//! program shares early what it shares, its first execution leaves a trace of nearly all of it, and
//! the second ends where that begins ([`TraceHeader::begins`], [`TraceHeader::until`]): both
//! together are what a complete second one would record. A digest of the steps says whether the
//! second has taken the same path.
//!
//! Deviations from the paper: (1) one stream, not one file per thread, as said. (2) Not only
//! globals and the heap: a stack that another thread touches is shared memory too. (3) What came
//! before the program's first thread is not traced; the value that a first write finds is recorded
//! instead. (4) What a thread leaves to the one that joins it is not traced either: no schedule can
//! change it ([`shared`]). (5) All reads of shared memory are recorded, not only critical ones:
//! invariants and atomicity violations are derived from them.
//!
//! If a block is copied or filled at once, the first [`LARGEST`] bytes count.

pub mod delays;
pub mod plain;
mod probes;
mod progress;
mod shared;
mod values;

use core::sync::atomic::{AtomicPtr, Ordering::*};

use raddle_explore::{Op, OpKind};
use raddle_wire::explore::ExecutionEnd;
use raddle_wire::trace::{
    ALLOCATED, AccessByte, Encoder, LONGEST, NEVER, RecordedEvent, Recording, SyncStep, TraceHeader,
};

use crate::detect::check;
use crate::detect::thread::current;
use crate::explore;
use crate::handle::Handle;
use crate::hub::session;
use crate::layout::is_watchable;
use crate::relocated;
use crate::sys;
use progress::{Records, TraceProgress};
use shared::GranuleState;
use values::{pieces, value};

const LARGEST: usize = 1 << 16;
/// No program has anything below this address.
const LOWEST: usize = 1 << 16;

/// Its memory lies outside the snapshot.
struct Trace {
    header: *mut TraceHeader,
    stream: *mut u8,
    used: usize,
    /// The part of the stream that is ready to be written, minus the longest event; 0 after
    /// something was lost.
    limit: usize,
    lost: u64,
    accesses: u64,
    encoder: Encoder,
    /// The thread whose events come next, if the stream knows it.
    thread: usize,
    mode: Recording,
    /// Counts executions, from 1.
    execution: u32,
    /// Plain accesses concern others too: some are scheduling points, or a monitor looks at them.
    has_company: bool,
    /// All reads are recorded.
    all_reads: bool,
    /// All accesses that the probes do not skip are recorded, and concern nobody else.
    is_plain: bool,
    /// Some execution made too many accesses to be recorded completely.
    had_too_much: bool,
    pending: Pending,
    /// The contents of a block before it is written: the initial value, if that write is the first.
    before: [u8; LARGEST],
    progress: TraceProgress,
}

/// A write whose store comes after its probe.
#[derive(Clone, Copy)]
struct Pending {
    what: What,
    address: usize,
    pc: usize,
    /// For one access: the old value, which is recorded if it counts. For a block: its length.
    before: u64,
    counts: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Nothing,
    One(AccessByte),
    Block,
}

impl Pending {
    const NOTHING: Pending = Pending { what: What::Nothing, address: 0, pc: 0, before: 0, counts: false };
}

static TRACE: AtomicPtr<Trace> = AtomicPtr::new(core::ptr::null_mut());

/// The trace, if there is one and an execution runs.
#[inline(always)]
fn trace() -> Option<Handle<Trace>> {
    let at = TRACE.load(Relaxed);
    if at.is_null() || !explore::is_running() {
        return None;
    }
    // SAFETY: set once, to separate memory; one thread runs at a time, and no reference is kept
    // across a switch.
    Some(unsafe { Handle::new(at) })
}

/// True if accesses of an ordinary run are delayed or traced. Then no detector looks at them.
pub fn is_ordinary() -> bool {
    delays::is_on() || plain::is_on()
}

/// True if executions are traced.
pub fn is_there() -> bool {
    !TRACE.load(Relaxed).is_null()
}

/// True if a few executions learn what is shared.
pub fn learns() -> bool {
    // SAFETY: as in `trace`.
    unsafe { TRACE.load(Relaxed).as_ref() }.is_some_and(|t| t.header().mode() == Recording::Learn)
}

/// Called at the start of an explored process. Without the file nothing is traced.
pub fn prepare() {
    let Some(header) = session::trace_file() else { return };
    let at = sys::pages(size_of::<Trace>()).cast::<Trace>();
    // SAFETY: fresh memory of the right size; the stream lies where the header of the mapped file
    // says.
    unsafe {
        at.write(Trace {
            header,
            stream: header.cast::<u8>().add((*header).stream_at()),
            used: 0,
            limit: 0,
            lost: 0,
            accesses: 0,
            encoder: Encoder::default(),
            thread: usize::MAX,
            mode: Recording::All,
            execution: 0,
            has_company: true,
            all_reads: (*header).reads == 0,
            is_plain: false,
            had_too_much: false,
            pending: Pending::NOTHING,
            before: [0; LARGEST],
            progress: TraceProgress::START,
        });
    }
    TRACE.store(at, Relaxed);
    probes::install();
}

/// Sets whether plain accesses concern others too, once that is known.
pub fn has_company(yes: bool) {
    // SAFETY: as in `trace`.
    if let Some(t) = unsafe { TRACE.load(Relaxed).as_mut() } {
        t.has_company = yes;
    }
}

/// An execution begins.
pub fn begin() {
    // SAFETY: as in `trace`.
    let Some(t) = (unsafe { TRACE.load(Relaxed).as_mut() }) else { return };
    t.execution += 1;
    t.mode = t.header().mode();
    t.progress = TraceProgress::START;
    t.header().was_cut.store(0, Relaxed);
    shared::turn(0);
    let all = t.mode == Recording::Learn && !t.had_too_much;
    t.begin_stream(if all { Records::All } else { Records::Chosen });
    shared::begin(t.execution);
}

/// This thread runs from now on.
#[inline]
pub fn turn(thread: usize) {
    if is_there() {
        shared::turn(thread);
    }
}

impl Trace {
    fn header(&self) -> &'static TraceHeader {
        // SAFETY: the mapped header lives as long as the process.
        unsafe { &*self.header }
    }

    /// Starts the stream anew.
    fn begin_stream(&mut self, records: Records) {
        let header = self.header();
        self.pending.what = What::Nothing;
        (self.used, self.lost, self.accesses) = (0, 0, 0);
        self.limit = 0;
        self.encoder = Encoder::default();
        self.thread = usize::MAX;
        self.progress.records = records;
        header.has_all.store(u64::from(records == Records::All), Relaxed);
        header.begins.store(self.progress.steps, Relaxed);
        header.way.store(self.progress.way, Relaxed);
        shared::pass_by(records != Records::All, false);
        let by_sharing = matches!(self.mode, Recording::Learn | Recording::Shared);
        self.is_plain = by_sharing && self.all_reads && !self.has_company;
        self.publish();
    }

    /// The granule at `address` turns out to be shared. True if the access that shows it is
    /// recorded.
    #[cold]
    fn discovered(&mut self, address: usize) -> bool {
        self.progress.learned = self.progress.steps;
        self.header().discoveries.fetch_add(1, Relaxed);
        match self.progress.records {
            Records::All => {
                if let Some(to) = self.room() {
                    self.used += self.encoder.write(&RecordedEvent::Shared(address as u64 & !7), to);
                }
            }
            // The recording lacks the earlier accesses to it.
            Records::Chosen => self.drop_stream(),
            Records::Nothing => {}
        }
        self.progress.records == Records::All
    }

    /// Discards the recording.
    #[cold]
    fn drop_stream(&mut self) {
        (self.progress.records, self.is_plain) = (Records::Nothing, false);
        self.pending.what = What::Nothing;
        (self.used, self.limit) = (0, 0);
        self.header().begins.store(NEVER, Relaxed);
        self.header().has_all.store(0, Relaxed);
        shared::pass_by(true, true);
        self.publish();
    }

    /// Makes what was written visible to the driver, even if the process dies now.
    fn publish(&self) {
        let header = self.header();
        header.used.store(self.used as u64, Release);
        header.lost.store(self.lost, Relaxed);
        header.accesses.store(self.accesses, Relaxed);
    }

    #[inline(always)]
    fn write_access(&mut self, kind: AccessByte, address: usize, pc: usize, value: u64, before: Option<u64>) {
        if let Some(to) = self.room() {
            self.used += self.encoder.access(kind, (pc as u32, address as u64), value, before, to);
            self.header().used.store(self.used as u64, Release);
        }
    }

    fn write_step(&mut self, step: &SyncStep) {
        if let Some(to) = self.room() {
            self.used += self.encoder.write(&RecordedEvent::Step(*step), to);
        }
        self.publish();
    }

    /// Room for an event of the running thread.
    #[inline]
    fn room(&mut self) -> Option<&'static mut [u8; LONGEST]> {
        let current = explore::state().current;
        if self.thread != current {
            self.thread = current;
            let to = self.place()?;
            self.used += self.encoder.write(&RecordedEvent::Thread(current as u16), to);
        }
        self.place()
    }

    #[inline(always)]
    fn place(&mut self) -> Option<&'static mut [u8; LONGEST]> {
        if self.used >= self.limit && !self.extend() {
            return None;
        }
        // SAFETY: there is room for the longest event.
        Some(unsafe { &mut *self.stream.add(self.used).cast::<[u8; LONGEST]>() })
    }

    /// The next part of the stream. Requests its pages at once: a page fault for each of them costs
    /// more.
    #[cold]
    fn extend(&mut self) -> bool {
        const PART: usize = 1 << 20;
        const SMALL: usize = 1 << 16;
        let room = self.header().room as usize;
        let part = match self.progress.records {
            Records::Nothing => return false,
            Records::Chosen => PART,
            Records::All => {
                if self.used > self.progress.most() || self.used + LONGEST > room {
                    self.had_too_much = true;
                    self.progress.learned = self.progress.steps;
                    self.drop_stream();
                    return false;
                }
                SMALL
            }
        };
        // A stream without its end is useful, one with a hole is not: after one lost event, all
        // further ones are lost.
        if self.lost > 0 || self.used + LONGEST > room {
            self.lost += 1;
            return false;
        }
        let end = ((self.used + LONGEST).next_multiple_of(part)).min(room);
        sys::populate(self.stream as usize + end.saturating_sub(part), part.min(end));
        self.limit = end - LONGEST + 1;
        true
    }

    /// The pending store has happened.
    #[inline(always)]
    fn settle(&mut self) {
        if self.pending.what != What::Nothing {
            self.settle_pending();
        }
    }

    /// As [`settle`](Self::settle), before the running thread reads `len` bytes at `address`.
    #[inline(always)]
    fn settle_before_read(&mut self, address: usize, len: usize, pc: usize) {
        if self.pending.what != What::Nothing && !self.is_copying(address, len, pc) {
            self.settle_pending();
        }
    }

    /// True if this read is that of a copy whose write is pending. gcc has both probes before the
    /// copy, that of the write first, with little code in between. If this is wrong, because the
    /// store has happened and changed nothing, two events of one thread change places, between
    /// which no other thread ran.
    #[inline(never)]
    fn is_copying(&self, read: usize, len: usize, pc: usize) -> bool {
        let Pending { what, address, before, .. } = self.pending;
        let is_apart = read + len <= address || address + len <= read;
        is_apart
            && may_be_copy(self.pending.pc, pc)
            && match what {
                What::Nothing => false,
                What::One(kind) => kind.size() == len && value(address, len) == before,
                What::Block if before as usize == len.min(LARGEST) => {
                    let kept = &self.before[..before as usize];
                    // SAFETY: the block that the program is about to write, or has written.
                    kept == unsafe { core::slice::from_raw_parts(address as *const u8, kept.len()) }
                }
                What::Block => false,
            }
    }

    #[inline(never)]
    fn settle_pending(&mut self) {
        let Pending { address, pc, before, counts, .. } = self.pending;
        match core::mem::replace(&mut self.pending.what, What::Nothing) {
            What::Nothing => {}
            What::One(kind) => {
                let now = value(address, kind.size());
                if kind.updates() && now == before {
                    // Such as a compare-and-exchange that found another value.
                    let read = AccessByte::new(false, kind.size()).with(true, false);
                    return self.write_access(read, address, pc, now, None);
                }
                self.write_access(kind, address, pc, now, counts.then_some(before))
            }
            What::Block => self.block(true, address, before as usize, pc),
        }
    }

    /// True if an access at `pc` is to be recorded.
    #[inline]
    fn wants(&mut self, address: usize, write: bool, pc: usize) -> bool {
        self.accesses += 1;
        match self.mode {
            Recording::Learn => match shared::learn(address) {
                GranuleState::Own => self.progress.records == Records::All && (write || self.has(pc)),
                GranuleState::Shared => self.progress.records != Records::Nothing && (write || self.has(pc)),
                GranuleState::Discovered => self.discovered(address) && (write || self.has(pc)),
            },
            Recording::Shared => shared::is_shared(address) && (write || self.has(pc)),
            Recording::Table => self.has(pc),
            Recording::All => write || self.has(pc),
        }
    }

    /// True if the program counter is in the table. An empty table contains everything.
    #[inline]
    fn has(&self, pc: usize) -> bool {
        self.all_reads || self.is_in_table(pc)
    }

    fn is_in_table(&self, pc: usize) -> bool {
        let header = self.header();
        // SAFETY: the table lies behind the header.
        let table = unsafe {
            let at = self.header.byte_add(header.table_at()).cast::<u64>();
            core::slice::from_raw_parts(at, header.reads as usize)
        };
        table.binary_search(&(pc as u64)).is_ok()
    }

    #[inline(always)]
    fn one(&mut self, write: bool, address: usize, size: usize, pc: usize) {
        if self.wants(address, write, pc) {
            self.record(write, address, size, pc);
        }
    }

    #[inline(always)]
    fn record(&mut self, write: bool, address: usize, size: usize, pc: usize) {
        let kind = AccessByte::new(write, size);
        if write {
            let counts = shared::is_first(address, size, self.execution);
            let before = value(address, size);
            self.pending = Pending { what: What::One(kind), address, pc, before, counts };
        } else {
            self.write_access(kind, address, pc, value(address, size), None);
        }
    }

    /// Records many bytes as several accesses, each with the current value.
    fn block(&mut self, write: bool, address: usize, len: usize, pc: usize) {
        for (at, size) in pieces(address, len) {
            if shared::passes(at) {
                self.accesses += 1;
            } else if self.wants(at, write, pc) {
                let counts = write && shared::is_first(at, size, self.execution);
                let before = counts.then(|| value(self.before.as_ptr() as usize + (at - address), size));
                self.write_access(AccessByte::new(write, size), at, pc, value(at, size), before);
            }
        }
    }

    /// Saves the contents of a block that is about to be written.
    fn keep_before(&mut self, address: usize, len: usize) {
        // SAFETY: the program is about to write to these bytes; the buffer has room for `LARGEST`
        // of them.
        unsafe {
            core::ptr::copy_nonoverlapping(address as *const u8, self.before.as_mut_ptr(), len.min(LARGEST));
        }
    }

    /// Ends the execution here, as the driver has asked, if it has taken the path that was meant.
    #[cold]
    fn cut(&mut self) {
        if self.header().until_way.load(Relaxed) != self.progress.way {
            return;
        }
        self.settle();
        self.header().was_cut.store(1, Relaxed);
        self.publish();
        explore::ends(ExecutionEnd::StepLimit, explore::state().current)
    }
}

/// Handles an access that the probe did not skip, to a granule of `owner`. Usually it is recorded,
/// and there is nothing else to do.
#[inline(always)]
fn probed<const WRITE: bool, const SIZE: usize>(address: usize, pc: usize, owner: u16) {
    // SAFETY: as in `trace`; the probes are installed only if there is one.
    let t = unsafe { &mut *TRACE.load(Relaxed) };
    if !(t.is_plain && shared::is_known(owner)) {
        return probed_otherwise::<WRITE, SIZE>(address, pc);
    }
    if explore::heap::is_freed(address) {
        explore::use_after_free(address, pc);
    }
    if WRITE {
        t.settle()
    } else {
        t.settle_before_read(address, SIZE, pc)
    }
    t.accesses += 1;
    t.record(WRITE, address, SIZE, pc);
}

/// [`access`], after what any explored program does for a plain access.
#[inline(never)]
fn probed_otherwise<const WRITE: bool, const SIZE: usize>(address: usize, pc: usize) {
    let Some(mut t) = trace() else { return };
    if t.has_company {
        return check::access::<WRITE, SIZE>(current(), address, pc);
    }
    if explore::heap::is_freed(address) {
        explore::use_after_free(address, pc);
    }
    if WRITE {
        t.settle()
    } else {
        t.settle_before_read(address, SIZE, pc)
    }
    if address >= LOWEST && is_watchable(address) {
        t.one(WRITE, address, SIZE, pc);
    }
}

/// The running thread is about to access `size` (1, 2, 4 or 8) bytes.
#[inline]
pub fn access(write: bool, address: usize, size: usize, pc: usize) {
    let Some(mut t) = trace() else { return unscheduled(write, address, size, pc) };
    if write {
        t.settle()
    } else {
        t.settle_before_read(address, size, pc)
    }
    if address >= LOWEST && is_watchable(address) {
        t.one(write, address, size, pc);
    }
}

/// Nobody schedules the threads: delays or traces the access, or neither.
fn unscheduled(write: bool, address: usize, len: usize, pc: usize) {
    delays::access(address, pc);
    plain::access(write, address, len, pc);
}

/// The running thread is about to access many bytes.
pub fn range(write: bool, address: usize, len: usize, pc: usize) {
    let Some(mut t) = trace() else { return unscheduled(write, address, len, pc) };
    // A function of the library was called, perhaps by a copy of the program's code.
    let pc = relocated::site(pc);
    if write {
        t.settle()
    } else {
        t.settle_before_read(address, len, pc)
    }
    if address < LOWEST || !is_watchable(address) {
        return;
    }
    let len = len.min(LARGEST);
    if write {
        t.keep_before(address, len);
        t.pending = Pending { what: What::Block, address, pc, before: len as u64, counts: false };
    } else {
        t.block(false, address, len, pc);
    }
}

/// The running thread has made an atomic operation. `old`: what it read, if it is a
/// read-modify-write.
pub fn atomic(write: bool, address: usize, size: usize, old: Option<u64>, pc: usize) {
    let Some(mut t) = trace() else { return };
    t.settle();
    if size > 8 || !t.wants(address, write, pc) {
        return;
    }
    let kind = AccessByte::new(write, size).with(true, old.is_some());
    t.write_access(kind, address, pc, value(address, size), old);
}

/// The running thread is about to make an atomic operation, as a copy of its code announces it.
pub fn atomic_before(kind: OpKind, address: usize, len: usize, pc: usize) {
    let Some(mut t) = trace() else { return };
    t.settle();
    let size = len.min(8);
    let writes = kind != OpKind::AtomicLoad;
    if !size.is_power_of_two() || !t.wants(address, writes, pc) {
        return;
    }
    let updates = kind == OpKind::AtomicRmw;
    let shape = AccessByte::new(writes, size).with(true, updates);
    let before = value(address, size);
    if writes {
        let counts = updates || shared::is_first(address, size, t.execution);
        t.pending = Pending { what: What::One(shape), address, pc, before, counts };
    } else {
        t.write_access(shape, address, pc, before, None);
    }
}

/// The running thread has stored over `before`, which it did not read.
pub fn atomic_store(address: usize, size: usize, before: u64, pc: usize) {
    if let Some(mut t) = trace() {
        t.settle();
        if size <= 8 && t.wants(address, true, pc) {
            let before = shared::is_first(address, size, t.execution).then_some(before);
            let kind = AccessByte::new(true, size).with(true, false);
            t.write_access(kind, address, pc, value(address, size), before);
        }
    }
}

/// True if the probe of a write and the next one, of a read, are near enough to be those of a copy.
fn may_be_copy(write: usize, read: usize) -> bool {
    /// Enough to compute an address and call the probe, except for members of structs in
    /// unoptimised code. Not enough for a store and an access to the thread's own memory, whose
    /// probe may be skipped: then the two events change places in one kind of trace only.
    const NEAR: usize = 20;
    (1..=NEAR).contains(&read.wrapping_sub(write))
}

/// The running thread is about to be switched away from, or to end.
#[inline]
pub fn settle() {
    if let Some(mut t) = trace() {
        t.settle();
    }
}

/// The execution is over.
pub fn end() {
    if let Some(mut t) = trace() {
        t.settle();
        t.is_plain = false;
        t.publish();
    }
}

/// The running thread makes this step. `waited`: it had to wait to be told.
#[inline]
pub fn step(op: &Op, waited: bool) {
    let Some(mut t) = trace() else { return };
    t.progress.step(op);
    let learns = t.mode == Recording::Learn;
    if (learns || t.mode == Recording::Shared) && op.kind() == OpKind::Free {
        shared::give_back(op.object as usize, op.other as usize, learns, |granule| _ = t.discovered(granule));
    }
    if t.progress.records == Records::Nothing {
        if t.progress.is_quiet() {
            t.begin_stream(Records::Chosen);
        }
        return;
    }
    if !op.is_memory_read() && !op.is_memory_write() {
        t.settle();
        let other = match op.kind() {
            OpKind::Barrier => barrier(op.object as usize, waited),
            _ => op.other,
        };
        t.write_step(&SyncStep { kind: op.kind() as u8, site: op.site, object: op.object, other });
    }
    if t.mode == Recording::Shared && t.header().until.load(Relaxed) == t.progress.steps {
        t.cut();
    }
}

/// The running thread has allocated a block. That is no step.
pub fn allocated(from: usize, size: usize, pc: usize) {
    let Some(mut t) = trace() else { return };
    if t.mode == Recording::Table || t.progress.records == Records::Nothing {
        return;
    }
    t.settle();
    let (object, other) = (from as u64, (from + size) as u64);
    t.write_step(&SyncStep { kind: ALLOCATED, site: relocated::site(pc) as u32, object, other });
}

/// The count of a barrier when a thread arrives; 0 when it continues after waiting.
fn barrier(at: usize, waited: bool) -> u64 {
    // SAFETY: the program's barrier, whose memory begins with its count while it is explored.
    if waited { 0 } else { u64::from(unsafe { *(at as *const u32) }) }
}

/// A wait for a condition has timed out: the thread has its mutex again.
pub fn gave_up(op: &Op) {
    if op.kind() == OpKind::CondWake {
        step(&Op::new(OpKind::TimeOut, op.object, op.site).with_other(op.other), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_tells_arrival_from_departure() {
        let count = 3u32;
        let at = &raw const count as usize;
        assert_eq!((barrier(at, false), barrier(at, true)), (3, 0));
    }
}
