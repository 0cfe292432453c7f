//! The input from the driver, and the destination of findings: the folder of the session.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use raddle_tsvd::{Delay, Params, SIZE, Tsvd};
use raddle_wire::tsvd::{MAGIC, PARAMS_FILE, SHARED_FILE, SharedMapping, flag};

use crate::com::Com;
use crate::lists::ApiLists;
use crate::point;
use crate::profiling::Info;
use crate::record::{ClrRecord, KnownPair};

/// The state of the whole process.
pub struct ClrSession {
    pub info: Info,
    pub core: &'static Tsvd,
    pub catalogue: ApiLists,
    pub force_async: bool,
    /// Whether this version of the runtime has the structures of `[[enumerator]]` as the lists
    /// describe.
    pub has_known_enumerators: bool,
    /// The pairs learned in earlier runs.
    pub pairs: Vec<KnownPair>,
    /// Patterns of framework modules to watch all the same.
    pub modules: Vec<String>,
    records: File,
    shared: &'static SharedMapping,
    started: u64,
    /// The delays in this process, in nanoseconds.
    spent: AtomicU64,
}

static SESSION: OnceLock<ClrSession> = OnceLock::new();

/// The session. Call it only after the profiler has been started, before which nothing runs.
pub fn session() -> &'static ClrSession {
    SESSION.get().expect("the runtime initializes a profiler before it calls it")
}

/// The suffix of a process's file of [`ClrRecord`]s, after its number.
pub const RECORDS: &str = "clr";
/// The core's tables. They differ from those of native code, whose sites have other numbers.
const STATE: &str = "clr-state";
/// Written by the driver: [`KnownPair`]s as JSON.
pub const PAIRS: &str = "clr-pairs";
/// Written by the driver: a project's files with lists, each with a number.
pub const LISTS: &str = "clr-lists";
/// Written by the driver: one pattern per line.
pub const MODULES: &str = "clr-modules";

/// Begins a session, if there is a driver.
pub fn begin(info: Com) -> Option<&'static ClrSession> {
    let folder = PathBuf::from(std::env::var_os("RADDLE_SESSION")?);
    let params = params(&folder)?;
    let shared = shared(&folder)?;
    let pid = std::process::id();
    let records = new_file(&folder, pid, RECORDS)?;
    let core = tables(&new_file(&folder, pid, STATE)?, &params)?;
    let info = Info(info);
    let version = info.version();
    let session = SESSION.get_or_init(|| ClrSession {
        info,
        core,
        catalogue: catalogue(&folder),
        force_async: shared.flags & flag::SYNCHRONOUS_AWAIT == 0,
        has_known_enumerators: version.is_some_and(|(major, _)| has_known_enumerators(major)),
        pairs: pairs(&folder),
        modules: modules(&folder),
        records,
        shared,
        started: point::now(),
        spent: AtomicU64::new(0),
    });
    let runtime = version.map(|(major, minor)| format!("{major}.{minor}"));
    session.write(&ClrRecord::Begin { version: crate::record::VERSION, pid, runtime });
    Some(session)
}

/// .NET Core 3 reports version 4.
fn has_known_enumerators(major: u16) -> bool {
    (3..=10).contains(&major)
}

impl ClrSession {
    /// Makes one write per record, so that lines of several threads do not mix and nothing is lost
    /// however the process ends.
    pub fn write(&self, record: &ClrRecord) {
        let Ok(mut line) = serde_json::to_vec(record) else { return };
        line.push(b'\n');
        // A missing session is no reason to stop a program.
        _ = (&self.records).write_all(&line);
    }

    /// Pays for a delay from what the run may still spend in all its processes, and from what this
    /// process may spend in the time it has run.
    pub fn pay(&self, delay: &Delay) -> bool {
        let elapsed = delay.start.saturating_sub(self.started);
        let (slack, share) = (u64::from(self.shared.slack), u64::from(self.shared.share));
        let allowed = slack * 1_000_000 + elapsed / 1_000_000 * share;
        let budget = self.shared.budget.load(Relaxed);
        let more = |spent: u64| spent.checked_add(delay.nanos).filter(|sum| *sum <= budget);
        if self.spent.load(Relaxed) + delay.nanos > allowed
            || self.shared.spent.fetch_update(Relaxed, Relaxed, more).is_err()
        {
            self.core.refuse(delay);
            return false;
        }
        self.spent.fetch_add(delay.nanos, Relaxed);
        true
    }
}

fn params(folder: &Path) -> Option<Params> {
    let bytes = std::fs::read(folder.join(PARAMS_FILE)).ok()?;
    // SAFETY: the driver wrote a value of the same build, which the equal length guarantees.
    (bytes.len() == size_of::<Params>()).then(|| unsafe { bytes.as_ptr().cast::<Params>().read_unaligned() })
}

fn shared(folder: &Path) -> Option<&'static SharedMapping> {
    let file = OpenOptions::new().read(true).write(true).open(folder.join(SHARED_FILE)).ok()?;
    if file.metadata().ok()?.len() < size_of::<SharedMapping>() as u64 {
        return None;
    }
    // SAFETY: as long as a Shared, aligned as mappings are, and it stays mapped.
    let shared = unsafe { &*map(&file, size_of::<SharedMapping>())?.cast::<SharedMapping>() };
    (shared.magic == MAGIC && shared.version == raddle_wire::VERSION).then_some(shared)
}

/// The driver has already read the project's lists and refused wrong ones.
fn catalogue(folder: &Path) -> ApiLists {
    let mut catalogue = ApiLists::shipped();
    let texts = (0..).map_while(|n| std::fs::read_to_string(folder.join(format!("{LISTS}.{n}"))).ok());
    for text in texts {
        _ = catalogue.add_project(&text);
    }
    catalogue
}

fn pairs(folder: &Path) -> Vec<KnownPair> {
    let text = std::fs::read(folder.join(PAIRS)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn modules(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(MODULES)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn new_file(folder: &Path, pid: u32, kind: &str) -> Option<File> {
    let new = |n: u32| {
        let path = folder.join(format!("{pid}.{n}.{kind}"));
        OpenOptions::new().read(true).append(kind == RECORDS).write(true).create_new(true).open(path)
    };
    (0..1000).map(new).find_map(Result::ok)
}

fn tables(file: &File, params: &Params) -> Option<&'static Tsvd> {
    file.set_len(SIZE as u64).ok()?;
    // SAFETY: fresh zeroed pages of that size, aligned as mappings are, and unshared.
    map(file, SIZE).map(|memory| unsafe { Tsvd::place(memory, params) })
}

/// Maps a file of at least that length, forever.
fn map(file: &File, len: usize) -> Option<*mut u8> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of a file of that length.
    let memory =
        unsafe { libc::mmap(core::ptr::null_mut(), len, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if memory == libc::MAP_FAILED {
        return None;
    }
    // At the first touch of a sparse file, the kernel would read ahead, and so clear, two
    // megabytes. That took half of what a short process paid for being watched.
    // SAFETY: advice on a mapping of its own.
    unsafe { libc::madvise(memory, len, libc::MADV_RANDOM) };
    Some(memory.cast())
}
