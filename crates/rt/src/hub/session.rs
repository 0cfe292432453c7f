//! The session's folder and its config page.

use core::ffi::c_char;

use crate::sys;
use raddle_wire::config::{Config, MAGIC};
use raddle_wire::explore::Header;
use raddle_wire::{delays, trace};

/// A path built without an allocator. A path that is too long is cut off, and then does not exist.
pub struct PathBuffer {
    bytes: [u8; 512],
    len: usize,
}

impl PathBuffer {
    /// `DIR/`
    pub fn new(dir: &[u8]) -> PathBuffer {
        let mut path = PathBuffer { bytes: [0; 512], len: 0 };
        path.push(dir);
        path.push(b"/");
        path
    }

    pub fn push(&mut self, part: &[u8]) {
        let n = part.len().min(self.bytes.len() - 1 - self.len);
        self.bytes[self.len..self.len + n].copy_from_slice(&part[..n]);
        self.len += n;
    }

    pub fn number(&mut self, mut n: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                break;
            }
        }
        self.push(&digits[at..]);
    }

    pub fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}

static DIR: sys::Shared<([u8; 400], usize)> = sys::Shared::new(([0; 400], 0));

/// The session's folder, empty before `find`.
pub fn dir() -> &'static [u8] {
    // SAFETY: written once, by `find`, before there are threads.
    let (bytes, len) = unsafe { &*DIR.get() };
    &bytes[..*len]
}

/// Whether the program has more rights than its caller (set-user-ID, file capabilities). Such a
/// program does not let the caller's environment choose where it writes.
fn is_privileged() -> bool {
    unsafe extern "C" {
        fn getauxval(kind: core::ffi::c_ulong) -> core::ffi::c_ulong;
    }
    // SAFETY: what the kernel told the process at its start.
    unsafe { getauxval(libc::AT_SECURE) != 0 }
}

/// Whether a driver still answers questions. Only the driver has the FIFO open for reading.
pub fn has_driver() -> bool {
    let mut fifo = PathBuffer::new(dir());
    fifo.push(raddle_wire::ASK.as_bytes());
    let fd = sys::open(fifo.as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC, 0);
    if fd >= 0 {
        sys::close(fd);
    }
    fd >= 0
}

/// Whether the file exists and is empty: an answer without content.
pub fn is_empty_file(path: &PathBuffer) -> bool {
    let fd = sys::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return false;
    }
    let end = sys::syscall(libc::SYS_lseek, [fd as usize, 0, libc::SEEK_END as usize, 0, 0, 0]);
    sys::close(fd);
    end == 0
}

/// Looks for the session in the environment. False: nobody watches this process.
pub fn find(environment: *const *const c_char) -> bool {
    if is_privileged() {
        return false;
    }
    let name = raddle_wire::SESSION_ENV.to_bytes();
    let Some(value) = value_in(environment, name) else { return false };
    if value.is_empty() || value.len() > 400 {
        return false;
    }
    // SAFETY: before there are threads.
    let (bytes, len) = unsafe { &mut *DIR.get() };
    bytes[..value.len()].copy_from_slice(value);
    *len = value.len();
    true
}

/// Finds the folder of the file that is mapped at `address`, if it belongs to an instrumented copy.
/// No driver started such a process; it watches itself.
pub fn find_beside(address: usize) -> bool {
    let mut found = false;
    super::modules::each_line(|line| {
        let Some(path) = line.iter().position(|b| *b == b'/').map(|at| &line[at..]) else { return };
        let Some(((start, end), _)) = super::modules::parse_line(line) else { return };
        let name = raddle_wire::tsvd::LIBRARIES.iter().find(|name| path.ends_with(name.as_bytes()));
        if let (true, Some(name)) = ((start..end).contains(&address), name) {
            // SAFETY: before there are threads.
            let (bytes, len) = unsafe { &mut *DIR.get() };
            let folder = &path[..path.len() - name.len()];
            if folder.len() <= bytes.len() {
                bytes[..folder.len()].copy_from_slice(folder);
                *len = folder.len();
                found = true;
            }
        }
    });
    found
}

fn value_in(environment: *const *const c_char, name: &[u8]) -> Option<&'static [u8]> {
    // SAFETY: the environment is null or ends in a null; its strings end in zero.
    unsafe {
        let mut entry = environment;
        while !entry.is_null() && !(*entry).is_null() {
            let mut len = 0;
            while *(*entry).add(len) != 0 {
                len += 1;
            }
            let bytes = core::slice::from_raw_parts((*entry).cast::<u8>(), len);
            if bytes.starts_with(name) && bytes.get(name.len()) == Some(&b'=') {
                return Some(&bytes[name.len() + 1..]);
            }
            entry = entry.add(1);
        }
    }
    None
}

/// The variables that a process needs in its environment to be watched.
const WANTED: [&[u8]; VARIABLES] = [b"RADDLE_SESSION=", b"LD_PRELOAD=", b"LD_LIBRARY_PATH="];
pub const VARIABLES: usize = 3;
static REMEMBERED: sys::Shared<[*const c_char; VARIABLES]> = sys::Shared::new([core::ptr::null(); VARIABLES]);

/// The variables of [`WANTED`] that this process was started with.
pub fn remembered() -> &'static [*const c_char; VARIABLES] {
    // SAFETY: written once, before there are threads.
    unsafe { &*REMEMBERED.get() }
}

/// Saves a copy of these variables if there is a session, because the program may change its
/// environment.
pub fn remember(environment: *const *const c_char) {
    if is_privileged() || value_in(environment, &WANTED[0][..WANTED[0].len() - 1]).is_none() {
        return;
    }
    for (i, name) in WANTED.iter().enumerate() {
        let Some(value) = value_in(environment, &name[..name.len() - 1]) else { continue };
        let text = sys::ARENA.take(name.len() + value.len() + 1);
        // SAFETY: fresh zeroed memory of the right length; before there are threads.
        unsafe {
            core::ptr::copy_nonoverlapping(name.as_ptr(), text, name.len());
            core::ptr::copy_nonoverlapping(value.as_ptr(), text.add(name.len()), value.len());
            (*REMEMBERED.get())[i] = text.cast();
        }
    }
}

/// Maps the config page. None if there is none, or if it has another version.
pub fn config() -> Option<&'static Config> {
    let mut path = PathBuffer::new(dir());
    path.push(raddle_wire::CONFIG.as_bytes());
    let page = map_file(&path, 4096)?.0 as *const Config;
    // SAFETY: a mapping of a page, at least as long as a Config.
    let config = unsafe { &*page };
    (config.magic == MAGIC && config.version == raddle_wire::VERSION).then_some(config)
}

/// Maps the file of orders and traces, writable.
pub fn explore_file() -> Option<*mut Header> {
    let (at, len) = map_to_write(raddle_wire::explore::FILE)?;
    let header = at as *mut Header;
    // SAFETY: a mapping, which is read only if it is at least as long as a header.
    let known = unsafe {
        len >= size_of::<Header>()
            && (*header).magic == raddle_wire::explore::MAGIC
            && (*header).version == raddle_wire::VERSION
    };
    known.then_some(header)
}

/// Maps the file that records a traced execution. None: tracing is off.
pub fn trace_file() -> Option<*mut trace::TraceHeader> {
    let (at, len) = map_to_write(trace::FILE)?;
    let header = at as *mut trace::TraceHeader;
    // SAFETY: as above.
    let known = unsafe {
        len >= size_of::<trace::TraceHeader>()
            && (*header).magic == trace::MAGIC
            && (*header).version == raddle_wire::VERSION
            && len >= (*header).bytes()
    };
    known.then_some(header)
}

/// Maps the file that says where to delay.
pub fn delays_file() -> Option<*mut delays::DelaysHeader> {
    let (at, len) = map_to_write(delays::FILE)?;
    let header = at as *mut delays::DelaysHeader;
    // SAFETY: as above.
    let known = unsafe {
        len >= size_of::<delays::DelaysHeader>()
            && (*header).magic == delays::MAGIC
            && (*header).version == raddle_wire::VERSION
            && len >= (*header).bytes()
    };
    known.then_some(header)
}

/// Maps a file of the session's folder, shared and writable. Returns its address and its length.
pub fn map_to_write(name: &str) -> Option<(usize, usize)> {
    let mut path = PathBuffer::new(dir());
    path.push(name.as_bytes());
    let fd = sys::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return None;
    }
    let len =
        sys::syscall(libc::SYS_lseek, [fd as usize, 0, libc::SEEK_END as usize, 0, 0, 0]).max(0) as usize;
    let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let at = sys::syscall(
        libc::SYS_mmap,
        [sys::place(len), len, access, libc::MAP_SHARED as usize, fd as usize, 0],
    );
    sys::close(fd);
    (at > 0).then_some((at as usize, len))
}

/// Maps a file, shared and read-only: its first `at_least` bytes, or all of it.
pub fn map_file(path: &PathBuffer, at_least: usize) -> Option<(usize, usize)> {
    let fd = sys::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return None;
    }
    let end = sys::syscall(libc::SYS_lseek, [fd as usize, 0, libc::SEEK_END as usize, 0, 0, 0]);
    let len = (end.max(0) as usize).max(at_least);
    let flags = libc::MAP_SHARED as usize;
    let at =
        sys::syscall(libc::SYS_mmap, [sys::place(len), len, libc::PROT_READ as usize, flags, fd as usize, 0]);
    sys::close(fd);
    (at > 0 && end > 0).then_some((at as usize, end as usize))
}
