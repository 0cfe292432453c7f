// expect: nothing
// park and unpark: a token given early is not lost; park_timeout returns either way.
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

fn main() {
    let ready = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&ready);
    let sleeper = thread::spawn(move || {
        while !theirs.load(SeqCst) {
            thread::park();
        }
        thread::park_timeout(Duration::from_millis(5));
    });
    ready.store(true, SeqCst);
    sleeper.thread().unpark();
    sleeper.join().unwrap();
}
