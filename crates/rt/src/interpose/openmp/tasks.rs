//! Tasks. An explicit task is wrapped, so that the runtime knows when it begins and ends, and whose
//! child it is.
//!
//! The library copies a task's data when the task is created, at the latest when the creating call
//! returns, and whoever runs the task gets the copy. Raddle's [`Wrapped`] goes in front of the data
//! and is copied with them. Once the copy is made, the last thing that the creator does for the
//! task, what the creator has done is released.
//!
//! A task that may be deferred has its own context ([`contexts`]): it is ordered as the program
//! says, not as the thread that runs it happens to order it. A task that its creator must wait for
//! (`if(0)`, inside a final task) runs as part of the creator. So does one in a team of one thread.
//!
//! A detached task ends when its code has ended and its event is fulfilled, in either order:
//! waiters learn both.
//!
//! A [`Task`] is what children and waits need of their parent. It lives until the task and its
//! children are done, in memory of the runtime that is reused.

use core::ffi::{c_int, c_long, c_uint, c_void};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};

use super::abi::{Copier, Depends, MOST_DEPENDS, OutlinedFunction, TaskLoop, flag};
use super::team::Team;
use super::{OpenMp, at, key, stack_pointer};
use crate::detect::task_order::{acquire, release, release_at_end, release_into};
use crate::detect::thread::{Current, Thread, current};
use crate::detect::{contexts, objects};
use crate::explore::openmp as explored;
use crate::interpose::interpose;
use crate::sys::{self, Shared, Spin};

/// A task, or a group of tasks, which is waited for in the same way.
#[repr(C)]
pub struct Task {
    /// Its address is the key of what children have done; that of `own` is the key of what the
    /// creator had done.
    done: u64,
    own: u64,
    users: AtomicU32,
    /// The task that created it; for a group, the enclosing group; in the free list, the next one.
    parent: *mut Task,
    /// The innermost group that it belongs to.
    group: *mut Task,
    /// The team that it belongs to. The task may run after its thread has left the region, but the
    /// team exists until the task is done.
    team: *mut Team,
    /// Distinguishes the dependences of its children from those of other tasks' children, mostly:
    /// two parents with the same number order too much.
    number: u32,
    /// Children run at once, as part of it.
    is_final: bool,
    /// It has its own context.
    is_apart: bool,
}

static NUMBERS: AtomicU32 = AtomicU32::new(1);
static FREE_LOCK: Spin = Spin::new();
static FREE: Shared<*mut Task> = Shared::new(core::ptr::null_mut());

impl Task {
    fn new(parent: *mut Task, group: *mut Task, team: *mut Team) -> *mut Task {
        let fresh = {
            let _guard = FREE_LOCK.lock();
            // SAFETY: the list is used under its lock.
            unsafe {
                let first = *FREE.get();
                if !first.is_null() {
                    *FREE.get() = (*first).parent;
                }
                first
            }
        };
        let task = if fresh.is_null() { sys::ARENA.take(size_of::<Task>()).cast() } else { fresh };
        // SAFETY: nobody else has it.
        unsafe {
            task.write(Task {
                done: 0,
                own: 0,
                users: AtomicU32::new(1),
                parent,
                group,
                team,
                number: NUMBERS.fetch_add(1, Relaxed),
                is_final: false,
                is_apart: false,
            })
        };
        for used in [parent, group] {
            Task::used(used);
        }
        task
    }

    /// A task that the thread creates.
    fn create(t: &Thread, deferred: bool, flags: c_uint) -> *mut Task {
        let parent = t.openmp.task;
        let task = Task::new(parent, group(t), t.openmp.team);
        // SAFETY: the thread's own task, which lives while it runs, and a new one.
        unsafe {
            let in_final = parent.as_ref().is_some_and(|p| p.is_final);
            (*task).is_final = in_final || flags & flag::FINAL != 0;
            (*task).is_apart = deferred && !in_final && t.openmp.is_in_company();
        }
        task
    }

    /// The implicit task of a thread of a region.
    pub fn begin(team: *mut Team, group: *mut Task) -> *mut Task {
        Task::new(core::ptr::null_mut(), group, team)
    }

    fn used(task: *mut Task) {
        // SAFETY: null, or a task that somebody else uses at this moment.
        if let Some(task) = unsafe { task.as_ref() } {
            task.users.fetch_add(1, Relaxed);
        }
    }

    /// Drops one user.
    pub fn done(task: *mut Task) {
        // SAFETY: null, or a task that the caller uses.
        let Some(it) = (unsafe { task.as_ref() }) else { return };
        if it.users.fetch_sub(1, AcqRel) != 1 {
            return;
        }
        let (parent, group) = (it.parent, it.group);
        objects::remove(key!(task, Task, done));
        objects::remove(key!(task, Task, own));
        {
            let _guard = FREE_LOCK.lock();
            // SAFETY: nobody uses it any more; the list is used under its lock.
            unsafe {
                (*task).parent = *FREE.get();
                *FREE.get() = task;
            }
        }
        Task::done(parent);
        Task::done(group);
    }
}

/// The header in front of the program's data, and of the copy.
#[repr(C)]
struct Wrapped {
    /// The library writes the event of a detached task to the beginning of the data.
    event: *mut c_void,
    is_detached: bool,
    task: *mut Task,
    function: OutlinedFunction,
    copy: Option<Copier>,
    /// The program's data before they are copied.
    from: *mut c_void,
    /// The size of the data, and their offset from this header in the copy.
    size: usize,
    ahead: usize,
    /// The number of addresses it depends on, which follow this header.
    depends: usize,
}

impl Wrapped {
    fn len(&self) -> usize {
        size_of::<Wrapped>() + self.depends * size_of::<usize>()
    }

    fn addresses(&self) -> impl Iterator<Item = usize> {
        let first = (&raw const *self).wrapping_add(1).cast::<usize>();
        // SAFETY: this many follow it, here and in the copy.
        (0..self.depends).map(move |i| unsafe { *first.add(i) })
    }
}

unsafe extern "C-unwind" fn copy_wrapped(to: *mut c_void, from: *mut c_void) {
    // SAFETY: the library's copy has the size that was passed to it.
    unsafe {
        let w = &*from.cast::<Wrapped>();
        if w.is_detached {
            *w.from.cast::<*mut c_void>() = w.event;
            // The event uses the task until it is fulfilled, which may be after the code has ended.
            Task::used(w.task);
            DetachEvent::wait_for(w.event, to.cast());
        }
        core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), w.len());
        let data = to.byte_add(w.ahead);
        match w.copy {
            // Code of the compiler, for C++ objects and arrays: it counts as the creator's.
            Some(copy) => copy(data, w.from),
            None => core::ptr::copy_nonoverlapping(w.from.cast::<u8>(), data.cast(), w.size),
        }
        release(current(), key!(w.task, Task, own));
    }
}

unsafe extern "C-unwind" fn run_wrapped(w: *mut c_void) {
    // SAFETY: the library's copy, which lives until this returns.
    unsafe {
        let w = &*w.cast::<Wrapped>();
        let task = w.task;
        let data = (&raw const *w).cast_mut().cast::<c_void>().byte_add(w.ahead);
        let floor = floor(stack_pointer(), data as usize + w.size);
        let learn = |t: Current| {
            acquire(t, key!(task, Task, own));
            w.begins_after(|key| acquire(t, key));
        };
        run_apart(task, floor, learn, || (w.function)(data), |release| w.ended(release));
        Task::done(task);
    }
}

/// How the end of a task is released: [`release_into`], or [`release_at_end`] if its context ends
/// too.
type ReleaseEnd = fn(Current, &[usize]);

/// Runs the code of a task in its own context, if it is to have one. `ended` publishes its end.
fn run_apart(
    task: *mut Task,
    floor: usize,
    learn: impl Fn(Current),
    run: impl FnOnce(),
    ended: impl FnOnce(ReleaseEnd),
) {
    let t = current();
    // SAFETY: the task lives until it has ended.
    let (is_apart, team) = unsafe { ((*task).is_apart, (*task).team) };
    let put_aside = if is_apart { contexts::begin(t, floor, &learn) } else { core::ptr::null_mut() };
    if put_aside.is_null() {
        learn(t);
    }
    let asked = t.openmp.asked && !is_apart;
    let place = OpenMp { team, task, base: floor, asked, ..OpenMp::NONE };
    at(place, || {
        run();
        if put_aside.is_null() {
            return ended(release_into);
        }
        // No handler of a signal runs between the release and the end.
        let _inside = current().enter();
        ended(release_at_end);
        contexts::end(&mut current(), put_aside, floor, false);
    });
}

/// The stack below this belongs to the task. Data on the stack, where the library runs a task at
/// once, belong to it too.
fn floor(stack_pointer: usize, data_end: usize) -> usize {
    // SAFETY: a known thread has a card.
    match unsafe { current().card.as_ref() } {
        Some(card) if stack_pointer < data_end && data_end <= card.stack.get().1 => data_end,
        _ => stack_pointer,
    }
}

/// The key of a dependence between children of one task.
fn among_children(parent: *mut Task, key: usize) -> usize {
    // SAFETY: null, or a task with a child.
    let number = unsafe { parent.as_ref() }.map_or(0, |p| p.number as usize & 0xff);
    key ^ number << 54
}

/// Acquires what a child of `parent` with these dependences begins after. `omp_all_memory` is
/// address 0.
fn begins_after(addresses: impl Iterator<Item = usize>, parent: *mut Task, mut acquire: impl FnMut(usize)) {
    let mut any = false;
    for address in addresses {
        any = true;
        Depends::begins_after(address, |key| acquire(among_children(parent, key)));
        if Depends::is_all(address) && !parent.is_null() {
            acquire(key!(parent, Task, done));
        }
    }
    if any {
        Depends::begins_after(Depends::ALL, |key| acquire(among_children(parent, key)));
    }
}

impl Wrapped {
    fn begins_after(&self, acquire: impl FnMut(usize)) {
        // SAFETY: the task lives while its data do.
        begins_after(self.addresses(), unsafe { (*self.task).parent }, acquire)
    }

    /// The task has ended: releases to whoever depends on it or waits for it.
    fn ended(&self, release_into: ReleaseEnd) {
        // SAFETY: as above.
        let task = unsafe { &*self.task };
        let mut keys = [0; MOST_DEPENDS + 3];
        let mut n = 0;
        let mut add = |key| {
            keys[n] = key;
            n += 1;
        };
        for address in self.addresses() {
            Depends::ends_before(address, |key| add(among_children(task.parent, key)));
        }
        for waited_for in [task.parent, task.group].into_iter().filter(|w| !w.is_null()) {
            add(key!(waited_for, Task, done));
        }
        if !task.team.is_null() {
            add(key!(task.team, Team, tasks));
        }
        release_into(current(), &keys[..n]);
    }
}

/// Events of detached tasks that are not fulfilled yet.
struct DetachEvent {
    event: *mut c_void,
    of: *const Wrapped,
    next: *mut DetachEvent,
}

static EVENTS_LOCK: Spin = Spin::new();
static EVENTS: Shared<*mut DetachEvent> = Shared::new(core::ptr::null_mut());
static UNUSED_EVENTS: Shared<*mut DetachEvent> = Shared::new(core::ptr::null_mut());

impl DetachEvent {
    fn wait_for(event: *mut c_void, of: *const Wrapped) {
        let _guard = EVENTS_LOCK.lock();
        // SAFETY: both lists are used under their lock.
        unsafe {
            let mut fresh = *UNUSED_EVENTS.get();
            if fresh.is_null() {
                fresh = sys::ARENA.take(size_of::<DetachEvent>()).cast();
            } else {
                *UNUSED_EVENTS.get() = (*fresh).next;
            }
            fresh.write(DetachEvent { event, of, next: *EVENTS.get() });
            *EVENTS.get() = fresh;
        }
    }

    /// The task whose event is about to be fulfilled: its data stay until it is.
    fn fulfilled(event: *mut c_void) -> Option<&'static Wrapped> {
        let _guard = EVENTS_LOCK.lock();
        // SAFETY: both lists are used under their lock.
        unsafe {
            let mut link = EVENTS.get();
            while !(*link).is_null() {
                let it = *link;
                if (*it).event == event {
                    *link = (*it).next;
                    (*it).next = *UNUSED_EVENTS.get();
                    *UNUSED_EVENTS.get() = it;
                    return Some(&*(*it).of);
                }
                link = &raw mut (*it).next;
            }
            None
        }
    }
}

/// In the child of a fork.
pub fn reset_locks() {
    FREE_LOCK.reset();
    EVENTS_LOCK.reset();
}

/// A `taskloop`, identified by the function that the compiler made of it. The library fills in the
/// bounds at the beginning of each copy of the data, so nothing can go in front of them. Each
/// function has its own wrapper instead.
#[repr(C)]
struct Loop {
    function: AtomicUsize,
    copy: AtomicUsize,
    size: AtomicUsize,
    /// What creators had done, and what tasks have done.
    created: u64,
    done: u64,
}

/// The number of loops that are distinguished. Further ones are not ordered, as the documentation
/// says.
const LOOPS: usize = 64;
static TABLE: [Loop; LOOPS] = [const {
    Loop {
        function: AtomicUsize::new(0),
        copy: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
        created: 0,
        done: 0,
    }
}; LOOPS];

impl Loop {
    fn of(function: OutlinedFunction) -> Option<usize> {
        TABLE.iter().position(|l| {
            let free = l.function.compare_exchange(0, function as usize, AcqRel, Acquire);
            free.is_ok() || free == Err(function as usize)
        })
    }
}

/// Acquires the ends of all `taskloop` tasks so far.
pub fn loops_done(t: Current) {
    for l in TABLE.iter().take_while(|l| l.function.load(Relaxed) != 0) {
        acquire(t, key!(&raw const *l, Loop, done));
    }
}

unsafe extern "C-unwind" fn copy_loop<const I: usize>(to: *mut c_void, from: *mut c_void) {
    let l = &TABLE[I];
    // SAFETY: what the program passed with this function, whose data always have the same size.
    unsafe {
        match l.copy.load(Relaxed) {
            0 => core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), l.size.load(Relaxed)),
            copy => core::mem::transmute::<usize, Copier>(copy)(to, from),
        }
    }
    release(current(), key!(&raw const *l, Loop, created));
}

unsafe extern "C-unwind" fn run_loop<const I: usize>(data: *mut c_void) {
    let l = &TABLE[I];
    let t = current();
    let (team, group, at_once) = (t.openmp.team, group(&t), t.openmp.deals_at_once);
    let task = Task::begin(team, group);
    // SAFETY: a new one.
    unsafe { (*task).is_apart = !at_once && t.openmp.is_in_company() };
    let floor = floor(stack_pointer(), data as usize + l.size.load(Relaxed));
    // SAFETY: the program's function.
    let run = || unsafe { core::mem::transmute::<usize, OutlinedFunction>(l.function.load(Relaxed))(data) };
    let ended = |release_into: ReleaseEnd| {
        let mut keys = [key!(&raw const *l, Loop, done), 0, 0];
        let mut n = 1;
        if !group.is_null() {
            keys[n] = key!(group, Task, done);
            n += 1;
        }
        if !team.is_null() {
            keys[n] = key!(team, Team, tasks);
            n += 1;
        }
        release_into(current(), &keys[..n]);
    };
    run_apart(task, floor, |t| acquire(t, key!(&raw const *l, Loop, created)), run, ended);
    Task::done(task);
}

macro_rules! wrappers {
    ($($i:literal)*) => {
        [$((copy_loop::<$i> as Copier, run_loop::<$i> as OutlinedFunction)),*]
    };
}

static WRAPPERS: [(Copier, OutlinedFunction); LOOPS] = wrappers! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
};

/// The group that newly created tasks belong to.
fn group(t: &Thread) -> *mut Task {
    // SAFETY: the thread's own task, which lives while it runs.
    unsafe { t.openmp.task.as_ref() }.map_or(core::ptr::null_mut(), |task| task.group)
}

/// Runs a `taskloop`; `real` gets the function and the copier to use.
fn dealt(
    f: OutlinedFunction,
    copy: Option<Copier>,
    size: c_long,
    flags: c_uint,
    real: impl FnOnce(OutlinedFunction, Option<Copier>),
) {
    let Some(i) = Loop::of(f) else { return real(f, copy) };
    TABLE[i].copy.store(copy.map_or(0, |c| c as usize), Relaxed);
    TABLE[i].size.store(size as usize, Relaxed);
    let (copy, run) = WRAPPERS[i];
    let t = current();
    // SAFETY: null, or the thread's own task.
    let in_final = unsafe { t.openmp.task.as_ref() }.is_some_and(|task| task.is_final);
    let place = OpenMp { deals_at_once: in_final || flags & flag::IF == 0, ..t.openmp };
    at(place, || real(run, Some(copy)));
    if flags & flag::NO_GROUP == 0 {
        acquire(current(), key!(&raw const TABLE[i], Loop, done));
    }
}

/// SAFETY: the compiler's arguments.
unsafe fn depends_of(flags: c_uint, list: *const usize) -> Depends {
    // SAFETY: by the caller's contract.
    if flags & flag::DEPENDS != 0 { unsafe { Depends::read(list) } } else { Depends::NONE }
}

fn spec(
    function: OutlinedFunction,
    data: *mut c_void,
    copy: Option<Copier>,
    size: c_long,
    align: c_long,
    flags: c_uint,
) -> explored::Spec {
    if flags & flag::REDUCTION != 0 {
        explored::refuse();
    }
    explored::Spec {
        function,
        data,
        copy,
        size: size as usize,
        align: align as usize,
        may_wait: true,
        flags,
        depends: Depends::NONE,
        bounds: None,
    }
}

type F = OutlinedFunction;
type C = Option<Copier>;
type Data = *mut c_void;

interpose! {
    fn GOMP_task(f: F, data: Data, copy: C, size: c_long, align: c_long, deferred: bool, flags: c_uint, depends: *mut usize, priority: c_int, detach: *mut c_void),
    |t, pc, real| {
        #[repr(C)]
        struct Filled(Wrapped, [usize; MOST_DEPENDS]);
        let Depends { n, addresses } = depends_of(flags, depends);
        let align = align.max(align_of::<Wrapped>() as c_long);
        let ahead = (size_of::<Wrapped>() + n * size_of::<usize>()).next_multiple_of(align as usize);
        let task = Task::create(&t, deferred, flags);
        let wrapped = Wrapped {
            event: core::ptr::null_mut(),
            is_detached: flags & flag::DETACHED != 0 && !data.is_null(),
            task,
            function: f,
            copy,
            from: data,
            size: size as usize,
            ahead,
            depends: n,
        };
        let mut filled = Filled(wrapped, addresses);
        let size = size + ahead as c_long;
        real(run_wrapped, (&raw mut filled).cast(), Some(copy_wrapped), size, align, deferred, flags, depends, priority, detach)
    } record as detect, tsvd real, explore {
        let spec = explored::Spec { may_wait: deferred, depends: depends_of(flags, depends), ..spec(f, data, copy, size, align, flags) };
        explored::create(&spec, pc)
    }
    fn GOMP_taskloop(f: F, data: Data, copy: C, size: c_long, align: c_long, flags: c_uint, tasks: usize, priority: c_int, start: c_long, end: c_long, step: c_long),
    |t, pc, real| {
        dealt(f, copy, size, flags, |f, copy| real(f, data, copy, size, align, flags, tasks, priority, start, end, step))
    } record as detect, tsvd real, explore {
        let of = TaskLoop { start: start as u64, end: end as u64, step: step as u64, tasks: tasks as u64 };
        explored::task_loop(spec(f, data, copy, size, align, flags), &of, pc)
    }
    fn GOMP_taskloop_ull(f: F, data: Data, copy: C, size: c_long, align: c_long, flags: c_uint, tasks: usize, priority: c_int, start: c_long, end: c_long, step: c_long),
    |t, pc, real| {
        dealt(f, copy, size, flags, |f, copy| real(f, data, copy, size, align, flags, tasks, priority, start, end, step))
    } record as detect, tsvd real, explore {
        let of = TaskLoop { start: start as u64, end: end as u64, step: step as u64, tasks: tasks as u64 };
        explored::task_loop(spec(f, data, copy, size, align, flags), &of, pc)
    }
    fn GOMP_taskwait(), |t, pc, real| {
        real();
        let t = current();
        let task = t.openmp.task;
        if !task.is_null() {
            acquire(t, key!(task, Task, done));
        }
        loops_done(t)
    } record as detect, tsvd real, explore { explored::wait_for_children(pc) }
    fn GOMP_taskwait_depend(depends: *mut usize), |t, pc, real| {
        let Depends { n, addresses } = Depends::read(depends);
        real(depends);
        let t = current();
        begins_after(addresses[..n].iter().copied(), t.openmp.task, |key| acquire(t, key));
    } record as detect, tsvd real, explore { explored::wait_for_depends(Depends::read(depends), pc) }
    fn omp_fulfill_event(event: *mut c_void), |t, pc, real| {
        if let Some(wrapped) = DetachEvent::fulfilled(event) {
            wrapped.ended(release_into);
            Task::done(wrapped.task);
        }
        real(event)
    } record as detect, tsvd real, explore { explored::refuse() }
    // Returns the thread's own copies of the reduction variables.
    fn GOMP_task_reduction_remap(n: usize, others: usize, copies: *mut c_void), |t, pc, real| {
        t.openmp.asked = true;
        real(n, others, copies)
    } record as detect, tsvd real, explore { explored::refuse() }
    fn GOMP_taskyield(), |t, pc, real| { real() } record as detect, tsvd real, explore { crate::explore::sync::yields(pc) }
    fn GOMP_taskgroup_start(), |t, pc, real| {
        real();
        let t = current();
        if let Some(task) = t.openmp.task.as_mut() {
            // The task's reference to the enclosing group stays until the end of this one.
            task.group = Task::new(core::ptr::null_mut(), task.group, task.team);
        }
    } record as detect, tsvd real, explore { explored::group_start() }
    fn GOMP_taskgroup_end(), |t, pc, real| {
        real();
        let t = current();
        if let Some(task) = t.openmp.task.as_mut().filter(|task| !task.group.is_null()) {
            let group = task.group;
            acquire(t, key!(group, Task, done));
            task.group = (*group).group;
            Task::done(group);
            loops_done(t)
        }
    } record as detect, tsvd real, explore { explored::group_end(pc) }
}
