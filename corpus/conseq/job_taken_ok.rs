// expect: nothing
// The twin of job_taken_bad.rs: seen and taken under one lock.
use std::sync::Mutex;
use std::thread;

static JOB: Mutex<Option<u32>> = Mutex::new(Some(7));

fn work() {
    let mut job = JOB.lock().unwrap();
    if job.is_some() {
        job.take().expect("a job");
    }
}

fn main() {
    let workers: Vec<_> = (0..2).map(|_| thread::spawn(work)).collect();
    for worker in workers {
        worker.join().unwrap();
    }
}
