// std::sync::Condvar: wait, wait_while, wait_timeout, notify_one and notify_all around a bounded queue of plain numbers. All data
// stays under the Mutex: silent in every mode.
// expect: nothing
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let queue = Mutex::new(VecDeque::with_capacity(8));
    let (not_empty, not_full) = (Condvar::new(), Condvar::new());
    let sum = Mutex::new(0u64);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for i in 0..500u64 {
                    let mut q = not_full.wait_while(queue.lock().unwrap(), |q| q.len() == 8).unwrap();
                    q.push_back(i);
                    not_empty.notify_one();
                }
            });
            s.spawn(|| {
                for i in 0..500 {
                    let mut q = queue.lock().unwrap();
                    while q.is_empty() {
                        q = match i % 2 {
                            0 => not_empty.wait(q).unwrap(),
                            _ => not_empty.wait_timeout(q, Duration::from_micros(200)).unwrap().0,
                        };
                    }
                    let item: u64 = q.pop_front().unwrap();
                    drop(q);
                    not_full.notify_all();
                    *sum.lock().unwrap() += item;
                }
            });
        }
    });
    assert_eq!(*sum.lock().unwrap(), 2 * 499 * 500 / 2);
}
