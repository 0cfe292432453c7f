// expect(sc): nothing
// expect(c11): assertion
// Message passing in Rust with a relaxed flag.
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

static DATA: AtomicU32 = AtomicU32::new(0);
static READY: AtomicU32 = AtomicU32::new(0);

fn main() {
    let writer = thread::spawn(|| {
        DATA.store(42, Relaxed);
        READY.store(1, Relaxed);
    });
    let reader = thread::spawn(|| {
        if READY.load(Relaxed) == 1 {
            assert_eq!(DATA.load(Relaxed), 42);         // expect: assertion here
        }
    });
    writer.join().unwrap();
    reader.join().unwrap();
}
