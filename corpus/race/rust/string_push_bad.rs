// Two threads push to one String, a complex type as in 6.3.2: the accesses are inside alloc. Every mode reports the length (and the
// bytes do not overlap, since one comes after the other).
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

struct Text(UnsafeCell<String>);
unsafe impl Sync for Text {}
static TEXT: Text = Text(UnsafeCell::new(String::new()));
static STEP: AtomicUsize = AtomicUsize::new(0); // relaxed: fixes the order of the run, synchronises nothing
fn reached(n: usize) {
    STEP.store(n, Relaxed);
}
fn until(n: usize) {
    while STEP.load(Relaxed) < n {
        thread::sleep(Duration::from_micros(100));
    }
}

#[inline(never)]
fn text() -> &'static mut String {
    unsafe { &mut *TEXT.0.get() }
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
    text().reserve(100);
    text().push('a');
    let a = thread::spawn(|| {
        both_started();
        text().push_str("first");                       // expect: data-race write #1 | read #1
        reached(1);
    });
    let b = thread::spawn(|| {
        both_started();
        until(1);
        text().push_str("second");                      // expect: data-race write #1 | read #1
    });
    a.join().unwrap();
    b.join().unwrap();
}
