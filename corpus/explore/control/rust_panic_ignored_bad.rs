// expect: assertion
//@ bound: 1
// A thread panics, and nobody looks at what join returned: the program ends with 0.
// Fails when: the second thread looks between the two stores of the first.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static STATE: AtomicU32 = AtomicU32::new(0);

fn look() {
    assert!(STATE.load(SeqCst) != 1); // expect: assertion here
}

fn main() {
    let writer = thread::spawn(|| {
        STATE.store(1, SeqCst);
        STATE.store(2, SeqCst);
    });
    let looker = thread::spawn(look);
    writer.join().unwrap();
    let _ = looker.join();
}
