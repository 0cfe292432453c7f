// expect: nothing
// The twin of scoped_total_bad.rs: each addition is one step. The sum is read, and its block freed, when the scope has seen all of
// its threads end.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

fn main() {
    let total = Box::new(AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| total.fetch_add(3, SeqCst));
        scope.spawn(|| total.fetch_add(4, SeqCst));
    });
    assert_eq!(total.load(SeqCst), 7);
}
