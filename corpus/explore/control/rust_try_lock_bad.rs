// expect: assertion
//@ bound: 1
// What cannot be counted at once is not counted: `try_lock` beside `lock`.
// Fails when: one thread tries while the other holds the lock.
use std::sync::Mutex;
use std::thread;

static COUNT: Mutex<u32> = Mutex::new(0);

fn main() {
    let waits = thread::spawn(|| *COUNT.lock().unwrap() += 1);
    let tries = thread::spawn(|| {
        if let Ok(mut count) = COUNT.try_lock() {
            *count += 1;
        }
    });
    waits.join().unwrap();
    tries.join().unwrap();
    assert_eq!(*COUNT.lock().unwrap(), 2); // expect: assertion here
}
