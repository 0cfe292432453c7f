// A home-made reference count with a relaxed decrement and no fence: the last owner's clean-up is not ordered after the others' use.
// (std's Arc decrements with release and has an acquire fence.) Every mode reports.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

struct Counted {
    owners: AtomicUsize,
    content: UnsafeCell<u64>,
}
unsafe impl Sync for Counted {}
static SHARED: Counted = Counted { owners: AtomicUsize::new(2), content: UnsafeCell::new(0) };
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
fn release(shared: &Counted) {
    if shared.owners.fetch_sub(1, Relaxed) == 1 {
        unsafe { *shared.content.get() = u64::MAX };    // expect: data-race write #1
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
    unsafe { *SHARED.content.get() = 0 };
    let a = thread::spawn(|| {
        both_started();
        unsafe { *SHARED.content.get() = 1 };           // expect: data-race write #1
        release(&SHARED);
        reached(1);
    });
    let b = thread::spawn(|| {
        both_started();
        until(1);
        release(&SHARED);
    });
    a.join().unwrap();
    b.join().unwrap();
    assert_ne!(unsafe { *SHARED.content.get() }, 0); // a static that nobody reads would be optimised away
}
