//! Libraries that are loaded while the program runs.
//!
//! `dlopen` depends on its caller: a name without a slash is searched in the caller's own RUNPATH.
//! Called from here, it would use the runtime's. So only calls with a path are made from here. When
//! such a call returns, sites are redirected, or, in the detector, what the constructors did is
//! ordered. Other calls are passed on by a jump, with the caller's return address, and what they
//! load is looked for at the next points, for a while.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering::*};

use super::{is_on, point, redirect};
use crate::detect::sync;
use crate::detect::thread::current;
use crate::explore;
use crate::hub::{is_active, modules};
use crate::interpose::Real;
use crate::mode::{Mode, mode};
use raddle_wire::explore::Outside;

static REAL: Real = Real::new(c"dlopen", None);
type Dlopen = unsafe extern "C-unwind" fn(*const c_char, c_int) -> *mut c_void;

#[unsafe(export_name = "__interpose_dlopen")]
#[unsafe(naked)]
unsafe extern "C-unwind" fn entry() {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {pass_on}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jz {from_here}",
        "jmp rax",
        pass_on = sym pass_on,
        from_here = sym from_here,
    )
}

/// The function to jump to; 0: make the call from here.
unsafe extern "C" fn pass_on(path: *const c_char) -> usize {
    // SAFETY: null, or a string that ends in zero.
    let has_slash = !path.is_null() && unsafe { CStr::from_ptr(path) }.to_bytes().contains(&b'/');
    let orders = mode() == Mode::Detect && is_active();
    if explore::is_on() || (is_on() || orders && !names_origin(path)) && has_slash {
        return 0;
    }
    if is_on() && !path.is_null() {
        SINCE.store(point::now(), Relaxed);
        want_points(true);
    }
    REAL.get()
}

unsafe extern "C-unwind" fn from_here(path: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the C library's function of that name has this type; the call is the caller's.
    unsafe {
        let real = core::mem::transmute::<usize, Dlopen>(REAL.get());
        if explore::is_on() {
            explore::retry_with_fork(Outside::Library);
            // Its imports are not known, and others may check whether it is loaded.
            explore::changes_process(0);
            return explore::locks::loads_files(0, || real(path, flags));
        }
        let library = real(path, flags);
        if mode() == Mode::Detect {
            order_constructors();
        } else if !library.is_null() {
            redirect::all();
        }
        library
    }
}

/// `$ORIGIN` in a path is the caller's folder.
fn names_origin(path: *const c_char) -> bool {
    // SAFETY: null, or a string that ends in zero.
    !path.is_null() && unsafe { CStr::from_ptr(path) }.to_bytes().contains(&b'$')
}

/// The loader runs constructors under its lock: whoever finds a library loaded comes after them.
/// This covers only calls that are made from here; the others return past it.
fn order_constructors() {
    const LOADER: usize = 0x4900_0000_0020;
    let t = current();
    sync::acquire(t, LOADER);
    sync::release(t, LOADER);
}

/// When a call was last passed on; 0: what it loaded has been handled.
static SINCE: AtomicU64 = AtomicU64::new(0);
static NEXT_LOOK: AtomicU64 = AtomicU64::new(0);
static MAPPINGS: AtomicU64 = AtomicU64::new(0);
/// How long after such a call to look for something new, and how often.
const PATIENCE: u64 = 2_000_000_000;
const OFTEN: u64 = 20_000_000;

#[inline(always)]
pub fn look_if_pending() {
    if is_pending() {
        look();
    }
}

#[inline(always)]
pub fn is_pending() -> bool {
    SINCE.load(Relaxed) != 0
}

/// Sets whether every point looks for new libraries.
fn want_points(all: bool) {
    if let Some(tsvd) = super::state::tsvd() {
        tsvd.want_all(all);
    }
}

#[cold]
fn look() {
    let now = point::now();
    let next = NEXT_LOOK.load(Relaxed);
    if now < next || NEXT_LOOK.compare_exchange(next, now + OFTEN, Relaxed, Relaxed).is_err() {
        return;
    }
    if now.saturating_sub(SINCE.load(Relaxed)) > PATIENCE {
        SINCE.store(0, Relaxed);
        want_points(false);
    }
    let mut mappings = 0;
    modules::each_line(|line| {
        mappings += u64::from(modules::parse_line(line).is_some_and(|(_, p)| p == b"r-xp"))
    });
    if MAPPINGS.swap(mappings, Relaxed) != mappings {
        redirect::all();
    }
}
