//! Tasks. A deferred task lies in a pool until a thread of its team waits (at a barrier, for
//! children or for a group) and takes it: the oldest that is ready. Tasks that are never deferred
//! (a team of one, `if(0)`, inside a final task, when there are too many) run at once, as in
//! libgomp.

use core::cell::Cell;
use core::ffi::c_void;

use super::team::Team;
use crate::detect::thread::current;
use crate::explore::{heap, memory};
use crate::interpose::openmp::{Copier, Depends, MOST_DEPENDS, OutlinedFunction, TaskLoop, flag};
use crate::sys::Shared;

/// The maximum of unfinished tasks of all teams, including the implicit tasks of threads.
const TASKS: usize = 1024;
/// The number of tasks deferred for each thread, as in libgomp.
const FOR_EACH: u32 = 64;
const GROUPS: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    PutOff,
    Running,
    /// Finished, but children may still refer to it.
    Done,
}

#[repr(C)]
pub struct Task {
    state: Cell<State>,
    /// Numbered in the order of creation.
    number: Cell<u64>,
    team: Cell<*const Team>,
    parent: Cell<*const Task>,
    group: Cell<*const Group>,
    function: Cell<usize>,
    data: Cell<*mut c_void>,
    /// Unfinished children. The address stands for what children have done.
    children: Cell<u32>,
    is_final: Cell<bool>,
    depends: Cell<usize>,
    addresses: [Cell<usize>; MOST_DEPENDS],
}

/// Tasks that are waited for together.
#[repr(C)]
pub struct Group {
    used: Cell<bool>,
    unfinished: Cell<u32>,
    around: Cell<*const Group>,
}

static POOL: Shared<[Task; TASKS]> = Shared::new(
    [const {
        Task {
            state: Cell::new(State::Free),
            number: Cell::new(0),
            team: Cell::new(core::ptr::null()),
            parent: Cell::new(core::ptr::null()),
            group: Cell::new(core::ptr::null()),
            function: Cell::new(0),
            data: Cell::new(core::ptr::null_mut()),
            children: Cell::new(0),
            is_final: Cell::new(false),
            depends: Cell::new(0),
            addresses: [const { Cell::new(0) }; MOST_DEPENDS],
        }
    }; TASKS],
);

static ALL_GROUPS: Shared<[Group; GROUPS]> = Shared::new(
    [const { Group { used: Cell::new(false), unfinished: Cell::new(0), around: Cell::new(core::ptr::null()) } };
        GROUPS],
);

static NUMBER: Shared<Cell<u64>> = Shared::new(Cell::new(0));

fn pool() -> &'static [Task; TASKS] {
    // SAFETY: one thread runs at a time, and everything is in cells.
    unsafe { &*POOL.get() }
}

impl Task {
    fn take(team: *const Team, state: State) -> &'static Task {
        let Some(task) = pool().iter().find(|t| t.state.get() == State::Free) else { super::refuse() };
        // SAFETY: one thread runs at a time.
        let number = unsafe { &*NUMBER.get() };
        number.set(number.get() + 1);
        task.state.set(state);
        task.number.set(number.get());
        task.team.set(team);
        task.parent.set(core::ptr::null());
        task.group.set(core::ptr::null());
        task.children.set(0);
        task.is_final.set(false);
        task.depends.set(0);
        task
    }

    /// The implicit task of a thread of a region.
    pub fn begin(team: &'static Team) -> &'static Task {
        Task::take(team, State::Running)
    }

    fn parent(&self) -> Option<&'static Task> {
        // SAFETY: tasks are never freed.
        unsafe { self.parent.get().as_ref() }
    }

    fn group(&self) -> Option<&'static Group> {
        // SAFETY: groups are never freed.
        unsafe { self.group.get().as_ref() }
    }

    fn children_at(&self) -> usize {
        self.children.as_ptr() as usize
    }

    fn at(&self) -> usize {
        &raw const *self as usize
    }

    fn addresses(&self) -> impl Iterator<Item = usize> + '_ {
        self.addresses[..self.depends.get()].iter().map(Cell::get)
    }

    /// True if no unfinished task precedes it: an older sibling that names the same address, where
    /// one of the two writes.
    fn is_ready(&self) -> bool {
        let is_before = |t: &&Task| {
            matches!(t.state.get(), State::PutOff | State::Running)
                && t.parent.get() == self.parent.get()
                && t.number.get() < self.number.get()
        };
        self.depends.get() == 0
            || !pool().iter().filter(is_before).any(|t| {
                t.addresses().any(|theirs| self.addresses().any(|ours| Depends::are_ordered(theirs, ours)))
            })
    }

    /// The task is finished. It is freed when no child refers to it any more.
    pub fn done(&self) {
        self.state.set(State::Done);
        self.give_back();
    }

    fn give_back(&self) {
        if self.state.get() == State::Done && self.children.get() == 0 {
            self.state.set(State::Free);
        }
    }
}

/// Which tasks a waiting thread may take.
#[derive(Clone, Copy)]
pub enum TaskChoice {
    Any,
    ChildrenOf(&'static Task),
    Of(&'static Group),
}

impl TaskChoice {
    fn has(self, t: &Task) -> bool {
        match self {
            TaskChoice::Any => true,
            TaskChoice::ChildrenOf(parent) => core::ptr::eq(t.parent.get(), parent),
            TaskChoice::Of(group) => core::ptr::eq(t.group.get(), group),
        }
    }
}

/// Runs the oldest task that is ready, if there is one.
pub fn run_one(team: &'static Team, which: TaskChoice, pc: usize) -> bool {
    if team.unfinished.get() == 0 {
        return false;
    }
    team.looks_at_tasks(pc);
    let may = |t: &&Task| {
        t.state.get() == State::PutOff && core::ptr::eq(t.team.get(), team) && which.has(t) && t.is_ready()
    };
    let Some(task) = pool().iter().filter(may).min_by_key(|t| t.number.get()) else { return false };
    run(task);
    finished(task, pc);
    heap::free(task.data.get(), pc);
    team.finished_task(pc);
    true
}

fn run(task: &'static Task) {
    task.state.set(State::Running);
    memory::acquired(task.at());
    task.addresses().for_each(|a| Depends::begins_after(a, memory::acquired));
    let before = core::mem::replace(&mut current().explored_openmp.task, task);
    // SAFETY: the compiler's function, and its data.
    unsafe { core::mem::transmute::<usize, OutlinedFunction>(task.function.get())(task.data.get()) };
    current().explored_openmp.task = before;
    task.addresses().for_each(|a| Depends::ends_before(a, memory::released));
}

/// The task has run. Threads that wait for it are woken with the next change of the team.
fn finished(task: &'static Task, pc: usize) {
    if let Some(team) = current().explored_openmp.team() {
        team.looks_at_tasks(pc);
    }
    if let Some(group) = task.group() {
        memory::released(&raw const *group as usize);
        group.unfinished.set(group.unfinished.get() - 1);
    }
    if let Some(parent) = task.parent() {
        memory::released(parent.children_at());
        parent.children.set(parent.children.get() - 1);
        parent.give_back();
    }
    task.done();
}

/// A task as the program creates it.
pub struct Spec {
    pub function: OutlinedFunction,
    pub data: *mut c_void,
    pub copy: Option<Copier>,
    pub size: usize,
    pub align: usize,
    pub may_wait: bool,
    pub flags: u32,
    pub depends: Depends,
    /// A `taskloop`: the bounds to put at the beginning of the data.
    pub bounds: Option<(u64, u64)>,
}

impl Spec {
    /// A copy of the program's data. SAFETY: the compiler's call.
    unsafe fn copied(&self, pc: usize) -> *mut c_void {
        let to = heap::allocate(self.size.max(16), self.align.max(16), pc);
        // SAFETY: by the caller's contract; the room is large enough.
        unsafe {
            match self.copy {
                Some(copy) => copy(to, self.data),
                None => core::ptr::copy_nonoverlapping(self.data.cast::<u8>(), to.cast(), self.size),
            }
            if let Some((from, until)) = self.bounds {
                *to.cast::<[u64; 2]>() = [from, until];
            }
        }
        to
    }
}

/// SAFETY: the compiler's call.
pub unsafe fn create(spec: &Spec, pc: usize) {
    if spec.flags & flag::DETACHED != 0 {
        super::refuse();
    }
    let Some(team) = current().explored_openmp.team() else {
        // Outside regions nobody else could run it.
        // SAFETY: by the caller's contract.
        unsafe {
            let data = spec.copied(pc);
            (spec.function)(data);
            heap::free(data, pc);
        }
        return;
    };
    let parent = current().explored_openmp.task();
    let is_final = spec.flags & flag::FINAL != 0 || parent.is_some_and(|p| p.is_final.get());
    let many = team.unfinished.get() >= FOR_EACH * team.n.get();
    let put_off = spec.may_wait && !is_final && !many && team.n.get() > 1;
    // SAFETY: by the caller's contract.
    let data = unsafe { spec.copied(pc) };
    team.looks_at_tasks(pc);
    let task = Task::take(team, if put_off { State::PutOff } else { State::Running });
    task.function.set(spec.function as usize);
    task.data.set(data);
    task.is_final.set(is_final);
    task.parent.set(parent.map_or(core::ptr::null(), |p| p));
    task.group.set(parent.map_or(core::ptr::null(), |p| p.group.get()));
    task.depends.set(spec.depends.n);
    task.addresses.iter().zip(spec.depends.addresses).for_each(|(to, a)| to.set(a));
    if let Some(parent) = parent {
        parent.children.set(parent.children.get() + 1);
    }
    if let Some(group) = task.group() {
        group.unfinished.set(group.unfinished.get() + 1);
    }
    memory::released(task.at());
    if put_off {
        team.unfinished.set(team.unfinished.get() + 1);
        return team.changed(pc);
    }
    while !task.is_ready() {
        if !run_one(team, TaskChoice::Any, pc) && !task.is_ready() {
            team.wait_for_change(pc);
        }
    }
    run(task);
    finished(task, pc);
    heap::free(data, pc);
    team.changed(pc);
}

/// Waits until `is_so` holds, and runs tasks of `which` meanwhile.
fn until(is_so: impl Fn() -> bool, which: TaskChoice, pc: usize) {
    let Some(team) = current().explored_openmp.team() else { return };
    team.looks_at_tasks(pc);
    while !is_so() {
        if !run_one(team, which, pc) && !is_so() {
            team.wait_for_change(pc);
        }
    }
}

pub fn wait_for_children(pc: usize) {
    let Some(task) = current().explored_openmp.task() else { return };
    until(|| task.children.get() == 0, TaskChoice::ChildrenOf(task), pc);
    memory::acquired(task.children_at());
}

/// `taskwait depend`: an empty task that is not deferred.
pub fn wait_for_depends(depends: Depends, pc: usize) {
    unsafe extern "C-unwind" fn nothing(_: *mut c_void) {}
    let addresses = depends.addresses;
    let n = depends.n;
    let spec = Spec {
        function: nothing,
        data: core::ptr::null_mut(),
        copy: None,
        size: 0,
        align: 1,
        may_wait: false,
        flags: 0,
        depends,
        bounds: None,
    };
    // SAFETY: nothing is copied.
    unsafe { create(&spec, pc) };
    addresses[..n].iter().for_each(|a| Depends::begins_after(*a, memory::acquired));
}

pub fn group_start() {
    let Some(task) = current().explored_openmp.task() else { return };
    // SAFETY: one thread runs at a time, and everything is in cells.
    let groups = unsafe { &*ALL_GROUPS.get() };
    let Some(group) = groups.iter().find(|g| !g.used.get()) else { super::refuse() };
    group.used.set(true);
    group.unfinished.set(0);
    group.around.set(task.group.get());
    task.group.set(group);
}

pub fn group_end(pc: usize) {
    let Some((task, group)) = current().explored_openmp.task().and_then(|t| Some((t, t.group()?))) else {
        return;
    };
    until(|| group.unfinished.get() == 0, TaskChoice::Of(group), pc);
    memory::acquired(&raw const *group as usize);
    task.group.set(group.around.get());
    group.used.set(false);
}

/// SAFETY: the compiler's call.
pub unsafe fn task_loop(spec: Spec, of: &TaskLoop, pc: usize) {
    let grouped = spec.flags & flag::NO_GROUP == 0;
    if grouped {
        group_start();
    }
    let threads = current().explored_openmp.team().map_or(1, |t| t.n.get());
    let mut spec = Spec { may_wait: spec.flags & flag::IF != 0, ..spec };
    of.chunks(spec.flags, threads, |from, until| {
        spec.bounds = Some((from, until));
        // SAFETY: by the caller's contract.
        unsafe { create(&spec, pc) }
    });
    if grouped {
        group_end(pc);
    }
}
