//! What the probes of copied code tell the detector.
//!
//! A variable that an instruction with LOCK, or `xchg`, has touched synchronises: its loads
//! acquire, its stores release, and it is not checked itself. See the essay of the crate
//! `relocate`.
//!
//! Each function gets an address, a number, the place, and what the program has in rcx and rsi. It
//! returns where the probe shall return to; 0: to its caller.

use super::late;
use crate::detect::check::{access, plain_access};
use crate::detect::objects::{self, Creation, Object};
use crate::detect::thread::{Current, current, gate};
use crate::detect::{flush, is_plain, range};
use crate::layout::shadow_of;
use raddle_wire::relocated::{LOOP_LENGTH_BITS, string};

/// What is known of a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    /// Atomic by its type.
    Relaxed,
    /// An atomic instruction has touched it.
    Synchronises,
}

impl Role {
    fn of(o: &Object) -> Role {
        match (o.uid, o.creation) {
            (0, Creation::Relaxed) => Role::Relaxed,
            (0, _) => Role::Synchronises,
            // A lock.
            _ => Role::Plain,
        }
    }
}

fn role(address: usize) -> Role {
    objects::with_existing(address, |o| Role::of(o)).unwrap_or(Role::Plain)
}

/// An access of a plain variable within one granule.
#[inline(always)]
fn plain<const WRITE: bool, const SIZE: usize>(mut t: Current, address: usize, pc: usize) {
    if t.gate == gate::OPEN && is_plain() {
        plain_access::<WRITE, SIZE>(&mut t, address, pc, shadow_of(address));
    } else {
        access::<WRITE, SIZE>(t, address, pc);
    }
}

fn release(mut t: Current, address: usize) {
    if !t.known || t.ignore_sync != 0 {
        return;
    }
    let _inside = t.enter();
    flush::if_requested();
    objects::with(address, |o| o.clock.join(t.stamp()));
    t.advance();
}

/// [`release`] to a variable that is known to synchronise, as most are that an atomic instruction
/// touches, with one look for it. False: nothing was done.
fn releases_known(mut t: Current, address: usize) -> bool {
    if !t.known || t.ignore_sync != 0 {
        return false;
    }
    let _inside = t.enter();
    flush::if_requested();
    let join = |o: &mut Object| {
        let is_known = Role::of(o) == Role::Synchronises;
        if is_known {
            o.clock.join(t.stamp());
        }
        is_known
    };
    let is_known = objects::with_existing(address, join) == Some(true);
    if is_known {
        t.advance();
    }
    is_known
}

fn acquire(mut t: Current, address: usize) {
    if !t.known || t.ignore_sync != 0 {
        return;
    }
    let _inside = t.enter();
    objects::with_existing(address, |o| t.learn(&mut o.clock));
}

pub extern "C" fn read<const SIZE: usize>(address: usize, _: usize, pc: usize) -> usize {
    let t = current();
    match role(address) {
        // An atomic instruction may touch it between this probe and the load, which then sees what
        // that stored. Until one does there is nothing to acquire.
        Role::Synchronises | Role::Relaxed => return before_load(address, 0, pc),
        Role::Plain if address % 8 + SIZE > 8 => range::access::<false>(t, address, SIZE, pc),
        Role::Plain => plain::<false, SIZE>(t, address, pc),
    }
    0
}

pub extern "C" fn write<const SIZE: usize>(address: usize, _: usize, pc: usize) -> usize {
    let t = current();
    match role(address) {
        Role::Synchronises => release(t, address),
        Role::Relaxed => {}
        Role::Plain if address % 8 + SIZE > 8 => range::access::<true>(t, address, SIZE, pc),
        Role::Plain => plain::<true, SIZE>(t, address, pc),
    }
    0
}

/// As for other ranges, no variable among these bytes is taken for an atomic one.
pub extern "C" fn read16(address: usize, _: usize, pc: usize) -> usize {
    read_range(address, 16, pc)
}

pub extern "C" fn write16(address: usize, _: usize, pc: usize) -> usize {
    write_range(address, 16, pc)
}

pub extern "C" fn read_range(address: usize, len: usize, pc: usize) -> usize {
    range::access::<false>(current(), address, len, pc);
    0
}

pub extern "C" fn write_range(address: usize, len: usize, pc: usize) -> usize {
    range::access::<true>(current(), address, len, pc);
    0
}

/// What a loop that is left has touched. `distance`: from the first iteration to the last, negative
/// if there was none; `numbers`: the length of one iteration, and which loop.
fn touched_in_loop<const WRITE: bool>(address: usize, distance: isize, pc: usize, numbers: usize) {
    let (len, number) = (numbers & ((1 << LOOP_LENGTH_BITS) - 1), numbers >> LOOP_LENGTH_BITS);
    if let Some(number) = number.checked_sub(1) {
        late::count(pc, number, distance);
    }
    if distance >= 0 {
        range::access::<WRITE>(current(), address, distance as usize + len, pc);
    }
}

pub extern "C" fn loop_read(address: usize, distance: isize, pc: usize, _: usize, numbers: usize) -> usize {
    touched_in_loop::<false>(address, distance, pc, numbers);
    0
}

pub extern "C" fn loop_write(address: usize, distance: isize, pc: usize, _: usize, numbers: usize) -> usize {
    touched_in_loop::<true>(address, distance, pc, numbers);
    0
}

/// Before an atomic instruction. What other threads did to the variable as if it were a plain one
/// no longer counts.
pub extern "C" fn before_atomic(address: usize) -> usize {
    if releases_known(current(), address) {
        return 0;
    }
    match role(address) {
        Role::Plain => range::clear(address, 1),
        Role::Relaxed => objects::with(address, |o| o.creation = Creation::Plain),
        Role::Synchronises => {}
    }
    release(current(), address);
    0
}

pub extern "C" fn after_atomic(address: usize) -> usize {
    acquire(current(), address);
    0
}

/// Before an atomic instruction that orders nothing: the variable is atomic, no more.
pub extern "C" fn before_relaxed(address: usize) -> usize {
    if role(address) == Role::Plain {
        range::clear(address, 1);
        objects::with(address, |o| o.creation = Creation::Relaxed);
    }
    0
}

/// Before a load that acquires. What it sees may be newer than the probe, so the acquire comes
/// after it.
pub extern "C" fn before_load(address: usize, _: usize, pc: usize) -> usize {
    current().acquires = address;
    super::acquiring_way(pc).unwrap_or_else(|| after_atomic(address))
}

/// After a load of a variable that synchronises.
pub extern "C" fn after_load() -> usize {
    let t = current();
    acquire(t, t.acquires);
    0
}

/// `movs` or `stos`. The direction is upwards: nobody sets the flag for the other.
pub extern "C" fn string(to: usize, operation: usize, pc: usize, count: usize, from: usize) -> usize {
    let has = |bit: u32| operation as u32 & bit != 0;
    let len = if has(string::REPEATS) { count } else { 1 } << (operation & 3);
    if super::are_scheduled() {
        super::scheduled::string(to, operation, pc, len, from);
        return 0;
    }
    let t = current();
    if has(string::LOADS) {
        range::access::<false>(t, from, len, pc);
    }
    range::access::<true>(t, to, len, pc);
    0
}
