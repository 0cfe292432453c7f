// Two std mutexes in opposite orders. hybrid and fast know std's Mutex as a lock and report the cycle; hb may know it or not.
// expect(hb): anything
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

static A: Mutex<u64> = Mutex::new(0);
static B: Mutex<u64> = Mutex::new(0);
static STEP: AtomicUsize = AtomicUsize::new(0); // relaxed: fixes the order of the run, synchronises nothing
fn reached(n: usize) {
    STEP.store(n, Relaxed);
}
fn until(n: usize) {
    while STEP.load(Relaxed) < n {
        thread::sleep(Duration::from_micros(100));
    }
}

fn main() {
    let first = thread::spawn(|| {
        let mut a = A.lock().unwrap();
        let b = B.lock().unwrap();                      // expect(hybrid fast): lock-order #1
        *a += *b;
        drop((a, b));
        reached(1);
    });
    let second = thread::spawn(|| {
        until(1);
        let mut b = B.lock().unwrap();
        let a = A.lock().unwrap();                      // expect(hybrid fast): lock-order #1
        *b += *a;
    });
    first.join().unwrap();
    second.join().unwrap();
}
