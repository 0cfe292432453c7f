//! Shared libraries execute copies of their code too.
//!
//! When the runtime starts, no code of a library has run yet: the runtime is initialised first.
//! Later the loader tells debuggers by a call of an empty function (`r_brk` of `<link.h>`) that it
//! has mapped libraries, or removed some. It does so before it runs their constructors, whether the
//! program or the C library itself has asked for them. That function becomes a jump to [`changed`].
//!
//! The driver is asked about each new library by its path, and answers with the name of a copy, or
//! with nothing. It decides which libraries are watched, and says so.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};

use super::{file, identity, install, place_near, table};
use crate::detect::thread::current;
use crate::hub::session::{self, PathBuffer};
use crate::hub::{log, modules};
use crate::sys::{self, Shared};
use raddle_wire::record::Record;
use raddle_wire::relocated::{LIBRARY, QUESTION, RelocatedHeader, left};
use raddle_wire::{ASK, Asked, PLAN};

/// How long the driver may take for one library.
const PATIENCE_US: i64 = 180_000_000;
/// More libraries than this are not watched.
const MOST: usize = 1024;

/// `struct link_map`, the part that is public.
#[repr(C)]
struct LinkMap {
    bias: usize,
    name: *const c_char,
    dynamic: usize,
    next: *const LinkMap,
    previous: *const LinkMap,
}

/// `struct r_debug`.
#[repr(C)]
struct Debug {
    version: c_int,
    first: *const LinkMap,
    breakpoint: usize,
    state: c_int,
    base: usize,
}

const CONSISTENT: c_int = 0;

/// A library that the loader has told of.
#[derive(Clone, Copy)]
struct Known {
    /// Where its dynamic section is; 0: the entry is free.
    dynamic: usize,
    bias: usize,
    /// Its copy, if it has one.
    header: usize,
    /// The question about it, if that has not been answered.
    question: u32,
    is_there: bool,
}

static KNOWN: Shared<[Known; MOST]> =
    Shared::new([Known { dynamic: 0, bias: 0, header: 0, question: 0, is_there: false }; MOST]);
static DEBUG: AtomicUsize = AtomicUsize::new(0);
static QUESTIONS: AtomicU32 = AtomicU32::new(1);

/// Before any code of a library has run, or at least before there is a second thread.
pub fn install_all() {
    if DEBUG.load(Relaxed) != 0 {
        return;
    }
    if sys::threads() != 1 {
        return leave(b"", left::THREADS);
    }
    // SAFETY: a look-up by name.
    let debug = unsafe { sys::dlsym(libc::RTLD_DEFAULT, c"_r_debug".as_ptr()) };
    if debug.is_null() || super::has_shadow_stack() {
        return leave(b"", left::NO_HOOK);
    }
    DEBUG.store(debug as usize, Release);
    look();
    // SAFETY: the loader's own description of itself.
    if !hook(unsafe { (*debug.cast::<Debug>()).breakpoint }) {
        leave(b"", left::NO_HOOK);
    }
}

/// What could have been watched is not.
fn leave(path: &[u8], why: u64) {
    log::write(&Record::Left { why, path });
}

/// The loader calls this, under its lock.
extern "C" fn changed() {
    // A handler must not find the detector's state half-way changed.
    let blocked = sys::block_signals();
    let mut t = current();
    {
        let _inside = t.enter();
        look();
    }
    sys::set_blocked_signals(blocked);
}

/// Gives new libraries their copies, and forgets those that are gone.
fn look() {
    // SAFETY: set before this is called; the list changes only while its state says so.
    let debug = unsafe { &*(DEBUG.load(Acquire) as *const Debug) };
    if debug.state != CONSISTENT {
        return;
    }
    // SAFETY: under the loader's lock, or before there are threads.
    let known = unsafe { &mut *KNOWN.get() };
    known.iter_mut().for_each(|k| k.is_there = false);
    let mut map = debug.first;
    let mut is_first = true;
    // SAFETY: the loader's list, which ends in a null.
    while let Some(m) = unsafe { map.as_ref() } {
        if !core::mem::take(&mut is_first) {
            add(known, m);
        }
        map = m.next;
    }
    for k in known.iter_mut().filter(|k| k.dynamic != 0 && !k.is_there) {
        forget(k);
    }
    for k in known.iter_mut().filter(|k| k.question != 0) {
        answered(k);
    }
}

fn add(known: &mut [Known; MOST], m: &LinkMap) {
    if let Some(k) = known.iter_mut().find(|k| k.dynamic == m.dynamic) {
        k.is_there = true;
        return;
    }
    let Some(free) = known.iter_mut().find(|k| k.dynamic == 0) else { return };
    let mut path = [0u8; 512];
    let Some(len) = path_of(m.dynamic, &mut path) else { return };
    let path = &path[..len];
    if table::is_full() {
        return leave(path, left::TOO_MANY);
    }
    let question = if is_own(path) { 0 } else { ask(path) };
    *free = Known { dynamic: m.dynamic, bias: m.bias, header: 0, question, is_there: true };
}

/// The library with the runtime in it.
fn is_own(path: &[u8]) -> bool {
    let mut own = [0; 512];
    path_of(changed as *const () as usize, &mut own).is_some_and(|len| own[..len] == *path)
}

/// The file that is mapped at `address`, as the kernel names it. None: no file, or its name is too
/// long.
fn path_of(address: usize, path: &mut [u8]) -> Option<usize> {
    let mut found = None;
    modules::each_line(|line| {
        let Some(((low, high), _)) = modules::parse_line(line) else { return };
        let Some(at) = line.iter().position(|b| *b == b'/') else { return };
        // A zero follows it.
        if (low..high).contains(&address) && line.len() - at < path.len() {
            path[..line.len() - at].copy_from_slice(&line[at..]);
            found = Some(line.len() - at);
        }
    });
    found
}

fn numbered(name: &str, number: u32) -> PathBuffer {
    let mut path = file(name.as_bytes());
    path.number(u64::from(sys::pid()));
    path.push(b".");
    path.number(u64::from(number));
    path
}

/// The number of the question; 0: nobody answers.
fn ask(path: &[u8]) -> u32 {
    let number = QUESTIONS.fetch_add(1, Relaxed);
    // A program that has become this one may have left an answer.
    sys::unlink(numbered(PLAN, number).as_ptr());
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
    let text = sys::open(numbered(QUESTION, number).as_ptr(), flags, 0o600);
    let fifo =
        sys::open(file(ASK.as_bytes()).as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC, 0);
    let is_asked = text >= 0
        && fifo >= 0
        && sys::write(text, path) == path.len() as isize
        && sys::write(fifo, &Asked { pid: sys::pid(), number }.encode()) == Asked::LEN as isize;
    for fd in [text, fifo].into_iter().filter(|fd| *fd >= 0) {
        sys::close(fd);
    }
    if !is_asked {
        leave(path, left::NO_ANSWER);
    }
    if is_asked { number } else { 0 }
}

/// Waits for the answer to the question about `k`, and does what it says.
fn answered(k: &mut Known) {
    let number = core::mem::take(&mut k.question);
    let mut path = [0u8; 512];
    let Some(len) = path_of(k.dynamic, &mut path) else { return };
    let mut name = [0u8; 32];
    let name = match wait(&numbered(PLAN, number), &mut name) {
        Some([]) => return,
        Some(name) if name.starts_with(LIBRARY.as_bytes()) => name,
        _ => return leave(&path[..len], left::NO_ANSWER),
    };
    let copy = file(name);
    let is_of_it =
        super::read_header(&copy).is_some_and(|h| Some(h.object) == identity(path.as_ptr().cast()));
    if !is_of_it {
        return leave(&path[..len], left::CHANGED);
    }
    match install(&copy, k.bias) {
        Some(header) => k.header = &raw const *header as usize,
        None => leave(&path[..len], left::NO_PLACE),
    }
}

/// What the driver has written there; None: nothing, for too long.
fn wait<'a>(path: &PathBuffer, to: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut waited = 0;
    while waited < PATIENCE_US {
        let fd = sys::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
        if fd >= 0 {
            let n = sys::read(fd, to);
            sys::close(fd);
            sys::unlink(path.as_ptr());
            return usize::try_from(n).ok().map(|n| &to[..n]);
        }
        if !session::has_driver() {
            break;
        }
        let nap = if waited < 10_000 { 200 } else { 5_000 };
        sys::sleep_us(nap);
        waited += nap;
    }
    None
}

/// The library was unloaded: nothing executes its copy any more.
fn forget(k: &mut Known) {
    // SAFETY: 0, or the mapped file.
    if let Some(header) = unsafe { (k.header as *const RelocatedHeader).as_ref() } {
        table::remove(header);
        sys::unmap(k.header, header.len as usize);
    }
    k.dynamic = 0;
}

/// Makes the empty function at `at` jump to [`changed`]: to a place near it, and on from there.
fn hook(at: usize) -> bool {
    const JUMP: usize = 5;
    // `endbr64`, or not; `ret`; and what fills up to the next function.
    // SAFETY: a function of the loader, and the next one begins 16 bytes later or the file's text
    // goes on.
    let bytes = unsafe { core::slice::from_raw_parts(at as *const u8, JUMP) };
    let is_empty = match bytes {
        [0xf3, 0x0f, 0x1e, 0xfa, 0xc3] => true,
        [0xc3, rest @ ..] => [&[0x66, 0x66, 0x2e, 0x0f], &[0x66, 0x2e, 0x0f, 0x1f], &[0x90; 4], &[0xcc; 4]]
            .iter()
            .any(|padding| rest == *padding),
        _ => false,
    };
    let page = at & !4095;
    let Some(near) = place_near(&(page..page + 8192), 4096).filter(|_| is_empty) else { return false };
    if !sys::map_at(near, 4096) {
        return false;
    }
    // SAFETY: a fresh page: `jmp [rip]`, and the address behind it.
    unsafe {
        (near as *mut [u8; 6]).write([0xff, 0x25, 0, 0, 0, 0]);
        ((near + 6) as *mut usize).write_unaligned(changed as *const () as usize);
    }
    let (first, len) = (page, (at + JUMP).next_multiple_of(4096) - page);
    let distance = (near.wrapping_sub(at + JUMP) as i32).to_le_bytes();
    let access = libc::PROT_READ | libc::PROT_EXEC;
    if !sys::protect(near, 4096, access)
        || !sys::protect(first, len, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)
    {
        return false;
    }
    // SAFETY: the page is writable, and no other thread is there yet that could execute it.
    unsafe { (at as *mut [u8; JUMP]).write([0xe9, distance[0], distance[1], distance[2], distance[3]]) };
    sys::protect(first, len, access)
}
