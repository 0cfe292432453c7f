//! Vector clocks of the runtime: one 14-bit epoch for each sid, joined eight at a time.

use core::arch::x86_64::*;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::layout::SID_MAX;

/// The last epoch of each sid that happened before. Entry 0 is unused.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub struct SidClock(pub [u16; SID_MAX + 2]);

/// The highest sid ever in use; loops over clocks stop there.
pub static HIGHEST: AtomicUsize = AtomicUsize::new(0);

pub fn lanes() -> usize {
    (HIGHEST.load(Relaxed) + 1).next_multiple_of(8).min(SID_MAX + 2)
}

impl SidClock {
    pub const ZERO: SidClock = SidClock([0; SID_MAX + 2]);

    #[inline]
    pub fn get(&self, sid: usize) -> u32 {
        self.0[sid] as u32
    }

    /// The known epoch of a slot's sid. On its own, the compiler would take the sid from a register
    /// that has a high byte, which it must save first.
    #[inline(always)]
    pub fn of_slot(&self, slot: u32) -> u32 {
        let mut offset = slot as usize;
        // SAFETY: changes only its register. There is a lane for each 8-bit sid.
        unsafe {
            core::arch::asm!("shr {0:e}, 7", "and {0:e}, 0x1fe", inout(reg) offset, options(pure, nomem, nostack));
            *self.0.as_ptr().byte_add(offset) as u32
        }
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

    pub fn copy(&mut self, other: &SidClock) {
        let n = lanes();
        self.0[..n].copy_from_slice(&other.0[..n]);
    }

    /// True if this clock covers all of `other`.
    pub fn covers(&self, other: &SidClock) -> bool {
        self.0[..lanes()].iter().zip(&other.0).all(|(a, b)| a >= b)
    }
}

#[inline]
pub fn join(to: &mut [u16], from: &[u16]) {
    for (a, b) in to.chunks_exact_mut(8).zip(from.chunks_exact(8)) {
        // SAFETY: both chunks have eight lanes, and unaligned loads and stores need nothing else.
        // Epochs are below 2^15, so the signed maximum is correct.
        unsafe {
            let (a, b) = (a.as_mut_ptr().cast::<__m128i>(), b.as_ptr().cast::<__m128i>());
            _mm_storeu_si128(a, _mm_max_epi16(_mm_loadu_si128(a), _mm_loadu_si128(b)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(of: &[(usize, u16)]) -> SidClock {
        let mut c = SidClock::ZERO;
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
        assert_eq!(a.of_slot(crate::layout::state(200, 77) | 0xff), 16000);
        assert!(a.covers(&clock(&[(8, 3)])) && !a.covers(&clock(&[(8, 4)])));
    }
}
