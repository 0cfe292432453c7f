// Boxes handed over through a Mutex and a Condvar: 6.4.2 in Rust. Correct, and silent in hb. hybrid and fast do not see what orders
// the content of a box when the consumer did not have to wait, so they may report, falsely, depending on the timing.
// expect(hb): nothing
// expect(hybrid fast): anything
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

fn main() {
    let shared = Arc::new((Mutex::new(VecDeque::new()), Condvar::new()));
    let threads: Vec<_> = (0..6u64)
        .map(|id| {
            let shared = shared.clone();
            thread::spawn(move || {
                let (queue, ready) = &*shared;
                for i in 0..300u64 {
                    if id % 2 == 0 {
                        let message = Box::new([id, i, id + i]);
                        queue.lock().unwrap().push_back(message);
                        ready.notify_one();
                    } else {
                        let mut q = ready.wait_while(queue.lock().unwrap(), |q| q.is_empty()).unwrap();
                        let mut message = q.pop_front().unwrap();
                        drop(q);
                        assert_eq!(message[0] + message[1], message[2]);
                        message[0] = 0;
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}
