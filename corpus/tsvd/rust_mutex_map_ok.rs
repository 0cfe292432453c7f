// expect: nothing
// The usual way: a map in a mutex.
use std::collections::HashMap;
use std::sync::Mutex;

#[path = "work.rs"]
mod work;

fn main() {
    let shared = &Mutex::new(HashMap::new());
    std::thread::scope(|scope| {
        for from in [0, 100] {
            scope.spawn(move || {
                for i in 0..60 {
                    work::work(14);
                    shared.lock().unwrap().insert(from + i, i);
                }
            });
        }
    });
    assert_eq!(shared.lock().unwrap().len(), 120);
}
