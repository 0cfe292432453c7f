// expect: assertion
//@ bound: 1
// A job in a Mutex<Option>: is_some and take().unwrap() are two critical sections.
// Fails when: A has seen the job; B sees and takes it; A unwraps None and panics.
use std::sync::Mutex;
use std::thread;

static JOB: Mutex<Option<u32>> = Mutex::new(Some(7));

fn work() -> u32 {
    if JOB.lock().unwrap().is_some() {
        return JOB.lock().unwrap().take().unwrap(); // expect: assertion here
    }
    0
}

fn main() {
    let a = thread::spawn(work);
    let b = thread::spawn(work);
    let sum = a.join().unwrap() + b.join().unwrap();
    assert_eq!(sum, 7);
}
