//@ pair 1: different-keys often
// A map behind an UnsafeCell that was declared Sync: each thread keeps to its own keys.
use std::cell::UnsafeCell;
use std::collections::HashMap;

#[path = "work.rs"]
mod work;

struct Table(UnsafeCell<HashMap<u32, u32>>);
unsafe impl Sync for Table {}

fn main() {
    let mut map = HashMap::with_capacity(256);
    for key in 0..32 {
        map.insert(key, 0);
    }
    let table = &Table(UnsafeCell::new(map));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let map = unsafe { &mut *table.0.get() };
            for i in 0..240 {
                work::work(4);
                map.insert(i % 16, i); // expect: thread-safety-violation write #1
            }
        });
        let map = unsafe { &*table.0.get() };
        let mut sum = 0;
        for i in 0..240 {
            work::work(4);
            sum += map.get(&(16 + i % 16)).unwrap(); // expect: thread-safety-violation read #1
        }
        assert_eq!(sum, 0);
    });
}
