//! What the driver has told, and where what is found goes: the folder of the session.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use raddle_tsvd::{Params, SIZE, Tsvd};

use crate::com::Com;
use crate::profiling::Info;
use crate::record::Record;

/// All that holds for the whole process.
pub struct Session {
    pub info: Info,
    pub core: &'static Tsvd,
    pub force_async: bool,
    records: File,
}

static SESSION: OnceLock<Session> = OnceLock::new();

/// After the profiler has been started, which nothing comes before.
pub fn session() -> &'static Session {
    SESSION.get().expect("the runtime initializes a profiler before it calls it")
}

/// Files of the session, named as `raddle_wire::tsvd` names them.
const PARAMS: &str = "params";
const SHARED: &str = "tsvd";
/// What [`Record`]s of a process are in, behind its number.
pub const RECORDS: &str = "clr";
/// The core's tables: not those of native code, whose sites have other numbers.
const STATE: &str = "clr-state";

/// Begins, if there is a driver.
pub fn begin(info: Com) -> Option<&'static Session> {
    let folder = PathBuf::from(std::env::var_os("RADDLE_SESSION")?);
    let params = params(&folder)?;
    let pid = std::process::id();
    let records = new_file(&folder, pid, RECORDS)?;
    let core = tables(&new_file(&folder, pid, STATE)?, &params)?;
    let force_async = flags(&folder)? & FORCE_ASYNC != 0;
    let session = SESSION.get_or_init(|| Session { info: Info(info), core, force_async, records });
    session.write(&Record::Begin { version: crate::record::VERSION, pid });
    Some(session)
}

impl Session {
    /// One write, so that lines of several threads do not mix, and nothing is lost however the process ends.
    pub fn write(&self, record: &Record) {
        let Ok(mut line) = serde_json::to_vec(record) else { return };
        line.push(b'\n');
        // A session that is gone is nothing to stop a program for.
        _ = (&self.records).write_all(&line);
    }
}

fn params(folder: &Path) -> Option<Params> {
    let bytes = std::fs::read(folder.join(PARAMS)).ok()?;
    // SAFETY: the driver wrote a value of the same build, as the equal length vouches for.
    (bytes.len() == size_of::<Params>()).then(|| unsafe { bytes.as_ptr().cast::<Params>().read_unaligned() })
}

const FORCE_ASYNC: u32 = 1;

/// The flags of the run: the fourth word.
fn flags(folder: &Path) -> Option<u32> {
    let bytes = std::fs::read(folder.join(SHARED)).ok()?;
    bytes.get(12..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
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
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of a file of that length.
    let memory =
        unsafe { libc::mmap(core::ptr::null_mut(), SIZE, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    // SAFETY: fresh pages of that size, zero, aligned as mappings are, and nobody else's.
    (memory != libc::MAP_FAILED).then(|| unsafe { Tsvd::place(memory.cast(), params) })
}
