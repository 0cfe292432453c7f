// What Arc::get_mut_unchecked would allow: writing through an Arc that others hold. Every mode reports; main made the value.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

static STEP: AtomicUsize = AtomicUsize::new(0); // relaxed: fixes the order of the run, synchronises nothing
fn reached(n: usize) {
    STEP.store(n, Relaxed);
}
fn until(n: usize) {
    while STEP.load(Relaxed) < n {
        thread::sleep(Duration::from_micros(100));
    }
}

fn main() {
    let shared = Arc::new([1u64; 4]);
    let (mine, yours) = (shared.clone(), shared.clone());
    let a = thread::spawn(move || {
        let p = Arc::as_ptr(&mine) as *mut u64;
        unsafe { p.add(2).write(7) };                   // expect: data-race write #1
        reached(1);
        until(2);
    });
    let b = thread::spawn(move || {
        until(1);
        let seen = yours[2];                            // expect: data-race read #1
        reached(2);
        assert_eq!(seen, 7);
    });
    a.join().unwrap();
    b.join().unwrap();
    drop(shared);
}
