//! The end of a process whose threads have just begun.
//!
//! A program that ends without joining its threads may end before they have run at all, and then
//! there is nothing to see. ThreadSanitizer sleeps for a second before such an end
//! (`atexit_sleep_ms`). Here the process waits until each thread has started and is blocked or has
//! ended, usually a few milliseconds. It waits only a little while for threads that compute.
//!
//! It waits before the program's own `exit` handlers run, since these may destroy what threads use.

use core::ffi::c_char;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};

use crate::detect::thread::{cards, current};
use crate::hub::is_active;
use crate::mode::{Mode, mode};
use crate::sys;

/// How long to wait for threads that have not started, and then for those that compute, in
/// milliseconds.
const MOST: u64 = 1000;
const MOST_COMPUTING: u64 = 200;

/// The number of libraries being unloaded: their `exit` handlers run, and the process goes on.
static UNLOADING: AtomicU32 = AtomicU32::new(0);

/// `unload` is the C library's `dlclose`.
pub fn unloading<R>(unload: impl FnOnce() -> R) -> R {
    UNLOADING.fetch_add(1, Relaxed);
    let r = unload();
    UNLOADING.fetch_sub(1, Relaxed);
    r
}

/// Lets other threads run before the process ends; once.
pub fn let_threads_run() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if mode() != Mode::Detect || !is_active() || UNLOADING.load(Relaxed) > 0 || !are_there_others() {
        return;
    }
    if DONE.swap(true, Relaxed) {
        return;
    }
    note_running();
    let begun = sys::milliseconds();
    let mut started = None;
    let mut quiet = 0;
    while sys::milliseconds() - begun < MOST {
        sys::sleep_ms(1);
        if !are_there_others() {
            return;
        }
        if is_one_to_start() {
            continue;
        }
        let computing_since = *started.get_or_insert_with(sys::milliseconds);
        quiet = if is_one_running() { 0 } else { quiet + 1 };
        // A thread that goes from wait to wait looks quiet now and then.
        if quiet == 3 || sys::milliseconds() - computing_since >= MOST_COMPUTING {
            return;
        }
    }
}

/// Threads that still ran when the process began to end, and their number.
static RUNNING: [AtomicU32; 256] = [const { AtomicU32::new(0) }; 256];
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn note_running() {
    for card in cards().filter(|c| c.ended.load(Acquire) == 0) {
        if let Some(slot) = RUNNING.get(COUNT.fetch_add(1, Relaxed)) {
            slot.store(card.id, Relaxed);
        }
    }
}

/// True if a thread still ran when the process began to end, or if that is not known: nobody has
/// forgotten to join it.
pub fn ran_to_the_end(id: u32) -> bool {
    let count = COUNT.load(Relaxed);
    count > RUNNING.len() || RUNNING[..count].iter().any(|r| r.load(Relaxed) == id)
}

fn are_there_others() -> bool {
    let own = current().id();
    cards().any(|c| {
        c.registered.load(Relaxed) && c.id != own && !c.joined.load(Relaxed) && c.ended.load(Acquire) == 0
    })
}

/// True if a thread was created that has done nothing yet.
fn is_one_to_start() -> bool {
    cards().any(|c| {
        c.registered.load(Relaxed)
            && !c.joined.load(Relaxed)
            && c.ended.load(Acquire) == 0
            && c.live.load(Acquire).is_null()
    })
}

/// True if the kernel says that another thread of this process runs, or could.
fn is_one_running() -> bool {
    let tasks = sys::open(c"/proc/self/task".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY, 0);
    if tasks < 0 {
        return false;
    }
    let own = sys::thread_id();
    let mut room = [0u8; 4096];
    let mut runs = false;
    loop {
        let n = sys::syscall(
            libc::SYS_getdents64,
            [tasks as usize, room.as_mut_ptr() as usize, room.len(), 0, 0, 0],
        );
        if n <= 0 || runs {
            break;
        }
        let mut at = 0;
        while at < n as usize {
            // The kernel's layout: inode, offset, length of the entry, type, name.
            let length = usize::from(u16::from_ne_bytes([room[at + 16], room[at + 17]]));
            let name = &room[at + 19..at + length];
            let id = name.iter().take_while(|c| c.is_ascii_digit());
            let id = id.fold(0u32, |n, c| n.wrapping_mul(10).wrapping_add(u32::from(c - b'0')));
            runs |= id != 0 && id != own && is_running(id);
            at += length.max(1);
        }
    }
    sys::close(tasks);
    runs
}

/// Reads the state letter in `/proc/self/task/ID/stat`, after the name.
fn is_running(id: u32) -> bool {
    let mut path = *b"/proc/self/task/0000000000/stat\0";
    let mut rest = id;
    for digit in path[16..26].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // The kernel wants the number without leading zeros.
    let zeros = path[16..26].iter().take_while(|c| **c == b'0').count();
    path.copy_within(16 + zeros.., 16);
    let file = sys::open(path.as_ptr().cast::<c_char>(), libc::O_RDONLY, 0);
    if file < 0 {
        return false;
    }
    let mut text = [0u8; 128];
    let n = sys::read(file, &mut text).max(0) as usize;
    sys::close(file);
    let Some(end) = text[..n].iter().rposition(|c| *c == b')') else { return false };
    text.get(end + 2) == Some(&b'R')
}
