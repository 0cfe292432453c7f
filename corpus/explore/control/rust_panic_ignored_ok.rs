// expect: nothing
// The twin of rust_panic_ignored_bad.rs: both stores are one.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static STATE: AtomicU32 = AtomicU32::new(0);

fn look() {
    assert!(STATE.load(SeqCst) != 1);
}

fn main() {
    let writer = thread::spawn(|| STATE.store(2, SeqCst));
    let looker = thread::spawn(look);
    writer.join().unwrap();
    let _ = looker.join();
}
