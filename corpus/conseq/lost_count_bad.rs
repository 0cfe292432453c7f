// expect: output
// Rust: a count that is loaded and stored, each atomic, and not the two together.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

fn count() {
    let seen = COUNT.load(SeqCst);
    COUNT.store(seen + 1, SeqCst);
}

fn main() {
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(count)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("counted {}", COUNT.load(SeqCst));
}
