// std::sync::Mutex under contention: lock, try_lock, get_mut and into_inner, a Vec inside that grows. Silent in every mode: acquire
// and release for hb, a lock for hybrid and fast.
// expect: nothing
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let shared = Arc::new(Mutex::new((0u64, Vec::new())));
    let threads: Vec<_> = (0..4u64)
        .map(|id| {
            let shared = shared.clone();
            thread::spawn(move || {
                for i in 0..1000 {
                    let mut guard = match shared.try_lock() {
                        Ok(guard) if i % 2 == 0 => guard,
                        other => {
                            drop(other);
                            shared.lock().unwrap()
                        }
                    };
                    guard.0 += 1;
                    guard.1.push(id);
                    if guard.1.len() > 100 {
                        guard.1 = Vec::new();
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    let mut mutex = Arc::into_inner(shared).unwrap();
    assert_eq!(mutex.get_mut().unwrap().0, 4000);
    assert_eq!(mutex.into_inner().unwrap().0, 4000);
}
