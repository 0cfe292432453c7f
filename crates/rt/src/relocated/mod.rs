//! A program without probes of its own, and libraries, execute copies of their code that have them.
//!
//! The driver has made the copies (the crate `relocate`). [`install`] maps one near its object and
//! makes the original functions jump into it, before the first of them runs: that of the executable
//! when the runtime starts, those of libraries as [`libraries`] says. [`table`] knows all of them.
//! [`thunks`] is what a copy calls, [`accesses`] what becomes of that, [`late`] says whether loops
//! are checked as they are left, and [`unwind`] keeps exceptions working.
//!
//! `explore` has copies of another kind: [`scheduled`], with [`updates`].

mod accesses;
mod late;
mod libraries;
mod scheduled;
mod table;
mod thunks;
mod unwind;
pub mod updates;

use core::ops::Range;

use crate::detect::objects::{self, Creation};
use crate::explore;
use crate::hub::session::{self, PathBuffer};
use crate::hub::{init, log, modules};
use crate::sys;
use raddle_wire::log::fatal;
use raddle_wire::record::Record;
use raddle_wire::relocated::{FILE, Identity, MAGIC, RelocatedHeader, at_most, slot};

pub use late::stop as check_no_loop_late;
pub use libraries::install_all as install_libraries;
pub use scheduled::{are_used as are_scheduled, places, site};
pub use table::{copy, original};

/// A table of the file.
fn table<T>(h: &RelocatedHeader, [offset, count]: [u64; 2]) -> &'static [T] {
    // SAFETY: the driver wrote as many entries there.
    unsafe {
        core::slice::from_raw_parts((&raw const *h).cast::<u8>().add(offset as usize).cast(), count as usize)
    }
}

/// Where the probe of a load that returns to `pc` returns to instead, to acquire after it.
pub fn acquiring_way(pc: usize) -> Option<usize> {
    let object = table::with_code(pc)?;
    let offset = (pc - object.code.start) as u32;
    let [at, way] = at_most(table(object.header, object.header.loads), offset)?;
    (at == offset).then(|| object.code.start + way as usize)
}

/// Whether the session's copy is one of this process' executable.
pub fn is_meant() -> bool {
    let Some(h) = read_header(&file(FILE.as_bytes())) else { return false };
    Some(h.object) == identity(c"/proc/self/exe".as_ptr())
}

fn file(name: &[u8]) -> PathBuffer {
    let mut path = PathBuffer::new(session::dir());
    path.push(name);
    path
}

/// None: there is no such file, or it is of another version.
fn read_header(path: &PathBuffer) -> Option<RelocatedHeader> {
    let (at, len) = session::map_file(path, size_of::<RelocatedHeader>())?;
    // SAFETY: a mapping of at least a header's length.
    let h = unsafe { *(at as *const RelocatedHeader) };
    sys::unmap(at, len);
    (h.magic == MAGIC && h.version == raddle_wire::VERSION && h.len == len as u64).then_some(h)
}

fn identity(path: *const core::ffi::c_char) -> Option<Identity> {
    // SAFETY: numbers, for which zero is valid.
    let mut stat = unsafe { core::mem::zeroed::<libc::stat>() };
    let failed = sys::syscall(libc::SYS_stat, [path as usize, &raw mut stat as usize, 0, 0, 0, 0]);
    (failed == 0).then_some(Identity {
        device: stat.st_dev,
        inode: stat.st_ino,
        size: stat.st_size as u64,
        modified: stat.st_mtime * 1_000_000_000 + stat.st_mtime_nsec,
    })
}

/// Turns the program to the copy of its code. Before the program's first constructor.
pub fn install_executable() {
    if has_shadow_stack() {
        give_up(fatal::CONTROL_FLOW);
    }
    if install(&file(FILE.as_bytes()), init::bias()).is_none() {
        give_up(fatal::NO_PLACE);
    }
}

/// Maps the copy and turns the object that is loaded with this bias to it. None: there was no place
/// for it, and nothing has changed.
fn install(path: &PathBuffer, bias: usize) -> Option<&'static RelocatedHeader> {
    let h = map(path, bias)?;
    let start = &raw const *h as usize;
    let code = start + h.code as usize;
    h.slots = thunks::all(&h.slots);
    h.slots[slot::TRANSLATE] = code as u64 + h.translate;
    late::decide(h);
    move_by(h, start.wrapping_sub(bias).wrapping_sub(h.distance as usize));
    let text = bias + h.text as usize;
    if !sys::protect(code, (h.len - h.code) as usize, libc::PROT_READ | libc::PROT_EXEC)
        || !patch(h, text, code)
    {
        sys::unmap(start, h.len as usize);
        return None;
    }
    table::add(h, text, code);
    modules::refresh();
    modules::mark(code);
    if explore::is_on() {
        // Its imports count as calls of code with probes.
        modules::mark(text);
        scheduled::begin();
    } else {
        tell_detector(h, text);
    }
    log::mark_relocated();
    tell(start, bias);
    Some(h)
}

/// Which variables are atomic.
fn tell_detector(h: &RelocatedHeader, text: usize) {
    let variable = |distance: &u32| text.wrapping_add_signed(*distance as i32 as isize);
    for at in table::<u32>(h, h.relaxed).iter().map(variable) {
        objects::with(at, |o| o.creation = Creation::Relaxed);
    }
    for at in table::<u32>(h, h.atomics).iter().map(variable) {
        objects::with(at, |o| o.creation = Creation::Plain);
    }
}

fn tell(start: usize, bias: usize) {
    log::write(&Record::Copy { start: start as u64, bias: bias as u64 });
}

/// Logs all copies again, in the child of a fork.
pub fn tell_all() {
    for o in table::all() {
        tell(&raw const *o.header as usize, o.text.start - o.header.text as usize);
    }
}

/// The kernel has given this process a shadow stack: a `ret` that serves as a jump would fault.
fn has_shadow_stack() -> bool {
    const ARCH_SHSTK_STATUS: usize = 0x5005;
    let mut features = 0u64;
    let asked = [ARCH_SHSTK_STATUS, &raw mut features as usize, 0, 0, 0, 0];
    sys::syscall(libc::SYS_arch_prctl, asked) == 0 && features & 1 != 0
}

fn give_up(code: u64) -> ! {
    log::write(&Record::Fatal { code, detail: b"" });
    // The driver prints the message.
    sys::die(b"");
}

/// Maps the file, writable: where it fits as it is, or elsewhere near the object.
fn map(path: &PathBuffer, bias: usize) -> Option<&'static mut RelocatedHeader> {
    let h = read_header(path)?;
    let image = bias.wrapping_add(h.image[0] as usize)..bias.wrapping_add(h.image[1] as usize);
    let fd = sys::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
    let map_at = |wanted: usize| {
        let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let flags = (libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE) as usize;
        let got = sys::syscall(libc::SYS_mmap, [wanted, h.len as usize, access, flags, fd as usize, 0]);
        (got == wanted as isize).then_some(wanted)
    };
    // Another thread may take the place first.
    let elsewhere = || (0..3).find_map(|_| place_near(&image, h.len as usize).and_then(map_at));
    let at = map_at(bias.wrapping_add_signed(h.distance as isize)).or_else(elsewhere);
    sys::close(fd);
    // SAFETY: a fresh mapping of the file, which only this process sees.
    at.map(|at| unsafe { &mut *(at as *mut RelocatedHeader) })
}

/// Unused addresses that 32-bit distances to all of the object reach, as near to it as possible.
/// Not below the stack and not behind the heap, which grow.
fn place_near(image: &Range<usize>, len: usize) -> Option<usize> {
    // An instruction may name an address a little outside of the object.
    const REACH: usize = (1 << 31) - (64 << 20);
    const APART: usize = 1 << 20;
    // Behind it is only the page of vsyscalls, in the kernel's half.
    const LAST: usize = 0x7fff_ffff_0000;
    let (first, end) = (image.end.saturating_sub(REACH), (image.start + REACH).min(LAST));
    let mut best: Option<(usize, usize)> = None;
    let (mut free, mut grows) = (1 << 20, false);
    modules::each_line(|line| {
        let Some(((low, high), _)) = modules::parse_line(line) else { return };
        let gap = (free + APART).max(first)..low.saturating_sub(APART).min(end);
        if gap.start + len <= gap.end && !grows && !line.ends_with(b"[stack]") {
            let at = if low <= image.start { (gap.end - len) & !4095 } else { gap.start };
            let at = at.next_multiple_of(4096);
            let distance = at.abs_diff(image.start);
            if at + len <= gap.end && best.is_none_or(|(d, _)| distance < d) {
                best = Some((distance, at));
            }
        }
        free = high;
        grows = line.ends_with(b"[heap]");
    });
    best.map(|(_, at)| at)
}

/// Corrects distances in the copy, which is this much above the place that it was made for.
fn move_by(h: &RelocatedHeader, distance: usize) {
    if distance == 0 {
        return;
    }
    let code = &raw const *h as usize + h.code as usize;
    for at in table::<u32>(h, h.moved) {
        // SAFETY: in the code, which is writable now, and nobody executes it yet.
        unsafe {
            let at = (code + *at as usize) as *mut u32;
            at.write_unaligned(at.read_unaligned().wrapping_sub(distance as u32));
        }
    }
}

/// Makes each copied function begin with a jump to its copy.
fn patch(h: &RelocatedHeader, text: usize, code: usize) -> bool {
    const JUMP: usize = 5;
    let (first, end) = (text & !4095, (text + h.text_len as usize).next_multiple_of(4096));
    if !sys::protect(first, end - first, libc::PROT_READ | libc::PROT_WRITE) {
        return false;
    }
    for at in table::<u32>(h, h.poisoned) {
        // SAFETY: the beginning of an instruction in the text, which is writable now.
        unsafe { ((text + *at as usize) as *mut u8).write(0xcc) };
    }
    for [at, to] in table::<[u32; 2]>(h, h.patches) {
        let from = text + *at as usize;
        let distance = (code + *to as usize).wrapping_sub(from + JUMP) as i32;
        // SAFETY: the driver has found room for the jump there.
        unsafe {
            (from as *mut u8).write(0xe9);
            ((from + 1) as *mut i32).write_unaligned(distance);
        }
    }
    if !sys::protect(first, end - first, libc::PROT_READ | libc::PROT_EXEC) {
        sys::die(b"raddle: the system does not let changed code be executed\n");
    }
    true
}
