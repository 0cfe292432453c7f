// expect: nothing
// The other way round: a thread that has ended has done its work.
use std::sync::Mutex;
use std::thread;

static DONE: Mutex<bool> = Mutex::new(false);

fn main() {
    let worker = thread::spawn(|| *DONE.lock().unwrap() = true);
    let is_finished = worker.is_finished();
    let is_done = *DONE.lock().unwrap();
    assert!(!is_finished || is_done, "finished and not done");
    worker.join().unwrap();
}
