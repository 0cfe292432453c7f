//! Thread-local storage, as the logical threads ([`contexts`](super::contexts)) that run on one
//! system thread share it.
//!
//! The storage of the modules that are loaded when the program starts is **static**: it lies right
//! below the thread pointer, at the same distance in all threads. The storage of a library that is
//! loaded later (`dlopen`) is **dynamic**: the loader allocates it for each thread that uses it,
//! and tells where. It is asked only if an instrumented module has such storage, since it takes a
//! lock.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

use super::thread::Thread;
use super::{check, settings};
use crate::layout::{epoch, owned, shadow_of, sid};

/// A module's storage is static if it is this near; others are allocated when used.
const NEAR: usize = 1 << 24;

/// The size of static storage, which ends at the thread pointer; 0: not known yet.
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// Calls of instrumented modules that are loaded.
static MODULES: AtomicU32 = AtomicU32::new(0);
/// [`MODULES`] when it was last looked whether a module has dynamic storage, and the answer.
static LOOKED_AT: AtomicU32 = AtomicU32::new(0);
static IS_DYNAMIC: AtomicBool = AtomicBool::new(false);

/// An instrumented module is being loaded.
pub fn module_loaded() {
    MODULES.fetch_add(1, Relaxed);
}

/// Before the first logical thread. The program has called from its own code, so the loader's lock
/// is free, or this thread holds it.
pub fn find() {
    if SIZE.load(Relaxed) != 0 {
        return;
    }
    let mut farthest = 8;
    each_module(|at, _| {
        let below = thread_pointer().wrapping_sub(at);
        if at != 0 && below < NEAR && below > farthest {
            farthest = below;
        }
    });
    SIZE.store(farthest, Relaxed);
}

pub fn thread_pointer() -> usize {
    let at: usize;
    // SAFETY: the first word at fs is its own address, by the ABI.
    unsafe { core::arch::asm!("mov {0}, qword ptr fs:[0]", out(reg) at, options(pure, readonly, nostack)) };
    at
}

/// True if `address` is in the running thread's storage.
pub fn is_in(address: usize) -> bool {
    let mut found = is_static(address);
    if !found && has_dynamic() {
        each_module(|at, len| found |= address.wrapping_sub(at) < len);
    }
    found
}

fn is_static(address: usize) -> bool {
    thread_pointer().wrapping_sub(address).wrapping_sub(1) < SIZE.load(Relaxed)
}

/// Larger storage is not searched.
const SEARCHED: usize = 1 << 18;

/// True if the running context has touched the thread's storage, according to its shadow, or may
/// have, since the storage is too large to look.
pub fn is_touched(t: &Thread) -> bool {
    let (own_sid, first) = (t.sid(), t.first_epoch);
    let is_its = |at: usize| {
        // SAFETY: the shadow of mapped memory is mapped, and a granule has four slots.
        let slots = unsafe { *shadow_of(at).cast::<[u32; 4]>() };
        slots.iter().any(|s| sid(*s) == own_sid && epoch(*s) >= first)
            || settings().owners && slots[3] == owned(own_sid)
    };
    let mut found = SIZE.load(Relaxed) > SEARCHED || granules(t).any(is_its);
    if !found && has_dynamic() {
        each_dynamic(|at, len| found |= len > SEARCHED || (at..at + len).step_by(8).any(is_its));
    }
    found
}

/// From now on accesses to the storage that the running context owns leave slots. An owner's mark
/// has no epoch, and would speak for each later context that gets the same sid.
pub fn disown(t: &Thread) {
    let mine = owned(t.sid());
    if SIZE.load(Relaxed) <= SEARCHED {
        granules(t).for_each(|at| check::disown(at, mine));
    }
    if has_dynamic() {
        each_dynamic(|at, len| {
            let searched = if len > SEARCHED { 0 } else { len };
            (at..at + searched).step_by(8).for_each(|at| check::disown(at, mine));
        });
    }
}

/// The granules of static storage, but for the runtime's own.
fn granules(t: &Thread) -> impl Iterator<Item = usize> {
    let (end, size) = (thread_pointer() & !7, SIZE.load(Relaxed) & !7);
    let own = (&raw const *t) as usize;
    (end - size..end).step_by(8).filter(move |at| !(own..own + size_of::<Thread>()).contains(at))
}

/// True if a module has storage that is not static.
fn has_dynamic() -> bool {
    let modules = MODULES.load(Relaxed);
    if LOOKED_AT.load(Relaxed) != modules {
        let mut found = false;
        each_module(|at, _| found |= at == 0 || !is_static(at));
        IS_DYNAMIC.store(found, Relaxed);
        LOOKED_AT.store(modules, Relaxed);
    }
    IS_DYNAMIC.load(Relaxed)
}

/// The running thread's dynamic storage: whole granules, and how many bytes they have.
fn each_dynamic(mut visit: impl FnMut(usize, usize)) {
    each_module(|at, len| {
        if at != 0 && !is_static(at) {
            visit(at & !7, len + (at & 7));
        }
    });
}

/// Calls `visit` with each module's storage for the running thread, and its length. Zero: the
/// thread has not used it yet.
fn each_module(mut visit: impl FnMut(usize, usize)) {
    let mut visit: &mut dyn FnMut(usize, usize) = &mut visit;
    // SAFETY: the visitor respects the description, and gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit_module), (&raw mut visit).cast()) };
}

unsafe extern "C" fn visit_module(module: *mut libc::dl_phdr_info, _: usize, visit: *mut c_void) -> c_int {
    // SAFETY: the loader's description of a module, and what `each_module` passes.
    unsafe {
        let module = &*module;
        let headers = core::slice::from_raw_parts(module.dlpi_phdr, module.dlpi_phnum as usize);
        if let Some(storage) = headers.iter().find(|h| h.p_type == libc::PT_TLS) {
            let visit = &mut **visit.cast::<&mut dyn FnMut(usize, usize)>();
            visit(module.dlpi_tls_data as usize, storage.p_memsz as usize);
        }
    }
    0
}
