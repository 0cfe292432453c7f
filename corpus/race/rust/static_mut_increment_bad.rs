// `COUNTER += 1` from three threads, with nothing to fix the order. A race in every execution and every mode.
use std::thread;

static mut COUNTER: u64 = 0;

#[inline(never)]
fn count() {
    unsafe { COUNTER += 1 };                            // expect: data-race write write #1 | read write #1
}

/// Both threads run before either goes on: inside std, the end of one thread may come before the start of another.
fn both_started() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    STARTED.fetch_add(1, Relaxed);
    while STARTED.load(Relaxed) < 2 {
        std::thread::yield_now();
    }
}

fn main() {
    unsafe { COUNTER = 0 };
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                both_started();
                (0..500).for_each(|_| count())
            });
        }
    });
    assert_ne!(unsafe { COUNTER }, 0);
}
