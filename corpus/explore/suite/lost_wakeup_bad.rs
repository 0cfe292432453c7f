// expect: deadlock
//@ bound: 1
// A Condvar with the flag outside of its Mutex.
// Fails when: the waiter reads false; the setter stores true and notifies nobody; the waiter waits for ever.
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static LOCK: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

fn main() {
    let waiter = thread::spawn(|| {
        if !READY.load(SeqCst) {
            let guard = LOCK.lock().unwrap();
            drop(CHANGED.wait(guard).unwrap()); // expect: deadlock here
        }
    });
    let setter = thread::spawn(|| {
        READY.store(true, SeqCst);
        CHANGED.notify_one();
    });
    waiter.join().unwrap(); // expect: deadlock here
    setter.join().unwrap();
}
