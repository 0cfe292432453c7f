//! What rewritten code calls, by way of the probe's class (`order_probe`), to tell of order.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use super::{Known, event};
use crate::class_constructors::ClassNumber;
use crate::force_async;
use crate::hand_overs::{
    Awaits, CHANCE, EVENT, GIVEN, HandOverKey, HandedOver, PHASE, SignalState, THREAD, keep, task,
};
use crate::locks::{self, HeldAs};
use crate::point::{now, this_thread, with_order};
use crate::semaphores;
use crate::session::session;

/// Called as managed code is: a lock, a semaphore, an event or a thread, with its hash.
pub extern "C" fn happened(reference: usize, hash: u32, what: u32) {
    match what {
        event::HOLDS | event::GOT_LOCK => return force_async::count_locks(1),
        // A mutex may be among the handles if there is one, and then counts as held for good: which
        // it is, and so what releases it, is not known.
        event::WAITED_FOR_SEVERAL => {
            return force_async::count_locks(i32::from(MUTEX.load(Relaxed) != 0));
        }
        event::LETS_GO => return force_async::count_locks(-1),
        _ if reference == 0 => return,
        _ => {}
    }
    let (lock, semaphore) = (locks::monitor(hash), locks::semaphore(hash));
    let held = |mode| locks::reader_writer(hash, mode);
    let (thread, event_key) = (THREAD | HandOverKey::from(hash), EVENT | HandOverKey::from(hash));
    // SAFETY: a reference in cooperative mode; the first word of an object is its class.
    let class = unsafe { *(reference as *const usize) };
    match what {
        event::WAITED_BY_CHANCE | event::WAITED_WITH_LIMIT if class == MUTEX.load(Relaxed) => {
            return enter_mutex(hash);
        }
        event::RELEASES_MUTEX => return leave_mutex(hash),
        event::MADE_MUTEX => return MUTEX.store(class, Relaxed),
        _ => {}
    }
    _ = with_order(|known| match what {
        event::LOCKED => known.lock(lock),
        event::UNLOCKS => known.unlock(lock),
        event::STARTS => known.hand_over(thread, now()),
        event::JOINED => known.take_over(thread),
        event::MADE_SOURCE => keep(event_key, |kept| *kept = HandedOver::of(SignalState::Made)),
        event::SETS => known.sets(event_key, now()),
        event::SIGNALS => known.hand_over(event_key, now()),
        event::RESETS | event::TRIES_TO_SET => make_void(event_key),
        event::WAITED => known.take_over(event_key),
        event::SETS_BY_CHANCE => known.hand_over(CHANCE | HandOverKey::from(hash), now()),
        event::WAITED_BY_CHANCE => known.waited_by_chance(CHANCE | HandOverKey::from(hash)),
        event::READS => known.lock(held(HeldAs::Read)),
        event::READS_TO_UPGRADE => known.lock(held(HeldAs::Upgradeable)),
        event::WRITES => known.lock(held(HeldAs::Write)),
        event::READ => known.unlock(held(HeldAs::Read)),
        event::READ_TO_UPGRADE => known.unlock(held(HeldAs::Upgradeable)),
        event::WROTE => known.unlock(held(HeldAs::Write)),
        event::MADE => semaphores::made(semaphore),
        event::WAITS => semaphores::waits(semaphore),
        event::GOT => known.got(semaphore),
        event::RELEASES | event::RELEASES_SEVERAL => known.releases(semaphore, what == event::RELEASES),
        _ => {}
    });
    match what {
        event::LOCKED | event::READS..=event::WRITES => force_async::count_locks(1),
        event::UNLOCKS | event::READ..=event::WROTE => force_async::count_locks(-1),
        _ => {}
    }
}

/// The class of mutexes, of which there are no others; zero: none was made yet. What waits for a
/// mutex waits for an event, as the code has it.
static MUTEX: AtomicUsize = AtomicUsize::new(0);

/// A thread has a mutex, which only that thread may release (`force_async`). This orders nothing:
/// many ways to release it are not seen. Where an exception says that another thread has ended with
/// it, nobody is told, and it is not known to be held.
fn enter_mutex(hash: u32) {
    const MOST: usize = 64;
    let is_kept = with_order(|known| {
        let is_kept = known.mutexes.len() < MOST;
        known.mutexes.extend(is_kept.then_some(hash));
        is_kept
    });
    force_async::count_locks(i32::from(is_kept == Some(true)));
}

fn leave_mutex(hash: u32) {
    let was_kept = with_order(|known| {
        let at = known.mutexes.iter().rposition(|held| *held == hash);
        at.map(|at| known.mutexes.remove(at)).is_some()
    });
    force_async::count_locks(-i32::from(was_kept == Some(true)));
}

/// Whoever waits for it need not come after those who have set it or signalled.
pub(super) fn make_void(event: HandOverKey) {
    keep(event, |kept| *kept = HandedOver::of(SignalState::Void));
}

/// Whether there may be others who set a source: a delegate was made of a method that does, whose
/// calls are not seen, or a method that was compiled tries to.
pub(super) static SETTERS_ARE_UNKNOWN: AtomicBool = AtomicBool::new(false);

pub fn forget_setters() {
    SETTERS_ARE_UNKNOWN.store(true, Relaxed);
}

/// A method is compiled that makes a delegate of one that means this event, or calls it in a way
/// that leaves no room to tell of it.
pub fn will_not_see(event: u32) {
    match event {
        event::SETS | event::TRIES_TO_SET => forget_setters(),
        event::UNLOCKS => locks::forget_kind(locks::monitor(0)),
        event::RELEASES | event::RELEASES_SEVERAL => locks::forget_kind(locks::semaphore(0)),
        event::READ..=event::WROTE => locks::forget_kind(locks::reader_writer(0, HeldAs::Read)),
        _ => {}
    }
}

/// Called as managed code is: a participant of a barrier, of which this is the hash, is about to
/// signal that it has come to the end of a phase.
pub extern "C" fn signals_phase(hash: u32, phase: u32) {
    _ = with_order(|known| known.hand_over(phase_key(hash, phase), now()));
}

/// Called as managed code is: all participants have come to the end of a phase.
pub extern "C" fn phase_ended(hash: u32, phase: u32) {
    _ = with_order(|known| known.take_over(phase_key(hash, phase)));
}

pub(super) fn phase_key(hash: u32, phase: u32) -> HandOverKey {
    PHASE | HandOverKey::from(phase) << 26 | HandOverKey::from(hash)
}

/// Called as managed code is: a task ends when a source, of which this is the hash, is set.
pub extern "C" fn ends_with(hash: u32, id: u32) {
    let source = EVENT | HandOverKey::from(hash);
    keep(task(id), |kept| {
        if !kept.after.contains(&source) {
            kept.after.push(source);
        }
    });
}

/// Called as managed code is, where a static constructor begins. What [`ends`] is to be called
/// with.
pub extern "C" fn begins_class(class: ClassNumber) -> u32 {
    let on_stack = 0_u8;
    with_order(|known| known.begin_class(&raw const on_stack as usize, class, now())).unwrap_or(0)
}

/// Called as managed code is: a task, by its number.
pub extern "C" fn task_happened(id: u32, what: u32) {
    if what == event::SUSPENDED {
        force_async::suspended(this_thread(), id);
    }
    _ = with_order(|known| match what {
        event::FORKED => known.forked(task(id)),
        event::DONE => known.done(id),
        event::SUSPENDED => known.suspended(task(id)),
        _ => {}
    });
}

/// Called as managed code is, before a call that makes a task or ends an asynchronous method.
pub extern "C" fn hands_over() {
    _ = with_order(|known| known.hands_over(now()));
}

/// Called as managed code is, before a part of an asynchronous method ends that goes on later.
/// `depth`: what [`resumes`] gave; zero: it is the first part.
pub extern "C" fn suspends(depth: u32) {
    _ = with_order(|known| known.suspends(depth == 0, now()));
}

/// Called as managed code is: a task ends when a semaphore, of which this is the hash, is got.
pub extern "C" fn awaits(hash: u32, id: u32) {
    _ = with_order(|known| {
        if let Some(piece) = known.pieces.last_mut() {
            piece.awaits = Some(Awaits { task: id, semaphore: locks::semaphore(hash) });
        }
    });
}

/// Called as managed code is: a task was made that runs after another.
pub extern "C" fn continues(before: u32, id: u32) {
    keep(task(id), |kept| add(&mut kept.began_after, task(before)));
}

/// Called as managed code is: a task was made that ends after another.
pub extern "C" fn ends_after(before: u32, id: u32) {
    comes_after(task(id), task(before));
}

fn comes_after(later: HandOverKey, before: HandOverKey) {
    keep(later, |kept| add(&mut kept.after, before));
}

/// Of many tasks the first ones will do.
fn add(keys: &mut Vec<HandOverKey>, key: HandOverKey) {
    const MOST: usize = 16;
    if keys.len() < MOST {
        keys.push(key);
    }
}

pub(super) fn given(hash: u32) -> HandOverKey {
    GIVEN | HandOverKey::from(hash)
}

/// Called as managed code is: `Task.Run` is about to be given what makes a task, in a box with this
/// hash.
pub extern "C" fn gives(hash: u32) {
    _ = with_order(|known| known.hand_over(given(hash), now()));
}

/// Called as managed code is: the task that `Task.Run` gives, which ends when the one has ended
/// that is made of what is in the box.
pub extern "C" fn runs_given(hash: u32, id: u32) {
    comes_after(task(id), given(hash));
}

/// Called as managed code is: what is in the box begins. What [`ends`] is to be called with.
pub extern "C" fn begins_given(hash: u32, task_id: u32) -> u32 {
    let (on_stack, now) = (0_u8, now());
    begin(now, |known| known.begin_given(&raw const on_stack as usize, given(hash), task_id, now))
}

/// Called as managed code is: it has made this task.
pub extern "C" fn made_by_given(hash: u32, id: u32) {
    comes_after(given(hash), task(id));
}

/// Called as managed code is, where a piece of work begins. What [`ends`] is to be called with.
pub extern "C" fn begins(task_id: u32, thread_hash: u32) -> u32 {
    let (on_stack, now) = (0_u8, now());
    begin(now, |known| known.begin_work(&raw const on_stack as usize, task_id, thread_hash, now))
}

/// Called as managed code is, where a part of an asynchronous method begins that is not its first.
pub extern "C" fn resumes(id: u32) -> u32 {
    force_async::resumed(id);
    let (on_stack, now) = (0_u8, now());
    begin(now, |known| known.begin(&raw const on_stack as usize, task(id), now))
}

fn begin(now: u64, begin: impl FnOnce(&mut Known) -> u32) -> u32 {
    let begun = with_order(|known| {
        let depth = begin(known);
        if depth != 0 {
            session().core.work_begins(now, known.number);
        }
        depth
    });
    begun.unwrap_or(0)
}

/// Called as managed code is, where a piece of work ends.
pub extern "C" fn ends(depth: u32) {
    if depth != 0 {
        _ = with_order(|known| known.end(depth, now()));
    }
}
