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

fn main() {
    let shared = Box::into_raw(Box::new([1u64; 8])) as usize;
    let a = thread::spawn(move || {
        let p = shared as *const [u64; 8];
        assert_eq!(unsafe { (*p)[3] }, 1);              // expect: data-race read #1
        reached(1);
    });
    let b = thread::spawn(move || {
        until(1);
        drop(unsafe { Box::from_raw(shared as *mut [u64; 8]) }); // expect: data-race free #1
    });
    a.join().unwrap();
    b.join().unwrap();
}
