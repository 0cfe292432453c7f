// std::sync::RwLock under contention both ways: read, write, try_read, try_write over a BTreeMap. Silent in every mode.
// expect: nothing
use std::collections::BTreeMap;
use std::sync::RwLock;
use std::thread;

fn main() {
    let table = RwLock::new(BTreeMap::new());
    thread::scope(|s| {
        for id in 0..4u64 {
            let table = &table;
            s.spawn(move || {
                for i in 0..1000u64 {
                    if (i + id) % 9 == 0 {
                        let mut t = match table.try_write() {
                            Ok(t) => t,
                            Err(_) => table.write().unwrap(),
                        };
                        t.insert(i % 40, vec![id; 3]);
                        t.remove(&((i + 20) % 40));
                    } else {
                        let t = match table.try_read() {
                            Ok(t) => t,
                            Err(_) => table.read().unwrap(),
                        };
                        if let Some(v) = t.get(&(i % 40)) {
                            assert!(v[2] < 4);
                        }
                    }
                }
            });
        }
    });
    assert!(!table.into_inner().unwrap().is_empty());
}
