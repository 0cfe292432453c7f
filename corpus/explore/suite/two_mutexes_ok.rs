// expect: nothing
// Two std Mutexes, always in the same order.
use std::sync::Mutex;
use std::thread;

static LEFT: Mutex<i32> = Mutex::new(1);
static RIGHT: Mutex<i32> = Mutex::new(2);

fn main() {
    let a = thread::spawn(|| {
        let left = LEFT.lock().unwrap();
        let right = RIGHT.lock().unwrap();
        *left + *right
    });
    let b = thread::spawn(|| {
        let left = LEFT.lock().unwrap();
        let right = RIGHT.lock().unwrap();
        *left + *right
    });
    assert_eq!(a.join().unwrap(), 3);
    assert_eq!(b.join().unwrap(), 3);
}
