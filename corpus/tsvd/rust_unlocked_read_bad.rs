//@ pair 1: unlocked-read often
// Writers hold the mutex; a reader goes around it with data_ptr of its own.
use std::collections::BTreeMap;
use std::sync::Mutex;

#[path = "work.rs"]
mod work;

struct Peek(*const BTreeMap<u32, u32>);
unsafe impl Send for Peek {}

fn main() {
    let map: BTreeMap<u32, u32> = (0..32).map(|key| (key, 0)).collect();
    let shared = &Mutex::new(map);
    let peek = {
        let map = shared.lock().unwrap();
        Peek(&*map)
    };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for i in 0..240 {
                work::work(4);
                let mut map = shared.lock().unwrap();
                map.insert(i % 16, i); // expect: thread-safety-violation write #1
            }
        });
        scope.spawn(move || {
            let peek = peek;
            let map = unsafe { &*peek.0 };
            let mut seen = 0;
            for i in 0..240 {
                work::work(4);
                seen += u32::from(map.contains_key(&(16 + i % 16))); // expect: thread-safety-violation read #1
            }
            assert_eq!(seen, 240);
        });
    });
}
