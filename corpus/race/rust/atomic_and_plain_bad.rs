// An atomic read through its raw pointer without an atomic operation. Every mode reports an atomic write against a plain read.
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};
use std::thread;
use std::time::Duration;

static VALUE: AtomicU64 = AtomicU64::new(0);
static STEP: AtomicUsize = AtomicUsize::new(0); // relaxed: fixes the order of the run, synchronises nothing
fn reached(n: usize) {
    STEP.store(n, Relaxed);
}
fn until(n: usize) {
    while STEP.load(Relaxed) < n {
        thread::sleep(Duration::from_micros(100));
    }
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
    unsafe { *VALUE.as_ptr() = 0 };
    let a = thread::spawn(|| {
        both_started();
        VALUE.store(1, SeqCst);                         // expect: data-race atomic-write #1
        reached(1);
    });
    let b = thread::spawn(|| {
        both_started();
        until(1);
        assert_eq!(unsafe { *VALUE.as_ptr() }, 1);      // expect: data-race read #1
    });
    a.join().unwrap();
    b.join().unwrap();
}
