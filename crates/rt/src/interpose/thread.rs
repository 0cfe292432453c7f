//! Threads: creation, end, join, names.
//!
//! A thread is described by its card, which its creator makes. A thread ends when the destructor of
//! the runtime's key runs for the last time: after the destructors of `thread_local` objects and of
//! the program's own keys, however the thread came to end.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering::*};

use super::access::Call;
use super::caller::in_program;
use super::interpose;
use super::stack_size::{make_room_by_default, with_room};
use crate::detect::thread::{Card, Current, ThreadStart, current, new_card};
use crate::detect::{depot, misuse, objects, range, sids, sync};
use crate::explore::{self, sync::Until, threads::WaitLimit};
use crate::hub::{is_active, log, modules};
use crate::sys::{self, Shared, Spin};
use crate::trace::plain;
use crate::tsvd::sync as tsvd_sync;
use raddle_explore::OpKind;
use raddle_wire::record::Record;

unsafe extern "C" {
    fn pthread_key_create(key: *mut u32, destructor: unsafe extern "C" fn(*mut c_void)) -> c_int;
    fn pthread_setspecific(key: u32, value: *const c_void) -> c_int;
    fn pthread_self() -> usize;
    fn pthread_getattr_np(thread: usize, attributes: *mut libc::pthread_attr_t) -> c_int;
    fn pthread_attr_getstack(a: *const libc::pthread_attr_t, at: *mut usize, size: *mut usize) -> c_int;
    fn pthread_attr_destroy(a: *mut libc::pthread_attr_t) -> c_int;
    fn pthread_attr_getdetachstate(a: *const c_void, state: *mut c_int) -> c_int;
}

static KEY: AtomicU32 = AtomicU32::new(u32::MAX);

/// glibc calls destructors at most this often.
const ROUNDS: usize = 4;

unsafe extern "C" {
    fn __cxa_atexit(f: extern "C" fn(), argument: *mut c_void, dso: *mut c_void) -> c_int;
}

/// A return from main ends the process without a call that could be interposed.
fn finish_reports_at_exit() {
    static DONE: AtomicU32 = AtomicU32::new(0);
    if DONE.swap(1, Relaxed) == 0 {
        // SAFETY: a function without arguments may be called with one.
        unsafe { __cxa_atexit(at_exit, core::ptr::null_mut(), core::ptr::null_mut()) };
    }
}

/// What is left to do when all handlers of the program, which were registered later, have run.
extern "C" fn at_exit() {
    misuse::leaked_threads();
    // Modules loaded since may be uninstrumented.
    modules::refresh();
    super::exit_wait::let_threads_run();
    super::process::finish_reports();
}

/// Called before the first thread.
pub fn prepare() {
    finish_reports_at_exit();
    let mut key = 0;
    // SAFETY: a plain call; the key lives as long as the process.
    if unsafe { pthread_key_create(&mut key, thread_ends) } == 0 {
        KEY.store(key, Relaxed);
    }
}

unsafe extern "C" fn thread_ends(rounds: *mut c_void) {
    if (rounds as usize) < ROUNDS {
        // SAFETY: the runtime's key. Other destructors may still run; this one comes last.
        unsafe { pthread_setspecific(KEY.load(Relaxed), (rounds as usize + 1) as *const c_void) };
        return;
    }
    end(current());
}

fn end(mut t: Current) {
    if !t.known {
        return;
    }
    let _inside = t.enter();
    // SAFETY: a known thread has a card.
    let card = unsafe { &*t.card };
    if card.detached.load(Relaxed) {
        forget_handle(card);
    }
    let stack = card.stack.get();
    misuse::ends_holding(&mut t);
    // A robust mutex goes to the next owner with everything that this thread did.
    while let Some(key) = t.held.first() {
        sync::unlocking(t, key);
    }
    log::write(&Record::ThreadEnd { thread: card.id as u64 });
    t.end();
    objects::remove_range(stack.0, stack.1 - stack.0);
}

/// The running thread's stack, including its thread-local storage.
pub fn own_stack() -> (usize, usize) {
    // SAFETY: glibc fills in the attributes of the calling thread.
    unsafe {
        let mut attributes = core::mem::zeroed();
        if pthread_getattr_np(pthread_self(), &mut attributes) != 0 {
            return (0, 0);
        }
        let (mut at, mut size) = (0, 0);
        pthread_attr_getstack(&attributes, &mut at, &mut size);
        pthread_attr_destroy(&mut attributes);
        (at, at + size)
    }
}

/// A new thread begins with what its creator had seen.
fn begin(card: *mut Card) {
    let mut t = current();
    // Set it first: the C library allocates to tell where the stack is, and an allocator of the
    // program would make the thread known once more.
    t.card = card;
    start(t, card);
}

fn start(mut t: Current, card: *mut Card) {
    let stack = own_stack();
    t.inside += 1;
    // SAFETY: the card was made for this thread; nobody else writes to it now.
    unsafe { register_handle(&*card, pthread_self()) };
    // The stack's memory may have belonged to another thread.
    range::clear(stack.0, stack.1 - stack.0);
    objects::remove_range(stack.0, stack.1 - stack.0);
    t.start(card, stack);
    crate::hub::init::gate_of(&mut t);
    log::count_thread();
    // SAFETY: the runtime's key.
    unsafe { pthread_setspecific(KEY.load(Relaxed), core::ptr::dangling()) };
    t.inside -= 1;
}

/// A thread that was not created through the C library's interposed functions, for example a helper
/// thread of libc itself. It counts as having seen everything that was released so far, so that
/// nothing is reported for lack of knowledge.
#[cold]
pub fn adopt(mut t: Current) {
    // A thread that has ended has a card, and stays ended.
    if !t.card.is_null() || !is_active() {
        return;
    }
    let card = new_card(0, 0);
    // SAFETY: fresh, and this thread's.
    unsafe {
        (*card).last_generation.set(sids::GENERATION.load(Acquire));
        (*card).last.set(sids::published());
        (*card).detached.store(true, Relaxed);
        log::write(&Record::Thread { thread: (*card).id as u64, parent: u64::MAX, stack: 0 });
    }
    // Set it first: nothing that `start` calls may come back here.
    t.card = card;
    start(t, card);
}

/// The card for a thread that `t` is about to create.
fn announce(mut t: Current, start: ThreadStart, detached: bool, pc: usize) -> *mut Card {
    let _inside = t.enter();
    let stack = depot::current(&t, pc);
    let card = new_card(t.id(), stack);
    // SAFETY: fresh, and nobody else knows it yet.
    unsafe {
        (*card).start.set(start);
        (*card).detached.store(detached, Relaxed);
        let generation = t.generation;
        (*card).last.set(*t.publish());
        (*card).last_generation.set(generation);
        log::write(&Record::Thread {
            thread: (*card).id as u64,
            parent: t.id() as u64,
            stack: depot::logged(stack),
        });
    }
    t.advance();
    t.fork_join += 1;
    plain::first_thread();
    // SAFETY: as above.
    plain::step(&mut t, OpKind::Create, unsafe { (*card).id } as usize, 0);
    card
}

unsafe extern "C-unwind" fn run(card: *mut c_void) -> *mut c_void {
    let card = card.cast::<Card>();
    begin(card);
    // SAFETY: the program's own start routine and argument.
    unsafe {
        sys::set_blocked_signals((*card).mask.get());
        let ThreadStart { function, argument } = (*card).start.get();
        core::mem::transmute::<usize, unsafe extern "C-unwind" fn(usize) -> *mut c_void>(function)(argument)
    }
}

/// C11's threads return an int.
unsafe extern "C-unwind" fn run_c11(card: *mut c_void) -> c_int {
    let card = card.cast::<Card>();
    begin(card);
    // SAFETY: as above.
    unsafe {
        sys::set_blocked_signals((*card).mask.get());
        let ThreadStart { function, argument } = (*card).start.get();
        core::mem::transmute::<usize, unsafe extern "C-unwind" fn(usize) -> c_int>(function)(argument)
    }
}

/// `pthread_t` to card, for threads that can still be joined.
const BUCKETS: usize = 256;
static HANDLES_LOCK: Spin = Spin::new();
static HANDLES: Shared<[*mut Card; BUCKETS]> = Shared::new([core::ptr::null_mut(); BUCKETS]);

fn bucket(handle: usize) -> *mut *mut Card {
    // SAFETY: inside the array.
    unsafe { HANDLES.get().cast::<*mut Card>().add(handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) }
}

/// The creator and the thread itself both call this; the first one counts.
fn register_handle(card: &Card, handle: usize) {
    let _guard = HANDLES_LOCK.lock();
    if card.registered.swap(true, Relaxed) {
        return;
    }
    card.handle.store(handle as u64, Relaxed);
    // SAFETY: chains are changed under HANDLES_LOCK.
    unsafe {
        card.next_by_handle.set(*bucket(handle));
        *bucket(handle) = (&raw const *card).cast_mut();
    }
}

/// The thread of this handle, while the handle is valid. As soon as a real join has returned, glibc
/// may give the handle to the next thread, so it must be looked up before. Of several cards with
/// one handle, the youngest comes first in its chain.
fn by_handle(handle: usize) -> Option<&'static Card> {
    let _guard = HANDLES_LOCK.lock();
    // SAFETY: as above; cards are never freed.
    unsafe {
        let mut card = *bucket(handle);
        while !card.is_null() && (*card).handle.load(Relaxed) != handle as u64 {
            card = (*card).next_by_handle.get();
        }
        card.as_ref()
    }
}

/// Forgets this card, not another one that got the same handle since.
fn forget_handle(card: &Card) {
    let _guard = HANDLES_LOCK.lock();
    // SAFETY: as above.
    unsafe {
        let mut link = bucket(card.handle.load(Relaxed) as usize);
        while !(*link).is_null() {
            if core::ptr::eq(*link, card) {
                *link = card.next_by_handle.get();
                return;
            }
            link = (**link).next_by_handle.as_ptr();
        }
    }
}

/// A join; `real` does the waiting.
fn join(mut t: Current, handle: usize, real: impl FnOnce() -> c_int) -> c_int {
    let card = by_handle(handle);
    let result = real();
    if let (0, Some(card)) = (result, card) {
        forget_handle(card);
        card.joined.store(true, Relaxed);
        let _inside = t.enter();
        t.acquire_last(card);
        t.fork_join += 1;
        plain::step(&mut t, OpKind::Join, card.id as usize, 0);
        log::write(&Record::ThreadJoin { joiner: t.id() as u64, thread: card.id as u64 });
    }
    result
}

fn detached(handle: usize) {
    if let Some(card) = by_handle(handle) {
        card.detached.store(true, Relaxed);
        if card.ended.load(Acquire) == 1 {
            forget_handle(card);
        }
    }
}

pub unsafe fn starts_detached(attributes: *const c_void) -> bool {
    let mut state = 0;
    // SAFETY: the caller's attributes.
    !attributes.is_null()
        && unsafe { pthread_attr_getdetachstate(attributes, &mut state) } == 0
        && state == libc::PTHREAD_CREATE_DETACHED
}

/// A thread inherits its creator's blocked signals: with all of them blocked, no handler runs in it
/// before it is known.
fn with_signals_blocked(card: *mut Card, create: impl FnOnce() -> c_int) -> c_int {
    let mask = sys::block_signals();
    // SAFETY: nobody else knows the card yet.
    unsafe { (*card).mask.set(mask) };
    let r = create();
    sys::set_blocked_signals(mask);
    r
}

/// Called after a failed creation: the card will never be a thread.
fn never_started(card: *mut Card) {
    // SAFETY: nobody else knows the card.
    unsafe {
        (*card).ended.store(1, Relaxed);
        log::write(&Record::ThreadEnd { thread: (*card).id as u64 });
    }
}

interpose! {
    fn pthread_create(handle: *mut usize, attributes: *const c_void, function: usize, argument: usize) -> c_int, |t, pc, real| {
        let pc = in_program(&t, pc);
        adopt(t);
        finish_reports_at_exit();
        let card = announce(t, ThreadStart { function, argument }, starts_detached(attributes), pc);
        let r = with_signals_blocked(card, || {
            with_room(attributes, |attributes| real(handle, attributes, run as *const () as usize, card as usize))
        });
        if r == 0 {
            register_handle(&*card, *handle);
        } else {
            never_started(card);
        }
        r
    } record as detect, tsvd {
        let create = |run, with| with_room(attributes, |attributes| real(handle, attributes, run, with));
        tsvd_sync::create(create, handle, (function, argument), pc)
    } explore {
        explore::threads::create(handle, attributes, function, argument, false, in_program(&t, pc))
    }
    fn thrd_create(handle: *mut usize, function: usize, argument: usize) -> c_int, |t, pc, real| {
        make_room_by_default();
        let card = announce(t, ThreadStart { function, argument }, false, pc);
        let r = with_signals_blocked(card, || real(handle, run_c11 as *const () as usize, card as usize));
        if r == 0 {
            register_handle(&*card, *handle);
        } else {
            never_started(card);
        }
        r
    } record as detect, tsvd {
        make_room_by_default();
        tsvd_sync::create(|run, with| real(handle, run, with), handle, (function, argument), pc)
    } explore {
        explore::threads::create(handle, core::ptr::null(), function, argument, true, pc)
    }
    fn pthread_join(handle: usize, result: *mut *mut c_void) -> c_int, |t, pc, real| {
        join(t, handle, || real(handle, result))
    } record as detect, tsvd { tsvd_sync::join(handle, || real(handle, result)) } explore cancels {
        match explore::threads::join(handle, WaitLimit::Endless, in_program(&t, pc)) {
            Some(Ok(value)) => {
                if !result.is_null() {
                    *result = value as *mut c_void;
                }
                0
            }
            Some(Err(e)) => e,
            None => real(handle, result),
        }
    }
    fn pthread_tryjoin_np(handle: usize, result: *mut *mut c_void) -> c_int, |t, pc, real| {
        join(t, handle, || real(handle, result))
    } record as detect, tsvd { tsvd_sync::join(handle, || real(handle, result)) } explore {
        match explore::threads::join(handle, WaitLimit::None, pc) {
            Some(Ok(value)) => {
                if !result.is_null() {
                    *result = value as *mut c_void;
                }
                0
            }
            Some(Err(e)) => e,
            None => real(handle, result),
        }
    }
    fn pthread_timedjoin_np(handle: usize, result: *mut *mut c_void, until: *const c_void) -> c_int, |t, pc, real| {
        join(t, handle, || real(handle, result, until))
    } record as detect, tsvd { tsvd_sync::join(handle, || real(handle, result, until)) } explore cancels {
        match explore::threads::join(handle, WaitLimit::Until(Until::new(libc::CLOCK_REALTIME, until)), pc) {
            Some(Ok(value)) => {
                if !result.is_null() {
                    *result = value as *mut c_void;
                }
                0
            }
            Some(Err(e)) => e,
            None => real(handle, result, until),
        }
    }
    fn pthread_clockjoin_np(handle: usize, result: *mut *mut c_void, clock: c_int, until: *const c_void) -> c_int, |t, pc, real| {
        join(t, handle, || real(handle, result, clock, until))
    } record as detect, tsvd { tsvd_sync::join(handle, || real(handle, result, clock, until)) } explore cancels {
        match explore::threads::join(handle, WaitLimit::Until(Until::new(clock, until)), pc) {
            Some(Ok(value)) => {
                if !result.is_null() {
                    *result = value as *mut c_void;
                }
                0
            }
            Some(Err(e)) => e,
            None => real(handle, result, clock, until),
        }
    }
    fn thrd_join(handle: usize, result: *mut c_int) -> c_int, |t, pc, real| {
        join(t, handle, || real(handle, result))
    } record as detect, tsvd { tsvd_sync::join(handle, || real(handle, result)) } explore {
        match explore::threads::join(handle, WaitLimit::Endless, pc) {
            Some(Ok(value)) => {
                if !result.is_null() {
                    *result = value as c_int;
                }
                0
            }
            Some(Err(_)) => 2,
            None => real(handle, result),
        }
    }
    fn pthread_detach(handle: usize) -> c_int, |t, pc, real| {
        detached(handle);
        real(handle)
    } record as detect, tsvd real, explore {
        explore::threads::detach(handle).unwrap_or_else(|| real(handle))
    }
    fn thrd_detach(handle: usize) -> c_int, |t, pc, real| {
        detached(handle);
        real(handle)
    } record as detect, tsvd real, explore {
        explore::threads::detach(handle).unwrap_or_else(|| real(handle))
    }
    fn pthread_setname_np(handle: usize, name: *const c_char) -> c_int, |t, pc, real| {
        let card = if handle == pthread_self() { t.card.as_ref() } else { by_handle(handle) };
        if let Some(card) = card {
            set_name(card, name);
        }
        real(handle, name)
    } record as detect, tsvd real, explore {
        if super::access::length(name) >= explore::names::LEN {
            return libc::ERANGE;
        }
        explore::names::set(Some(handle), name, pc).map_or_else(|| real(handle, name), |()| 0)
    }
    fn pthread_getname_np(handle: usize, to: *mut c_char, n: usize) -> c_int, |t, pc, real| {
        let r = real(handle, to, n);
        if r == 0 {
            Call::new(t, pc).wrote_text(to);
        }
        r
    } record as detect, tsvd real, explore {
        match explore::names::get(Some(handle), pc) {
            Some(_) if n < explore::names::LEN => libc::ERANGE,
            Some(name) => {
                Call::new(t, pc).writes(to, explore::names::LEN);
                to.cast::<[u8; explore::names::LEN]>().write(name);
                0
            }
            None => real(handle, to, n),
        }
    }
    fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int, |t, pc, real| {
        if option == libc::PR_SET_NAME && t.known {
            set_name(&*t.card, a as *const c_char);
        }
        real(option, a, b, c, d)
    } record as detect, tsvd real, explore {
        match option {
            libc::PR_SET_NAME if explore::names::set(None, a as *const c_char, pc).is_some() => return 0,
            libc::PR_GET_NAME => {
                if let Some(name) = explore::names::get(None, pc) {
                    (a as *mut [u8; explore::names::LEN]).write(name);
                    return 0;
                }
            }
            libc::PR_SET_NAME => {}
            _ => explore::changes_process(pc),
        }
        real(option, a, b, c, d)
    }
}

/// The name a report gives the thread.
pub unsafe fn set_name(card: &Card, name: *const c_char) {
    let mut kept = [0; 31];
    let mut len = 0;
    // SAFETY: a string that ends in zero, of which 31 bytes are kept.
    unsafe {
        while len < kept.len() && !name.is_null() && *name.add(len) != 0 {
            kept[len] = *name.add(len) as u8;
            len += 1;
        }
    }
    log::write(&Record::ThreadName { thread: card.id as u64, name: &kept[..len] });
}

/// In the child of a fork only the forking thread is left.
pub fn reset_after_fork() {
    HANDLES_LOCK.reset();
}
