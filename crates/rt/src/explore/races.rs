//! `--races`: the data races of the current execution.
//!
//! The detector is [`raddle_explore::races`], with the clocks of [`super::memory`]. This module
//! passes it accesses and puts its findings into the order's slot. An execution continues after a
//! race: what a program does then is worth seeing too. Both have memory outside the snapshot, and
//! start anew with each execution.

use raddle_explore::Unknowable;
use raddle_explore::races::{CALLERS, Deed, GranuleAccess, Races, number};
use raddle_explore::stale::AtomicObject;
use raddle_explore::state_key::KeyHash;
use raddle_wire::explore::{RACES, RacingPair, flag};

use super::{has, memory, state};
use crate::detect::thread::current;
use crate::sys;

/// The number of bytes of a copy or a block that are checked.
const LONG: usize = 4096;

/// At the start of the process.
pub fn prepare() {
    if has(flag::RACES) {
        // Zeros are empty.
        state().races = sys::pages(size_of::<Races>()).cast();
    }
}

/// An execution begins.
pub fn begin() {
    // SAFETY: null, or the detector's own memory.
    if let Some(races) = unsafe { state().races.as_mut() } {
        races.reset();
    }
}

/// Adds the detector's state to a key, if there is one.
pub fn add_state(key: &mut KeyHash) -> Result<(), Unknowable> {
    let s = state();
    if s.races.is_null() {
        return Ok(());
    }
    let Some(model) = memory::model() else { return Err(Unknowable::Forgot) };
    // SAFETY: the detector's own memory; one thread runs at a time.
    let races = unsafe { &*s.races };
    if races.forgot() || !model.is_exact() {
        return Err(Unknowable::Forgot);
    }
    model.add_values(key);
    races.add_state(&model, (0..s.count).filter(|i| !s.threads[*i].ended), key);
    Ok(())
}

/// A plain access.
#[inline]
pub fn plain(write: bool, address: usize, len: usize, pc: usize) {
    if !state().races.is_null() {
        range(if write { Deed::Write } else { Deed::Read }, address, len, pc);
    }
}

/// A block is freed: an unordered access to it is a race.
pub fn freed(address: usize, len: usize, pc: usize) {
    if !state().races.is_null() {
        range(Deed::Free, address, len, pc);
    }
}

/// Memory is unmapped; what is mapped there next is other memory.
pub fn unmapped(address: usize, len: usize) {
    // SAFETY: null, or the detector's own memory; one thread runs at a time.
    if let Some(races) = unsafe { state().races.as_mut() } {
        races.forget(address as u64, (address + len) as u64);
    }
}

fn range(deed: Deed, address: usize, len: usize, pc: usize) {
    let me = state().current;
    let Some(count) = memory::model().and_then(|mut m| m.clock(me).map(|c| c.next(me))) else { return };
    each(GranuleAccess::new(me, count, state().pilot.steps(), deed), address, len.min(LONG), pc);
}

/// An atomic access, event `count` of its thread, after its synchronisation took effect.
#[inline]
pub fn atomic(deed: Deed, place: &AtomicObject, count: Option<u32>, pc: usize) {
    if let Some(count) = count
        && !state().races.is_null()
    {
        let access = GranuleAccess::new(state().current, count, state().pilot.steps(), deed);
        each(access, place.address as usize, place.size.into(), pc);
    }
}

/// Checks the access to each granule.
fn each(access: GranuleAccess, address: usize, len: usize, pc: usize) {
    let me = state().current;
    let Some(mut model) = memory::model() else { return };
    let Some(now) = model.clock(me) else { return };
    // SAFETY: the detector's own memory; one thread runs at a time.
    let races = unsafe { &mut *state().races };
    let end = address + len;
    let mut at = address;
    while at < end {
        let n = (8 - (at & 7)).min(end - at);
        let bytes = ((1u32 << n) - 1) << (at & 7);
        let mut new = access.of(bytes as u8);
        let granule = at & !7;
        let frames = |to: &mut [u64; 1 + CALLERS]| _ = current().frames(pc, to);
        if let Some(old) = races.access(granule as u64, new, now, frames) {
            frames(&mut new.frames);
            report(granule as u64, [new, old], pc);
        }
        at += n;
    }
}

#[cold]
fn report(granule: u64, access: [GranuleAccess; 2], pc: usize) {
    let mut s = state();
    let number = number(access[0].frames[0], access[1].frames[0]);
    let slot = s.serve.slot();
    let known = slot.races as usize;
    if known < RACES && slot.race[..known].iter().all(|r| r.number != number) {
        slot.race[known] = RacingPair { number, reserved: 0, granule, access };
        slot.races += 1;
    }
    // SAFETY: the mapped header.
    if has(flag::TRAP_AT_FAILURE) && unsafe { (*s.header).wanted } == number {
        s.current_thread_mut().pc = pc;
        // SAFETY: the user asked for a debugger.
        unsafe { core::arch::asm!("int3") };
    }
}
