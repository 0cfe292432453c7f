//! Ctrl-C: the first ends the search and keeps what it has; the second ends raddle.

use std::sync::atomic::{AtomicBool, Ordering};

static CAME: AtomicBool = AtomicBool::new(false);

extern "C" fn note(signal: i32) {
    CAME.store(true, Ordering::Relaxed);
    // SAFETY: signal is safe in a handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Starts to note Ctrl-C and requests to end.
pub fn watch() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores an atomic and resets itself.
        unsafe { libc::signal(signal, note as *const () as libc::sighandler_t) };
    }
}

pub fn came() -> bool {
    CAME.load(Ordering::Relaxed)
}
