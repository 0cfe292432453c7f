// expect: nothing
// Mutex and Condvar: wait_while, wait_timeout_while, try_lock.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let theirs = Arc::clone(&shared);
    let adder = thread::spawn(move || {
        for _ in 0..2 {
            *theirs.0.lock().unwrap() += 1;
            theirs.1.notify_all();
        }
    });
    let (count, changed) = &*shared;
    {
        let guard = count.lock().unwrap();
        let (guard, timeout) = changed.wait_timeout_while(guard, Duration::from_secs(5), |n| *n < 1).unwrap();
        assert!(timeout.timed_out() || *guard >= 1);
    }
    let guard = changed.wait_while(count.lock().unwrap(), |n| *n < 2).unwrap();
    assert_eq!(*guard, 2);
    assert!(count.try_lock().is_err());
    drop(guard);
    adder.join().unwrap();
}
