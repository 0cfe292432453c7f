// expect: nothing
// The twin of lost_count_bad.rs: one atomic addition.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

fn count() {
    COUNT.fetch_add(1, SeqCst);
}

fn main() {
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(count)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("counted {}", COUNT.load(SeqCst));
}
