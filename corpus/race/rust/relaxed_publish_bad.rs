// Data published by a relaxed flag. Every mode reports.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}
static DATA: Cell = Cell(UnsafeCell::new(0));
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    unsafe { *DATA.0.get() = 0 };
    let a = thread::spawn(|| {
        unsafe { *DATA.0.get() = 42 };                  // expect: data-race write #1
        READY.store(true, Relaxed);
    });
    let b = thread::spawn(|| {
        while !READY.load(Relaxed) {
            thread::yield_now();
        }
        assert_eq!(unsafe { *DATA.0.get() }, 42);       // expect: data-race read #1
    });
    a.join().unwrap();
    b.join().unwrap();
}
