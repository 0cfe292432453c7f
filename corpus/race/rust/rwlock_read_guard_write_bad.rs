// A write under RwLock::read: two readers exclude no one, and reader unlock to reader lock is no arc (4.4.1), although std's lock
// word is an atomic that all of them change. Every mode reports.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::RwLock;
use std::thread;
use std::time::Duration;

struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}
static SHARED: RwLock<Cell> = RwLock::new(Cell(UnsafeCell::new(0)));
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
    *SHARED.write().unwrap().0.get_mut() = 0;
    let a = thread::spawn(|| {
        both_started();
        let cell = SHARED.read().unwrap();
        unsafe { *cell.0.get() = 1 };                   // expect: data-race write #1
        drop(cell);
        reached(1);
    });
    let b = thread::spawn(|| {
        both_started();
        until(1);
        let cell = SHARED.read().unwrap();
        unsafe { *cell.0.get() = 2 };                   // expect: data-race write #1
    });
    a.join().unwrap();
    b.join().unwrap();
    assert_ne!(*SHARED.write().unwrap().0.get_mut(), 0); // a static that nobody reads would be optimised away
}
