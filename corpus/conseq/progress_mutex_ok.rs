// expect: nothing
//@ flags: -Copt-level=0
// Progress is printed from an atomic count that is updated under a mutex. A thread that has printed
// an older count adds to the current one.
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static GUARDED: Mutex<usize> = Mutex::new(0);

fn work() {
    for _ in 0..3 {
        let mut guarded = GUARDED.lock().unwrap();
        *guarded += 1;
        COUNT.fetch_add(1, SeqCst);
        drop(guarded);
        println!("done {}", COUNT.load(SeqCst));
    }
}

fn main() {
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(work)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*GUARDED.lock().unwrap(), 6);
}
