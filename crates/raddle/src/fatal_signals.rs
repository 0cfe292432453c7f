//! Signals that would end raddle without a word.
//!
//! SIGXFSZ, for a write beyond `ulimit -f`, gets a handler that does nothing: the write fails then,
//! and its error is told. It is a handler and not "ignore" because a handler does not outlive
//! `exec`: the target has what it always had.
//!
//! SIGBUS means that a page of a mapped file is not there: the file was made shorter, or the disk
//! is full. The files that raddle writes to through mappings are made so that this cannot happen;
//! for the others, such as an executable that is built anew while it is read, there is a sentence
//! and the status for "could not do its job".

/// Called once, before there are threads.
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
