//! Stacks, each stored once: where locks were taken, blocks allocated, threads created.
//!
//! A stack's number is the index of its words in one long run of memory: the count, whether it is
//! in the log yet, and the return addresses. Two stacks with the same 64-bit hash count as the
//! same.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

use super::thread::Thread;
use super::trace::ENTERED;
use crate::hub::log;
use crate::sys::{self, Shared, Spin};
use raddle_wire::record::Record;

/// The number of innermost frames kept of a stack.
const DEEPEST: usize = 48;
const ENTRIES: usize = 1 << 18;
const WORDS: usize = 1 << 25;

struct Memory {
    /// The hash and the number, by open addressing.
    index: *mut [AtomicU64; 2],
    words: *mut u64,
}

static LOCK: Spin = Spin::new();
static MEMORY: Shared<Memory> =
    Shared::new(Memory { index: core::ptr::null_mut(), words: core::ptr::null_mut() });
/// Number 0 is no stack.
static USED: AtomicUsize = AtomicUsize::new(8);
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub fn prepare() {
    // SAFETY: before the second thread.
    unsafe {
        *MEMORY.get() = Memory { index: sys::pages(ENTRIES * 16).cast(), words: sys::pages(WORDS * 8).cast() }
    }
}

/// The number of the thread's current stack, with `pc` on top. 0 if there is no room left.
#[inline]
pub fn current(t: &Thread, pc: usize) -> u32 {
    let depth = ((t.sp as usize).saturating_sub(t.trace.stack as usize) / 8).min(DEEPEST - 1);
    // A sum of products with separate factors: the products do not depend on one another.
    let mut hash = (pc as u64).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ depth as u64;
    let mut factor = 0x9e37_79b9_7f4a_7c15u64;
    for i in 1..=depth {
        // SAFETY: the topmost `depth` entries of the shadow stack.
        let frame = unsafe { *t.sp.sub(i) } & !ENTERED;
        hash = hash.wrapping_add((frame as u64).wrapping_mul(factor));
        factor = factor.wrapping_add(0x3c6e_f372_fe94_f82a);
    }
    let hash = (hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1;
    match find(hash) {
        Ok(number) => number,
        Err(at) => {
            let mut frames = [0; DEEPEST];
            let n = t.frames(pc, &mut frames);
            add(at, hash, &frames[..n])
        }
    }
}

/// The number of a stack given by its return addresses, innermost first.
pub fn number(frames: &[u64]) -> u32 {
    if frames.is_empty() {
        return 0;
    }
    let step = |h: u64, f: &u64| (h ^ f).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    let hash = frames.iter().fold(frames.len() as u64, step) | 1;
    find(hash).unwrap_or_else(|at| add(at, hash, frames))
}

fn entry(at: usize) -> &'static [AtomicU64; 2] {
    // SAFETY: `prepare` made room for ENTRIES entries; zero is valid.
    unsafe { &*(*MEMORY.get()).index.add(at % ENTRIES) }
}

/// The number, or the position where it would be entered.
#[inline]
fn find(hash: u64) -> Result<u32, usize> {
    let mut at = hash as usize >> 20;
    loop {
        let e = entry(at);
        match e[0].load(Acquire) {
            0 => return Err(at),
            h if h == hash => return Ok(e[1].load(Relaxed) as u32),
            _ => at += 1,
        }
    }
}

#[cold]
fn add(mut at: usize, hash: u64, frames: &[u64]) -> u32 {
    let _guard = LOCK.lock();
    let used = USED.load(Relaxed);
    if COUNT.load(Relaxed) > ENTRIES / 4 * 3 || used + frames.len() + 2 > WORDS {
        return 0;
    }
    while entry(at)[0].load(Acquire) != 0 {
        if entry(at)[0].load(Acquire) == hash {
            return entry(at)[1].load(Relaxed) as u32;
        }
        at += 1;
    }
    // SAFETY: the words from `used` on belong to nobody yet, and there are enough of them.
    unsafe {
        let words = (*MEMORY.get()).words.add(used);
        *words = frames.len() as u64;
        core::ptr::copy_nonoverlapping(frames.as_ptr(), words.add(2), frames.len());
    }
    USED.store(used + frames.len() + 2, Relaxed);
    COUNT.fetch_add(1, Relaxed);
    entry(at)[1].store(used as u64, Relaxed);
    entry(at)[0].store(hash, Release);
    used as u32
}

/// The return addresses of a stack, innermost first.
pub fn frames(number: u32) -> &'static [u64] {
    if number == 0 {
        return &[];
    }
    // SAFETY: numbers come from `add`, whose words no longer change.
    unsafe {
        let words = (*MEMORY.get()).words.add(number as usize);
        core::slice::from_raw_parts(words.add(2), *words as usize)
    }
}

/// Puts the stack into the log, once, so that a record can name it.
pub fn logged(number: u32) -> u64 {
    if number != 0 {
        // SAFETY: numbers come from `add`.
        unsafe {
            let words = (*MEMORY.get()).words.add(number as usize);
            if AtomicU64::from_ptr(words.add(1)).swap(1, Relaxed) == 0 {
                let pcs = core::slice::from_raw_parts(words.add(2), *words as usize);
                log::write(&Record::Stack { id: number as u64, pcs });
            }
        }
    }
    number as u64
}

/// In the child of a fork, whose log has no stacks yet.
pub fn reset_after_fork() {
    LOCK.reset();
    let used = USED.load(Relaxed);
    let mut at = 8;
    while at < used {
        // SAFETY: stacks are adjacent.
        unsafe {
            let words = (*MEMORY.get()).words.add(at);
            *words.add(1) = 0;
            at += *words as usize + 2;
        }
    }
}
