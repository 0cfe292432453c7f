// expect: assertion
// Rust: a scope waits for its own threads. One of them starts another thread, which takes the number back.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread::{self, JoinHandle};

static NUMBER: AtomicU32 = AtomicU32::new(0);
static CHECKED: AtomicBool = AtomicBool::new(false);

fn take_back() {
    if CHECKED.load(SeqCst) {
        NUMBER.store(0, SeqCst);
    } else {
        NUMBER.store(2, SeqCst);
        NUMBER.store(1, SeqCst);
    }
}

fn main() {
    let mut late: Option<JoinHandle<()>> = None;
    thread::scope(|scope| {
        scope.spawn(|| {
            NUMBER.store(1, SeqCst);
            late = Some(thread::spawn(take_back));
        });
    });
    assert_ne!(NUMBER.load(SeqCst), 2);
    CHECKED.store(true, SeqCst);
    late.unwrap().join().unwrap();
}
