//! Signals that would end raddle silently.
//!
//! SIGXFSZ, for a write beyond `ulimit -f`, gets a handler that does nothing. The write then fails,
//! and raddle reports the error. It is a handler and not "ignore" because a handler does not
//! survive `exec`, so the target keeps its default.
//!
//! SIGBUS means that a page of a mapped file does not exist: the file was truncated, or the disk is
//! full. Raddle creates the files that it writes through mappings so that this cannot happen. For
//! other files, such as an executable that is rebuilt while it is read, raddle prints a sentence
//! and exits with the status for "could not do its job".

/// Call it once, before there are threads.
pub fn catch() {
    // SAFETY: handlers that make async-signal-safe calls only.
    unsafe {
        libc::signal(libc::SIGXFSZ, nothing as *const () as libc::sighandler_t);
        libc::signal(libc::SIGBUS, no_page as *const () as libc::sighandler_t);
    }
}

extern "C" fn nothing(_: i32) {}

extern "C" fn no_page(_: i32) {
    const WHY: &str = "raddle: a file that raddle reads was changed meanwhile, or the disk with the temporary folder is full\n";
    // SAFETY: async-signal-safe calls on constants.
    unsafe {
        libc::write(2, WHY.as_ptr().cast(), WHY.len());
        libc::_exit(i32::from(crate::exit::FAILURE));
    }
}
