// expect: assertion
//@ bound: 1
// An increment that is a load and a store, in safe Rust.
// Fails when: A loads 0; B loads 0 and stores 1; A stores 1.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::Arc;
use std::thread;

fn main() {
    let counter = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                let seen = counter.load(SeqCst);
                counter.store(seen + 1, SeqCst);
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    assert_eq!(counter.load(SeqCst), 2); // expect: assertion here
}
