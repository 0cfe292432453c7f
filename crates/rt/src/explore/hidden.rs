//! Accesses that no scheduling points order, and what else keeps a search from being complete.
//!
//! The detector is [`raddle_explore::hidden`]. This module passes it steps and accesses, and puts
//! its findings into the order's slot. Its memory lies outside the snapshot, and it starts anew
//! with each execution.

use raddle_explore::hidden::{Act, HiddenRaces, Live, Touch};
use raddle_explore::state_key::KeyHash;
use raddle_explore::{Op, OpKind, Unknowable};
use raddle_wire::explore::{ExecutionEnd, HIDDEN, Hidden, flag, gap};

use super::{called_imports, has, state};
use crate::detect::thread::current;
use crate::handle::Handle;
use crate::sys;

/// At the start of the process.
pub fn prepare() {
    if has(flag::HIDDEN) {
        // Zeros are empty.
        state().hidden = sys::pages(size_of::<HiddenRaces>()).cast();
    }
}

#[inline(always)]
fn detector() -> Option<Handle<HiddenRaces>> {
    // SAFETY: null, or memory of the detector's own; one thread runs at a time.
    unsafe { Handle::or_none(state().hidden) }
}

/// An execution begins.
pub fn begin() {
    if let Some(mut detector) = detector() {
        detector.reset();
    }
    state().reuse = Reuse { held: [0; 64], freed: false };
}

/// Called when the execution ends with `what`.
pub fn end(what: ExecutionEnd) {
    let Some(detector) = detector() else { return };
    let mut s = state();
    let mut gaps = if detector.forgot() { gap::FORGOT } else { 0 };
    // Threads in a deadlock, or ones that go on for ever, have done everything they can.
    let whole = matches!(what, ExecutionEnd::Exit | ExecutionEnd::Deadlock | ExecutionEnd::StepLimit);
    let others = (0..s.count).any(|i| i != s.current && !s.threads[i].ended && !s.threads[i].is_idle());
    if !whole && others {
        gaps |= gap::EARLY;
    }
    if s.joined + 1 < s.count {
        called_imports::settle();
    }
    if s.serve.has_forked {
        gaps |= gap::PROCESS;
    }
    if s.serve.maps_file {
        gaps |= gap::MAPPED_FILE;
    }
    if s.serve.reads_random_device && s.joined + 1 < s.count {
        gaps |= gap::CHANCE;
    }
    s.serve.slot().gaps |= gaps;
}

/// Notes a behaviour that no schedule represents.
#[inline]
pub fn note(gap: u32) {
    let mut s = state();
    // If all others have been joined, nothing can come in between.
    if !s.hidden.is_null() && s.joined + 1 < s.count {
        s.serve.slot().gaps |= gap;
    }
}

/// The program asks for something that differs from run to run, and that no schedule decides:
/// random numbers, the processor that it runs on, the load, free memory. Before there are threads
/// that is input, like the arguments.
pub fn asks_for_chance() {
    if super::is_running() {
        note(gap::CHANCE);
    }
}

/// The program changes its locale. Most functions that depend on it are no steps.
pub fn changes_locale() {
    if super::is_running() {
        note(gap::LOCALE);
    }
}

/// The program makes a descriptor, whose number depends on those that other threads make, or passes
/// one on by a message, so that two numbers stand for one thing. Calls that do nothing else are no
/// steps.
pub fn makes_descriptor() {
    if super::is_running() {
        note(gap::OUTSIDE);
    }
}

/// The program opens a file to read it.
///
/// # Safety
/// The path is null or a string.
pub unsafe fn reads_file(path: *const core::ffi::c_char) {
    if path.is_null() {
        return;
    }
    // SAFETY: as the caller says.
    let path = unsafe { core::ffi::CStr::from_ptr(path) }.to_bytes();
    // Random numbers may be read later by any thread, however early the device was opened.
    state().serve.reads_random_device |=
        [&b"/dev/random"[..], b"/dev/urandom", b"/dev/hwrng"].contains(&path);
    if [&b"/proc/"[..], b"/sys/"].iter().any(|folder| path.starts_with(folder)) {
        asks_for_chance();
    }
}

/// Whether an address that atomics hold could have recurred: the memory was freed, and other memory
/// allocated. Zeros: not yet.
pub struct Reuse {
    /// A bit for each block whose address an atomic held, by hash.
    held: [u64; 64],
    freed: bool,
}

impl Reuse {
    fn bit(p: usize) -> (usize, u64) {
        let hash = (p >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
        (hash / 64, 1 << (hash % 64))
    }
}

/// An atomic that holds this value is accessed.
#[inline]
pub fn holds(value: usize) {
    let mut s = state();
    if !s.hidden.is_null() && super::heap::is_ours(value) {
        let (word, bit) = Reuse::bit(value);
        s.reuse.held[word] |= bit;
        s.reuse.freed |= super::heap::is_freed(value);
    }
}

/// A block is freed.
#[inline]
pub fn gives_back(p: usize) {
    let mut s = state();
    let (word, bit) = Reuse::bit(p);
    s.reuse.freed |= s.reuse.held[word] & bit != 0;
}

/// Another block is allocated.
#[inline]
pub fn hands_out() {
    if state().reuse.freed && state().running {
        note(gap::REUSE);
    }
}

/// Adds the detectors' state to a key. `live`: the threads that have not ended.
pub fn add_state(live: impl Iterator<Item = Live> + Clone, key: &mut KeyHash) -> Result<(), Unknowable> {
    let reuse = &state().reuse;
    reuse.held.iter().for_each(|w| key.add(*w));
    key.add(u64::from(reuse.freed));
    match detector() {
        Some(detector) if !detector.forgot() => {
            detector.add_state(live, key);
            Ok(())
        }
        _ => Err(Unknowable::Forgot),
    }
}

/// The thread makes this step, which has been recorded.
#[inline]
pub fn stepped(thread: usize, op: &Op) {
    if let Some(mut detector) = detector() {
        if op.kind() == OpKind::Signal {
            note(gap::SIGNAL);
        }
        detector.step(thread, op);
    }
}

/// A plain access. `step`: it was a separate step.
#[inline]
pub fn plain(write: bool, address: usize, len: usize, step: bool, pc: usize) {
    if let Some(detector) = detector() {
        each(detector, (if write { Act::Write } else { Act::Read }, step), address, len, pc);
    }
}

/// An atomic operation.
#[inline]
pub fn atomic(kind: OpKind, address: usize, size: usize, step: bool, pc: usize) {
    if let Some(detector) = detector() {
        let act = if kind == OpKind::AtomicLoad { Act::AtomicRead } else { Act::AtomicWrite };
        each(detector, (act, step), address, size, pc);
    }
}

/// A block is freed, in a separate step.
pub fn freed(address: usize, len: usize, pc: usize) {
    let Some(detector) = detector() else { return };
    if len / 8 <= HiddenRaces::ROOM {
        return each(detector, (Act::Free, true), address, len, pc);
    }
    // Most of such a large block was not accessed.
    let block = address as u64..(address + len) as u64;
    for place in 0..HiddenRaces::ROOM {
        if let Some(granule) = detector.granule(place).filter(|g| block.contains(g)) {
            each(detector, (Act::Free, true), granule as usize, 8, pc);
        }
    }
}

/// Memory is unmapped; what is mapped there next is other memory.
pub fn unmapped(address: usize, len: usize) {
    if let Some(mut detector) = detector() {
        detector.forget(address as u64, (address + len) as u64);
    }
}

#[inline]
fn each(mut detector: Handle<HiddenRaces>, what: (Act, bool), address: usize, len: usize, pc: usize) {
    let (me, end) = (state().current, address + len);
    let mut at = address;
    while at < end {
        let n = (8 - (at & 7)).min(end - at);
        let bytes = ((1u32 << n) - 1) << (at & 7);
        if let Some(pair) = detector.access(me, at as u64 & !7, bytes as u8, what, pc as u64) {
            found(pair, pc);
        }
        at += n;
    }
}

#[cold]
fn found(access: [Touch; 2], pc: usize) {
    let mut s = state();
    let slot = s.serve.slot();
    let known = slot.hiddens as usize;
    let same = |h: &Hidden| h.access.map(|a| a.pc) == access.map(|a| a.pc);
    if known < HIDDEN && !slot.hidden[..known].iter().any(same) {
        let mut frames = [0; 8];
        current().frames(pc, &mut frames);
        let mut callers = [0; 7];
        callers.copy_from_slice(&frames[1..]);
        slot.hidden[known] = Hidden { access, callers };
        slot.hiddens += 1;
    }
}
