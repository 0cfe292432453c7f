//@ pair 1: different-keys often
// As with numbers, each thread keeps to its own keys; what `insert` gives back is a string, which is returned through memory.
use std::cell::UnsafeCell;
use std::collections::HashMap;

#[path = "work.rs"]
mod work;

struct Names(UnsafeCell<HashMap<u32, String>>);
unsafe impl Sync for Names {}

fn main() {
    let mut map = HashMap::with_capacity(256);
    for key in 0..32 {
        map.insert(key, String::from("nobody"));
    }
    let names = &Names(UnsafeCell::new(map));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let map = unsafe { &mut *names.0.get() };
            for i in 0..240 {
                work::work(4);
                map.insert(i % 16, i.to_string()); // expect: thread-safety-violation write #1
            }
        });
        let map = unsafe { &*names.0.get() };
        let mut known = 0;
        for i in 0..240 {
            work::work(4);
            known += u32::from(map.contains_key(&(16 + i % 16))); // expect: thread-safety-violation read #1
        }
        assert_eq!(known, 240);
    });
}
