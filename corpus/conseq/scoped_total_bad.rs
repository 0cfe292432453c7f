// expect: assertion
// Rust: a scope waits for its threads, and does not keep them from losing each other's additions.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

fn add(total: &AtomicU32, n: u32) {
    let seen = total.load(SeqCst);
    total.store(seen + n, SeqCst);
}

fn main() {
    let total = Box::new(AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| add(&total, 3));
        scope.spawn(|| add(&total, 4));
    });
    assert_eq!(total.load(SeqCst), 7);
}
