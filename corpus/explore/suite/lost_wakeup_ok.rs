// expect: nothing
// The flag is the content of the Mutex, and the waiter loops.
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn main() {
    let waiter = thread::spawn(|| {
        let mut ready = READY.lock().unwrap();
        while !*ready {
            ready = CHANGED.wait(ready).unwrap();
        }
    });
    let setter = thread::spawn(|| {
        *READY.lock().unwrap() = true;
        CHANGED.notify_one();
    });
    waiter.join().unwrap();
    setter.join().unwrap();
}
