// JoinHandle results: vectors and boxes returned from threads, is_finished polled, builders with names and stack sizes, handles
// dropped without joining (detached). Silent in every mode.
// expect: nothing
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

fn main() {
    for round in 0..15u64 {
        let threads: Vec<_> = (0..4u64)
            .map(|id| thread::Builder::new().name(format!("worker {id}")).stack_size(1 << 18).spawn(move || vec![id * round; 100]).unwrap())
            .collect();
        while !threads.iter().all(|t| t.is_finished()) {
            thread::sleep(Duration::from_micros(200));
        }
        let sum: u64 = threads.into_iter().map(|t| t.join().unwrap()[99]).sum();
        assert_eq!(sum, 6 * round);
    }
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..20 {
        let done = done.clone();
        drop(thread::spawn(move || done.fetch_add(1, Release)));
    }
    while done.load(Acquire) < 20 {
        thread::sleep(Duration::from_micros(200));
    }
}
