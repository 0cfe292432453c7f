// A box is freed in one thread and read in another through a raw pointer. The free is one end of the finding; the read came first.
// Every mode reports.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

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
    let shared = Box::into_raw(Box::new([1u64; 8])) as usize;
    let a = thread::spawn(move || {
        both_started();
        let p = shared as *const [u64; 8];
        assert_eq!(unsafe { (*p)[3] }, 1);              // expect: data-race read #1
        reached(1);
    });
    let b = thread::spawn(move || {
        both_started();
        until(1);
        drop(unsafe { Box::from_raw(shared as *mut [u64; 8]) }); // expect: data-race free #1
    });
    a.join().unwrap();
    b.join().unwrap();
}
