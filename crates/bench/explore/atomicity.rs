// An atomicity violation: the read and the write of an increment are two critical sections.
use std::sync::{Arc, Mutex};
use std::thread;

fn add(count: Arc<Mutex<i32>>) -> impl FnOnce() {
    move || {
        let seen = *count.lock().unwrap();
        *count.lock().unwrap() = seen + 1;
    }
}

fn main() {
    let count = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(add(count.clone()))).collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(*count.lock().unwrap(), 2);
}
