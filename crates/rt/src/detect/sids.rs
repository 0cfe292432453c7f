//! Sids: the 254 slot numbers that stand for threads in the shadow.
//!
//! A sid's epochs only grow, until a flush has emptied the shadow. So when a thread gives up a sid,
//! another thread can take it and continue where the first stopped. Accesses of one sid never race
//! with each other, so the first thread should have happened before the second. Such sids are
//! preferred, then sids never used, then the others in turn.
//!
//! Invariants:
//! - A sid has at most one user at a time.
//! - A sid goes back to epoch 1 only in [`recycle`], after the shadow was emptied, *if* its last
//!   user had left it before the emptying began *and* nobody has taken it since. [`BORN`] corrects
//!   clocks that still hold its old epochs. A thread that has not looked at it yet may miss a race,
//!   but cannot report a false one.

use core::sync::atomic::{AtomicU32, Ordering::*};

use super::clock::{HIGHEST, SidClock};
use super::{chain, object_clock};
use crate::layout::{EPOCH_MAX, SID_MAX};
use crate::sys::{Shared, Spin};

/// A sid with fewer epochs left is not worth taking again.
const WORTHWHILE: u16 = 256;
/// While fewer sids than this are in use, an unused one is preferred to one that could hide races.
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
/// Who has used a sid, and from which epoch on. Bounded: the oldest are forgotten first.
static USERS: Shared<[[User; USERS_KEPT]; SID_MAX + 1]> =
    Shared::new([[User { from: 0, thread: u32::MAX }; USERS_KEPT]; SID_MAX + 1]);
const USERS_KEPT: usize = 16;
/// The sid that was last given to a thread that had not seen its last user end. Such sids are given
/// out in turn, because those who share one do not race with each other: one for all would hide all
/// of their races.
static LAST_SHARED: Shared<usize> = Shared::new(0);

#[derive(Clone, Copy)]
struct User {
    from: u16,
    thread: u32,
}

/// Counts flushes that recycled sids.
pub static GENERATION: AtomicU32 = AtomicU32::new(0);
/// The generation in which a sid went back to epoch 1.
static BORN: [AtomicU32; SID_MAX + 1] = [const { AtomicU32::new(0) }; SID_MAX + 1];
/// What the user of a sid notes at each release. Each has its own cache line, so that threads that
/// release at the same time do not contend.
#[repr(align(64))]
struct Progress {
    /// The last epoch that was handed over. A thread of unknown origin counts as having seen it.
    published: AtomicU32,
    /// The last epoch that was begun. A slot with a later epoch is from before the sid started
    /// over.
    latest: AtomicU32,
}
static PROGRESS: [Progress; SID_MAX + 1] =
    [const { Progress { published: AtomicU32::new(0), latest: AtomicU32::new(0) } }; SID_MAX + 1];

/// The user of `sid` hands over what it has done up to `epoch`.
#[inline]
pub fn publishes(sid: usize, epoch: u32) {
    PROGRESS[sid].published.store(epoch, Relaxed);
}

/// The last epoch of `sid` that was handed over.
pub fn last_published(sid: usize) -> u32 {
    PROGRESS[sid].published.load(Acquire)
}

/// The user of `sid` begins `epoch`.
#[inline]
pub fn entered(sid: usize, epoch: u32) {
    // In hybrid mode a thread may return to an earlier epoch. Nobody else writes while the sid is
    // in use.
    let latest = &PROGRESS[sid].latest;
    if latest.load(Relaxed) < epoch {
        latest.store(epoch, Relaxed);
    }
}

/// True if `sid` can have made an access in `epoch` since it last started over.
pub fn has_reached(sid: usize, epoch: u32) -> bool {
    // The user notes its epoch before it records an access, and x86 keeps stores in order.
    PROGRESS.get(sid).is_none_or(|p| p.latest.load(Relaxed) >= epoch)
}

/// True if `sid` has ever started over.
pub fn has_started_over(sid: usize) -> bool {
    BORN[sid].load(Relaxed) > 0
}

/// Everything that was ever handed over.
pub fn published() -> SidClock {
    SidClock(core::array::from_fn(|sid| PROGRESS.get(sid).map_or(0, |p| p.published.load(Relaxed) as u16)))
}

/// Everything up to now: each sid with the last epoch that it has begun.
pub fn begun() -> SidClock {
    SidClock(core::array::from_fn(|sid| PROGRESS.get(sid).map_or(0, |p| p.latest.load(Relaxed) as u16)))
}

/// True if no sids have started over since `generation`.
pub fn is_current(generation: u32) -> bool {
    GENERATION.load(Acquire) == generation
}

/// A sid and its first epoch, for a thread that has seen `clock`, correct in `generation`, and has
/// just worn out the sid `worn` (0: none). None if all are in use or worn out.
pub fn take(clock: &SidClock, generation: u32, thread: u32, worn: usize) -> Option<(usize, u32)> {
    let _guard = LOCK.lock();
    // SAFETY: STATES and USERS are only used under LOCK.
    let (states, users) = unsafe { (&mut *STATES.get(), &mut *USERS.get()) };
    let highest = states.iter().rposition(|s| *s != State::Unused).unwrap_or(0);
    let left = |sid: &usize| match states[*sid] {
        State::Left(e) if e < EPOCH_MAX as u16 - WORTHWHILE => Some(e),
        _ => None,
    };
    // What the clock knows of a sid that has started over since is obsolete.
    let known = |sid: usize| if is_born_after(sid, generation) { 0 } else { clock.get(sid) };
    let seen = (1..=highest).find(|s| left(s).is_some_and(|e| known(*s) >= e as u32));
    let unused = (highest < SID_MAX).then_some(highest + 1);
    // SAFETY: as above.
    let last = unsafe { &mut *LAST_SHARED.get() };
    let any = || (*last + 1..=highest).chain(1..=*last).find(|s| left(s).is_some());
    let apart = seen.or(if highest < FEW { unused } else { None });
    let sid = apart.or_else(any).or(unused)?;
    if apart.is_none() && Some(sid) != unused {
        object_clock::distrust_stamps();
        *last = sid;
    }
    let first = left(&sid).unwrap_or(0) as u32 + 1;
    if first == 1 {
        // A flush may have made `worn` start over meanwhile.
        let is_still = worn != 0 && states[worn] == State::Left(EPOCH_MAX as u16);
        chain::begin(sid, if is_still { worn } else { 0 });
    }
    states[sid] = State::InUse;
    HIGHEST.fetch_max(sid, Relaxed);
    if users[sid][0].thread != thread {
        users[sid].rotate_right(1);
        users[sid][0] = User { from: first as u16, thread };
    }
    Some((sid, first))
}

/// How many sids are in use.
pub fn in_use() -> usize {
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    unsafe { &*STATES.get() }.iter().filter(|s| **s == State::InUse).count()
}

/// How many forks led to this process. In the child, sids of contexts that were put aside in the
/// parent are worn out.
static FORKS: AtomicU32 = AtomicU32::new(0);

pub fn forks() -> u32 {
    FORKS.load(Relaxed)
}

/// The thread stops using `sid`; `epoch` was its last.
pub fn leave(sid: usize, epoch: u32) {
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    unsafe { (*STATES.get())[sid] = State::Left(epoch as u16) };
}

/// In the child of a fork, the threads that used the other sids are gone. Returns everything they
/// did, for the remaining thread to join. Nobody knows how far into an epoch each was, so their
/// sids count as worn out.
pub fn outlived_by(own: usize) -> SidClock {
    let _guard = LOCK.lock();
    FORKS.fetch_add(1, Relaxed);
    let mut done = SidClock::ZERO;
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

/// For each sid that is not in use, the epoch at which it was left. [`recycle`] takes this once the
/// shadow is empty.
pub type Retired = [Option<u16>; SID_MAX + 1];

pub fn retired() -> Retired {
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    let states = unsafe { &*STATES.get() };
    core::array::from_fn(|s| match states[s] {
        State::Left(e) => Some(e),
        _ => None,
    })
}

/// Makes these sids start over, since the shadow holds nothing of them. The exception is a sid that
/// a new thread took while the shadow was being emptied, even if it has left it again: its accesses
/// may be in the shadow.
pub fn recycle(retired: &Retired) {
    let _guard = LOCK.lock();
    let generation = GENERATION.load(Relaxed) + 1;
    let mut recycled = [false; SID_MAX + 1];
    for sid in 1..=SID_MAX {
        // SAFETY: under LOCK.
        let state = unsafe { &mut (*STATES.get())[sid] };
        if retired[sid].is_none_or(|left| *state != State::Left(left)) {
            continue;
        }
        *state = State::Left(0);
        recycled[sid] = true;
        // SAFETY: under LOCK.
        unsafe { (*USERS.get())[sid].fill(User { from: 0, thread: u32::MAX }) };
        PROGRESS[sid].published.store(0, Relaxed);
        PROGRESS[sid].latest.store(0, Relaxed);
        BORN[sid].store(generation, Relaxed);
    }
    chain::cut(&recycled);
    GENERATION.store(generation, Release);
}

/// Removes from `clock`, last correct in generation `since`, what it knows of sids that have
/// started over.
pub fn correct(clock: &mut SidClock, since: u32) {
    for (sid, born) in BORN.iter().enumerate() {
        if born.load(Relaxed) > since {
            clock.set(sid, 0);
        }
    }
}

/// True if `sid` has started over since generation `since`.
pub fn is_born_after(sid: usize, since: u32) -> bool {
    BORN[sid].load(Relaxed) > since
}

pub fn reset_lock() {
    LOCK.reset();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because the pool is global to the process.
    #[test]
    fn sids_are_taken_left_and_recycled() {
        let _alone = chain::alone();
        let mut clock = SidClock::ZERO;
        let (a, first) = take(&clock, GENERATION.load(Acquire), 7, 0).unwrap();
        let (b, _) = take(&clock, GENERATION.load(Acquire), 8, 0).unwrap();
        assert_ne!(a, b);
        leave(a, first + 9);
        // Not seen by the next thread: an unused sid is better.
        let (c, _) = take(&clock, GENERATION.load(Acquire), 9, 0).unwrap();
        assert_ne!(a, c);
        // Seen: the sid continues after the last epoch.
        clock.set(a, first + 9);
        assert_eq!(take(&clock, GENERATION.load(Acquire), 10, 0), Some((a, first + 10)));
        assert_eq!((user(a, first), user(a, first + 9), user(a, first + 10)), (Some(7), Some(7), Some(10)));
        // Worn out: not taken again before a flush, and its epochs start over then.
        leave(a, EPOCH_MAX);
        clock.set(a, EPOCH_MAX);
        assert_ne!(take(&clock, GENERATION.load(Acquire), 11, 0).unwrap().0, a);
        let since = GENERATION.load(Acquire);
        let retired = retired();
        assert!(retired[a].is_some() && retired[b].is_none());
        recycle(&retired);
        correct(&mut clock, since);
        assert_eq!(clock.get(a), 0);
        assert_eq!(user(a, 1), None);
        assert_eq!(take(&clock, GENERATION.load(Acquire), 12, 0), Some((a, 1)));
        entered(a, 1);
        assert!(has_started_over(a) && has_reached(a, 1) && !has_reached(a, 2));
        // Left, and taken again during a flush, by one thread that continues and one that has left
        // it already.
        let (d, first) = take(&clock, GENERATION.load(Acquire), 20, 0).unwrap();
        leave(d, first);
        clock.set(d, first);
        let retired = self::retired();
        assert_eq!(take(&clock, GENERATION.load(Acquire), 21, 0), Some((d, first + 1)));
        recycle(&retired);
        assert_eq!(user(d, first + 1), Some(21), "it is still in use");
        leave(d, first + 1);
        recycle(&retired);
        assert_eq!(user(d, first + 1), Some(21), "its accesses may be in the shadow");
        // An epoch from before the sid started over: not seen, whatever the clock says.
        let since = GENERATION.load(Acquire);
        leave(a, 9);
        recycle(&self::retired());
        let (again, first) = take(&SidClock::ZERO, GENERATION.load(Acquire), 23, 0).unwrap();
        assert_eq!(first, 1);
        leave(again, 7);
        let mut before = SidClock::ZERO;
        before.set(again, EPOCH_MAX);
        assert_ne!(take(&before, since, 24, 0).map(|got| got.0), Some(again));
        assert_eq!(take(&before, GENERATION.load(Acquire), 24, 0).map(|got| got.0), Some(again));
        let (a, _) = take(&SidClock::ZERO, GENERATION.load(Acquire), 25, 0).unwrap();
        // A fork by the thread with `b`: all other epochs are over, including those of sids left
        // before, but its own is not.
        leave(c, 5);
        let done = outlived_by(b);
        assert_eq!((done.get(a), done.get(b), done.get(c)), (EPOCH_MAX, 0, 5));
        assert_eq!(
            take(&done, GENERATION.load(Acquire), 13, 0),
            Some((c, 6)),
            "a sid that was in use is worn out, one that was left is not"
        );
    }
}
