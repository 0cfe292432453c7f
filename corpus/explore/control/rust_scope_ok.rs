// expect: nothing
// Scoped threads that borrow: the scope waits for all of them, also for those nobody joins.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

fn main() {
    let mut parts = [1, 2, 3, 4];
    let visits = AtomicUsize::new(0);
    thread::scope(|scope| {
        for half in parts.chunks_mut(2) {
            scope.spawn(|| {
                for n in half {
                    *n *= 10;
                    visits.fetch_add(1, Relaxed);
                }
            });
        }
    });
    assert_eq!(parts, [10, 20, 30, 40]);
    assert_eq!(visits.load(Relaxed), 4);
}
