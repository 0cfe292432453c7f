//! A program without probes of its own executes a copy of its code that has them.
//!
//! The driver has made the copy (the crate `relocate`); [`install`] maps it at its fixed distance
//! from the executable and makes the original functions jump into it, before the first of them
//! runs. [`thunks`] is what the copy calls, [`accesses`] what becomes of that, and [`unwind`] keeps
//! exceptions working.

mod accesses;
mod thunks;
mod unwind;

use core::sync::atomic::{AtomicUsize, Ordering::*};

use crate::detect::objects::{self, Creation};
use crate::hub::session::{self, Path};
use crate::hub::{init, log, modules};
use crate::sys;
use raddle_wire::log::fatal;
use raddle_wire::record::Record;
use raddle_wire::relocated::{FILE, Header, Identity, MAGIC, at_most};

/// The mapped file; 0: this process executes its own code.
static HEADER: AtomicUsize = AtomicUsize::new(0);
/// What [`thunks`] translates with: the text's address and length, its map, and the code.
pub static TEXT: AtomicUsize = AtomicUsize::new(0);
pub static TEXT_LEN: AtomicUsize = AtomicUsize::new(0);
pub static MAP: AtomicUsize = AtomicUsize::new(0);
pub static CODE: AtomicUsize = AtomicUsize::new(0);

fn header() -> Option<&'static Header> {
    // SAFETY: 0 or the mapped file, which stays.
    unsafe { (HEADER.load(Acquire) as *const Header).as_ref() }
}

/// A table of the file.
fn table<T>(h: &Header, [offset, count]: [u64; 2]) -> &'static [T] {
    // SAFETY: the driver wrote as many entries there.
    unsafe {
        core::slice::from_raw_parts((&raw const *h).cast::<u8>().add(offset as usize).cast(), count as usize)
    }
}

/// The offset of `pc` in the copy, if it is there.
fn offset_in_code(h: &Header, pc: usize) -> Option<u32> {
    let offset = pc.wrapping_sub(CODE.load(Relaxed));
    (offset < h.code_len as usize).then_some(offset as u32)
}

/// The original instruction whose copy `pc` is in.
pub fn original(pc: usize) -> Option<usize> {
    let h = header()?;
    let [_, text] = at_most(table(h, h.back), offset_in_code(h, pc)?)?;
    Some(TEXT.load(Relaxed) + text as usize)
}

/// The copy of the instruction at `address`, or the address itself.
pub fn copy(address: usize) -> usize {
    let Some(h) = header() else { return address };
    let at = address.wrapping_sub(TEXT.load(Relaxed));
    let map: &[u32] = table(h, [h.map, h.text_len]);
    match map.get(at) {
        Some(&n) if n != 0 => CODE.load(Relaxed) + n as usize - 1,
        _ => address,
    }
}

/// Where the probe of a load that returns to `pc` returns to instead, to acquire after it.
pub fn acquiring_way(pc: usize) -> Option<usize> {
    let h = header()?;
    let offset = offset_in_code(h, pc)?;
    let [at, way] = at_most(table(h, h.loads), offset)?;
    (at == offset).then(|| CODE.load(Relaxed) + way as usize)
}

/// Whether the session's copy is one of this process' executable.
pub fn is_meant() -> bool {
    let mut path = Path::new(session::dir());
    path.push(FILE.as_bytes());
    let Some((at, len)) = session::map_file(&path, size_of::<Header>()) else { return false };
    // SAFETY: a mapping of at least a header's length.
    let h = unsafe { &*(at as *const Header) };
    let is = h.magic == MAGIC && h.version == raddle_wire::VERSION && Some(h.executable) == identity();
    sys::unmap(at, len);
    is
}

fn identity() -> Option<Identity> {
    // SAFETY: numbers, for which zero is valid.
    let mut stat = unsafe { core::mem::zeroed::<libc::stat>() };
    let link = c"/proc/self/exe".as_ptr() as usize;
    let failed = sys::syscall(libc::SYS_stat, [link, &raw mut stat as usize, 0, 0, 0, 0]);
    (failed == 0).then_some(Identity {
        device: stat.st_dev,
        inode: stat.st_ino,
        size: stat.st_size as u64,
        modified: stat.st_mtime * 1_000_000_000 + stat.st_mtime_nsec,
    })
}

/// Maps the copy and turns the program to it. Before the program's first constructor.
pub fn install() {
    let bias = init::bias();
    if has_shadow_stack() {
        give_up(fatal::CONTROL_FLOW);
    }
    let Some(h) = map(bias) else { give_up(fatal::NO_PLACE) };
    TEXT.store(bias + h.text as usize, Relaxed);
    TEXT_LEN.store(h.text_len as usize, Relaxed);
    let start = &raw const *h as usize;
    MAP.store(start + h.map as usize, Relaxed);
    CODE.store(start + h.code as usize, Relaxed);
    h.slots = thunks::all(&h.slots);
    let (code, len) = (CODE.load(Relaxed), (h.len - h.code) as usize);
    if !sys::protect(code, len, libc::PROT_READ | libc::PROT_EXEC) || !patch(h) {
        give_up(fatal::NO_PLACE);
    }
    let variable = |distance: &u32| TEXT.load(Relaxed).wrapping_add_signed(*distance as i32 as isize);
    for at in table::<u32>(h, h.relaxed).iter().map(variable) {
        objects::with(at, |o| o.creation = Creation::Relaxed);
    }
    for at in table::<u32>(h, h.atomics).iter().map(variable) {
        objects::with(at, |o| o.creation = Creation::Plain);
    }
    HEADER.store(start, Release);
    modules::refresh();
    modules::mark(code);
    log::mark_relocated();
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

/// Maps the file at its place, writable.
fn map(bias: usize) -> Option<&'static mut Header> {
    let mut path = Path::new(session::dir());
    path.push(FILE.as_bytes());
    let (at, len) = session::map_file(&path, size_of::<Header>())?;
    // SAFETY: a mapping of at least a header's length.
    let distance = unsafe { (*(at as *const Header)).distance };
    sys::unmap(at, len);
    let fd = sys::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
    let wanted = bias.wrapping_add_signed(distance as isize);
    let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE) as usize;
    let got = sys::syscall(libc::SYS_mmap, [wanted, len, access, flags, fd as usize, 0]);
    sys::close(fd);
    // SAFETY: a fresh mapping of the file, which only this process sees.
    (got == wanted as isize).then(|| unsafe { &mut *(wanted as *mut Header) })
}

/// Makes each copied function begin with a jump to its copy.
fn patch(h: &Header) -> bool {
    const JUMP: usize = 5;
    let text = TEXT.load(Relaxed);
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
        let distance = (CODE.load(Relaxed) + *to as usize).wrapping_sub(from + JUMP) as i32;
        // SAFETY: the driver has found room for the jump there.
        unsafe {
            (from as *mut u8).write(0xe9);
            ((from + 1) as *mut i32).write_unaligned(distance);
        }
    }
    sys::protect(first, end - first, libc::PROT_READ | libc::PROT_EXEC)
}
