//! Sids: the 254 slot numbers that stand for threads in shadow.
//!
//! A sid's epochs only ever grow, until a flush has emptied the shadow. So a sid that its thread has given up can
//! serve another thread, which goes on where the first stopped. Accesses of one sid never race with each other, so
//! the second thread should be one that the first happened before; those are preferred, then sids never used.
//!
//! Invariants:
//! - A sid has at most one user at a time.
//! - A sid goes back to epoch 1 only in [`recycle`], after the shadow was emptied *and* its last user had left it
//!   before the emptying began. Clocks that still hold its old epochs are corrected by [`BORN`]: a thread that has
//!   not yet looked since may miss a race, but can not report a false one.

use core::sync::atomic::{AtomicU32, Ordering::*};

use super::clock::{Clock, HIGHEST};
use super::{chain, kept};
use crate::layout::{EPOCH_MAX, SID_MAX};
use crate::sys::{Shared, Spin};

/// A sid with fewer epochs left is not worth taking up again.
const WORTHWHILE: u16 = 256;
/// As long as fewer sids are in use, an unused one is better than one that could hide races.
const FEW: usize = 64;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Unused,
    InUse,
    /// Left by its thread at this epoch.
    Left(u16),
}

static LOCK: Spin = Spin::new();
static STATES: Shared<[State; SID_MAX + 1]> = Shared::new([State::Unused; SID_MAX + 1]);
/// Who has used a sid, from which epoch on. Bounded: the oldest are forgotten first.
static USERS: Shared<[[User; USERS_KEPT]; SID_MAX + 1]> =
    Shared::new([[User { from: 0, thread: u32::MAX }; USERS_KEPT]; SID_MAX + 1]);
const USERS_KEPT: usize = 16;

#[derive(Clone, Copy)]
struct User {
    from: u16,
    thread: u32,
}

/// Counts flushes that recycled sids.
pub static GENERATION: AtomicU32 = AtomicU32::new(0);
/// The generation in which a sid went back to epoch 1.
static BORN: [AtomicU32; SID_MAX + 1] = [const { AtomicU32::new(0) }; SID_MAX + 1];
/// The last epoch that each sid has published: what a thread of unknown origin is taken to have seen.
pub static PUBLISHED: [AtomicU32; SID_MAX + 1] = [const { AtomicU32::new(0) }; SID_MAX + 1];

/// All that was ever handed over.
pub fn published() -> Clock {
    Clock(core::array::from_fn(|sid| PUBLISHED.get(sid).map_or(0, |e| e.load(Relaxed) as u16)))
}

/// A sid and the first epoch to use, for a thread that has seen `clock` and has just worn out a sid (0: none). None: all
/// are in use or worn out.
pub fn take(clock: &Clock, thread: u32, worn: usize) -> Option<(usize, u32)> {
    let _guard = LOCK.lock();
    // SAFETY: STATES and USERS are only used under LOCK.
    let (states, users) = unsafe { (&mut *STATES.get(), &mut *USERS.get()) };
    let highest = states.iter().rposition(|s| *s != State::Unused).unwrap_or(0);
    let left = |sid: &usize| match states[*sid] {
        State::Left(e) if e < EPOCH_MAX as u16 - WORTHWHILE => Some(e),
        _ => None,
    };
    let seen = (1..=highest).find(|s| left(s).is_some_and(|e| clock.get(*s) >= e as u32));
    let unused = (highest < SID_MAX).then_some(highest + 1);
    let any = || (1..=highest).find(|s| left(s).is_some());
    let apart = seen.or(if highest < FEW { unused } else { None });
    let sid = apart.or_else(any).or(unused)?;
    if apart.is_none() && Some(sid) != unused {
        kept::distrust_stamps();
    }
    let first = left(&sid).unwrap_or(0) as u32 + 1;
    if first == 1 {
        // A flush may have let it start over meanwhile.
        let is_still = worn != 0 && states[worn] == State::Left(EPOCH_MAX as u16);
        chain::begin(sid, if is_still { worn } else { 0 });
    }
    states[sid] = State::InUse;
    HIGHEST.fetch_max(sid, Relaxed);
    users[sid].rotate_right(1);
    users[sid][0] = User { from: first as u16, thread };
    Some((sid, first))
}

/// The thread no longer uses `sid`; `epoch` was its last.
pub fn leave(sid: usize, epoch: u32) {
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    unsafe { (*STATES.get())[sid] = State::Left(epoch as u16) };
}

/// In the child of a fork: the threads that used the other sids are not there. What they have done is all over, to be joined by the
/// one that is. Nobody knows how far into an epoch each was, so their sids count as worn out.
pub fn outlived_by(own: usize) -> Clock {
    let _guard = LOCK.lock();
    let mut done = Clock::ZERO;
    // SAFETY: under LOCK.
    for (sid, state) in unsafe { &mut *STATES.get() }.iter_mut().enumerate().filter(|(sid, _)| *sid != own) {
        if *state == State::InUse {
            *state = State::Left(EPOCH_MAX as u16);
        }
        if let State::Left(last) = *state {
            done.set(sid, last as u32);
        }
    }
    done
}

/// Which thread used `sid` at `epoch`, as far back as is known.
pub fn user(sid: usize, epoch: u32) -> Option<u32> {
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    let users = unsafe { &(*USERS.get())[sid] };
    users.iter().find(|u| u.thread != u32::MAX && u.from as u32 <= epoch).map(|u| u.thread)
}

/// The sids that nobody uses now; to be given to [`recycle`] once the shadow is empty.
pub fn retired() -> [bool; SID_MAX + 1] {
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    let states = unsafe { &*STATES.get() };
    core::array::from_fn(|s| matches!(states[s], State::Left(_)))
}

/// The shadow holds nothing of these sids: they start over.
pub fn recycle(retired: &[bool; SID_MAX + 1]) {
    let _guard = LOCK.lock();
    let generation = GENERATION.load(Relaxed) + 1;
    for sid in (1..=SID_MAX).filter(|s| retired[*s]) {
        // SAFETY: under LOCK.
        unsafe {
            (*STATES.get())[sid] = State::Left(0);
            (*USERS.get())[sid].fill(User { from: 0, thread: u32::MAX });
        }
        PUBLISHED[sid].store(0, Relaxed);
        BORN[sid].store(generation, Relaxed);
    }
    chain::cut(retired);
    GENERATION.store(generation, Release);
}

/// Removes from `clock`, last correct in generation `since`, what it knows of sids that have started over.
pub fn correct(clock: &mut Clock, since: u32) {
    for (sid, born) in BORN.iter().enumerate() {
        if born.load(Relaxed) > since {
            clock.set(sid, 0);
        }
    }
}

/// Has `sid` started over since generation `since`?
pub fn is_born_after(sid: usize, since: u32) -> bool {
    BORN[sid].load(Relaxed) > since
}

pub fn reset_lock() {
    LOCK.reset();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because the pool is the process's.
    #[test]
    fn sids_are_taken_left_and_recycled() {
        let _alone = chain::alone();
        let mut clock = Clock::ZERO;
        let (a, first) = take(&clock, 7, 0).unwrap();
        let (b, _) = take(&clock, 8, 0).unwrap();
        assert_ne!(a, b);
        leave(a, first + 9);
        // Not seen by the next thread: an unused sid is better.
        let (c, _) = take(&clock, 9, 0).unwrap();
        assert_ne!(a, c);
        // Seen: the sid goes on behind the last epoch.
        clock.set(a, first + 9);
        assert_eq!(take(&clock, 10, 0), Some((a, first + 10)));
        assert_eq!((user(a, first), user(a, first + 9), user(a, first + 10)), (Some(7), Some(7), Some(10)));
        // Worn out: not taken again before a flush, and its epochs start over then.
        leave(a, EPOCH_MAX);
        clock.set(a, EPOCH_MAX);
        assert_ne!(take(&clock, 11, 0).unwrap().0, a);
        let since = GENERATION.load(Acquire);
        let retired = retired();
        assert!(retired[a] && !retired[b]);
        recycle(&retired);
        correct(&mut clock, since);
        assert_eq!(clock.get(a), 0);
        assert_eq!(user(a, 1), None);
        assert_eq!(take(&clock, 12, 0), Some((a, 1)));
        // A fork by the thread with `b`: the others' epochs are over, those left behind as well, and its own is not.
        leave(c, 5);
        let done = outlived_by(b);
        assert_eq!((done.get(a), done.get(b), done.get(c)), (EPOCH_MAX, 0, 5));
        assert_eq!(
            take(&done, 13, 0),
            Some((c, 6)),
            "a sid that was in use is worn out, one that was left is not"
        );
    }
}
