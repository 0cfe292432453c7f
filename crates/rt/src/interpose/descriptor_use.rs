//! A descriptor that one thread closes while another uses it. ThreadSanitizer calls this a race on
//! the descriptor: the number may refer to something else when the other thread reaches the kernel.
//!
//! Each number has two words of memory that nobody else touches. Using the descriptor reads the
//! first word, closing it writes the first word, and the detector reports what is not ordered. Then
//! the first word is forgotten: the next descriptor of that number may be made unseen. `close`
//! writes the second word, and a use that the kernel refused with `EBADF` reads it: that use came
//! after the close.
//!
//! Not checked are the three standard descriptors, which daemons close and replace; uninstrumented
//! code; pipes and terminals of a process that has had children, through which an order may come
//! back unseen; and the modes in which locks do not order, as for
//! [`misuse`](crate::detect::misuse).

use core::ffi::c_int;
use core::sync::atomic::AtomicU64;

use super::channel::goes_through_others;
use super::process::has_had_children;
use crate::detect::thread::Current;
use crate::detect::{misuse, range, settings};
use crate::hub::modules;
use crate::sys;

/// Descriptors above this are not watched.
const MOST: usize = 1 << 12;
const STANDARD: c_int = 3;

struct UseCounts {
    uses: AtomicU64,
    closed: AtomicU64,
}

static WORDS: [UseCounts; MOST] =
    [const { UseCounts { uses: AtomicU64::new(0), closed: AtomicU64::new(0) } }; MOST];

fn words(fd: c_int) -> Option<(usize, usize)> {
    let words = WORDS.get(fd as usize).filter(|_| fd >= STANDARD)?;
    Some((&raw const words.uses as usize, &raw const words.closed as usize))
}

/// The descriptor that one of these words stands for.
pub fn descriptor_at(address: usize) -> Option<u64> {
    let at = address.checked_sub(&raw const WORDS as usize)? / size_of::<UseCounts>();
    (at < MOST).then_some(at as u64)
}

fn is_watched(t: Current) -> bool {
    misuse::is_watched(&t) && !settings().hybrid
}

/// The call at `pc` is about to use the descriptor.
pub fn used(mut t: Current, fd: c_int, pc: usize) {
    if let Some((uses, _)) = words(fd)
        && is_watched(t)
        && modules::is_instrumented(pc)
    {
        let _inside = t.enter();
        range::access::<false>(t, uses, size_of::<u64>(), pc);
    }
}

/// The call has returned `result`. A descriptor that does not exist was closed before.
pub fn was_used(mut t: Current, fd: c_int, result: isize, pc: usize) {
    if result >= 0 {
        return;
    }
    let errno = sys::errno();
    if errno == libc::EBADF
        && let Some((_, closed)) = words(fd)
        && is_watched(t)
        && modules::is_instrumented(pc)
    {
        let _inside = t.enter();
        range::access::<false>(t, closed, size_of::<u64>(), pc);
        sys::set_errno(errno);
    }
}

/// The descriptor is about to be closed.
pub fn closing(mut t: Current, fd: c_int, pc: usize) {
    let Some((uses, closed)) = words(fd) else { return };
    if !is_watched(t) {
        return;
    }
    let judged = modules::is_instrumented(pc) && !(has_had_children() && goes_through_others(fd));
    let _inside = t.enter();
    if judged {
        range::access::<true>(t, uses, size_of::<u64>(), pc);
    }
    range::clear(uses, size_of::<UseCounts>());
    if judged {
        range::access::<true>(t, closed, size_of::<u64>(), pc);
    }
}

/// The number now refers to another descriptor, or to none: nothing is known about it.
pub fn forget(fd: c_int) {
    if let Some((uses, _)) = words(fd)
        && crate::mode::mode() == crate::mode::Mode::Detect
    {
        range::clear(uses, size_of::<UseCounts>());
    }
}

/// [`forget`] for this descriptor and all above.
pub fn forget_from(first: c_int) {
    (first.max(STANDARD)..MOST as c_int).for_each(forget);
}
