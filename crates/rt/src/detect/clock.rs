//! Vector clocks of the runtime: one 14-bit epoch for each sid, joined eight at a time.

use core::arch::x86_64::*;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::layout::SID_MAX;
use crate::sys;

/// The last epoch of each sid that happened before. Entry 0 is unused.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub struct Clock(pub [u16; SID_MAX + 2]);

/// The highest sid ever in use; loops over clocks stop there.
pub static HIGHEST: AtomicUsize = AtomicUsize::new(0);

fn lanes() -> usize {
    (HIGHEST.load(Relaxed) + 1).next_multiple_of(8).min(SID_MAX + 2)
}

impl Clock {
    pub const ZERO: Clock = Clock([0; SID_MAX + 2]);

    #[inline]
    pub fn get(&self, sid: usize) -> u32 {
        self.0[sid] as u32
    }

    #[inline]
    pub fn set(&mut self, sid: usize, epoch: u32) {
        self.0[sid] = epoch as u16;
    }

    #[inline]
    pub fn join(&mut self, other: &[u16]) {
        let n = lanes().min(other.len());
        join(&mut self.0[..n], &other[..n]);
    }

    pub fn copy(&mut self, other: &Clock) {
        let n = lanes();
        self.0[..n].copy_from_slice(&other.0[..n]);
    }

    /// True if all of `other` is in here.
    pub fn covers(&self, other: &Clock) -> bool {
        self.0[..lanes()].iter().zip(&other.0).all(|(a, b)| a >= b)
    }
}

#[inline]
fn join(to: &mut [u16], from: &[u16]) {
    for (a, b) in to.chunks_exact_mut(8).zip(from.chunks_exact(8)) {
        // SAFETY: both chunks have eight lanes; unaligned loads and stores need no more. Epochs are below 2^15, so
        // the signed maximum is the right one.
        unsafe {
            let (a, b) = (a.as_mut_ptr().cast::<__m128i>(), b.as_ptr().cast::<__m128i>());
            _mm_storeu_si128(a, _mm_max_epi16(_mm_loadu_si128(a), _mm_loadu_si128(b)));
        }
    }
}

/// A clock kept with a synchronisation object: as many lanes as were in use when it was last written.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Kept {
    at: *mut u16,
    lanes: u32,
    capacity: u32,
}

impl Kept {
    pub const EMPTY: Kept = Kept { at: core::ptr::null_mut(), lanes: 0, capacity: 0 };

    pub fn is_empty(&self) -> bool {
        self.lanes == 0
    }

    #[inline]
    pub fn as_slice(&self) -> &[u16] {
        if self.lanes == 0 {
            return &[];
        }
        // SAFETY: `at` has `capacity >= lanes` entries, all written.
        unsafe { core::slice::from_raw_parts(self.at, self.lanes as usize) }
    }

    /// Becomes `clock`.
    #[inline]
    pub fn assign(&mut self, clock: &Clock) {
        let n = lanes();
        self.make_room(n);
        self.lanes = n as u32;
        // SAFETY: room for n entries was just made.
        unsafe { core::ptr::copy_nonoverlapping(clock.0.as_ptr(), self.at, n) }
    }

    #[inline]
    pub fn join(&mut self, clock: &Clock) {
        if self.lanes == 0 {
            return self.assign(clock);
        }
        let n = lanes();
        self.make_room(n);
        // SAFETY: room for n entries; those past `lanes` are written before they are read.
        unsafe {
            let old = self.lanes as usize;
            if n > old {
                core::ptr::write_bytes(self.at.add(old), 0, n - old);
                self.lanes = n as u32;
            }
            join(core::slice::from_raw_parts_mut(self.at, n), &clock.0[..n]);
        }
    }

    /// Forgets, but keeps the room.
    pub fn clear(&mut self) {
        self.lanes = 0;
    }

    fn make_room(&mut self, n: usize) {
        if n <= self.capacity as usize {
            return;
        }
        // What is outgrown is left: a clock grows at most three times.
        let capacity = [32, 128, SID_MAX + 2].into_iter().find(|c| *c >= n).unwrap_or(SID_MAX + 2);
        let at = sys::ARENA.take(capacity * 2).cast::<u16>();
        // SAFETY: the old lanes fit in the new room.
        unsafe { core::ptr::copy_nonoverlapping(self.at, at, self.lanes as usize) };
        self.at = at;
        self.capacity = capacity as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(of: &[(usize, u16)]) -> Clock {
        let mut c = Clock::ZERO;
        for (s, e) in of {
            c.0[*s] = *e;
        }
        c
    }

    #[test]
    fn join_takes_the_later_of_each() {
        HIGHEST.fetch_max(200, Relaxed);
        let mut a = clock(&[(1, 5), (9, 7), (200, 16000)]);
        a.join(&clock(&[(1, 6), (8, 3), (200, 2)]).0);
        assert_eq!([1, 8, 9, 200].map(|s| a.get(s)), [6, 3, 7, 16000]);
        assert!(a.covers(&clock(&[(8, 3)])) && !a.covers(&clock(&[(8, 4)])));
    }

    #[test]
    fn a_kept_clock_assigns_joins_and_forgets() {
        HIGHEST.fetch_max(200, Relaxed);
        let mut k = Kept::EMPTY;
        assert!(k.as_slice().is_empty());
        k.join(&clock(&[(3, 4)]));
        k.join(&clock(&[(3, 2), (150, 9)]));
        assert_eq!((k.as_slice()[3], k.as_slice()[150]), (4, 9));
        k.assign(&clock(&[(2, 1)]));
        assert_eq!((k.as_slice()[2], k.as_slice()[3]), (1, 0));
        k.clear();
        assert!(k.is_empty());
    }
}
