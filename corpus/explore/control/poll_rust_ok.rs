// expect: nothing
// A thread polls what a Mutex guards.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let ready = Arc::new(Mutex::new(false));
    let other = ready.clone();
    let t = thread::spawn(move || *other.lock().unwrap() = true);
    while !*ready.lock().unwrap() {}
    t.join().unwrap();
}
