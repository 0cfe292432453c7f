// A `static mut` counter changed by two threads through unsafe. Every mode reports: no arc, no lock; main wrote it first.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

static mut COUNTER: u64 = 0;
static STEP: AtomicUsize = AtomicUsize::new(0); // relaxed: fixes the order of the run, synchronises nothing
fn reached(n: usize) {
    STEP.store(n, Relaxed);
}
fn until(n: usize) {
    while STEP.load(Relaxed) < n {
        thread::sleep(Duration::from_micros(100));
    }
}

fn first() {
    both_started();
    unsafe { COUNTER = 1 };                             // expect: data-race write #1
    reached(1);
}

fn second() {
    both_started();
    until(1);
    unsafe { COUNTER = 2 };                             // expect: data-race write #1
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
    let a = thread::spawn(first);
    let b = thread::spawn(second);
    a.join().unwrap();
    b.join().unwrap();
    assert_ne!(unsafe { COUNTER }, 0); // a static that nobody reads would be optimised away
}
