// expect: nothing
// A HashMap with std's random keys: its order differs from run to run and decides how many locks are taken first.
use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

static TOTAL: Mutex<u32> = Mutex::new(0);

fn main() {
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let map: HashMap<u32, u32> = (1..=3).map(|n| (n, n)).collect();
                for (key, value) in &map {
                    assert_eq!(key, value);
                    *TOTAL.lock().unwrap() += value;
                    if *key == 2 {
                        break;
                    }
                }
            });
        }
    });
    let total = *TOTAL.lock().unwrap();
    assert!((4..=12).contains(&total), "{total}");
}
