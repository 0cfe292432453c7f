//! One worker: a process of the target, held where it creates its first thread. There it executes
//! orders.
//!
//! Orders and traces are in a file that both processes map; [`raddle_wire::explore`] defines its
//! layout. The driver keeps all slots full, so the worker never waits while the driver thinks. A
//! side that has nothing to do sleeps on a futex in the file.
//!
//! A worker may end at any moment: what it executes kills it, or it cannot do what the program
//! asks. The driver keeps each order until it has taken the result, so no order is lost with the
//! worker. [`crate::crew`] starts the next worker.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_explore::{Order, Outcome, StateKey, Step, Trace, TraceView};
use raddle_wire::config::{self, Config, ConfigMode};
use raddle_wire::explore::{self, Cannot, ExecutionEnd, Header, Outside, Parts, Slot, Stack, Status, flag};
use rustix::thread::futex;

use crate::install::Runtime;
use crate::launch;
use crate::places::Mapped;
use crate::processor_time::{self, Activity};
use crate::relocated::Prepared;
use crate::session_folder::SessionFolder;
use crate::shared_file::{Ahead, SharedFile};
use crate::target::TargetProgram;
use crate::watch::{Watch, Watched};

/// Each execution is a process with threads of the operating system.
pub const OS_THREADS: u32 = flag::OS_THREADS | flag::FORK | flag::FORK_AT_START;

/// A worker that computes between two steps gets this many times its patience in processor time. On
/// a busy machine, wall-clock time says nothing.
const LONGEST: u32 = 12;
/// How often a silent worker is checked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Everything needed to start a worker.
#[derive(Clone)]
pub struct Recipe {
    pub program: TargetProgram,
    pub words: Vec<OsString>,
    pub runtime: Runtime,
    /// Where to run it, and variables to set. `None` and an empty list: the same as raddle itself.
    pub folder: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
    /// [`explore::flag`]s.
    pub flags: u32,
    pub donors: u32,
    pub slots: u32,
    pub max_steps: u32,
    /// Sorted program counters of accesses that are scheduling points.
    pub points: Vec<u64>,
    /// Sorted addresses in the executable's file, each just behind an atomic operation that is not
    /// a scheduling point.
    pub quiet: Vec<u64>,
    /// Library functions are bound on their first call, as usual: the program refers to functions
    /// that no library defines.
    pub lazy: bool,
    /// How long a worker may take to reach its first thread, and then each next step.
    pub patience: Duration,
    /// What to record of each execution besides its steps.
    pub watch: Watch,
    /// What an uninstrumented program executes instead of its code. `None`: its code.
    pub copy: Option<Arc<Prepared>>,
    /// When the caller wants no more executions: the current one is given up, and no other begins.
    /// `None`: nobody waits.
    pub end_at: Option<Instant>,
}

/// Why a worker is gone, or of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The program ended with this status without creating a thread.
    NoThreads(i32),
    /// The program creates at least this many threads.
    MoreDonors(u32),
    /// The program has effects that restoring memory cannot undo.
    NeedsFork(Option<Outside>),
    /// The number, and what it stands for.
    Cannot(u64, Option<Cannot>),
    Died(ExitStatus),
    /// It reached no thread, or no further step, within its patience.
    Silent,
    /// It made no further step, but it computes, and its time is up.
    Slow,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The slot says how.
    Finished,
    /// The process died during it; `None` if the status is unknown.
    Died(Option<ExitStatus>),
    /// It made no step and used no processor time for so long that it was killed.
    Hung,
    /// It was still computing when its time was up.
    Slow,
}

/// An execution, as the worker left it in the slot.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    pub slot: &'a Slot,
    pub steps: &'a [Step],
    pub wide: &'a [u64],
    /// The call stack of each step, if it was asked for.
    pub stacks: &'a [Stack],
    /// The key of the state before each step, if the order asked for them.
    pub keys: &'a [StateKey],
    pub ending: Ending,
    /// What else was asked for.
    pub watched: Option<&'a Watched>,
}

impl<'a> Execution<'a> {
    pub fn view(&self, outcome: Outcome) -> TraceView<'a> {
        let divergence = self.slot.diverged.checked_sub(1);
        let (steps, wide, keys) = (self.steps, self.wide, self.keys);
        TraceView { steps, wide, outcome, divergence, keys, unknowable: self.slot.unknowable }
    }

    pub fn trace(&self, outcome: Outcome) -> Trace {
        self.view(outcome).to_trace()
    }
}

pub struct Worker {
    folder: SessionFolder,
    memory: SharedFile,
    /// Prepares memory for steps, where executions are long.
    _ahead: Option<Ahead>,
    child: Child,
    /// Posted and not yet taken, oldest first.
    orders: VecDeque<Order>,
    taken: u32,
    /// What was mapped when the worker became ready.
    pub modules: Vec<Mapped>,
    patience: Duration,
    watched: Option<Watched>,
    /// Orders done and steps made when the worker last moved, and the time of that move.
    moved: (u32, u32, Instant),
    activity: Activity,
    /// When it last moved, if that is longer ago than its patience; and the processor time that it
    /// had used when the driver noticed.
    still: Option<(Instant, u64)>,
}

impl Recipe {
    /// Whether nobody wants an execution any more.
    pub fn is_over(&self) -> bool {
        self.end_at.is_some_and(|at| Instant::now() >= at)
    }

    fn header(&self) -> Header {
        let mut header = Header::new(self.slots, self.max_steps, self.flags, self.donors, self.max_steps);
        header.points = self.points.len() as u32;
        header.quiet = self.quiet.len() as u32;
        header
    }

    /// Writes the session: the config page and the file of orders.
    pub fn session(&self) -> Result<(SessionFolder, SharedFile)> {
        let folder = SessionFolder::new()?;
        let mut flags = if self.flags & flag::PLAIN != 0 { config::flag::PLAIN } else { 0 };
        if let Some(copy) = &self.copy {
            copy.place_in(folder.path())?;
            flags |= config::flag::RELOCATED;
        }
        folder.write_config(&Config::new(ConfigMode::Explore, 0, flags))?;
        let header = self.header();
        let memory = SharedFile::make(&folder.path().join(explore::FILE), header.bytes() as u64)
            .context("cannot make the file of orders: `ulimit -f`, `ulimit -v` or a full disk")?;
        // SAFETY: the file is as long as the header says; nobody else has it yet.
        unsafe {
            let table = memory.as_mut_ptr().add(header.points_at()).cast::<u64>();
            std::ptr::copy_nonoverlapping(self.points.as_ptr(), table, self.points.len());
            let table = memory.as_mut_ptr().add(header.quiet_at()).cast::<u64>();
            std::ptr::copy_nonoverlapping(self.quiet.as_ptr(), table, self.quiet.len());
            memory.as_mut_ptr().cast::<Header>().write(header);
        }
        Ok((folder, memory))
    }

    /// The target as a process of the session in `folder`, without a terminal.
    pub fn command(&self, folder: &std::path::Path) -> Command {
        let mut command = launch::command(&self.program, &self.words, &self.runtime, folder);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.envs(self.environment.iter().map(|(k, v)| (k, v)));
        // Nobody reads the backtrace of a panic. Resolving its lines reads files and pipes and
        // takes thousands of steps.
        command.envs([("RUST_BACKTRACE", "0"), ("RUST_LIB_BACKTRACE", "0")]);
        if !self.lazy {
            // With lazy binding, each execution would forget the functions it has bound, and the
            // next would look them up again.
            command.env("LD_BIND_NOW", "1");
        }
        command
    }

    /// Where the program's output goes: nowhere, or into a file that the runtime reads.
    fn output(&self, folder: &std::path::Path) -> Result<Stdio> {
        if self.flags & flag::OUTPUT == 0 {
            return Ok(Stdio::null());
        }
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(folder.join("output"));
        Ok(file.context("cannot make the file for what the program prints")?.into())
    }

    /// Starts a worker and waits until it takes orders.
    pub fn start(&self, is_over: &(dyn Fn() -> bool + Sync)) -> Result<Result<Worker, Trouble>> {
        let (folder, memory) = self.session()?;
        let mut command = self.command(folder.path());
        command.stdin(launch::input()).stdout(self.output(folder.path())?).stderr(Stdio::null());
        let watched = self.watch.open(folder.path(), &mut command)?;
        let _ahead = watched.as_ref().is_some_and(Watched::is_ahead).then(|| steps_ahead(&memory));
        apart(&mut command);
        let child =
            command.spawn().with_context(|| format!("cannot start {}", self.program.path.display()))?;
        let now = Instant::now();
        let mut worker = Worker {
            folder,
            memory,
            _ahead,
            child,
            orders: VecDeque::new(),
            taken: 0,
            modules: Vec::new(),
            patience: self.patience,
            watched,
            moved: (0, 0, now),
            activity: Activity::new(now),
            still: None,
        };
        Ok(worker.get_ready(is_over).map(|()| worker))
    }
}

/// For a worker with one slot.
fn steps_ahead(file: &SharedFile) -> Ahead {
    // SAFETY: the file holds the session that was just written.
    let at = unsafe { (*file.as_ptr().cast::<Header>()).slot_at(0) };
    Ahead::of(file, at + size_of::<Slot>(), move |memory| {
        // SAFETY: the slot is within the file; the worker changes this number.
        let steps = unsafe { (&raw const (*memory.as_ptr().add(at).cast::<Slot>()).steps).read_volatile() };
        steps as usize * size_of::<Step>()
    })
}

/// Gives the process a group of its own, which Ctrl-C does not reach. It leaves no core and ends
/// with raddle.
pub fn apart(command: &mut Command) {
    command.process_group(0);
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

/// Ends a process made with [`apart`], and everything it has started.
pub fn end(child: &mut Child) -> ExitStatus {
    // SAFETY: a plain system call; the group is the child's, which has not been waited for.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    child.wait().unwrap_or_else(|_| ExitStatus::from_raw(libc::SIGKILL))
}

impl Drop for Worker {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

impl Worker {
    fn header(&self) -> &Header {
        // SAFETY: the mapping begins with a header, whose changing fields are atomics.
        unsafe { &*self.memory.as_ptr().cast() }
    }

    /// `None`: the target has overwritten it.
    fn status(&self) -> Option<Status> {
        Status::from_number(self.header().status.load(Acquire))
    }

    fn get_ready(&mut self, is_over: &(dyn Fn() -> bool + Sync)) -> Result<(), Trouble> {
        loop {
            self.sleep(self.taken);
            match self.status() {
                Some(Status::Ready) => break,
                // A child that the program started before its first thread may report this too.
                Some(Status::Starting | Status::NoThreads) => {}
                _ => return Err(self.trouble(None)),
            }
            let ended = self.child.try_wait().ok().flatten();
            if ended.is_some() {
                return Err(self.trouble(ended));
            }
            if self.moved.2.elapsed() > self.patience || is_over() {
                return Err(Trouble::Silent);
            }
        }
        self.modules = modules(self.header().owner.load(Acquire));
        Ok(())
    }

    /// What is wrong: what the worker says, or else how it ended.
    fn trouble(&mut self, ended: Option<ExitStatus>) -> Trouble {
        let detail = self.header().detail.load(Acquire);
        match self.status() {
            Some(Status::NoThreads) => Trouble::NoThreads(detail as i32),
            Some(Status::MoreDonors) => Trouble::MoreDonors(detail as u32),
            Some(Status::NeedsFork) => Trouble::NeedsFork(Outside::from_number(detail)),
            Some(Status::Cannot) => Trouble::Cannot(detail, Cannot::from_number(detail)),
            _ => Trouble::Died(ended.unwrap_or_else(|| end(&mut self.child))),
        }
    }

    pub fn has_room(&self) -> bool {
        (self.orders.len() as u32) < self.header().slots
    }

    pub fn in_flight(&self) -> usize {
        self.orders.len()
    }

    pub fn watched(&self) -> Option<&Watched> {
        self.watched.as_ref()
    }

    /// Gives the worker an order. There must be room.
    pub fn post(&mut self, order: Order) {
        if let Some(watched) = &self.watched {
            watched.begin();
        }
        write(self.parts(self.orders.len() as u32), &order);
        let (idle, posted) = (self.orders.is_empty(), &self.header().posted);
        posted.fetch_add(1, SeqCst);
        if self.header().worker_sleeps.load(SeqCst) != 0 {
            wake(posted);
        }
        if idle {
            self.moved.2 = Instant::now();
        }
        self.orders.push_back(order);
    }

    /// The parts of the slot `ahead` places after the oldest order that is not taken.
    fn parts(&self, ahead: u32) -> Parts<'_> {
        let header = self.header();
        // SAFETY: inside the file. The slot belongs to the driver: it is free, or done, or the
        // worker is dead.
        unsafe {
            explore::parts(
                header,
                self.memory.as_mut_ptr().add(header.slot_at(self.taken.wrapping_add(ahead))),
            )
        }
    }

    /// Waits until the oldest order is done. A worker that computes between two steps is waited for
    /// until `is_over`; a worker that makes steps, until `end_at` if there is one.
    pub fn wait(
        &mut self,
        is_over: &(dyn Fn() -> bool + Sync),
        end_at: Option<Instant>,
    ) -> Result<(), Trouble> {
        loop {
            let done = self.header().done.load(Acquire);
            if done != self.taken {
                return Ok(());
            }
            self.sleep(done);
            if self.header().done.load(Acquire) != self.taken {
                return Ok(());
            }
            let ended = self.child.try_wait().ok().flatten();
            if ended.is_some() && self.header().done.load(Acquire) == self.taken {
                return Err(self.trouble(ended));
            }
            if end_at.is_some_and(|at| Instant::now() >= at) {
                end(&mut self.child);
                return Err(Trouble::Slow);
            }
            let (steps, (last_done, last_steps, since)) = (self.parts(0).slot.steps, self.moved);
            if (done, steps) != (last_done, last_steps) {
                let now = Instant::now();
                self.moved = (done, steps, now);
                self.activity.moves(now);
            } else if since.elapsed() > self.patience {
                let computes = self.activity.look(self.child.id(), self.patience);
                if !computes || is_over() || self.computed(since) > self.patience * LONGEST {
                    end(&mut self.child);
                    return Err(if computes { Trouble::Slow } else { Trouble::Silent });
                }
            }
        }
    }

    /// The processor time used since the worker was found to be still.
    fn computed(&mut self, since: Instant) -> Duration {
        const TICK: Duration = Duration::from_millis(10);
        let used = processor_time::ticks(self.child.id());
        let begun = match self.still {
            Some((moved, begun)) if moved == since => begun,
            _ => self.still.insert((since, used)).1,
        };
        TICK * u32::try_from(used.saturating_sub(begun)).unwrap_or(u32::MAX)
    }

    fn sleep(&self, done: u32) {
        let header = self.header();
        header.driver_sleeps.store(1, SeqCst);
        if header.done.load(SeqCst) == done {
            let limit = futex::Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY.as_nanos() as i64 };
            let _ = futex::wait(&header.done, futex::Flags::empty(), done, Some(&limit));
        }
        header.driver_sleeps.store(0, SeqCst);
    }

    /// Whether the oldest order is done.
    pub fn is_done(&self) -> bool {
        !self.orders.is_empty() && self.header().done.load(Acquire) != self.taken
    }

    /// The oldest order, and its execution so far.
    pub fn oldest(&self, ending: Ending) -> Option<(&Order, Execution<'_>)> {
        let Parts { slot, steps, wide, stacks, keys, .. } = self.parts(0);
        let (n, w) = ((slot.steps as usize).min(steps.len()), (slot.wide as usize).min(wide.len()));
        let died = slot.outcome() == Some(ExecutionEnd::Unfinished) && ending == Ending::Finished;
        let ending = if died { Ending::Died(None) } else { ending };
        let stacks = &stacks[..n.min(stacks.len())];
        let keyed = if slot.keyed != 0 { n.min(keys.len()) } else { 0 };
        Some((
            self.orders.front()?,
            Execution {
                slot,
                steps: &steps[..n],
                wide: &wide[..w],
                stacks,
                keys: &keys[..keyed],
                ending,
                watched: self.watched.as_ref(),
            },
        ))
    }

    /// Marks the oldest order as dealt with and frees its slot.
    pub fn pop(&mut self) -> Option<Order> {
        self.taken = self.taken.wrapping_add(1);
        self.orders.pop_front()
    }

    /// The orders that have not been dealt with.
    pub fn into_orders(mut self) -> VecDeque<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Asks the worker to end.
    pub fn stop(self) {
        self.header().stop.store(1, Release);
        wake(&self.header().posted);
        let _ = self.folder.path();
    }
}

fn wake(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}

/// Writes an order into its slot. The tail decides what does not fit.
pub fn write(parts: Parts<'_>, order: &Order) {
    let Parts { slot, prefix, .. } = parts;
    let n = order.prefix.len().min(prefix.len());
    prefix[..n].copy_from_slice(&order.prefix[..n]);
    slot.prefix = n as u32;
    slot.tail = order.tail.to_words();
    let n = order.weights.len().min(slot.weight.len());
    slot.weight[..n].copy_from_slice(&order.weights[..n]);
    slot.weights = n as u32;
    let n = order.constraints.len().min(slot.constraint.len());
    slot.constraint[..n].copy_from_slice(&order.constraints[..n]);
    slot.constraints = n as u32;
    slot.steps = 0;
    slot.wide = 0;
    slot.set_outcome(ExecutionEnd::Unfinished);
}

/// The files that a process has mapped.
fn modules(pid: u64) -> Vec<Mapped> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.lines().filter_map(mapped).collect()
}

/// `555555554000-555555555000 r--p 00000000 fe:00 1234   /path of the file`
fn mapped(line: &str) -> Option<Mapped> {
    let mut words = line.splitn(6, ' ');
    let (low, high) = words.next()?.split_once('-')?;
    let offset = words.nth(1)?;
    let path = words.nth(2)?.trim_start();
    let number = |text| u64::from_str_radix(text, 16).ok();
    let found = Mapped { low: number(low)?, high: number(high)?, offset: number(offset)?, path: path.into() };
    path.starts_with('/').then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_are_read() {
        let m = mapped("555555554000-555555555000 r-xp 00001000 fe:00 1234    /a b/c (deleted)").unwrap();
        assert_eq!((m.low, m.high, m.offset), (0x5555_5555_4000, 0x5555_5555_5000, 0x1000));
        assert_eq!(m.path, PathBuf::from("/a b/c (deleted)"));
        assert!(mapped("7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0    [vdso]").is_none());
        assert!(mapped("7ffff7fc1000-7ffff7fc3000 rw-p 00000000 00:00 0").is_none());
        assert!(mapped("nonsense").is_none());
    }

    #[test]
    fn an_order_that_is_too_long_is_cut_at_the_room() {
        let header = Header::new(1, 4, 0, 2, 4);
        let mut memory = vec![0u64; header.slot_bytes() / 8];
        let order = Order::replay((0..10).map(raddle_explore::Choice::value));
        // SAFETY: the memory is one slot's, and used here only.
        write(unsafe { explore::parts(&header, memory.as_mut_ptr().cast()) }, &order);
        // SAFETY: as above.
        let parts = unsafe { explore::parts(&header, memory.as_mut_ptr().cast()) };
        assert_eq!(parts.slot.prefix, 4);
        assert_eq!(parts.prefix[..4], order.prefix[..4]);
    }
}
