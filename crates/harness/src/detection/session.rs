//! The session: a private folder with the config page. While the target runs, the driver answers
//! runtimes that ask for a plan, and watches memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_binary::{Effect, LockClass, LockSite, Module, Patterns};
use raddle_wire::Asked;
use raddle_wire::config::{Config, flag};
use raddle_wire::plan::{self, LockOperation, SiteClass, SiteEffect};
use raddle_wire::relocated::QUESTION;

use super::DetectionOptions;
use super::covered::covered_probes;
use crate::program::may_use_rust_std;
use crate::questions::Questions;
use crate::relocated::Probes;
use crate::relocated::libraries::{Copies, Libraries, Library};
use crate::session_folder::SessionFolder;
use crate::threads;

/// How often memory is checked, and how long a flush may take to show an effect.
const WATCH_EVERY: Duration = Duration::from_millis(100);
const FLUSH_REST: Duration = Duration::from_secs(2);

pub struct DetectionSession {
    dir: SessionFolder,
    stop: Arc<AtomicBool>,
    planner: JoinHandle<Answered>,
    watcher: JoinHandle<()>,
}

/// What remains of a session.
pub struct Served {
    dir: SessionFolder,
    pub answered: Answered,
}

/// What is known once all questions have been answered.
#[derive(Default)]
pub struct Answered {
    /// Executables that were started but that raddle may not read.
    pub unreadable: BTreeSet<String>,
    /// Uninstrumented libraries.
    pub libraries: BTreeMap<PathBuf, Library>,
}

impl Served {
    /// The folder with the logs.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }
}

impl DetectionSession {
    pub fn open(options: &DetectionOptions) -> Result<DetectionSession> {
        DetectionSession::open_with(options, Libraries::None, Probes::Merged)
    }

    /// Processes that are watched execute copies of these libraries.
    pub fn open_with(
        options: &DetectionOptions,
        libraries: Libraries,
        probes: Probes,
    ) -> Result<DetectionSession> {
        let dir = SessionFolder::new()?;
        check_limits(dir.path())?;
        let mut config = config_of(options);
        match libraries {
            Libraries::None => {}
            Libraries::Usual => config.flags |= flag::LIBRARIES,
            Libraries::All | Libraries::Named(_) => config.flags |= flag::LIBRARIES | flag::ALL_LIBRARIES,
        }
        dir.write_config(&config)?;
        let stop = Arc::new(AtomicBool::new(false));
        let planner = Planner {
            dir: dir.path().into(),
            questions: Questions::listen(dir.path())?,
            patterns: patterns(&options.ignore),
            leave_out_covered: options.leave_out_covered,
            known: HashMap::new(),
            copies: Copies::new(dir.path(), libraries, probes),
            unreadable: BTreeSet::new(),
        };
        let watcher = Watcher::new(dir.path(), options.memory_limit)?;
        let (stop_planner, stop_watcher) = (stop.clone(), stop.clone());
        let planner = threads::spawn("plans", move || planner.serve(&stop_planner))?;
        let watcher = threads::spawn("memory", move || watcher.watch(&stop_watcher)).inspect_err(|_| {
            stop.store(true, Ordering::Release);
        })?;
        Ok(DetectionSession { dir, stop, planner, watcher })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Makes the program that is about to start execute this copy of its code.
    pub fn relocate(&self, copy: &crate::relocated::Prepared) -> Result<()> {
        use std::os::unix::fs::FileExt;
        copy.place_in(self.dir())?;
        let config = OpenOptions::new().read(true).write(true).open(self.dir().join(raddle_wire::CONFIG))?;
        let at = std::mem::offset_of!(Config, flags) as u64;
        let mut flags = [0; 4];
        config.read_exact_at(&mut flags, at)?;
        config.write_all_at(&(u32::from_ne_bytes(flags) | flag::RELOCATED).to_ne_bytes(), at)?;
        Ok(())
    }

    /// Ends the session after the target has ended.
    pub fn close(self) -> Served {
        self.stop.store(true, Ordering::Release);
        Questions::wake(self.dir.path());
        self.watcher.thread().unpark();
        let _ = self.watcher.join();
        Served { answered: self.planner.join().unwrap_or_default(), dir: self.dir }
    }
}

/// Checks limits here, because the runtime cannot report a problem before it has a log.
pub fn check_limits(dir: &Path) -> Result<()> {
    use std::os::unix::ffi::OsStrExt;
    const LONGEST: usize = 380;
    let log = raddle_wire::log::FILE_SIZE as u64;
    anyhow::ensure!(
        dir.as_os_str().as_bytes().len() <= LONGEST,
        "the path in TMPDIR is too long: set it to a shorter one"
    );
    let allowed = rustix::process::getrlimit(rustix::process::Resource::Fsize).current.unwrap_or(u64::MAX);
    anyhow::ensure!(
        allowed >= log,
        "`ulimit -f` allows no file of 64 MiB, which raddle's log needs: raise it"
    );
    Ok(())
}

fn config_of(options: &DetectionOptions) -> Config {
    let chosen = [
        (options.init_state, flag::INIT_STATE),
        (options.lock_order, flag::LOCK_ORDER),
        (options.condvar_mutexes_order, flag::CONDVAR_MUTEXES_ORDER),
        (true, flag::HAS_PLANS),
    ];
    let flags = chosen.iter().filter(|(on, _)| *on).fold(0, |f, (_, bit)| f | bit);
    Config::new(options.mode.of_the_runtime(), options.history as u32, flags)
}

/// `fun:NAME`, `file:PATH`, `module:NAME`; a bare name is a function.
pub fn patterns(ignore: &[String]) -> Patterns {
    let mut patterns = Patterns::default();
    for word in ignore {
        match word.split_once(':') {
            Some(("file", p)) => patterns.files.push(p.into()),
            Some(("module", p)) => patterns.modules.push(p.into()),
            Some(("fun", p)) => patterns.functions.push(p.into()),
            // A C++ name contains colons itself.
            _ => patterns.functions.push(word.clone()),
        }
    }
    patterns
}

/// Answers each process that starts with the plan for its executable.
struct Planner {
    dir: PathBuf,
    questions: Questions,
    patterns: Patterns,
    leave_out_covered: bool,
    known: HashMap<(PathBuf, u64, i64), Vec<u8>>,
    copies: Copies,
    unreadable: BTreeSet<String>,
}

impl Planner {
    /// Answers questions until `stop`.
    fn serve(mut self, stop: &AtomicBool) -> Answered {
        while let Some(question) = self.questions.next(stop) {
            self.answer(Asked::decode(question));
        }
        Answered { unreadable: self.unreadable, libraries: self.copies.finish() }
    }

    /// Always gives some answer: the process waits for it.
    fn answer(&mut self, Asked { pid, number }: Asked) {
        if number != 0 {
            return self.answer_about_library(pid, number);
        }
        let plan = self.executable(pid).map_or_else(no_plan, |exe| self.plan(&exe));
        self.questions.answer(pid, None, &plan);
    }

    fn answer_about_library(&mut self, pid: u32, number: u32) {
        let question = self.dir.join(format!("{QUESTION}{pid}.{number}"));
        let library = std::fs::read(&question).map(|path| PathBuf::from(OsString::from_vec(path)));
        let _ = std::fs::remove_file(question);
        let executable = self.executable(pid);
        let name = library.map(|path| self.copies.answer(&path, executable.as_deref()));
        self.questions.answer(pid, Some(number), name.unwrap_or_default().as_bytes());
    }

    /// The executable that the process names in its log. Its `/proc/PID/exe` is closed to others if
    /// it is set-user-ID or cannot be read, and in a PID namespace its number belongs to another
    /// process.
    fn executable(&self, pid: u32) -> Option<PathBuf> {
        let newest = (0..).map(|n| self.dir.join(format!("{pid}.{n}.log"))).take_while(|p| p.exists()).last();
        newest.and_then(|log| crate::collect::executable(&log))
    }

    fn plan(&mut self, exe: &Path) -> Vec<u8> {
        use std::os::unix::fs::MetadataExt;
        let Ok(meta) = std::fs::metadata(exe) else { return no_plan() };
        let key = (exe.to_path_buf(), meta.ino(), meta.mtime_nsec() + meta.mtime() * 1_000_000_000);
        if let Some(plan) = self.known.get(&key) {
            return plan.clone();
        }
        if File::open(exe).is_err() {
            self.unreadable.insert(exe.display().to_string());
        }
        let plan = make_plan(exe, &self.patterns, self.leave_out_covered);
        self.known.insert(key, plan.clone());
        plan
    }
}

/// A plan without such places.
fn no_plan() -> Vec<u8> {
    plan::encode(&[], &[], &[])
}

fn make_plan(exe: &Path, patterns: &Patterns, leave_out_covered: bool) -> Vec<u8> {
    let Ok(module) = Module::open(exe) else { return no_plan() };
    let sites: Vec<(u64, LockOperation)> =
        if may_use_rust_std(exe) { module.lock_sites().sites.iter().map(site).collect() } else { Vec::new() };
    let ignored = module.match_ranges(patterns);
    let covered = if leave_out_covered { covered_probes(exe, &module) } else { Vec::new() };
    plan::encode(&sites, &ignored, &covered)
}

fn site(s: &LockSite) -> (u64, LockOperation) {
    let class = match s.class {
        LockClass::MutexAcquire => SiteClass::MutexAcquire,
        LockClass::MutexRelease => SiteClass::MutexRelease,
        LockClass::ReadAcquire => SiteClass::ReadAcquire,
        LockClass::ReadRelease => SiteClass::ReadRelease,
        LockClass::WriteAcquire => SiteClass::WriteAcquire,
        LockClass::WriteRelease => SiteClass::WriteRelease,
        LockClass::Downgrade => SiteClass::Downgrade,
        LockClass::WaitRelease => SiteClass::WaitRelease,
    };
    let effect = match s.effect {
        Effect::Always => SiteEffect::Always,
        Effect::IfExchanged => SiteEffect::IfExchanged,
        Effect::IfReturnedZero => SiteEffect::IfReturnedZero,
    };
    (s.return_address, LockOperation { class, effect, depth: s.depth })
}

/// Requests a flush when a process of the session has grown over the limit.
struct Watcher {
    dir: PathBuf,
    limit: u64,
    config: memmap2::MmapRaw,
}

impl Watcher {
    fn new(dir: &Path, limit: Option<u64>) -> Result<Watcher> {
        let file = OpenOptions::new().read(true).write(true).open(dir.join(raddle_wire::CONFIG))?;
        let config = memmap2::MmapRaw::map_raw(&file)?;
        Ok(Watcher { dir: dir.into(), limit: limit.unwrap_or_else(default_limit), config })
    }

    fn watch(self, stop: &AtomicBool) {
        let mut last = None;
        while !stop.load(Ordering::Acquire) {
            std::thread::park_timeout(WATCH_EVERY);
            let rested = last.is_none_or(|at: Instant| at.elapsed() > FLUSH_REST);
            if rested && pids(&self.dir).any(|pid| resident(pid) > self.limit) {
                self.request();
                last = Some(Instant::now());
            }
        }
    }

    fn request(&self) {
        // SAFETY: the mapping holds a Config, whose counter is atomic; the runtimes only read it.
        let config = unsafe { &*self.config.as_ptr().cast::<Config>() };
        config.flush_request.fetch_add(1, Ordering::Relaxed);
    }
}

/// Three quarters of the machine's memory, or of what ulimit allows.
fn default_limit() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = meminfo
        .lines()
        .find_map(|l| l.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let machine = total.unwrap_or(4 << 20) * 1024;
    let allowed = [rustix::process::Resource::Rss, rustix::process::Resource::Data]
        .into_iter()
        .filter_map(|r| rustix::process::getrlimit(r).current)
        .fold(machine, u64::min);
    allowed / 4 * 3
}

/// The processes that have opened a log.
fn pids(dir: &Path) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.strip_suffix(".log")?.split('.').next()?.parse().ok())
}

fn resident(pid: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}
