// expect: nothing
// The usual way: a map in a mutex.
use std::collections::HashMap;
use std::sync::Mutex;

#[path = "work.rs"]
mod work;

fn main() {
    let shared = &Mutex::new(HashMap::new());
    std::thread::scope(|scope| {
        for from in [0, 1000] {
            scope.spawn(move || {
                for i in 0..240 {
                    work::work(4);
                    shared.lock().unwrap().insert(from + i, i);
                }
            });
        }
    });
    assert_eq!(shared.lock().unwrap().len(), 480);
}
