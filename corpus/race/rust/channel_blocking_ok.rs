// Unbounded, bounded and rendezvous channels with blocking receive, recv_timeout, iterators and both ends hanging up. Silent in hb.
// Inside, blocked threads queue up under a Mutex and are handed packets through it, which hybrid and fast may take for races.
// expect(hb): nothing
// expect(hybrid fast): anything
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

type Message = Box<Vec<u64>>;

fn run(send: impl Fn(Message) + Clone + Send + 'static, receiver: Receiver<Message>) -> u64 {
    let senders: Vec<_> = (0..3u64)
        .map(|id| {
            let send = send.clone();
            thread::spawn(move || (0..200u64).for_each(|i| send(Box::new(vec![id, i]))))
        })
        .collect();
    drop(send);
    let mut sum = 0;
    for _ in 0..100 {
        match receiver.recv_timeout(Duration::from_micros(100)) {
            Ok(mut m) => sum += m.pop().unwrap(),
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    sum += receiver.iter().map(|mut m| m.pop().unwrap()).sum::<u64>();
    senders.into_iter().for_each(|t| t.join().unwrap());
    sum
}

fn main() {
    let expected = 3 * 199 * 200 / 2;
    let (tx, rx) = mpsc::channel();
    assert_eq!(run(move |m| tx.send(m).unwrap(), rx), expected);
    for bound in [0, 3] {
        let (tx, rx) = mpsc::sync_channel(bound);
        assert_eq!(run(move |m| tx.send(m).unwrap(), rx), expected);
    }
    let (tx, rx) = mpsc::sync_channel::<u64>(1);
    let gone = thread::spawn(move || drop(rx));
    while tx.send(1).is_ok() {}
    gone.join().unwrap();
}
