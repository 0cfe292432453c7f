// OnceLock orders its initialisation before every get; what is done to the content afterwards through a cell is not guarded. Every
// mode reports.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}
static ONCE: OnceLock<Cell> = OnceLock::new();
static STEP: AtomicUsize = AtomicUsize::new(0); // relaxed: fixes the order of the run, synchronises nothing
fn reached(n: usize) {
    STEP.store(n, Relaxed);
}
fn until(n: usize) {
    while STEP.load(Relaxed) < n {
        thread::sleep(Duration::from_micros(100));
    }
}

fn get() -> *mut u64 {
    ONCE.get_or_init(|| Cell(UnsafeCell::new(0))).0.get()
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
    unsafe { *get() = 0 };
    let a = thread::spawn(|| {
        both_started();
        unsafe { *get() = 1 };                          // expect: data-race write #1
        reached(1);
    });
    let b = thread::spawn(|| {
        both_started();
        until(1);
        unsafe { *get() = 2 };                          // expect: data-race write #1
    });
    a.join().unwrap();
    b.join().unwrap();
    assert_ne!(unsafe { *get() }, 0); // a static that nobody reads would be optimised away
}
