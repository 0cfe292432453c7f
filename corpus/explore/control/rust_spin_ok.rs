// expect: nothing
// Spin loops with spin_loop (the pause instruction) and yield_now.
use std::hint;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static STAGE: AtomicU32 = AtomicU32::new(0);

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {
            while STAGE.load(SeqCst) < 1 {
                hint::spin_loop();
            }
            STAGE.store(2, SeqCst);
        });
        scope.spawn(|| {
            STAGE.store(1, SeqCst);
            while STAGE.load(SeqCst) < 2 {
                thread::yield_now();
            }
        });
    });
    assert_eq!(STAGE.load(SeqCst), 2);
}
