// expect: nothing
// One thread adds, and nobody else changes the count: the other thread's weak exchanges never find
// what they look for. What they find depends on the order of threads, and no update is lost.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let stores = thread::spawn(|| {
        for _ in 0..3 {
            let seen = COUNT.load(SeqCst);
            COUNT.store(seen + 1, SeqCst);
        }
    });
    let compares = thread::spawn(|| {
        for _ in 0..2 {
            if let Err(found) = COUNT.compare_exchange_weak(100, 0, SeqCst, SeqCst) {
                println!("not yet 100: {found}");
            }
        }
    });
    stores.join().unwrap();
    compares.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 3);
}
