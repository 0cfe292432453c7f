// What is written after the condition was made true, and after the mutex was released, is ordered
// with no waiter.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

static IS_SET: Mutex<bool> = Mutex::new(false);
static SET: Condvar = Condvar::new();
static STEP: AtomicUsize = AtomicUsize::new(0); // relaxed: fixes the order of the run
static mut RESULT: usize = 0;

fn until(step: usize) {
    while STEP.load(Relaxed) < step {
        thread::sleep(Duration::from_millis(1));
    }
}

fn main() {
    let thread = thread::spawn(|| {
        thread::sleep(Duration::from_millis(5));
        *IS_SET.lock().unwrap() = true;
        SET.notify_one();
        unsafe { *(&raw mut RESULT) = 1 }; // expect: data-race write #1
        STEP.store(1, Relaxed);
        until(2);
    });
    let mut is_set = IS_SET.lock().unwrap();
    while !*is_set {
        is_set = SET.wait(is_set).unwrap();
    }
    drop(is_set);
    until(1);
    let result = unsafe { *(&raw const RESULT) }; // expect: data-race read #1
    STEP.store(2, Relaxed);
    thread.join().unwrap();
    assert_eq!(result, 1);
}
