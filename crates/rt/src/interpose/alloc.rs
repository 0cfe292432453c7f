//! Allocation. The allocator remains glibc's, under its own names.

use core::ffi::{c_int, c_void};

use crate::detect::thread::{Current, current};
use crate::detect::{depot, flush, handlers, heap, objects, quarantine, range, settings};
use crate::explore;
use crate::hub::{annotations, is_active, modules};
use crate::mode::{Mode, mode};
use crate::sys::{self, __libc_calloc, __libc_free, __libc_malloc, __libc_memalign, __libc_realloc};
use crate::trace;

type Pointer = *mut c_void;

/// A block was allocated.
pub fn allocated(mut t: Current, p: Pointer, pc: usize) -> Pointer {
    if p.is_null() || !is_active() || trace::is_ordinary() {
        return p;
    }
    let _inside = t.enter();
    flush::if_requested();
    let stack = if t.known && settings().history > 0 { depot::current(&t, pc) } else { 0 };
    heap::allocated(p as usize, t.id(), stack);
    // The whole block, not only what was asked for: `free` looks at all of it.
    // SAFETY: just allocated.
    let n = unsafe { sys::block_size(p) };
    if modules::is_judged(pc) {
        range::fresh(&mut t, p as usize, n.max(1), pc);
    } else {
        // A library's own block: it may pass the block to another thread invisibly.
        range::clear(p as usize, n.max(1));
    }
    p
}

/// A block is about to be freed.
pub fn freeing(mut t: Current, p: Pointer, pc: usize) {
    if p.is_null() || !is_active() {
        return;
    }
    // SAFETY: the program says it is a block.
    let n = unsafe { sys::block_size(p) };
    if trace::is_ordinary() {
        trace::delays::freeing(p as usize, n, pc);
        return trace::plain::free(&mut t, p as usize, n, pc);
    }
    let _inside = t.enter();
    objects::remove_range(p as usize, n);
    annotations::forget(p as usize, n);
    if modules::is_instrumented(pc) {
        t.freeing = true;
        range::freed(&mut t, p as usize, n, pc);
        t.freeing = false;
    } else {
        range::clear(p as usize, n);
    }
}

/// Returns a block to the C library.
fn give_back(p: usize) {
    // SAFETY: a block that the program has freed, and that is no longer in quarantine.
    unsafe { __libc_free(p as Pointer) }
}

/// Frees a block of the program, and quarantines it if possible.
unsafe fn release(p: Pointer, pc: usize) {
    if p.is_null() || !is_active() {
        return give_back(p as usize);
    }
    let (mut t, at) = (current(), p as usize);
    // The information about a block that was allocated long ago is in no cache; it is needed below.
    heap::prefetch(at);
    if range::is_marked_freed(at) && heap::is_freed(at) && quarantine::take_back(at) {
        // Freed twice: the detector reports where, then the C library sees both frees and ends the
        // process.
        freed_again(t, at, pc);
        heap::freed(at);
        give_back(at);
        return give_back(at);
    }
    freeing(t, p, pc);
    // SAFETY: the program's block.
    let n = unsafe { sys::block_size(p) };
    let is_judged = mode() == Mode::Detect && modules::is_instrumented(pc);
    if is_judged && n > quarantine::LARGEST {
        quarantine::remember_large(&mut t, at, n);
    } else if is_judged {
        // Mark it first: once it is in quarantine, another thread may release it at any moment.
        range::mark_freed(&t, at, n);
        if quarantine::keep(&mut t, at, n, give_back) {
            return;
        }
    }
    heap::freed(at);
    give_back(at);
}

/// A block that was freed before is freed once more.
fn freed_again(mut t: Current, at: usize, pc: usize) {
    if modules::is_instrumented(pc) {
        let _inside = t.enter();
        t.freeing = true;
        range::freed(&mut t, at, 1, pc);
        t.freeing = false;
    }
}

pub unsafe fn free(p: Pointer, pc: usize) {
    if explore::heap::is_ours(p as usize) {
        return explore::heap::free(p, pc);
    }
    if !p.is_null() {
        handlers::allocates(&mut current(), pc);
    }
    // SAFETY: the program's block.
    unsafe { release(p, pc) }
}

pub unsafe fn malloc(n: usize, pc: usize) -> Pointer {
    if explore::is_on() {
        return explore::heap::allocate(n, 16, pc);
    }
    handlers::allocates(&mut current(), pc);
    // SAFETY: a plain call.
    allocated(current(), unsafe { __libc_malloc(n) }, pc)
}

pub unsafe fn aligned(align: usize, n: usize, pc: usize) -> Pointer {
    if explore::is_on() {
        return explore::heap::allocate(n, align, pc);
    }
    handlers::allocates(&mut current(), pc);
    // SAFETY: a plain call.
    allocated(current(), unsafe { __libc_memalign(align, n) }, pc)
}

/// Moves a block that does not fit, so that the old one can be quarantined.
unsafe fn moved(p: Pointer, old: usize, n: usize, pc: usize) -> Pointer {
    // SAFETY: both blocks are as long as the old one.
    unsafe {
        let new = malloc(n, pc);
        if !new.is_null() {
            core::ptr::copy_nonoverlapping(p.cast::<u8>(), new.cast(), old);
            release(p, pc);
        }
        new
    }
}

/// The old block counts as freed before the real function can give it to another thread, and the
/// returned block counts as new.
unsafe fn realloc(p: Pointer, n: usize, pc: usize) -> Pointer {
    if explore::is_on() {
        return if p.is_null() {
            explore::heap::allocate(n, 16, pc)
        } else {
            explore::heap::reallocate(p, n, pc)
        };
    }
    let mut t = current();
    handlers::allocates(&mut t, pc);
    if explore::heap::is_ours(p as usize) {
        // A child of an explored process, with a block of its parent.
        // SAFETY: both blocks are that long.
        return unsafe {
            let new = __libc_malloc(n);
            if !new.is_null() {
                core::ptr::copy_nonoverlapping(p.cast::<u8>(), new.cast(), n.min(explore::heap::size(p)));
            }
            new
        };
    }
    if mode() == Mode::Detect && !p.is_null() && n > 0 && modules::is_instrumented(pc) {
        // SAFETY: as above.
        let old = unsafe { sys::block_size(p) };
        if n > old && old <= quarantine::LARGEST {
            // SAFETY: as above; the new block is longer.
            return unsafe { moved(p, old, n, pc) };
        }
        if old > quarantine::LARGEST {
            quarantine::remember_large(&mut current(), p as usize, old);
        }
    }
    freeing(t, p, pc);
    if is_active() {
        heap::freed(p as usize);
    }
    // SAFETY: the program's block.
    let new = unsafe { __libc_realloc(p, n) };
    if new.is_null() && n > 0 {
        allocated(t, p, pc);
        return new;
    }
    allocated(t, new, pc)
}

/// Exports the entry of an allocation function, which stores the caller's address in the thread.
macro_rules! export {
    ($($name:ident($($a:ident: $ty:ty),*) $(-> $r:ty)? $body:block)*) => {$(
        const _: () = {
            $crate::entry::entry!(concat!("__interpose_", stringify!($name)), body);
            #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe)]
            unsafe extern "C-unwind" fn body($($a: $ty),*) $(-> $r)? {
                if $crate::explore::is_on() {
                    use $crate::explore::states;
                    // Addresses depend on what the thread has allocated before, which is in memory.
                    const LISTED: states::Listed = states::steps(stringify!($name));
                    states::calls(LISTED, <[&str]>::len(&[$(stringify!($a)),*]));
                }
                // SAFETY: the caller's call, passed on.
                unsafe { $body }
            }
        };
    )*};
}
pub(super) use export;

export! {
    malloc(n: usize) -> Pointer {
        malloc(n, current().caller)
    }
    free(p: Pointer) {
        free(p, current().caller)
    }
    cfree(p: Pointer) {
        free(p, current().caller)
    }
    calloc(n: usize, m: usize) -> Pointer {
        let mut t = current();
        let pc = t.caller;
        if explore::is_on() {
            return n.checked_mul(m).map_or(core::ptr::null_mut(), |size| explore::heap::allocate(size, 16, pc));
        }
        handlers::allocates(&mut t, pc);
        allocated(t, __libc_calloc(n, m), pc)
    }
    realloc(p: Pointer, n: usize) -> Pointer {
        realloc(p, n, current().caller)
    }
    reallocarray(p: Pointer, n: usize, m: usize) -> Pointer {
        match n.checked_mul(m) {
            Some(size) => realloc(p, size, current().caller),
            None => {
                sys::set_errno(libc::ENOMEM);
                core::ptr::null_mut()
            }
        }
    }
    memalign(align: usize, n: usize) -> Pointer {
        aligned(align, n, current().caller)
    }
    aligned_alloc(align: usize, n: usize) -> Pointer {
        aligned(align, n, current().caller)
    }
    posix_memalign(to: *mut Pointer, align: usize, n: usize) -> c_int {
        if !align.is_power_of_two() || align < size_of::<usize>() {
            return libc::EINVAL;
        }
        let p = aligned(align, n, current().caller);
        if p.is_null() {
            return libc::ENOMEM;
        }
        *to = p;
        0
    }
    malloc_usable_size(p: Pointer) -> usize {
        if explore::heap::is_ours(p as usize) {
            return explore::heap::size(p);
        }
        sys::block_size(p)
    }
    valloc(n: usize) -> Pointer {
        aligned(4096, n, current().caller)
    }
    pvalloc(n: usize) -> Pointer {
        aligned(4096, n.next_multiple_of(4096), current().caller)
    }
}
