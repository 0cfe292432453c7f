// expect: nothing
// A message, a condition and an unpark that come soon, waited for, for an hour at most.
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(3600);

fn main() {
    let (tx, rx) = mpsc::channel();
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let t = thread::spawn(move || {
        let _ = tx.send(1);
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    assert_eq!(rx.recv_timeout(LIMIT), Ok(1));
    let guard = pair.0.lock().unwrap();
    let (guard, result) = pair.1.wait_timeout_while(guard, LIMIT, |ready| !*ready).unwrap();
    assert!(!result.timed_out());
    drop(guard);
    t.join().unwrap();
}
