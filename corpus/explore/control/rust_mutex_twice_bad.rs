// expect: deadlock
//@ bound: 0
// A thread takes a std Mutex that it has already.
// Fails when: always, in a thread; it waits for itself.
use std::sync::Mutex;
use std::thread;

static VALUE: Mutex<u32> = Mutex::new(1);

fn main() {
    let twice = thread::spawn(|| {
        let outer = VALUE.lock().unwrap();
        let inner = VALUE.lock().unwrap(); // expect: deadlock here
        *outer + *inner
    });
    twice.join().unwrap(); // expect: deadlock here
}
