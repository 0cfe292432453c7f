//! How far an execution has come, and how much of it is recorded.
//!
//! What is shared is known only at the end. There are two ways to record no more than that.
//!
//! **Record everything, and choose afterwards** ([`Records::All`]). One execution suffices. But an
//! access to a thread's own memory, which could be skipped in 2 ns, takes 7 ns and 5 bytes. That is
//! nothing beside the scheduler if a thread makes a few accesses between two steps, as in programs
//! whose threads work together. It is far too much if a thread computes in its own memory. So the
//! bytes are compared with the steps ([`TraceProgress::most`]): a hash table under locks has 40 per
//! step, a queue 160, a sweep over a grid two million.
//!
//! **Record what is known to be shared** ([`Records::Chosen`]), once the first way has become too
//! long: then a second execution records a part of it.

use raddle_explore::Op;

/// What is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Records {
    Nothing,
    /// The accesses that the mode chooses: while it learns what is shared, those to memory known to
    /// be shared.
    Chosen,
    All,
}

#[derive(Clone, Copy)]
pub struct TraceProgress {
    pub steps: u64,
    /// A digest of the steps.
    pub way: u64,
    /// The step count when the trace last learned that something is shared, or that there is too
    /// much to record.
    pub learned: u64,
    pub records: Records,
}

impl TraceProgress {
    pub const START: TraceProgress =
        TraceProgress { steps: 0, way: 0, learned: 0, records: Records::Nothing };

    /// Counts another step.
    #[inline]
    pub fn step(&mut self, op: &Op) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        self.steps += 1;
        let what = op.object ^ u64::from(op.site) << 17 ^ (op.kind() as u64) << 56;
        self.way = (self.way.rotate_left(5) ^ what).wrapping_mul(ODD);
    }

    /// True if nothing was learned for so long that it is likely to stay so.
    pub fn is_quiet(&self) -> bool {
        self.steps - self.learned >= self.learned / 8 + 3
    }

    /// The number of bytes that a recording of all accesses may have by now. A failed attempt costs
    /// no more than half a millisecond, and per step as much as three more steps.
    pub fn most(&self) -> usize {
        const AT_FIRST: usize = 1 << 18;
        const BY_STEP: usize = 256;
        AT_FIRST + self.steps as usize * BY_STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::OpKind;

    fn after(steps: u64) -> TraceProgress {
        let mut p = TraceProgress::START;
        (0..steps).for_each(|i| p.step(&Op::new(OpKind::Lock, 64 + i % 2 * 8, 7)));
        p
    }

    #[test]
    fn the_digest_is_of_the_steps_in_their_order() {
        assert_eq!(after(9).way, after(9).way);
        let mut other = after(8);
        other.step(&Op::new(OpKind::Unlock, 64, 7));
        assert_ne!(other.way, after(9).way);
        let (a, b) = (Op::new(OpKind::Lock, 64, 7), Op::new(OpKind::Lock, 72, 7));
        let (mut ab, mut ba) = (TraceProgress::START, TraceProgress::START);
        [a, b].iter().for_each(|op| ab.step(op));
        [b, a].iter().for_each(|op| ba.step(op));
        assert_ne!(ab.way, ba.way);
    }

    #[test]
    fn it_is_quiet_after_an_eighth_without_news() {
        let mut p = after(80);
        p.learned = 80;
        assert!(!p.is_quiet());
        (0..13).for_each(|_| p.step(&Op::new(OpKind::Lock, 8, 7)));
        assert!(p.is_quiet());
        assert!(!after(2).is_quiet() && after(3).is_quiet());
    }

    #[test]
    fn who_synchronises_more_may_record_more() {
        assert!(after(0).most() > 1 << 16, "a short program needs no steps");
        assert_eq!(after(1000).most() - after(0).most(), 256_000);
    }
}
