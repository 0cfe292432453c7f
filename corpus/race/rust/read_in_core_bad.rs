// One end of the race is inside core (str::from_utf8), which is instrumented too; the innermost frame of this file is the call.
// Every mode reports.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

struct Buffer(UnsafeCell<[u8; 64]>);
unsafe impl Sync for Buffer {}
static BUFFER: Buffer = Buffer(UnsafeCell::new([b'a'; 64]));
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
    unsafe { (*BUFFER.0.get())[40] = b'a' };
    let a = thread::spawn(|| {
        both_started();
        unsafe { (*BUFFER.0.get())[40] = b'b' };        // expect: data-race write #1
        reached(1);
    });
    let b = thread::spawn(|| {
        both_started();
        until(1);
        let text = unsafe { &*BUFFER.0.get() };
        assert!(std::str::from_utf8(text).is_ok());     // expect: data-race read #1
    });
    a.join().unwrap();
    b.join().unwrap();
}
