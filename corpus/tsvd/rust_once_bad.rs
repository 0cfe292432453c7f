//@ pair 1: once once
// Two threads put one entry each into a queue when they start.
use std::collections::VecDeque;

#[path = "work.rs"]
mod work;

#[derive(Clone, Copy)]
struct Queue(*mut VecDeque<u32>);
unsafe impl Send for Queue {}

fn start(queue: Queue, id: u32) {
    let queue = unsafe { &mut *queue.0 };
    queue.push_back(id); // expect: thread-safety-violation write write #1
}

fn main() {
    let mut queue = VecDeque::with_capacity(64);
    let shared = Queue(&mut queue);
    std::thread::scope(|scope| {
        for id in 0..2 {
            scope.spawn(move || {
                let shared = shared;
                work::work(30 + 20 * u64::from(id));
                start(shared, id);
                work::work(650);
            });
        }
    });
    assert!(!queue.is_empty());
}
