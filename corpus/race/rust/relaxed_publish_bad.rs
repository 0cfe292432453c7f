// Data published by a relaxed flag. Every mode reports.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}
static DATA: Cell = Cell(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

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
    let a = thread::spawn(|| {
        both_started();
        unsafe { *DATA.0.get() = 42 };                  // expect: data-race write #1
        READY.store(true, Relaxed);
    });
    let b = thread::spawn(|| {
        both_started();
        while !READY.load(Relaxed) {
            thread::yield_now();
        }
        assert_eq!(unsafe { *DATA.0.get() }, 42);       // expect: data-race read #1
    });
    a.join().unwrap();
    b.join().unwrap();
}
