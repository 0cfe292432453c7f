//! Chains: the sids that one thread has worn out, one after the other.
//!
//! Each release uses up an epoch of its thread's sid. So a thread that passes messages back and
//! forth goes through hundreds of sids, and a clock that names them all has hundreds of lanes. But
//! whoever knows any epoch of a sid also knows all sids that its thread had worn out before, since
//! that thread did. So a kept clock names only the last sid of each chain ([`covers`]), and whoever
//! learns of that sid learns the rest from here ([`expand`]).
//!
//! Only a sid at epoch 1 joins a chain: one that another thread has used before does not tell its
//! epochs apart. A sid taken over from a thread that was not seen to end counts as known together
//! with its chain, as it counts as known itself ([`sids`]). This can hide a race, not invent one. A
//! chain ends where its sids start over; by then their accesses are gone from the shadow.
//!
//! [`sids`]: super::sids

use core::sync::atomic::{AtomicU32, Ordering::*};

use super::clock::SidClock;
use crate::layout::{EPOCH_MAX, SID_MAX};

struct Link {
    /// 0: none.
    chain: AtomicU32,
    rank: AtomicU32,
    /// The sid worn out before this one; 0: none.
    before: AtomicU32,
}

static LINKS: [Link; SID_MAX + 1] =
    [const { Link { chain: AtomicU32::new(0), rank: AtomicU32::new(0), before: AtomicU32::new(0) } };
        SID_MAX + 1];
static CHAINS: AtomicU32 = AtomicU32::new(1);

/// A thread that has worn out `before` (0: none) begins `sid` at epoch 1.
pub fn begin(sid: usize, before: usize) {
    let (link, last) = (&LINKS[sid], &LINKS[before]);
    let goes_on = before != 0 && last.chain.load(Relaxed) != 0;
    let chain = if goes_on { last.chain.load(Relaxed) } else { CHAINS.fetch_add(1, Relaxed) };
    link.chain.store(chain, Relaxed);
    link.rank.store(if goes_on { last.rank.load(Relaxed) + 1 } else { 0 }, Relaxed);
    link.before.store(if goes_on { before as u32 } else { 0 }, Relaxed);
}

/// True if knowing `sid` implies knowing all of `other`.
#[inline]
pub fn covers(sid: usize, other: usize) -> bool {
    let (a, b) = (&LINKS[sid], &LINKS[other]);
    let chain = a.chain.load(Relaxed);
    chain != 0 && chain == b.chain.load(Relaxed) && a.rank.load(Relaxed) > b.rank.load(Relaxed)
}

/// `clock` has just learned of `sid`, so it knows the chain up to there.
pub fn expand(clock: &mut SidClock, sid: usize) {
    let mut before = LINKS[sid].before.load(Relaxed) as usize;
    while before != 0 && clock.get(before) < EPOCH_MAX {
        clock.set(before, EPOCH_MAX);
        before = LINKS[before].before.load(Relaxed) as usize;
    }
}

/// Removes sids that start over from their chains.
pub fn cut(recycled: &[bool; SID_MAX + 1]) {
    for (sid, link) in LINKS.iter().enumerate() {
        if recycled[sid] {
            link.chain.store(0, Relaxed);
        }
        if recycled[sid] || recycled[link.before.load(Relaxed) as usize] {
            link.before.store(0, Relaxed);
        }
    }
}

/// The links are global to the process, so tests that use sids take turns, each with empty links.
#[cfg(test)]
pub fn alone() -> std::sync::MutexGuard<'static, ()> {
    static IN_USE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let guard = IN_USE.lock().unwrap_or_else(|e| e.into_inner());
    cut(&[true; SID_MAX + 1]);
    guard
}

#[cfg(test)]
mod tests {
    use super::super::clock::HIGHEST;
    use super::super::object_clock::{Kept, ReleaseStamp};
    use super::super::pairs::Pairs;
    use super::*;
    use proptest::prelude::*;

    /// Another test may have made sids start over.
    fn now() -> u32 {
        super::super::sids::GENERATION.load(Acquire)
    }

    struct Model {
        /// A lane for each sid.
        clock: SidClock,
        /// The pairs as the thread keeps them, brought up to date by what it learns.
        pairs: Pairs,
        sid: usize,
    }

    impl Model {
        fn release(&mut self, kept: &mut Kept, join: bool) {
            self.pairs.epochs[0] = self.clock.0[self.sid];
            let (clock, pairs) = (&self.clock, &self.pairs);
            let epoch = clock.0[self.sid];
            let snapshot = core::ptr::null_mut();
            let stamp =
                ReleaseStamp { clock, pairs, snapshot, sid: self.sid as u8, epoch, generation: now() };
            if join { kept.join(stamp) } else { kept.assign(stamp) }
        }

        fn wear_out(&mut self, next: usize) {
            self.clock.set(self.sid, EPOCH_MAX);
            begin(next, self.sid);
            self.sid = next;
            self.clock.set(next, 1);
            self.pairs = Pairs::of(&self.clock, next, now());
        }
    }

    #[derive(Debug, Clone)]
    enum Op {
        Step,
        Release { object: usize, join: bool },
        Acquire { object: usize },
        WearOut,
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            2 => Just(Op::Step),
            4 => (0..3usize, any::<bool>()).prop_map(|(object, join)| Op::Release { object, join }),
            4 => (0..3usize).prop_map(|object| Op::Acquire { object }),
            2 => Just(Op::WearOut),
        ]
    }

    /// Three threads that release into objects and acquire from them. Each kept clock is compared
    /// with a plain one that has all lanes.
    fn hold_against_plain_clocks(ops: Vec<(usize, Op)>) {
        let _alone = alone();
        HIGHEST.fetch_max(200, Relaxed);
        let mut fresh = 4;
        let mut threads: Vec<Model> = (1..=3)
            .map(|sid| {
                begin(sid, 0);
                let mut clock = SidClock::ZERO;
                clock.set(sid, 1);
                Model { pairs: Pairs::of(&clock, sid, now()), clock, sid }
            })
            .collect();
        let mut objects = [const { (Kept::EMPTY, SidClock::ZERO) }; 3];
        for (who, op) in ops {
            let t = &mut threads[who];
            match op {
                Op::Step => t.clock.0[t.sid] += 1,
                Op::Release { object, join } => {
                    let (kept, plain) = &mut objects[object];
                    t.release(kept, join);
                    if join {
                        plain.join(&t.clock.0)
                    } else {
                        *plain = t.clock
                    }
                    t.clock.0[t.sid] += 1;
                }
                Op::Acquire { object } => {
                    let (kept, plain) = &mut objects[object];
                    let mut wanted = t.clock;
                    wanted.join(&plain.0);
                    let pairs = &mut t.pairs;
                    kept.teach(&mut t.clock, now(), |sid, epoch| pairs.note(sid, epoch));
                    assert_eq!(t.clock.0, wanted.0);
                    assert!(t.pairs.iter().count() <= 3, "a sid that another stands for");
                }
                Op::WearOut => {
                    t.wear_out(fresh);
                    fresh += 1;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn pairs_say_what_all_lanes_say(ops in proptest::collection::vec((0..3usize, op()), 1..150)) {
            hold_against_plain_clocks(ops);
        }
    }

    #[test]
    fn a_chain_ends_where_its_sids_start_over() {
        let _alone = alone();
        begin(201, 0);
        begin(202, 201);
        begin(203, 202);
        assert!(covers(203, 201) && !covers(201, 203) && !covers(203, 203));
        let mut clock = SidClock::ZERO;
        expand(&mut clock, 203);
        assert_eq!((clock.get(201), clock.get(202), clock.get(203)), (EPOCH_MAX, EPOCH_MAX, 0));
        let mut recycled = [false; SID_MAX + 1];
        (recycled[201], recycled[202]) = (true, true);
        cut(&recycled);
        assert!(!covers(203, 201) && !covers(203, 202));
        let mut clock = SidClock::ZERO;
        expand(&mut clock, 203);
        assert_eq!((clock.get(201), clock.get(202)), (0, 0));
    }
}
