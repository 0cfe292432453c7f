// expect: deadlock
//@ bound: 1
// Two std Mutexes in opposite order.
// Fails when: each thread holds its first and waits for its second.
use std::sync::Mutex;
use std::thread;

static LEFT: Mutex<i32> = Mutex::new(1);
static RIGHT: Mutex<i32> = Mutex::new(2);

fn main() {
    let a = thread::spawn(|| {
        let left = LEFT.lock().unwrap();
        let right = RIGHT.lock().unwrap();              // expect: deadlock here
        *left + *right
    });
    let b = thread::spawn(|| {
        let right = RIGHT.lock().unwrap();
        let left = LEFT.lock().unwrap();                // expect: deadlock here
        *left + *right
    });
    assert_eq!(a.join().unwrap(), 3);                   // expect: deadlock here
    assert_eq!(b.join().unwrap(), 3);                   // expect: deadlock here
}
