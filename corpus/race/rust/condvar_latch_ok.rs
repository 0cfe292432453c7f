// A latch and a queue of a mutex and a condition variable. Some waiters find that the condition
// holds already and do not sleep: they come after whoever made it true all the same.
// expect: nothing
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Latch {
    is_set: Mutex<bool>,
    set: Condvar,
}

impl Latch {
    fn set(&self) {
        *self.is_set.lock().unwrap() = true;
        self.set.notify_all();
    }

    /// Waits, and makes it ready for the next round.
    fn wait(&self) {
        let mut is_set = self.is_set.lock().unwrap();
        while !*is_set {
            is_set = self.set.wait(is_set).unwrap();
        }
        *is_set = false;
    }
}

static mut RESULT: usize = 0;

fn latches() {
    let latch = Arc::new(Latch::default());
    for round in 0..20 {
        let other = latch.clone();
        // The first round sleeps in the wait, some others do not.
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_millis(if round % 2 == 0 { 5 } else { 0 }));
            unsafe { *(&raw mut RESULT) = round };
            other.set();
        });
        thread::sleep(Duration::from_millis(if round % 2 == 0 { 0 } else { 5 }));
        latch.wait();
        assert_eq!(unsafe { *(&raw const RESULT) }, round);
        thread.join().unwrap();
    }
}

struct Job(*mut usize);
unsafe impl Send for Job {}

fn queue() {
    let jobs = Arc::new((Mutex::new(VecDeque::new()), Condvar::new()));
    let theirs = jobs.clone();
    let worker = thread::spawn(move || {
        let mut sum = 0;
        for _ in 0..50 {
            let mut queue = theirs.0.lock().unwrap();
            while queue.is_empty() {
                queue = theirs.1.wait(queue).unwrap();
            }
            let Job(job) = queue.pop_front().unwrap();
            drop(queue);
            sum += *unsafe { Box::from_raw(job) };
        }
        sum
    });
    thread::sleep(Duration::from_millis(5));
    for i in 0..50 {
        let job = Job(Box::into_raw(Box::new(i)));
        jobs.0.lock().unwrap().push_back(job);
        jobs.1.notify_one();
    }
    assert_eq!(worker.join().unwrap(), 1225);
}

fn main() {
    latches();
    queue();
}
