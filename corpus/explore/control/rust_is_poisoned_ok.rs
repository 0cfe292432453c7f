// expect: nothing
// A panic poisons two locks, the one that was taken last first.
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::thread;

static FIRST: Mutex<i32> = Mutex::new(0);
static SECOND: Mutex<i32> = Mutex::new(0);

fn main() {
    let worker = thread::spawn(|| {
        let _ = catch_unwind(|| {
            let _first = FIRST.lock().unwrap();
            let _second = SECOND.lock().unwrap();
            panic!("on purpose");
        });
    });
    let first = FIRST.is_poisoned();
    let second = SECOND.is_poisoned();
    worker.join().unwrap();
    assert!(!first || second, "the first is poisoned and the second is not");
}
