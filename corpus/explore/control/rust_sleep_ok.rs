// expect: nothing
// thread::sleep and Instant agree with each other.
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let threads: Vec<_> = [5, 10]
        .map(|ms| {
            thread::spawn(move || {
                let start = Instant::now();
                thread::sleep(Duration::from_millis(ms));
                assert!(start.elapsed() >= Duration::from_millis(ms));
            })
        })
        .into_iter()
        .collect();
    for t in threads {
        t.join().unwrap();
    }
}
