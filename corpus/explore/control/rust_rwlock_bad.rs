// expect: deadlock
//@ bound: 1
// A thread that holds a read guard reads again: std's RwLock lets a waiting writer go first.
// Fails when: the writer asks between the two reads.
use std::sync::RwLock;
use std::thread;

static VALUE: RwLock<u32> = RwLock::new(1);

fn main() {
    let reader = thread::spawn(|| {
        let outer = VALUE.read().unwrap();
        let inner = VALUE.read().unwrap(); // expect: deadlock here
        *outer + *inner
    });
    let writer = thread::spawn(|| {
        *VALUE.write().unwrap() = 2; // expect: deadlock here
    });
    reader.join().unwrap(); // expect: deadlock here
    writer.join().unwrap();
}
