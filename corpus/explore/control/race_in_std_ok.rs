// expect: nothing
//@ monitors: race
// Rust's own locks, channels and reference counts order what they guard: std is instrumented, and its accesses are checked too.
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;

fn main() {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let (send, receive) = mpsc::channel();
    let other = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            *shared.0.lock().unwrap() += 1;
            shared.1.notify_one();
            send.send(vec![1]).unwrap();
        })
    };
    let mut n = shared.0.lock().unwrap();
    while *n == 0 {
        n = shared.1.wait(n).unwrap();
    }
    drop(n);
    assert_eq!(receive.recv().unwrap(), [1]);
    other.join().unwrap();
}
