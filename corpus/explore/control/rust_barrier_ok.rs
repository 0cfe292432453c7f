// expect: nothing
// Barrier: one leader a round, and nobody goes on before all are there.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Barrier;
use std::thread;

fn main() {
    let barrier = Barrier::new(3);
    let (arrived, leaders) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                arrived.fetch_add(1, SeqCst);
                if barrier.wait().is_leader() {
                    leaders.fetch_add(1, SeqCst);
                }
                assert_eq!(arrived.load(SeqCst), 3);
            });
        }
    });
    assert_eq!(leaders.load(SeqCst), 1);
}
