// expect: assertion
//@ bound: 1
// A panic poisons two locks, one after the other.
// Fails when: the thread panics between the two looks.
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
    assert_eq!(first, second, "one is poisoned and the other is not");
}
