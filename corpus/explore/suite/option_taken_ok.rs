// expect: nothing
// A job in a Mutex<Option>, taken in one critical section.
use std::sync::Mutex;
use std::thread;

static JOB: Mutex<Option<u32>> = Mutex::new(Some(7));

fn work() -> u32 {
    JOB.lock().unwrap().take().unwrap_or(0)
}

fn main() {
    let a = thread::spawn(work);
    let b = thread::spawn(work);
    let sum = a.join().unwrap() + b.join().unwrap();
    assert_eq!(sum, 7);
}
