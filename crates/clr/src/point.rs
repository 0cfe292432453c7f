//! A point, as rewritten code comes to it.
//!
//! [`fast`] runs in cooperative mode: no collection can begin or be under way before it returns. So
//! it is short, waits for no managed code, and may read references. [`slow`] runs in preemptive
//! mode: it may sleep as long as it likes, and no collection waits for it.
//!
//! An object's number is its hash, which stays the same when the collector moves it, and its class.
//! Two objects may have one number; a trap compares the references themselves. That of the held
//! thread is in an argument whose address was taken, so the collector keeps it right while the
//! thread sleeps.
//!
//! Where the code does not tell the class of the object, [`known`] looks it up first, and [`find`]
//! gives the object that a wrapper reads: an enumerator's collection, the source of an iterator of
//! LINQ.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use raddle_tsvd::{ApiPoint, Delay, Host, MAX_SITES, Violation};

use crate::classes::{self, ClassKind};
use crate::lists::Operation;
use crate::order::Known;
use crate::profiling::{ClassId, RawFrame};
use crate::record::{CallEnd, ClrRecord, ClrViolation as Told};
use crate::rewrite::lock;
use crate::session::session;
use crate::sites;

/// Above the number of a site in what a probe is called with.
const WRITE: u32 = 1 << 30;
const REPLACES: u32 = 1 << REPLACES_BIT;
const REPLACES_BIT: u32 = 29;
const _: () = assert!(MAX_SITES <= REPLACES);

/// What a probe is called with for a site.
pub fn site_word(number: u32, operation: Operation) -> u32 {
    number | if operation.write { WRITE } else { 0 } | if operation.replaces { REPLACES } else { 0 }
}

/// The number of a site in such a word.
fn site_number(word: u32) -> u32 {
    word & !(WRITE | REPLACES)
}

/// Where a reference is.
type Slot = *const usize;

/// A thread that is held, for those who come.
struct HeldThread {
    /// A [`Slot`].
    slot: usize,
    site: u32,
    thread: u32,
    stack: OnceLock<Vec<RawFrame>>,
}

/// Who is held, and the class of the object that both are at.
type Caught = (Arc<HeldThread>, ClassId);

/// What a thread takes from [`fast`] to [`slow`].
struct Own {
    number: u32,
    /// A class that was met for the first time.
    unknown: ClassId,
    delay: Option<(Delay, Arc<HeldThread>)>,
    caught: Vec<Caught>,
    known: Known,
}

impl Own {
    fn new(number: u32) -> Own {
        Own { number, unknown: 0, delay: None, caught: Vec::new(), known: Known::new(number) }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        session().core.thread_gone(self.number, &mut Nobody);
    }
}

static THREADS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static OWN: UnsafeCell<Own> = UnsafeCell::new(Own::new(THREADS.fetch_add(1, Relaxed)));
}

/// The thread's own. Nothing that is called in `act` comes back here. None: the thread is ending.
fn with_own<T>(act: impl FnOnce(&mut Own) -> T) -> Option<T> {
    // SAFETY: this thread's, and no other reference to it is alive, as said above.
    OWN.try_with(|own| act(unsafe { &mut *own.get() })).ok()
}

/// The number of the thread, as in [`ApiPoint::thread`].
pub fn this_thread() -> u32 {
    with_own(|own| own.number).unwrap_or(u32::MAX)
}

/// What the thread knows of order. The same holds for `act`.
pub fn with_order<T>(act: impl FnOnce(&mut Known) -> T) -> Option<T> {
    with_own(|own| act(&mut own.known))
}

/// For calls of the core in which nobody is caught.
struct Nobody;

impl Host for Nobody {
    fn violation(&mut self, _: &Violation) {}

    fn relax(&mut self) {
        std::thread::yield_now();
    }
}

/// A thread at its point, in cooperative mode.
struct Here<'a> {
    slot: Slot,
    site: u32,
    caught: &'a mut Vec<Caught>,
    known: &'a Known,
}

impl Host for Here<'_> {
    fn mark(&mut self) -> u64 {
        self.known.mark()
    }

    fn is_ordered(&mut self, thread: u32, time: u64, mark: u64) -> bool {
        self.known.is_ordered(thread, time, mark) || self.known.is_after_class(self.site, thread, time)
    }

    fn has_waited_by_chance(&mut self, thread: u32, time: u64) -> bool {
        self.known.has_waited_by_chance(thread, time)
    }

    fn is_one_object(&mut self, violation: &Violation) -> bool {
        let held = violation.cookie as *const HeldThread;
        // SAFETY: the held thread cannot go on, and so not drop it, before this returns; the slot
        // is an argument of a method that it is in. No collection is under way, so both references
        // are of this moment.
        unsafe { *((*held).slot as Slot) == *self.slot }
    }

    fn violation(&mut self, violation: &Violation) {
        if violation.repeated {
            return;
        }
        // SAFETY: as above; this makes a second owner.
        let held = unsafe {
            Arc::increment_strong_count(violation.cookie as *const HeldThread);
            Arc::from_raw(violation.cookie as *const HeldThread)
        };
        // SAFETY: a reference that is not null.
        self.caught.push((held, unsafe { class_of(self.slot) }));
    }

    fn relax(&mut self) {
        std::hint::spin_loop();
    }
}

/// The class of what is referred to: the first word of an object.
///
/// # Safety
/// In cooperative mode, and the reference is not null.
unsafe fn class_of(slot: Slot) -> ClassId {
    // SAFETY: the caller's promise.
    unsafe { *(*slot as *const usize) }
}

/// What a helper is asked to do.
type Job = Box<dyn FnOnce() + Send>;

/// The helpers that have nothing to do.
static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// Most of the profiling interface is refused to a thread that came from managed code and is in no
/// callback. A thread that the runtime does not know may use it.
///
/// Such helpers are kept: a suite with 800 classes took 800 threads. There are as many as are asked
/// at once, since one may wait for a lock of the runtime that a thread has which asks, too.
fn elsewhere<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, answered) = sync_channel(1);
    let idle = lock(&IDLE).pop();
    let helper = idle.or_else(new_helper)?;
    helper.send(Box::new(move || _ = answer.send(act()))).ok()?;
    let answer = answered.recv().ok()?;
    lock(&IDLE).push(helper);
    Some(answer)
}

fn new_helper() -> Option<Sender<Job>> {
    let (jobs, to_do) = channel::<Job>();
    let work = move || to_do.into_iter().for_each(|job| job());
    std::thread::Builder::new().spawn(work).ok().map(|_| jobs)
}

pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A thread is about to make a listed call. Not zero: [`slow`] is to be called.
pub extern "C" fn fast(slot: Slot, hash: u32, site: u32) -> i32 {
    // SAFETY: the address of an argument of the probe.
    if unsafe { *slot } == 0 {
        return 0;
    }
    // SAFETY: as above, and not null.
    let class = unsafe { class_of(slot) };
    with_own(|own| i32::from(arrive(own, slot, object(hash, class, site), site))).unwrap_or(0)
}

/// What [`known`] answers; `Raddle.Probe.Through` has a case for each.
mod answer {
    /// The call is no point.
    pub const NOTHING: i32 = 0;
    /// The object is of a listed class.
    pub const ITSELF: i32 = 1;
    /// It reads one that [`super::find`] gives.
    pub const WRAPPED: i32 = 2;
    /// A class was met for the first time: [`super::slow`] finds out, and then it is asked again.
    pub const UNKNOWN: i32 = 3;
}

/// The listed object that `reference` is or reads, and how many wrappers are around it. An error: a
/// class that was met for the first time.
fn look_through(mut reference: usize) -> Result<Option<(usize, u32)>, ClassId> {
    const DEEPEST: u32 = 16;
    for depth in 0..DEEPEST {
        if reference == 0 {
            break;
        }
        // SAFETY: a reference in cooperative mode; the first word of an object is its class.
        let class = unsafe { *(reference as *const usize) };
        match classes::kind(class).ok_or(class)? {
            ClassKind::Listed => return Ok(Some((reference, depth))),
            ClassKind::Other => break,
            // SAFETY: the runtime has said that objects of this class have a reference there.
            ClassKind::Wrapper(offset) => {
                reference = unsafe { *((reference + offset as usize) as *const usize) }
            }
        }
    }
    Ok(None)
}

/// Called as managed code is. What there is to do with an object whose class the code does not
/// tell.
pub extern "C" fn known(slot: Slot) -> i32 {
    // SAFETY: the address of an argument of the probe.
    match look_through(unsafe { *slot }) {
        Ok(None) => answer::NOTHING,
        Ok(Some((_, 0))) => answer::ITSELF,
        Ok(Some(_)) => answer::WRAPPED,
        Err(class) => with_own(|own| own.unknown = class).map_or(answer::NOTHING, |()| answer::UNKNOWN),
    }
}

/// Called as managed code is, and so is its answer: the object that a wrapper reads, or null.
pub extern "C" fn find(reference: usize) -> usize {
    look_through(reference).ok().flatten().map_or(0, |(found, _)| found)
}

/// Hashes have 26 bits, and a class has an even address: the bit between tells calls that replace
/// the object from those that use it, so that they are never at one object.
fn object(hash: u32, class: ClassId, word: u32) -> u64 {
    const BETWEEN: u32 = 26;
    let replaces = u64::from(word >> REPLACES_BIT & 1) << BETWEEN;
    u64::from(hash) | (class as u64) << BETWEEN | replaces | 1 << 63
}

/// Whether there is something to do that takes time.
#[inline]
fn arrive(own: &mut Own, slot: Slot, object: u64, site: u32) -> bool {
    let core = session().core;
    let number = site_number(site);
    let point = ApiPoint { thread: own.number, site: number, object, write: site & WRITE != 0 };
    if number >= MAX_SITES || core.passes(&point, false) {
        return false;
    }
    let mut here = Here { slot, site: number, caught: &mut own.caught, known: &own.known };
    let delay = core.on_call(now(), &point, &mut here);
    if let Some(delay) = delay.filter(|delay| session().pay(delay)) {
        let (slot, site, thread) = (slot as usize, point.site, point.thread);
        let held = Arc::new(HeldThread { slot, site, thread, stack: OnceLock::new() });
        if core.trap_set(&delay, Arc::as_ptr(&held) as u64, &mut here) {
            own.delay = Some((delay, held));
        }
    }
    own.delay.is_some() || !own.caught.is_empty()
}

/// Called as managed code is, where a piece of work begins that a pool or a new thread was given.
pub extern "C" fn begin() {
    with_own(|own| session().core.work_begins(now(), own.number));
}

/// What takes time: finding out about a class, telling of a violation, sleeping. Not zero: [`fast`]
/// is to be asked again.
pub extern "C" fn slow(_slot: Slot, site: u32) -> i32 {
    let taken = with_own(|own| {
        let (unknown, delay) = (std::mem::take(&mut own.unknown), own.delay.take());
        (own.number, unknown, delay, std::mem::take(&mut own.caught))
    });
    let Some((thread, unknown, delay, caught)) = taken else { return 0 };
    if unknown != 0 {
        let kind = elsewhere(move || sites::kind_of(unknown)).unwrap_or(ClassKind::Other);
        classes::keep(unknown, kind);
        return 1;
    }
    let stack = session().info.stack();
    if let Some((_, held)) = &delay {
        _ = held.stack.set(stack.clone());
    }
    let site = site_number(site);
    for (held, class) in caught {
        let came = (thread, site, stack.clone());
        let held = (held.thread, held.site, held.stack.wait().clone());
        elsewhere(move || tell(class, came, held));
    }
    if let Some((delay, _held)) = delay {
        let end = delay.start + delay.nanos;
        while let left @ 1.. = end.saturating_sub(now()) {
            std::thread::sleep(Duration::from_nanos(left));
        }
        session().core.delay_done(now(), &delay, &mut Nobody);
    }
    0
}

/// Thread, site and stack.
type RawEnd = (u32, u32, Vec<RawFrame>);

fn tell(class: ClassId, came: RawEnd, held: RawEnd) {
    let (name, contract) = sites::contract(class, came.1);
    let end = |(thread, site, stack): RawEnd| CallEnd { thread, site, stack: sites::places(site, &stack) };
    session().write(&ClrRecord::Violation(Told {
        rule: contract.as_ref().map_or_else(String::new, |contract| contract.rule.clone()),
        documentation: contract.map_or_else(String::new, |contract| contract.documentation),
        class: name,
        ends: [end(came), end(held)],
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::ObjectPosition;

    #[test]
    fn a_word_has_the_site_and_what_it_does() {
        let operation =
            |write| Operation { write, object: ObjectPosition::This, checked: true, replaces: false };
        assert_eq!(site_word(7, operation(false)), 7);
        assert_eq!(site_word(7, operation(true)) & (MAX_SITES - 1), 7);
        assert_ne!(site_word(7, operation(true)), site_word(7, operation(false)));
    }

    #[test]
    fn objects_of_one_hash_and_two_classes_are_two() {
        assert_ne!(object(5, 0x7f00_0000_1000, 0), object(5, 0x7f00_0000_2000, 0));
        assert_ne!(object(0, 0, 0), 0, "the core wants a number that is not zero");
    }

    #[test]
    fn what_replaces_an_object_is_at_no_object_that_is_used() {
        let replaces =
            Operation { write: true, object: ObjectPosition::Argument(0), checked: false, replaces: true };
        let uses = Operation { replaces: false, ..replaces };
        let [replaces, uses] = [replaces, uses].map(|operation| site_word(7, operation));
        assert_eq!((site_number(replaces), site_number(uses)), (7, 7));
        assert_eq!(object(5, 0x7f00_0000_1000, 3), object(5, 0x7f00_0000_1000, uses));
        assert_ne!(object(5, 0x7f00_0000_1000, replaces), object(5, 0x7f00_0000_1000, uses));
    }
}
