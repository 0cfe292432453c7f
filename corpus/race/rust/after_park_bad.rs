// unpark orders what came before it before the return of park; the write after it is not ordered. Every mode reports.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}
static DATA: Cell = Cell(UnsafeCell::new(0));
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
    unsafe { *DATA.0.get() = 0 };
    let parked = thread::spawn(|| {
        both_started();
        thread::park();
        until(1);
        assert_eq!(unsafe { *DATA.0.get() }, 1);        // expect: data-race read #1
    });
    let handle = parked.thread().clone();
    let writer = thread::spawn(move || {
        both_started();
        handle.unpark();
        unsafe { *DATA.0.get() = 1 };                   // expect: data-race write #1
        reached(1);
    });
    writer.join().unwrap();
    parked.join().unwrap();
}
