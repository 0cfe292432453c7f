// expect: nothing
//@ flags: -Copt-level=0
// Rust without optimisation: an atomic and a guarded count. In runs without preemption they agree, and nothing says that they must.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, RwLock};
use std::thread;

static STARTED: AtomicUsize = AtomicUsize::new(0);
static COUNT: Mutex<usize> = Mutex::new(0);
static SUM: RwLock<usize> = RwLock::new(0);

fn work() {
    for _ in 0..3 {
        STARTED.fetch_add(1, SeqCst);
        *COUNT.lock().unwrap() += 1;
        *SUM.write().unwrap() += 2;
    }
}

fn main() {
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(work)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{} {} {}", STARTED.load(SeqCst), COUNT.lock().unwrap(), SUM.read().unwrap());
}
