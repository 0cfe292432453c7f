// Two threads take two locks in opposite order.
use std::sync::{Arc, Mutex};
use std::thread;

fn both(first: &Arc<Mutex<()>>, second: &Arc<Mutex<()>>) -> impl FnOnce() + use<> {
    let (first, second) = (first.clone(), second.clone());
    move || {
        let _first = first.lock().unwrap();
        let _second = second.lock().unwrap();
    }
}

fn main() {
    let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    let threads = [thread::spawn(both(&a, &b)), thread::spawn(both(&b, &a))];
    threads.into_iter().for_each(|t| t.join().unwrap());
}
