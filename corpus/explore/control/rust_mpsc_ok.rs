// expect: nothing
// Channels: several senders, the end when all are dropped, a bounded one, a rendezvous, and recv_timeout.
use std::sync::mpsc::{channel, sync_channel, RecvTimeoutError};
use std::thread;
use std::time::Duration;

fn main() {
    let (sender, receiver) = channel();
    let threads: Vec<_> = (1..=2)
        .map(|n| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap())
        })
        .collect();
    drop(sender);
    assert_eq!(receiver.iter().sum::<i32>(), 3);
    for t in threads {
        t.join().unwrap();
    }
    let (meet, met) = sync_channel(0);
    let t = thread::spawn(move || meet.send(5).unwrap());
    match met.recv_timeout(Duration::from_secs(5)) {
        Ok(n) => assert_eq!(n, 5),
        Err(RecvTimeoutError::Timeout) => assert_eq!(met.recv(), Ok(5)),
        Err(RecvTimeoutError::Disconnected) => unreachable!(),
    }
    t.join().unwrap();
}
