// expect(sc c11): nothing
// Message passing in Rust with a released and acquired flag.
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::thread;

static DATA: AtomicU32 = AtomicU32::new(0);
static READY: AtomicU32 = AtomicU32::new(0);

fn main() {
    let writer = thread::spawn(|| {
        DATA.store(42, Relaxed);
        READY.store(1, Release);
    });
    let reader = thread::spawn(|| {
        if READY.load(Acquire) == 1 {
            assert_eq!(DATA.load(Relaxed), 42);
        }
    });
    writer.join().unwrap();
    reader.join().unwrap();
}
