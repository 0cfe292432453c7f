// expect: assertion
// Rust: a job is seen under one lock and taken under another; whoever comes second unwraps nothing.
use std::sync::Mutex;
use std::thread;

static JOB: Mutex<Option<u32>> = Mutex::new(Some(7));

fn work() {
    let there = JOB.lock().unwrap().is_some();
    if there {
        JOB.lock().unwrap().take().expect("a job");
    }
}

fn main() {
    let workers: Vec<_> = (0..2).map(|_| thread::spawn(work)).collect();
    for worker in workers {
        worker.join().unwrap();
    }
}
