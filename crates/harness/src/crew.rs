//! A worker and its successors: orders go in and executions come out, whatever happens to the
//! process.

use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::Result;
use raddle_explore::{MAX_THREADS, Order};
use raddle_wire::explore::{Cannot, Outside, flag};
use thiserror::Error;

use crate::places::Mapped;
use crate::say::say;
use crate::watch::Watched;
use crate::worker::{Ending, Execution, Recipe, Trouble, Worker};

/// Why a program cannot be explored. Each is one sentence with its remedy.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CrewError {
    #[error("`{0}` ended with status {1} and created no thread: there is nothing to interleave")]
    NoThreads(String, i32),
    #[error(
        "`{0}` ended ({1}) before it created a thread, or replaced itself by another program: there is nothing to interleave"
    )]
    EndedEarly(String, String),
    #[error(
        "`{0}` was killed (SIGKILL) before it created a thread, by somebody else or for want of memory: nothing is known of it"
    )]
    Killed(String),
    #[error(
        "`{0}` created no thread in {1} s: give it a command that needs no input and no terminal, or more time with --patience"
    )]
    NoThreadInTime(String, u64),
    #[error(
        "`{0}` creates more than {1} threads, one after the other or at once, which is the most that can be explored"
    )]
    TooManyThreads(String, usize),
    #[error(
        "this machine does not let programs set their thread pointer (FSGSBASE), which exploring needs: use Linux 5.9 or later"
    )]
    NoFsgsbase,
    #[error("`{0}` cannot be explored: it {1}")]
    Cannot(String, String),
    #[error(
        "`{0}` is not instrumented, and raddle's runtime does not get control of it: build it with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`"
    )]
    NotInstrumented(String),
    #[error("the search was stopped before `{0}` had created its first thread")]
    Stopped(String),
}

/// Sentences for the user. Each is printed once, whichever worker causes it.
#[derive(Default)]
pub struct Notes {
    said: Mutex<BTreeSet<String>>,
    quiet: bool,
}

impl Notes {
    /// Notes that are only collected, for a caller that puts them into its report.
    pub fn quiet() -> Notes {
        Notes { quiet: true, ..Notes::default() }
    }

    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub fn say(&self, sentence: &str) {
        let is_new = self.said.lock().unwrap_or_else(|e| e.into_inner()).insert(sentence.into());
        if is_new && !self.quiet {
            say!("{sentence}");
        }
    }

    /// All sentences, in alphabetical order.
    pub fn sentences(&self) -> Vec<String> {
        self.said.lock().unwrap_or_else(|e| e.into_inner()).iter().cloned().collect()
    }
}

/// How often a program may die before its first thread, or in a schedule, before the death counts.
const DEATHS: u32 = 2;
/// The status with which the loader ends a program that refers to an undefined function.
const LOADER: i32 = 127;

pub struct Crew<'a> {
    recipe: Recipe,
    notes: &'a Notes,
    /// Whether the whole search must end, so that nothing is waited for any more.
    is_over: &'a (dyn Fn() -> bool + Sync),
    /// When the current execution is given up, even if it still makes steps.
    end_at: Option<Instant>,
    worker: Option<Worker>,
    waiting: VecDeque<Order>,
    /// How often in a row a worker has died in the first waiting order, and how.
    deaths: (u32, Option<ExitStatus>),
    modules: Vec<Mapped>,
}

impl<'a> Crew<'a> {
    pub fn new(recipe: Recipe, notes: &'a Notes, is_over: &'a (dyn Fn() -> bool + Sync)) -> Crew<'a> {
        Crew {
            end_at: recipe.end_at,
            recipe,
            notes,
            is_over,
            worker: None,
            waiting: VecDeque::new(),
            deaths: (0, None),
            modules: Vec::new(),
        }
    }

    /// Gives up the execution that is running at `end_at`. Without this, the crew waits for it as
    /// long as it makes steps.
    pub fn until(mut self, end_at: Instant) -> Crew<'a> {
        self.end_at = Some(self.end_at.map_or(end_at, |earlier| earlier.min(end_at)));
        self
    }

    /// Whether nothing new is started any more.
    fn over(&self) -> impl Fn() -> bool + Sync + use<'a> {
        let (is_over, end_at) = (self.is_over, self.end_at);
        move || is_over() || end_at.is_some_and(|at| Instant::now() >= at)
    }

    /// The current recipe, after all adaptations: more donors, one process per schedule.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// What the latest worker had mapped.
    pub fn modules(&self) -> &[Mapped] {
        &self.modules
    }

    /// The recordings of the current worker.
    pub fn watched(&self) -> Option<&Watched> {
        self.worker.as_ref().and_then(Worker::watched)
    }

    pub fn has_room(&self) -> bool {
        self.in_flight() < self.recipe.slots as usize
    }

    pub fn in_flight(&self) -> usize {
        self.waiting.len() + self.worker.as_ref().map_or(0, Worker::in_flight)
    }

    pub fn post(&mut self, order: Order) {
        match &mut self.worker {
            Some(worker) if self.waiting.is_empty() && worker.has_room() => worker.post(order),
            _ => self.waiting.push_back(order),
        }
    }

    /// Starts a worker if there is none.
    pub fn get_ready(&mut self) -> Result<()> {
        if self.worker.is_none() {
            self.worker = Some(self.start()?);
        }
        Ok(())
    }

    /// Waits for results and hands over all that are there. Returns at once if nothing is in
    /// flight.
    pub fn turn(&mut self, each: &mut dyn FnMut(&Order, Execution<'_>)) -> Result<()> {
        if self.in_flight() == 0 {
            return Ok(());
        }
        self.get_ready()?;
        let Some(mut worker) = self.worker.take() else { return Ok(()) };
        while worker.has_room()
            && let Some(order) = self.waiting.pop_front()
        {
            worker.post(order);
        }
        match worker.wait(self.is_over, self.end_at) {
            Ok(()) => {
                while worker.is_done() {
                    if let Some((order, execution)) = worker.oldest(Ending::Finished) {
                        if let Ending::Died(_) = execution.ending {
                            // Only the process of this one execution died.
                            self.lose(worker, Ending::Died(None), each);
                            return Ok(());
                        }
                        self.survived();
                        each(order, execution);
                    }
                    worker.pop();
                }
                self.worker = Some(worker);
            }
            Err(trouble) => self.recover(worker, trouble, each)?,
        }
        Ok(())
    }

    /// Replaces a lost worker; its orders are kept.
    fn recover(
        &mut self,
        worker: Worker,
        trouble: Trouble,
        each: &mut dyn FnMut(&Order, Execution<'_>),
    ) -> Result<()> {
        match trouble {
            Trouble::Died(status) => self.lose(worker, Ending::Died(Some(status)), each),
            Trouble::Silent => self.lose(worker, Ending::Hung, each),
            Trouble::Slow => self.lose(worker, Ending::Slow, each),
            other => {
                self.adapt(other)?;
                self.put_back(worker);
            }
        }
        Ok(())
    }

    /// The worker ended in its oldest order. A user or the out-of-memory killer may have killed it,
    /// but not again and again: a death counts as the program's own when it has happened [`DEATHS`]
    /// more times, each time in a new worker.
    fn lose(&mut self, mut worker: Worker, ending: Ending, each: &mut dyn FnMut(&Order, Execution<'_>)) {
        let again = match ending {
            Ending::Died(status) if self.deaths.0 < DEATHS => {
                self.deaths = (self.deaths.0 + 1, status.or(self.deaths.1));
                true
            }
            _ => false,
        };
        if !again {
            self.deaths = (0, None);
            if let Some((order, execution)) = worker.oldest(ending) {
                each(order, execution);
            }
            worker.pop();
        }
        self.put_back(worker);
    }

    fn put_back(&mut self, worker: Worker) {
        let mut orders = worker.into_orders();
        orders.append(&mut self.waiting);
        self.waiting = orders;
    }

    /// The order in which workers had died has been completed.
    fn survived(&mut self) {
        let (deaths, status) = std::mem::take(&mut self.deaths);
        if deaths > 0 {
            let how = status.map_or(String::new(), |status| format!(" ({})", in_words(status)));
            self.notes.say(&format!(
                "a worker died{how}, and not again when it was given the same schedule: something outside ended it, so this is no finding"
            ));
        }
    }

    fn start(&mut self) -> Result<Worker> {
        if self.recipe.is_over() {
            return Err(CrewError::Stopped(self.recipe.program.path.display().to_string()).into());
        }
        let mut deaths = 0;
        let is_over = self.over();
        loop {
            match self.recipe.start(&is_over)? {
                Ok(worker) => {
                    self.modules.clone_from(&worker.modules);
                    if let Some(library) = sees_little_of(&self.modules) {
                        self.notes.say(&format!(
                            "the program uses {library}, which makes its own system calls: what its threads wait for there is not seen, and may count as a hang"
                        ));
                    }
                    return Ok(worker);
                }
                Err(Trouble::Died(status)) if status.code() == Some(LOADER) && !self.recipe.lazy => {
                    self.recipe.lazy = true;
                }
                // A program that dies before any choice was made may do better the next time. One
                // that never does is refused.
                Err(Trouble::Died(status)) if status.signal().is_some() && deaths < DEATHS => deaths += 1,
                Err(trouble) => self.adapt(trouble)?,
            }
        }
    }

    /// Changes the recipe so that the next worker can do better.
    fn adapt(&mut self, trouble: Trouble) -> Result<(), CrewError> {
        let name = self.recipe.program.path.display().to_string();
        const MOST: u32 = MAX_THREADS as u32 - 1;
        match trouble {
            Trouble::MoreDonors(_) if self.recipe.donors >= MOST => {
                return Err(CrewError::TooManyThreads(name, MAX_THREADS));
            }
            Trouble::MoreDonors(n) => self.recipe.donors = n.max(self.recipe.donors * 2).min(MOST),
            Trouble::NeedsFork(why) if self.recipe.flags & fork_flags(why) != fork_flags(why) => {
                self.recipe.flags |= fork_flags(why);
                self.notes.say(&format!(
                    "the program {}, which its memory alone does not undo: each schedule gets a process of its own, and the search is slower",
                    outside_in_words(why)
                ));
            }
            // Then each schedule also makes anew what is made before the first thread.
            Trouble::NeedsFork(_) if self.recipe.flags & flag::FORK_AT_START == 0 => {
                self.recipe.flags |= flag::FORK_AT_START;
            }
            Trouble::NeedsFork(why) => {
                return Err(CrewError::Cannot(name, outside_in_words(why).into()));
            }
            Trouble::Cannot(_, Some(Cannot::NoFsgsbase)) => return Err(CrewError::NoFsgsbase),
            Trouble::Cannot(_, Some(Cannot::OpenMp)) => {
                let what = "has loops of OpenMP that are ordered by `depend`, reductions over tasks, detached tasks, `teams`, or more of its \
                            threads, tasks or `nowait` loops at once than are followed";
                return Err(CrewError::Cannot(name, what.into()));
            }
            Trouble::Cannot(_, Some(Cannot::Futex)) => {
                let what = "calls `futex` for more than to wait and to wake: locks with an owner (FUTEX_LOCK_PI), requeueing, FUTEX_WAKE_OP";
                return Err(CrewError::Cannot(name, what.into()));
            }
            Trouble::Cannot(_, Some(Cannot::SignalDescriptor)) => {
                let what = "sends itself a signal that it reads from a descriptor (`signalfd`)";
                return Err(CrewError::Cannot(name, what.into()));
            }
            Trouble::Cannot(_, Some(Cannot::Exec)) => {
                let what = "becomes another program by `exec` before its first thread, and uses what needs a process for each schedule: \
                            explore that program itself";
                return Err(CrewError::Cannot(name, what.into()));
            }
            Trouble::Cannot(why, None) => {
                return Err(CrewError::Cannot(name, format!("meets obstacle {why}")));
            }
            Trouble::NoThreads(status) => return Err(CrewError::NoThreads(name, status)),
            Trouble::Died(_) if !self.recipe.program.has_runtime => {
                return Err(CrewError::NotInstrumented(name));
            }
            Trouble::Died(status) if status.signal() == Some(libc::SIGKILL) => {
                return Err(CrewError::Killed(name));
            }
            Trouble::Died(status) => return Err(CrewError::EndedEarly(name, in_words(status))),
            Trouble::Slow => return Err(CrewError::Stopped(name)),
            Trouble::Silent if self.over()() => return Err(CrewError::Stopped(name)),
            Trouble::Silent => {
                return Err(CrewError::NoThreadInTime(name, self.recipe.patience.as_secs()));
            }
        }
        Ok(())
    }

    /// Ends the worker.
    pub fn stop(mut self) {
        self.start_anew();
    }

    /// Ends the worker, which has nothing left to do. A new worker executes the next order.
    pub fn start_anew(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.stop();
        }
    }
}

/// The flags for a worker whose program acts on the outside world. A descriptor that two executions
/// share would carry state from one to the other.
fn fork_flags(why: Option<Outside>) -> u32 {
    match why.is_some_and(Outside::is_shared_with_forks) {
        true => flag::FORK | flag::FORK_AT_START,
        false => flag::FORK,
    }
}

/// A mapped library whose waits raddle cannot control.
fn sees_little_of(modules: &[Mapped]) -> Option<&'static str> {
    let has = |name: &str| {
        modules.iter().any(|m| m.path.file_name().is_some_and(|f| f.to_string_lossy().starts_with(name)))
    };
    ["libomp", "libiomp5"].into_iter().find(|name| has(name))
}

fn outside_in_words(why: Option<Outside>) -> &'static str {
    match why {
        Some(Outside::File) => "opens or closes files, or changes its limits",
        Some(Outside::PipeOrSocket) => "makes pipes or sockets",
        Some(Outside::SharedMemory) => "shares memory",
        Some(Outside::Process) => "starts processes",
        Some(Outside::Timer) => "sets timers",
        Some(Outside::Signal) => "handles signals",
        Some(Outside::Mapping) => "maps memory",
        Some(Outside::Library) => "loads libraries",
        Some(Outside::Changes) => "writes, makes or removes files",
        None => "does something outside",
    }
}

/// `status 3`, `SIGKILL`.
pub fn in_words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("status {code}"),
        None => signal_name(status.signal().unwrap_or(0)),
    }
}

pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGABRT => "SIGABRT",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGINT => "SIGINT",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        other => return format!("signal {other}"),
    };
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_with_system_calls_of_their_own_are_named() {
        let mapped = |path: &str| vec![Mapped { low: 0, high: 1, offset: 0, path: path.into() }];
        assert_eq!(sees_little_of(&mapped("/usr/lib/libomp.so.5")), Some("libomp"));
        assert_eq!(sees_little_of(&mapped("/usr/lib/libgomp.so.1.0.0")), None);
        assert_eq!(sees_little_of(&mapped("/usr/lib/libc.so.6")), None);
    }

    #[test]
    fn endings_in_words() {
        assert_eq!(in_words(ExitStatus::from_raw(3 << 8)), "status 3");
        assert_eq!(in_words(ExitStatus::from_raw(libc::SIGKILL)), "SIGKILL");
        assert_eq!(signal_name(63), "signal 63");
    }

    #[test]
    fn sentences_are_ones_that_a_person_can_act_on() {
        let e = CrewError::NoThreads("./a".into(), 0).to_string();
        assert_eq!(e, "`./a` ended with status 0 and created no thread: there is nothing to interleave");
        assert!(CrewError::NoThreadInTime("./a".into(), 10).to_string().contains("--patience"));
    }
}
