// Three threads take a mutex five times each. Right in every interleaving.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let count = Arc::new(Mutex::new(0));
    let add = |count: Arc<Mutex<i32>>| move || (0..5).for_each(|_| *count.lock().unwrap() += 1);
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(add(count.clone()))).collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(*count.lock().unwrap(), 15);
}
