// The same hidden by a std RwLock: a writer's unlock and a reader's lock happen to order the run. hb is silent, hybrid and fast
// report.
// expect(hb): nothing
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::RwLock;
use std::thread;
use std::time::Duration;

struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}
static CELL: Cell = Cell(UnsafeCell::new(0));
static TABLE: RwLock<u64> = RwLock::new(0);
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
    unsafe { *CELL.0.get() = 0 };
    let a = thread::spawn(|| {
        both_started();
        unsafe { *CELL.0.get() = 1 };                   // expect(hybrid fast): data-race write #1
        *TABLE.write().unwrap() += 1;
        reached(1);
    });
    let b = thread::spawn(|| {
        both_started();
        until(1);
        let seen = *TABLE.read().unwrap();
        unsafe { *CELL.0.get() = 2 + seen };            // expect(hybrid fast): data-race write #1
    });
    a.join().unwrap();
    b.join().unwrap();
    assert_ne!(unsafe { *CELL.0.get() }, 0); // a static that nobody reads would be optimised away
}
