// `COUNTER += 1` from three threads, with nothing to fix the order. A race in every execution and every mode.
use std::thread;

static mut COUNTER: u64 = 0;

#[inline(never)]
fn count() {
    unsafe { COUNTER += 1 };                            // expect: data-race write write #1 | read write #1
}

fn main() {
    unsafe { COUNTER = 0 };
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| (0..500).for_each(|_| count()));
        }
    });
    assert_ne!(unsafe { COUNTER }, 0);
}
