// expect: output
// One thread adds by `fetch_update`. The other adds by a load and a store, and loses what the first
// has added in between.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let updates = thread::spawn(|| {
        for _ in 0..2 {
            COUNT.fetch_update(SeqCst, SeqCst, |seen| Some(seen + 1)).unwrap();
        }
    });
    let stores = thread::spawn(|| {
        for _ in 0..2 {
            let seen = COUNT.load(SeqCst);
            COUNT.store(seen + 1, SeqCst);
        }
    });
    updates.join().unwrap();
    stores.join().unwrap();
    println!("count: {}", COUNT.load(SeqCst));
}
