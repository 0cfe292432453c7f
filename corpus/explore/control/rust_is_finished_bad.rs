// expect: assertion
//@ bound: 1
// A thread that has done its work has not ended yet: `is_finished` says so only later.
// Fails when: main asks between the unlock and the end of the thread.
use std::sync::Mutex;
use std::thread;

static DONE: Mutex<bool> = Mutex::new(false);

fn main() {
    let worker = thread::spawn(|| *DONE.lock().unwrap() = true);
    let is_done = *DONE.lock().unwrap();
    assert!(!is_done || worker.is_finished(), "done and not finished");
    worker.join().unwrap();
}
